//! One file per command, and their common functions.

pub(crate) mod ask;
pub(crate) mod build;
pub(crate) mod cache;
pub(crate) mod check;
pub(crate) mod conformance;
pub(crate) mod devices;
pub(crate) mod inspect;
pub(crate) mod manifest;
pub(crate) mod plugins;
pub(crate) mod targets;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use chipdock_host::discovery::{Candidate, check_against_lock, discover};
use chipdock_host::{Error, Host, HostOptions, LogLevel, PluginLock, ProblemKind};

use crate::args::GlobalArgs;
use crate::destination::Destination;
use crate::report::{Exit, Failure, Problem, Result, labelled};
use crate::streams;

/// Makes the options of a host from the options of every command.
///
/// # Errors
///
/// Exit code 2 for a `--prefer` that is not `KEY=PLUGIN` or a `--config` that is not
/// `PLUGIN.KEY=VALUE`, and for a lock that cannot be read or is malformed.
pub(crate) fn host_options(global: &GlobalArgs) -> Result<HostOptions> {
    let prefer = preferences(global)?;
    let settings = settings(global)?;
    let level_max = if global.verbose { LogLevel::Debug } else { LogLevel::Warning };
    let mut options = HostOptions {
        plugin_paths: global.plugins.clone(),
        select: global.select.clone(),
        disable: global.disable.clone(),
        prefer,
        trust: global.allow_path.clone(),
        settings,
        remember: true,
        log: Arc::new(move |level, line| {
            if level <= level_max {
                streams::say(&labelled(level_name(level), line));
            }
        }),
        ..HostOptions::default()
    };
    options.locked = read_lock(global, &options)?;
    Ok(options)
}

/// Parses `--prefer`.
///
/// # Errors
///
/// Exit code 2 for one that is not `KEY=PLUGIN`.
pub(crate) fn preferences(global: &GlobalArgs) -> Result<Vec<(String, String)>> {
    let one = |text: &String| {
        let parts = text.split_once('=').filter(|(key, plugin)| !key.is_empty() && !plugin.is_empty());
        parts.map(|(key, plugin)| (key.to_owned(), plugin.to_owned())).ok_or_else(|| {
            Failure::input(format!("--prefer {text}: expected KEY=PLUGIN"))
                .help("as in --prefer device_api.toy=vendor")
        })
    };
    global.prefer.iter().map(one).collect()
}

/// Parses `--config`.
///
/// # Errors
///
/// Exit code 2 for one that is not `PLUGIN.KEY=VALUE`.
pub(crate) fn settings(global: &GlobalArgs) -> Result<Vec<(String, String, String)>> {
    let one = |text: &String| {
        let parts = text.split_once('=').and_then(|(name, value)| {
            let (plugin, key) = name.split_once('.')?;
            let is_whole = !plugin.is_empty() && !key.is_empty();
            is_whole.then(|| (plugin.to_owned(), key.to_owned(), value.to_owned()))
        });
        parts.ok_or_else(|| {
            Failure::input(format!("--config {text}: expected PLUGIN.KEY=VALUE"))
                .help("as in --config toy.level=2; chipdock plugins PLUGIN lists the settings of a plugin")
        })
    };
    global.config.iter().map(one).collect()
}

/// Makes the host of a child, without messages about settings, which the parent has written
/// already.
///
/// # Errors
///
/// Those of [`Host::new`].
pub(crate) fn host_of_child(mut options: HostOptions) -> std::result::Result<Host, Error> {
    let is_made = Arc::new(AtomicBool::new(false));
    let (made, log) = (Arc::clone(&is_made), Arc::clone(&options.log));
    options.log = Arc::new(move |level, line| {
        if made.load(Ordering::Relaxed) {
            log(level, line);
        }
    });
    let host = Host::new(options)?;
    is_made.store(true, Ordering::Relaxed);
    Ok(host)
}

fn read_lock(global: &GlobalArgs, options: &HostOptions) -> Result<Option<Arc<PluginLock>>> {
    let read = |path: &PathBuf| PluginLock::read(path, options).map(Arc::new);
    global.locked.as_ref().map(read).transpose().map_err(|error| failure(&error))
}

/// Refuses libraries that are opened because they are named, not because a search found them: those
/// that others could have written, and with `--locked` those that the lock does not pin as they
/// are. Other problems are found by opening them.
///
/// # Errors
///
/// Exit code 3 with the first of them; 2 for a lock that cannot be read or is malformed.
pub(crate) fn check_named(libraries: &[&Path], global: &GlobalArgs) -> Result<()> {
    let mut options = HostOptions {
        plugin_paths: libraries.iter().map(|path| path.to_path_buf()).collect(),
        trust: global.allow_path.clone(),
        ..HostOptions::isolated()
    };
    options.locked = read_lock(global, &options)?;
    let mut discovery = discover(&options).map_err(|error| failure(&error))?;
    if let Some(lock) = &options.locked {
        check_against_lock(&mut discovery, lock);
    }
    let refused = |candidate: &Candidate| {
        let problem = candidate.problem.as_ref()?;
        let is_refused = match problem.kind {
            ProblemKind::Untrusted | ProblemKind::NotLocked => true,
            // A shadowed plugin is not used; for other problems the lock was not consulted.
            kind => options.locked.is_some() && kind != ProblemKind::Shadowed,
        };
        is_refused.then(|| failure(&problem.to_error(&candidate.name)).in_file(&candidate.library))
    };
    discovery.candidates.iter().find_map(refused).map_or(Ok(()), Err)
}

/// Refuses to go on without a plugin whose file `--plugin` names: another of its name might do the
/// work unnoticed. Plugins that the user excluded by another option, or named before, are left as
/// they are.
///
/// # Errors
///
/// Exit code 3 with the reason why the first of them is not used.
pub(crate) fn check_named_are_used(host: &Host, global: &GlobalArgs) -> Result<()> {
    let is_named = |library: &Path| {
        let mut files = global.plugins.iter().filter(|path| !path.is_dir());
        files.any(|path| path == library || Path::new(".").join(path) == library)
    };
    let refused = host.plugins().into_iter().find_map(|report| {
        let problem = report.problem?;
        let by_choice = [ProblemKind::Disabled, ProblemKind::NotSelected, ProblemKind::Shadowed];
        let is_refused = !by_choice.contains(&problem.kind) && is_named(&report.library);
        is_refused.then(|| failure(&problem.to_error(&report.name)).in_file(&report.library))
    });
    refused.map_or(Ok(()), |failed| Err(Failure { exit: Exit::Plugin, ..failed }))
}

fn level_name(level: LogLevel) -> &'static str {
    match level {
        // Not "error": that word introduces the reason why a command failed.
        LogLevel::Error => "fault",
        LogLevel::Warning => "warning",
        LogLevel::Info => "info",
        LogLevel::Debug => "debug",
    }
}

/// Refuses JSON on the stream that a file is to go to.
///
/// # Errors
///
/// Exit code 2.
pub(crate) fn alone_on_standard_output<'a>(
    destinations: impl IntoIterator<Item = &'a Destination>,
    global: &GlobalArgs,
) -> Result<()> {
    if global.json && destinations.into_iter().any(Destination::is_standard_output) {
        return Err(Failure::input("--json and a file both go to standard output")
            .help("give the file a name, or leave --json out"));
    }
    Ok(())
}

/// Turns an error of the host into a failure where the user's input is not in question: an error
/// that blames the caller came from a plugin all the same, and is its fault (CLI-C2).
pub(crate) fn plugin_failure(error: &Error) -> Failure {
    let failed = failure(error);
    if failed.exit == Exit::Input { Failure { exit: Exit::Plugin, ..failed } } else { failed }
}

/// Turns an error of the host into a failure during the work: checked input that is refused now is
/// a failure of the work.
pub(crate) fn work_failure(error: &Error) -> Failure {
    let failed = failure(error);
    if failed.exit == Exit::Input { Failure { exit: Exit::Work, ..failed } } else { failed }
}

/// Returns how many children run at once: more than there are processors, as one that hangs or
/// waits for a driver uses none.
pub(crate) fn children_at_once() -> usize {
    /// Number that still starts quickly.
    const MAX: usize = 32;
    std::thread::available_parallelism().map_or(4, |n| usize::from(n).saturating_mul(4)).min(MAX)
}

/// Returns a text of a plugin that stands on a line of ours: it begins with whose words it is
/// (CLI-C9).
pub(crate) fn said_by(plugin: &str, text: &str) -> String {
    format!("plugin \"{plugin}\" says: {text}")
}

/// Turns an error of the host into a failure of the command.
pub(crate) fn failure(error: &Error) -> Failure {
    let exit = Exit::of(error);
    let mut problems =
        vec![Problem { what: error.message().to_owned(), place: error.place().to_owned(), mark: None }];
    let what = |text: String| error.speaker().map_or(text.clone(), |plugin| said_by(plugin, &text));
    problems.extend(error.diagnostics().iter().map(|diagnostic| Problem {
        what: what(diagnostic.to_string()),
        place: String::new(),
        mark: None,
    }));
    Failure { exit, problems, help: error.advice().to_owned() }
}

#[cfg(test)]
mod tests {
    use chipdock_host::{ErrorKind, Subject};

    use super::*;

    #[test]
    fn cli_c2_whose_fault_it_is_says_the_exit_code() {
        use Exit::{Input, Plugin, Work};
        // Kind; where the user's words are in question; where a plugin alone is asked; where the
        // work is done.
        for (kind, asked, opened, worked) in [
            (ErrorKind::Value, Input, Plugin, Work),
            (ErrorKind::Type, Input, Plugin, Work),
            (ErrorKind::Index, Input, Plugin, Work),
            (ErrorKind::NotFound, Input, Plugin, Work),
            (ErrorKind::Unsupported, Input, Plugin, Work),
            (ErrorKind::WrongState, Input, Plugin, Work),
            (ErrorKind::Unavailable, Plugin, Plugin, Plugin),
            (ErrorKind::BrokenPlugin, Plugin, Plugin, Plugin),
            (ErrorKind::Panic, Plugin, Plugin, Plugin),
            (ErrorKind::OutOfMemory, Work, Work, Work),
            (ErrorKind::DeviceLost, Work, Work, Work),
            (ErrorKind::Io, Work, Work, Work),
            (ErrorKind::Cancelled, Work, Work, Work),
            (ErrorKind::Internal, Work, Work, Work),
            (ErrorKind::Runtime, Work, Work, Work),
            (ErrorKind::new("Timeout"), Work, Work, Work),
        ] {
            let error = Error::new(kind.clone(), "it broke");
            let exits = [failure(&error), plugin_failure(&error), work_failure(&error)];
            assert_eq!(exits.map(|failed| failed.exit), [asked, opened, worked], "{kind:?}");
            for (subject, exits) in [
                (Subject::NamedFile, [Input, Plugin, Work]),
                (Subject::Plugin, [Plugin; 3]),
                (Subject::Device, [Exit::NoDevice; 3]),
            ] {
                let error = error.clone().about(subject);
                let found = [failure(&error), plugin_failure(&error), work_failure(&error)];
                assert_eq!(found.map(|failed| failed.exit), exits, "{kind:?} about {subject:?}");
            }
        }
    }
}
