//! What crosses to plugins and back: tables, values, loans, sessions, guards.
//!
//! The table on the crate's front page says what each module does, with its rules.

pub(crate) mod attest;
pub mod calling;
pub(crate) mod extension;
pub(crate) mod guard;
pub(crate) mod host_calls;
mod host_table;
pub(crate) mod instance;
pub(crate) mod interfaces;
pub(crate) mod lent;
pub(crate) mod plugin_call;
pub(crate) mod plugin_table;
pub(crate) mod registrar;
pub(crate) mod services;
pub(crate) mod session;
pub(crate) mod slots;
pub mod values;
