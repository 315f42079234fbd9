//! The command `chipdock`.
//!
//! Rules that scripts rely on and tests cite:
//!
//! * **CLI-C1 Streams.** Standard output gets results and nothing else; errors and progress go to
//!   standard error, and so does what plugins, and programs that they run, print to either. A
//!   reader that goes away is no error. A result that cannot be written otherwise, for instance
//!   because standard output was closed from the start, is exit code 1.
//! * **CLI-C2 Exit codes.** 0 done; 1 the work failed; 2 wrong usage or input; 3 a plugin, or
//!   something that it needs, is missing or refused; 4 no device. What a plugin does wrong is 3,
//!   never 2. A message that cannot be written changes no exit code. `plugins` with a bad file
//!   among them is still 0. `conformance` has more: 5 a crash or a hang, 6 expectations that no
//!   longer hold, 7 the suite's own fault; its report is a result with each of them.
//! * **CLI-C3 Errors.** One shape: `error: what`, `  --> where`, the line with a mark where there
//!   is one, `  help: what to do`.
//! * **CLI-C4 JSON.** With `--json` a result is one JSON object whose `schema` is
//!   `chipdock.<command>/<version>`. Fields are added within a version, never changed or removed.
//!   Each has a JSON Schema; `host/cli/schemas/README.md` has the table of them, and what may
//!   change.
//! * **CLI-C5 Files.** A file is written whole or not at all, and no other is left beside it,
//!   whatever ends the command; the outputs of a run are written when all of them can be, after all
//!   inputs were read: an output may go where an input came from. An input may be a pipe, of which
//!   is read what its header announces.
//! * **CLI-C6 Light.** `plugins` without `--check` opens no plugin. `devices` and `targets` open
//!   those that they ask whether what they bring can be used here, each in a process of its own.
//! * **CLI-C7 Binding.** A buffer without `--in` starts as zeros. A bare symbol is bound by `--set`
//!   or the first input that has it; compound sizes are worked out, never solved; a conflict is an
//!   error. Scalar parameters come by `--set`, read as the declared type. A bfloat16 buffer takes
//!   and gives `uint16` bits.
//! * **CLI-C8 Destinations.** Where a file goes is found out before any plugin is opened, links
//!   followed, and its folder is held from then on: no plugin moves it. Two results for one file or
//!   one stream, whatever names lead there, are wrong usage; `/dev/null` excepted. A file that goes
//!   to standard output is the result, and nothing else is printed there.
//! * **CLI-C9 Text from elsewhere.** What plugins, manifests, drivers, kernels and file names say
//!   reaches a terminal, or a page, only as [`chipdock_host::shown`] spells it, and never at the
//!   beginning of a line where `error:`, `help:` or `-->` of ours would stand. An error or a
//!   warning of a plugin begins with `plugin "NAME" says:`, in JSON too; one that compiled code
//!   raises, with `function "NAME" says:`. JSON has all of it, escaped. Output such as generated
//!   source is written byte for byte, except to a terminal.
//! * **CLI-C10 Raised privileges.** With more privileges than the user who started it has, the
//!   command refuses, with exit code 3 and before it reads a file, everything that opens plugins or
//!   writes. `plugins`, without options, lists the system's folders; help and version are printed.
//! * **CLI-C11 No silent end.** A signal still ends the command, after a message that names it and
//!   what ran: the plugin, the compiled function or the library in which the address lies (BLAME-B1
//!   to BLAME-B4), and the plugin that was being called, whichever signal it is but SIGKILL and
//!   those that it was started to ignore; a file that grows past its limit (SIGXFSZ) is an error of
//!   that file. An `exit` inside of a plugin ends it with code 3. With `--isolate` both are errors
//!   of `run` and `build` with code 3, and so are `_exit` and a hang past `--deadline`; nothing is
//!   written then.
//! * **CLI-C12 Cache.** `build` and `run` take an earlier result of the compilation where none of
//!   its inputs has changed, unless `--no-cache` is given: results are the same but for times and
//!   the field `cached`. No state of the cache fails them. `cache` opens no plugin, and removes
//!   only files of caches.
//! * **CLI-C13 Seeing.** `--verbose` of `build` and `run` shows at the end, on standard error, the
//!   phases of the work with their times, and after each pass the size of the module.
//!   `--trace FILE` writes spans and log ([`chipdock_host::trace`], and `command`, `read`, `round`
//!   and `outputs` of the command) in Chrome's format. The file can be read whatever ends the
//!   command: it is written as the work goes on (CLI-C5 and `--isolate` do not hold it back). It
//!   replaces an older trace and no other file. Neither changes a result or an exit code.
//! * **CLI-C14 Built files.** Where a kernel file stands, `run` takes a file that `build` wrote as
//!   well, which its contents say, not its name; what it was built for decides where it runs, and
//!   options for compiling together with it are wrong usage. `inspect` shows what such a file
//!   holds; it opens no plugin and runs no code of the file.
//! * **CLI-C15 Its own end.** `run`, `build`, `inspect` and `manifest` end at once after their
//!   outputs and messages, with their own exit code: plugins were shut down, and nothing that their
//!   libraries do at the end of a process is waited for. A process that a plugin or a kernel forks,
//!   and that comes back as if it were the command, ends in silence.
//!
//! # Where is what
//!
//! | Module | Content |
//! |---|---|
//! | `args`, `command` | the command line; a file for each command, `run` and `compile` beside them |
//! | `kernel`, `built`, `npy`, `destination` | files that are read and written |
//! | `isolate`, `supervised`, `blame` | children, deadlines, and who is named when a process ends |
//! | `report`, `output`, `table`, `progress`, `trace`, `streams` | what a person or a script sees |

mod args;
mod blame;
mod built;
mod command;
mod compile;
mod destination;
mod isolate;
mod kernel;
mod npy;
mod output;
mod progress;
mod report;
mod run;
mod streams;
mod supervised;
mod table;
mod trace;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use chipdock_plugin_api::process::has_raised_privileges;
use chipdock_supervise::leave_printed;
use clap::{CommandFactory as _, Parser as _};

use args::{BuildArgs, Cli, ColorChoice, Command, GlobalArgs, RunArgs};
use report::{Exit, Failure, Result};

/// Whether this process is a child of the command: the names of their subcommands begin alike.
fn is_child() -> bool {
    std::env::args_os().nth(1).is_some_and(|word| word.as_encoded_bytes().starts_with(b"__"))
}

fn main() -> ExitCode {
    chipdock_supervise::make_file_limit_an_error();
    if let Err(failure) = streams::take() {
        return finish(Err(failure), color_of_arguments());
    }
    // Before anything that may run out of memory. The end of a child is reported by its supervisor.
    let _own_end = (!is_child()).then(supervised::speak_for_myself);
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return usage(&error),
    };
    let global = match cli.command.global() {
        Some(inner) => cli.global.clone().merged(inner),
        None => cli.global.clone(),
    };
    let opens_plugins = opens_plugins_here(&cli.command);
    let result = dispatch(cli.command, &global);
    let exit = result.as_ref().map_or_else(|failure| failure.exit as i32, |_| 0);
    let code = finish(result, global.color());
    if opens_plugins {
        // CLI-C15: the destructors of their libraries could still crash or hang, or give it another
        // code.
        leave_printed(exit);
    }
    code
}

/// Returns true for a command that opens plugins in this process, and whose only codes are those of
/// failures.
fn opens_plugins_here(command: &Command) -> bool {
    match command {
        Command::Run(args) => !args.isolate.is_wanted(),
        Command::Build(args) => !args.isolate.is_wanted(),
        Command::Manifest(_) | Command::Inspect(_) => true,
        _ => false,
    }
}

/// Checks rule CLI-C10.
fn check_privileges(command: &Command, global: &GlobalArgs) -> Result<()> {
    let opens_nothing = match command {
        Command::Help(_) => true,
        Command::Plugins(args) => !args.check && args.lock.is_none() && global.locked.is_none(),
        _ => false,
    };
    if opens_nothing || !has_raised_privileges() {
        return Ok(());
    }
    let what = "this command does not work with more privileges than whoever started it has (set-uid, set-gid, file \
                capabilities): plugins and compilers would have them too";
    Err(Failure::new(Exit::Plugin, what)
        .help("use a copy of it without them; chipdock plugins, without more, lists the system's plugins"))
}

/// Does the work of `--isolate`; returns the exit code of the given command line.
fn isolated(words: Vec<OsString>) -> u8 {
    let words = std::iter::once(OsString::from("chipdock")).chain(words);
    let (result, color) = match Cli::try_parse_from(words) {
        Ok(Cli { global, command: Command::Run(args) }) => {
            let global = global.merged(&args.global);
            (run_observed(&args, &global), global.color())
        }
        Ok(Cli { global, command: Command::Build(args) }) => {
            let global = global.merged(&args.global);
            (build_observed(&args, &global), global.color())
        }
        _ => (Err(Failure::input("only run and build can be isolated")), ColorChoice::Auto),
    };
    match result {
        Ok(()) => 0,
        Err(failure) => {
            streams::say(&failure.render(report::use_color(color, report::is_watched())));
            failure.exit as u8
        }
    }
}

fn dispatch(command: Command, global: &GlobalArgs) -> Result<ExitCode> {
    check_privileges(&command, global)?;
    let done = |result: Result<()>| result.map(|()| ExitCode::SUCCESS);
    match command {
        Command::Plugins(args) => done(command::plugins::run(&args, global)),
        Command::Devices(args) => done(command::devices::run(&args, global)),
        Command::Targets(args) => done(command::targets::run(&args, global)),
        Command::Build(args) if args.isolate.is_wanted() => {
            let files = command::build::output_files(&args);
            let files: Vec<&Path> = files.iter().map(PathBuf::as_path).collect();
            isolate::run(&args.isolate, &files)
        }
        Command::Run(args) if args.isolate.is_wanted() => {
            let files = run::output_files(&args)?;
            let files: Vec<&Path> = files.iter().map(PathBuf::as_path).collect();
            isolate::run(&args.isolate, &files)
        }
        Command::Build(args) => done(build_observed(&args, global)),
        Command::Run(args) => done(run_observed(&args, global)),
        Command::Inspect(args) => done(command::inspect::run(&args, global)),
        Command::Cache(args) => done(command::cache::run(&args, global)),
        Command::Conformance(args) => command::conformance::run(&args, global),
        Command::ConformanceWorker(args) => done(command::conformance::worker(&args)),
        Command::Manifest(args) => done(command::manifest::run(&args, global)),
        Command::CheckChild(args) => done(command::check::child(&args)),
        Command::AskChild(args) => done(command::ask::child(&args, global)),
        Command::Isolated(args) => isolate::child(args.watched, || isolated(args.words)),
        Command::Help(args) => done(help(args.command.as_deref())),
    }
}

/// Runs `build`, with the output of `--verbose` and `--trace`.
fn build_observed(args: &BuildArgs, global: &GlobalArgs) -> Result<()> {
    let outputs = command::build::output_files(args);
    let outputs: Vec<&Path> = outputs.iter().map(PathBuf::as_path).collect();
    trace::observed("build", args.trace.as_deref(), &outputs, global, || command::build::run(args, global))
}

/// Runs `run`, with the output of `--verbose` and `--trace`.
fn run_observed(args: &RunArgs, global: &GlobalArgs) -> Result<()> {
    let outputs = run::output_files(args)?;
    let outputs: Vec<&Path> = outputs.iter().map(PathBuf::as_path).collect();
    trace::observed("run", args.trace.as_deref(), &outputs, global, || run::run(args, global))
}

fn finish(result: Result<ExitCode>, color: ColorChoice) -> ExitCode {
    match result {
        Ok(code) => code,
        Err(failure) => {
            streams::say(&failure.render(report::use_color(color, report::is_watched())));
            ExitCode::from(failure.exit as u8)
        }
    }
}

fn help(name: Option<&str>) -> Result<()> {
    let mut root = Cli::command();
    root.build();
    let page = match name {
        None => root.render_help(),
        Some(name) => {
            let known: Vec<String> = root
                .get_subcommands()
                .filter(|command| !command.is_hide_set())
                .map(|command| command.get_name().to_owned())
                .collect();
            let unknown = || {
                Failure::input(format!("no command \"{name}\"; expected one of {}", report::quoted(&known)))
            };
            root.find_subcommand_mut(name).ok_or_else(unknown)?.render_help()
        }
    };
    output::print_painted(&page.to_string())
}

/// Prints help or version as a result; everything else as a usage error in the command's form.
fn usage(error: &clap::Error) -> ExitCode {
    let color = color_of_arguments();
    if !error.use_stderr() {
        let text = error.render();
        let colored = report::use_color(color, streams::results_are_watched());
        let text = if colored { text.ansi().to_string() } else { text.to_string() };
        return finish(output::print_painted(&text).map(|()| ExitCode::SUCCESS), color);
    }
    if error.kind() == clap::error::ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        let failure = Failure::input("no command is given").help("run chipdock --help");
        return finish(Err(failure), color);
    }
    let text = error.render().to_string();
    let mut sections = text.split("\n\n");
    let what = sections.next().unwrap_or_default().trim_start_matches("error: ");
    let what: Vec<&str> = what.split_whitespace().collect();
    let (mut tips, mut synopsis) = (Vec::new(), String::new());
    for section in sections.map(str::trim) {
        if let Some(tip) = section.strip_prefix("tip: ") {
            tips.push(tip.replace("\n  tip: ", "; "));
        } else if let Some(line) = section.strip_prefix("Usage: ") {
            synopsis = line.to_owned();
        }
    }
    if tips.is_empty() && !synopsis.is_empty() {
        tips.push(synopsis);
    }
    tips.push("more by --help".to_owned());
    finish(Err(Failure::input(what.join(" ")).help(tips.join("; "))), color)
}

/// Returns the `--color` of a command line that could not be parsed.
fn color_of_arguments() -> ColorChoice {
    let words: Vec<OsString> = std::env::args_os().collect();
    let follows = |word: &str| {
        words.windows(2).any(|pair| pair[0] == "--color" && pair[1] == word)
            || words.contains(&OsString::from(format!("--color={word}")))
    };
    match (follows("always"), follows("never")) {
        (true, _) => ColorChoice::Always,
        (_, true) => ColorChoice::Never,
        _ => ColorChoice::Auto,
    }
}
