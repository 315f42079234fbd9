//! Growth of memory and handles.

use crate::Cases;

pub(super) fn add(cases: &mut Cases) {
    let _ = cases;
}
