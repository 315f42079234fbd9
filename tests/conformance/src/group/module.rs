//! Modules: load, reload, damaged bytes.

use crate::Cases;

pub(super) fn add(cases: &mut Cases) {
    let _ = cases;
}
