//! Streams and synchronisation.

mod between;
pub(super) mod external;
mod graph;
mod inject;
pub(super) mod kernel;
mod life;
mod order;
pub(super) mod play;
mod timeline;
mod timer;

pub(super) use inject::NAMES as HOOKS;

use crate::Cases;

pub(super) fn add(cases: &mut Cases) {
    life::add(cases);
    order::add(cases);
    between::add(cases);
    kernel::add(cases);
    inject::add(cases);
    timer::add(cases);
    timeline::add(cases);
    external::add(cases);
    graph::add(cases);
}
