//! The file, without running it: exports, manifest, symbols, dependencies.

use crate::Cases;

pub(super) fn add(cases: &mut Cases) {
    let _ = cases;
}
