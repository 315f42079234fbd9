//! Code generation, node by node and type by type.

mod table;

use crate::Cases;

pub(super) fn add(cases: &mut Cases) {
    table::add(cases);
}
