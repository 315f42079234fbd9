//! Direct access to a plugin's tables, with a minimal host of the suite's own, so that tests observe the ABI without
//! `chipdock-host` in between.

mod codegen;
mod config;
mod device;
mod env;
mod external;
mod host;
mod kind;
mod launch;
mod loader;
mod map;
mod object;
mod plugin;
mod stream;
mod timer;

pub use codegen::{Chain, Codegen, Delivered, Reported, Request, Section, Step};
pub use config::{Answers, SettingsOf};
pub use device::{Device, NO_HINT, Space, host_end};
pub use env::Lent;
pub use host::{Offer, REFUSED, RawHost};
pub use kind::Kind;
pub use launch::{LaunchRequest, Launches};
pub use loader::{Environment, Loader, Module, RawArtifact, RawSection};
pub use object::Objects;
pub use plugin::{Descriptor, HOOK, Interface, OpenError, Plugin, Role, Table};
pub use stream::Stream;
pub use timer::Mark;
