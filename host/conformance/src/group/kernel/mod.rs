//! Whole kernels: threads, arguments, files.

mod arguments;
mod asserts;
mod files;
mod launch;
mod threads;
mod threads_text;

use crate::Cases;

pub(super) fn add(cases: &mut Cases) {
    files::add(cases);
    arguments::add(cases);
    asserts::add(cases);
    launch::add(cases);
    threads::add(cases);
}
