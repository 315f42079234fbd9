//! Random programs against the interpreter.

use crate::Cases;
use crate::case::Seeds;

pub(super) fn add(cases: &mut Cases, seeds: &Seeds) {
    let _ = (cases, seeds);
}
