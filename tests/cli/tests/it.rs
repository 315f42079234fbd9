//! The tests of the command, in one binary: a binary for each file would take minutes of linking.

mod cli_build;
mod cli_built;
mod cli_cache;
mod cli_config;
mod cli_conformance;
mod cli_devices;
mod cli_disputes;
mod cli_export;
mod cli_isolate;
mod cli_limits;
mod cli_llvm;
mod cli_needs;
mod cli_outputs;
mod cli_plugins;
mod cli_privileges;
mod cli_run;
mod cli_schemas;
mod cli_streams;
mod cli_targets;
mod cli_template;
mod cli_trace;
mod cli_trust;
