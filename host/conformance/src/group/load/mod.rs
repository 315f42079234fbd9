//! Opening, handshake, registration, shutdown.

mod drain;
mod ends;
mod entry;
mod hosts;
mod quiet;
mod registered;
mod session;
mod settings;
mod state;

use crate::Cases;

pub(super) fn add(cases: &mut Cases) {
    entry::add(cases);
    quiet::add(cases);
    registered::add(cases);
    hosts::add(cases);
    drain::add(cases);
    ends::add(cases);
    settings::add(cases);
}
