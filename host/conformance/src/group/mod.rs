//! The cases, with one file or folder for each group. Adding a case changes only the files of its
//! group.

mod copy;
mod function;
pub(crate) mod fuzz;
mod image;
mod kernel;
mod load;
mod memory;
mod misuse;
mod module;
pub(crate) mod op;
mod query;
mod soak;
mod stream;
mod targets;
mod threads;
mod value;

use crate::case::Seeds;
use crate::{Case, Cases};

/// Returns every case in order (SUITE-S2).
#[must_use]
pub fn all(seeds: &Seeds) -> Vec<Case> {
    let mut cases = Cases::default();
    image::add(&mut cases);
    load::add(&mut cases);
    query::add(&mut cases);
    memory::add(&mut cases);
    copy::add(&mut cases);
    stream::add(&mut cases);
    misuse::add(&mut cases);
    threads::add(&mut cases);
    targets::add(&mut cases);
    module::add(&mut cases);
    op::add(&mut cases);
    kernel::add(&mut cases);
    fuzz::add(&mut cases, seeds);
    function::add(&mut cases);
    soak::add(&mut cases);
    cases.into_vec()
}
