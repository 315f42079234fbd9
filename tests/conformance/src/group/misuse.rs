//! Wrong calls: a typed error, and a usable device afterwards.

use crate::Cases;

pub(super) fn add(cases: &mut Cases) {
    let _ = cases;
}
