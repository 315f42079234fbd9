//! The command `chipdock`.
//!
//! What scripts rely on, and tests cite:
//!
//! * **C1 Streams.** Standard output gets results and nothing else; errors and progress go to standard error. A reader
//!   that goes away is no error.
//! * **C2 Exit codes.** 0 done; 1 the work failed; 2 wrong usage or input; 3 a plugin, or something that it needs, is
//!   missing or refused; 4 no device. `plugins` beside a bad file is still 0. `conformance` has more: 5 a crash or a hang, 6
//!   expectations that no longer hold, 7 the suite's own fault; its report is a result with each of them.
//! * **C3 Errors.** One shape: `error: what`, `  --> where`, the line with a mark where there is one, `  help: what to
//!   do`.
//! * **C4 JSON.** With `--json` a result is one JSON object whose `schema` is `chipdock.<command>/<version>`. Fields
//!   are added within a version, never changed or removed.
//! * **C5 Files.** A file is written whole or not at all; the outputs of a run are written when all of them can be.
//! * **C6 Light.** `plugins` without `--check` opens no plugin. `devices` and `targets` open those that they ask whether
//!   what they bring can be used here.
//! * **C7 Binding.** A buffer without `--in` starts as zeros. A bare symbol is bound by `--set` or the first input that
//!   has it; compound sizes are worked out, never solved; a conflict is an error. Scalar parameters come by `--set`,
//!   read as the declared type. A bfloat16 buffer takes and gives `uint16` bits.

mod args;
mod command;
mod compile;
mod kernel;
mod npy;
mod output;
mod progress;
mod report;
mod run;
mod table;

use std::io::IsTerminal as _;
use std::process::ExitCode;

use clap::{CommandFactory as _, Parser as _};

use args::{Cli, ColorChoice, Command, GlobalArgs};
use report::{Failure, Result};

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return usage(&error),
    };
    let global = match cli.command.global() {
        Some(inner) => cli.global.clone().merged(inner),
        None => cli.global.clone(),
    };
    finish(dispatch(cli.command, &global), global.color())
}

fn dispatch(command: Command, global: &GlobalArgs) -> Result<ExitCode> {
    let done = |result: Result<()>| result.map(|()| ExitCode::SUCCESS);
    match command {
        Command::Plugins(args) => done(command::plugins::run(&args, global)),
        Command::Devices(_) => done(command::devices::run(global)),
        Command::Targets(args) => done(command::targets::run(&args, global)),
        Command::Build(args) => done(command::build::run(&args, global)),
        Command::Run(args) => done(run::run(&args, global)),
        Command::Conformance(args) => command::conformance::run(&args, global),
        Command::ConformanceWorker(args) => done(command::conformance::worker(&args)),
        Command::Manifest(args) => done(command::manifest::run(&args, global)),
        Command::CheckChild(args) => done(command::check::child(&args)),
        Command::Help(args) => done(help(args.command.as_deref())),
    }
}

fn finish(result: Result<ExitCode>, color: ColorChoice) -> ExitCode {
    match result {
        Ok(code) => code,
        Err(failure) => {
            eprint!("{}", failure.render(report::use_color(color, report::is_watched())));
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
    output::print(&page.to_string())
}

/// Help and version are results; everything else is a usage error in our shape.
fn usage(error: &clap::Error) -> ExitCode {
    let color = color_of_arguments();
    if !error.use_stderr() {
        let text = error.render();
        let colored = report::use_color(color, std::io::stdout().is_terminal());
        let text = if colored { text.ansi().to_string() } else { text.to_string() };
        return finish(output::print(&text).map(|()| ExitCode::SUCCESS), color);
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

/// `--color` of a command line that could not be read.
fn color_of_arguments() -> ColorChoice {
    let words: Vec<String> = std::env::args().collect();
    let follows = |word: &str| {
        words.windows(2).any(|pair| pair[0] == "--color" && pair[1] == word)
            || words.contains(&format!("--color={word}"))
    };
    match (follows("always"), follows("never")) {
        (true, _) => ColorChoice::Always,
        (_, true) => ColorChoice::Never,
        _ => ColorChoice::Auto,
    }
}
