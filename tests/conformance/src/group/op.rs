//! Code generation, node by node and type by type.

use crate::Cases;

pub(super) fn add(cases: &mut Cases) {
    let _ = cases;
}
