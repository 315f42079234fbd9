//! One file per command, and what they share.

pub(crate) mod build;
pub(crate) mod check;
pub(crate) mod conformance;
pub(crate) mod devices;
pub(crate) mod manifest;
pub(crate) mod plugins;
pub(crate) mod targets;

use std::sync::Arc;

use chipdock_host::{Category, Error, HostOptions, LogLevel};

use crate::args::GlobalArgs;
use crate::report::{Exit, Failure, Problem, Result};

/// What a host is made with, from the options of every command.
///
/// # Errors
///
/// Exit code 2 for a `--prefer` that is not `KEY=PLUGIN`.
pub(crate) fn host_options(global: &GlobalArgs) -> Result<HostOptions> {
    let prefer = global.prefer.iter().map(|text| {
        let parts = text.split_once('=').filter(|(key, plugin)| !key.is_empty() && !plugin.is_empty());
        parts.map(|(key, plugin)| (key.to_owned(), plugin.to_owned())).ok_or_else(|| {
            Failure::input(format!("--prefer {text}: expected KEY=PLUGIN"))
                .help("as in --prefer device_api.toy=vendor")
        })
    });
    let prefer = prefer.collect::<Result<_>>()?;
    let level_max = if global.verbose { LogLevel::Debug } else { LogLevel::Warning };
    Ok(HostOptions {
        plugin_paths: global.plugins.clone(),
        select: global.select.clone(),
        disable: global.disable.clone(),
        prefer,
        trust: global.allow_path.clone(),
        log: Arc::new(move |level, line| {
            if level <= level_max {
                eprintln!("{}: {line}", level_name(level));
            }
        }),
        ..HostOptions::default()
    })
}

fn level_name(level: LogLevel) -> &'static str {
    match level {
        LogLevel::Error => "error",
        LogLevel::Warning => "warning",
        LogLevel::Info => "info",
        LogLevel::Debug => "debug",
    }
}

/// What the host says, in our shape.
pub(crate) fn failure(error: &Error) -> Failure {
    let exit = match error.category() {
        Category::Work => Exit::Work,
        Category::Input => Exit::Input,
        Category::Plugin => Exit::Plugin,
        Category::NoDevice => Exit::NoDevice,
    };
    let mut problems =
        vec![Problem { what: error.message().to_owned(), place: error.place().to_owned(), mark: None }];
    problems.extend(error.diagnostics().iter().map(|diagnostic| Problem {
        what: diagnostic.to_string(),
        place: String::new(),
        mark: None,
    }));
    Failure { exit, problems, help: error.advice().to_owned() }
}
