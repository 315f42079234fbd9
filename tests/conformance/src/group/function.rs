//! Plain functions, and values that cross.

use crate::Cases;

pub(super) fn add(cases: &mut Cases) {
    let _ = cases;
}
