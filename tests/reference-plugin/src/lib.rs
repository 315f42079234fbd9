//! A plugin that keeps every clause of the contract, in software: devices with a memory and streams of their own, and a
//! code generator whose artifacts the reference interpreter runs, functions for threads included.
//!
//! It is what the conformance suite is tested with: as it is it passes at level Full. A mutant is a copy of the library
//! with one fault switched on, see [`fault`].

pub(crate) mod fault;

use chipdock_plugin_api::{Any, AnyView, Error, HostRef, export_plugin, register_function};

export_plugin! { name: "reference" }

register_function!("reference.fault", |_host: HostRef, _args: &[AnyView<'_>]| -> Result<Any, Error> {
    Ok(Any::from(fault::planted()))
});
