//! Modules: the output of code generators, and loaders given valid and damaged artifacts.

mod build;
mod check;
mod codegen;
mod damaged;
pub(super) mod extended;
mod forked;
mod launch;
mod leftovers;
mod load;
mod made;
mod object;
mod recorded;
mod request;
mod samples;

use crate::Cases;

pub(super) fn add(cases: &mut Cases) {
    codegen::add(cases);
    request::add(cases);
    extended::add(cases);
    load::add(cases);
    launch::add(cases);
    recorded::add(cases);
    object::add(cases);
    check::add(cases);
    damaged::add(cases);
    forked::add(cases);
}

/// Shortens a text for a message.
fn shown(text: &str) -> String {
    text.chars().take(300).collect()
}
