//! A session of a page, run in a shell.

use std::fmt::Write as _;

use chipdock_test_support::command::{Scratch, built, end};
use chipdock_test_support::sample;

use crate::{Block, Mark, Page, root};

/// Parts what one command printed from what the next one did.
const SEPARATOR: char = '\u{1e}';

/// What a session begins with: a umask under which plugins are not refused for being writable by
/// their group, and ten times the suite's deadlines, because other tests run at the same time.
const PRELUDE: &str = r#"umask 022
chipdock() {
    case "$1 $2" in
        "conformance "*.so) command chipdock "$@" --patience 10 ;;
        *) command chipdock "$@" ;;
    esac
}
"#;

/// What [`PRELUDE`] adds, where the suite repeats it.
const PATIENCE: &str = " --patience 10";

/// Seconds beyond which a command that shows its time is long.
const LONG_S: f64 = 30.0;
/// In how many runs a long command has its turn.
const LONG_ONE_IN: u64 = 4;

/// A command, and what the page shows of it.
#[derive(Clone, Debug)]
pub struct Command {
    /// The line in the page, from 1.
    pub line: usize,
    /// What is typed.
    pub text: String,
    /// What is printed; empty where the page does not show it.
    pub shown: Vec<String>,
}

impl Command {
    /// Whether it runs now: a command that takes a minute beside other tests has its turn in one of
    /// some runs, and in a whole run.
    fn is_taken(&self, page: &Page) -> bool {
        let shown = self.shown.iter().rev().find_map(|line| line.strip_prefix("in ")?.split_once(" s"));
        let is_long = shown.is_some_and(|(time, _)| time.parse().is_ok_and(|time: f64| time > LONG_S));
        !is_long || sample::has_turn(&format!("`{}` of {}", self.text, page.name), LONG_ONE_IN)
    }
}

/// What became of a command.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Both streams.
    pub printed: Vec<String>,
    /// The exit code.
    pub code: i32,
}

/// The commands of a block.
#[must_use]
pub fn commands(block: &Block) -> Vec<Command> {
    let mut commands: Vec<Command> = Vec::new();
    let mut is_open = false;
    for (index, line) in block.lines.iter().enumerate() {
        match (line.strip_prefix("$ "), commands.last_mut()) {
            (None, Some(last)) if is_open => {
                last.text.push('\n');
                last.text.push_str(line);
                is_open = line.ends_with('\\');
            }
            (Some(text), _) => {
                let line = block.line + 1 + index;
                commands.push(Command { line, text: text.to_owned(), shown: Vec::new() });
                is_open = text.ends_with('\\');
            }
            (None, Some(last)) => last.shown.push(line.clone()),
            (None, None) => {}
        }
    }
    commands
}

/// Runs all sessions of a page in one shell, in a folder with what a clone of the repository has
/// after `cargo xtask demo`. A long command is left out where it does not have its turn.
///
/// # Panics
///
/// When the shell ends before its last command.
#[must_use]
pub fn run(page: &Page) -> Vec<(Command, Outcome)> {
    let scratch = Scratch::new();
    for folder in ["examples", "plugin-api"] {
        let from = root().join(folder).canonicalize().expect("a folder of the repository");
        std::os::unix::fs::symlink(from, scratch.path(folder)).expect("a link");
    }
    std::fs::create_dir_all(scratch.path("target/debug")).expect("a folder");
    std::os::unix::fs::symlink(&built().plugins, scratch.path("target/debug/plugins")).expect("a link");
    let mut script = String::from(PRELUDE);
    let mut all = Vec::new();
    for block in &page.blocks {
        match &block.mark {
            Some(Mark::SavedAs(name)) => {
                scratch.write(name, block.lines.join("\n") + "\n");
            }
            None if block.language == "console" => {
                for command in commands(block).into_iter().filter(|command| command.is_taken(page)) {
                    let _ = writeln!(
                        script,
                        "{{ {}\n}} 2>&1 </dev/null; s=$?; printf '{SEPARATOR}%d{SEPARATOR}' $s; (exit $s)",
                        command.text
                    );
                    all.push(command);
                }
            }
            _ => {}
        }
    }
    let mut shell = std::process::Command::new("bash");
    shell.args(["--norc", "-c", &script]).current_dir(scratch.path("."));
    for (name, value) in scratch.command("").get_envs() {
        match value {
            Some(value) => shell.env(name, value),
            None => shell.env_remove(name),
        };
    }
    // As a reader has it, who has set no variable: the cache is in the user's cache folder.
    shell.env_remove("CHIPDOCK_CACHE_DIR").env("XDG_CACHE_HOME", scratch.path("cache"));
    let folder = built().command.parent().map(|folder| folder.display().to_string()).unwrap_or_default();
    let path = std::env::var("PATH").unwrap_or_default();
    let ended = end(shell.env("PATH", format!("{folder}:{path}")));
    let mut parts = ended.stdout.split(SEPARATOR);
    let outcome = |command: Command| {
        let printed = parts.next().unwrap_or_default().replace(PATIENCE, "");
        let printed = printed.lines().map(str::to_owned).collect();
        let code = parts.next().and_then(|code| code.parse().ok());
        let code = code.unwrap_or_else(|| unended(page, &command, &ended.stderr));
        (command, Outcome { printed, code })
    };
    all.into_iter().map(outcome).collect()
}

fn unended(page: &Page, command: &Command, stderr: &str) -> i32 {
    panic!("{}:{}: the shell ended at `{}`: {stderr}", page.name, command.line, command.text)
}
