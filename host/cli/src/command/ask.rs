//! Asks plugins in children, for `devices` and `targets`: a plugin that crashes, hangs or ends its
//! process is a row with the reason, and the others are unharmed.
//!
//! * **ASK-A1** Keys that the same plugins provide are asked for in one child, all children at
//!   once. A plugin that provides none of the keys is not opened, and needs no child. A library
//!   without a manifest reveals its keys only when it is open: it has a child of its own, which
//!   answers for the keys that it registers and no manifest lists. A key that several of them
//!   register is disputed.
//! * **ASK-A2** A child has a host with the same options as this one, so its answers are this
//!   one's.
//! * **ASK-A3** A key that opens no plugin is answered by this process: one that no plugin
//!   provides, such as host memory, and one that several dispute. The host's own registration is
//!   also asked here when the plugin that provides the key failed, so that it is available all the
//!   same.
//! * **ASK-A4** A refused plugin is a row for each key that it would provide, with the reason; one
//!   whose manifest was not read is a row under its own name, unless another of that name is used.
//!   A plugin that the user left out is no row.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::time::Duration;

use chipdock_host::{
    Error, Host, HostOptions, LogLevel, PluginReport, PluginState, ProblemKind, name_in_key,
};
use chipdock_supervise::in_order;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{children_at_once, failure, host_of_child, host_options};
use crate::args::{AskChildArgs, GlobalArgs};
use crate::blame::Whose;
use crate::progress::Progress;
use crate::report::{Failure, Result, quoted};
use crate::streams;
use crate::supervised::{self, Fault};

/// The hidden command.
pub(crate) const CHILD: &str = "__ask";
/// Greatest size of a child's answer.
const ANSWER_BYTES_MAX: usize = 32 << 20;

/// Reason why a requested key is missing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Lack {
    /// The kind of the host's error.
    pub(crate) kind: String,
    pub(crate) message: String,
    /// Advice on what to do; empty when there is none.
    pub(crate) help: String,
}

impl From<&Error> for Lack {
    fn from(error: &Error) -> Self {
        let text = ToString::to_string;
        Self { kind: text(error.kind().as_str()), message: text(error.message()), help: text(error.advice()) }
    }
}

impl From<&Fault> for Lack {
    fn from(fault: &Fault) -> Self {
        let help = "report it to the maintainer of the plugin; --disable leaves it out";
        Self { kind: "BrokenPlugin".to_owned(), message: fault.message.clone(), help: help.to_owned() }
    }
}

impl Lack {
    pub(crate) fn to_json(&self) -> Value {
        json!({"kind": self.kind, "message": self.message, "help": self.help})
    }

    /// Returns the reason in one line.
    pub(crate) fn line(&self) -> String {
        if self.help.is_empty() { self.message.clone() } else { format!("{}; {}", self.message, self.help) }
    }
}

/// Answer for a key.
pub(crate) type Found<T> = std::result::Result<T, Lack>;

/// A key with its answer.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Row<T> {
    /// Part of the key after its prefix.
    pub(crate) name: String,
    /// The plugins that provide it, in the order of the search.
    pub(crate) plugins: Vec<String>,
    pub(crate) found: Found<T>,
}

/// Plugins whose child gave no answer.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Failed {
    /// Names of the plugins that were asked.
    pub(crate) asked: Vec<String>,
    #[serde(flatten)]
    pub(crate) fault: Fault,
}

/// A question to plugins: its keys, and how a host answers it.
pub(crate) trait Question: Sync {
    /// Prefix of the keys.
    const PREFIX: &'static str;
    /// Word of the hidden command.
    const WORD: &'static str;
    /// Answer for one key.
    type Answer: Serialize + DeserializeOwned + Send;

    /// Asks a host for the answer of a key.
    fn ask(host: &Host, name: &str) -> std::result::Result<Self::Answer, Error>;
}

/// All answers, by key.
pub(crate) struct Answers<T> {
    pub(crate) rows: Vec<Row<T>>,
    pub(crate) failed: Vec<Failed>,
}

/// Question to one child.
struct Group {
    plugins: Vec<String>,
    wanted: Wanted,
}

enum Wanted {
    /// Names after the prefix that the same plugins provide.
    Names(Vec<String>),
    /// All keys of a plugin without a manifest.
    Unlisted,
}

/// A child's answer: a row for each name that was asked for, or found.
type Replies<T> = Vec<(String, Found<T>)>;

/// Asks for every key of that kind.
///
/// # Errors
///
/// Exit code 2 for malformed options. A problem of a plugin is in its row.
pub(crate) fn ask_all<Q: Question>(global: &GlobalArgs, deadline: Duration) -> Result<Answers<Q::Answer>> {
    let options = host_options(global)?;
    let (prefer, log) = (options.prefer.clone(), std::sync::Arc::clone(&options.log));
    let host = Host::new(options).map_err(|error| failure(&error))?;
    let is_preferred = prefer.iter().any(|(key, _)| key.starts_with(Q::PREFIX))
        || std::env::var_os("CHIPDOCK_PLUGINS_PREFER").is_some();
    let mut groups: BTreeMap<Vec<String>, Vec<String>> = BTreeMap::new();
    let mut all = Answers { rows: Vec::new(), failed: Vec::new() };
    let mut refused: Vec<Row<Q::Answer>> = Vec::new();
    for report in host.keys() {
        let Some(name) = name_in_key(&report.key, Q::PREFIX) else { continue };
        if let Some(refusal) = host.refusal(&report.key) {
            let found = Err(Lack::from(&refusal));
            refused.push(Row { name: name.to_owned(), plugins: report.refused, found });
            continue;
        }
        let is_own = report.plugins.iter().all(|plugin| plugin == chipdock_host::HOST_PLUGIN);
        let dispute = host.dispute(&report.key);
        if dispute.is_none() && (!is_own || is_preferred) {
            let plugins = report.plugins.into_iter().filter(|plugin| plugin != chipdock_host::HOST_PLUGIN);
            groups.entry(plugins.collect()).or_default().push(name.to_owned());
            continue;
        }
        let found = Q::ask(&host, name);
        if let (Err(_), Some(dispute)) = (&found, &dispute) {
            log(LogLevel::Warning, &dispute.to_string());
        }
        let found = found.map_err(|error| Lack::from(&error));
        all.rows.push(Row { name: name.to_owned(), plugins: report.plugins, found });
    }
    let named = groups.into_iter().map(|(plugins, names)| Group { plugins, wanted: Wanted::Names(names) });
    let groups: Vec<Group> = named.chain(unlisted(&host)).collect();
    let answers = {
        let progress = Progress::new(global);
        let ask = |group: Group| {
            progress.step(format!("asking {}", group.plugins.join(", ")));
            let answer = ask_group::<Q>(global, &group, deadline);
            (group, answer)
        };
        in_order(groups, children_at_once(), &ask)
    };
    for (group, answer) in answers {
        all.take(group, answer, Q::PREFIX, &|name| fallback::<Q>(name))?;
    }
    // A library without a manifest may have registered the key of a refused plugin.
    refused.retain(|row| all.rows.iter().all(|other| other.name != row.name));
    all.rows.extend(refused.into_iter().chain(unread(&host)));
    all.rows.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(all)
}

/// Returns the libraries without a manifest that may be opened (ASK-A1).
fn unlisted(host: &Host) -> Vec<Group> {
    let reports = host.plugins().into_iter();
    let closed = reports.filter(|report| report.manifest.is_none() && report.state == PluginState::Listed);
    closed.map(|report| Group { plugins: vec![report.name], wanted: Wanted::Unlisted }).collect()
}

/// Returns a row for each refused plugin whose keys are unknown (ASK-A4).
fn unread<T>(host: &Host) -> Vec<Row<T>> {
    let row = |report: PluginReport| {
        let problem =
            report.problem.filter(|problem| problem.kind.is_unread() && report.version.is_none())?;
        let found = Err(Lack::from(&problem.to_error(&report.name)));
        Some(Row { name: report.name.clone(), plugins: vec![report.name], found })
    };
    let all = host.plugins();
    let is_used = |name: &str| all.iter().any(|other| other.name == name && other.problem.is_none());
    all.iter().filter(|report| !is_used(&report.name)).cloned().filter_map(row).collect()
}

/// Returns the host's own answer, when a plugin that provides the key too failed (ASK-A3).
fn fallback<Q: Question>(name: &str) -> Option<Q::Answer> {
    let host = Host::new(HostOptions::isolated()).ok()?;
    let is_own = host.keys().iter().any(|report| name_in_key(&report.key, Q::PREFIX) == Some(name));
    if is_own { Q::ask(&host, name).ok() } else { None }
}

impl<T> Answers<T> {
    fn take(
        &mut self,
        group: Group,
        answer: std::result::Result<Replies<T>, Fault>,
        prefix: &str,
        fallback: &dyn Fn(&str) -> Option<T>,
    ) -> Result<()> {
        let Group { plugins, wanted } = group;
        match (answer, wanted) {
            (Ok(replies), Wanted::Names(names)) => {
                if !replies.iter().map(|(name, _)| name).eq(&names) {
                    return Err(Failure::work("a child answered what it was not asked"));
                }
                let row = |(name, found)| Row { name, plugins: plugins.clone(), found };
                self.rows.extend(replies.into_iter().map(row));
            }
            (Ok(replies), Wanted::Unlisted) => {
                for (name, found) in replies {
                    self.take_unlisted(Row { name, plugins: plugins.clone(), found }, prefix);
                }
            }
            (Err(fault), wanted) => {
                // A plugin that ended before it listed its keys is a row under its own name.
                let names = if let Wanted::Names(names) = wanted { names } else { vec![plugins.join(", ")] };
                for name in names {
                    if let Some(found) = fallback(&name) {
                        let plugins = vec![chipdock_host::HOST_PLUGIN.to_owned()];
                        self.rows.push(Row { name: name.clone(), plugins, found: Ok(found) });
                    }
                    self.rows.push(Row { name, plugins: plugins.clone(), found: Err(Lack::from(&fault)) });
                }
                self.failed.push(Failed { asked: plugins, fault });
            }
        }
        Ok(())
    }

    /// Adds a key of a library without a manifest; one that another registered too is disputed
    /// (REG-R2 of the host's registry).
    fn take_unlisted(&mut self, row: Row<T>, prefix: &str) {
        let Some(other) = self.rows.iter_mut().find(|other| other.name == row.name) else {
            return self.rows.push(row);
        };
        other.plugins.extend(row.plugins);
        let (key, plugins) = (format!("{prefix}{}", other.name), quoted(&other.plugins));
        let n_plugins = other.plugins.len();
        other.found = Err(Lack {
            kind: "WrongState".to_owned(),
            message: format!("{key} is provided by {n_plugins} plugins, and none is preferred: {plugins}"),
            help: format!("choose one with --prefer {key}={}, or disable the others", other.plugins[0]),
        });
    }
}

fn ask_group<Q: Question>(
    global: &GlobalArgs,
    group: &Group,
    deadline: Duration,
) -> std::result::Result<Replies<Q::Answer>, Fault> {
    let mut arguments: Vec<OsString> = vec![Q::WORD.into()];
    arguments.extend(global.to_arguments());
    match &group.wanted {
        Wanted::Names(names) => {
            arguments.push("--".into());
            arguments.extend(names.iter().map(OsString::from));
        }
        Wanted::Unlisted => {
            arguments.push("--unlisted".into());
            arguments.extend(group.plugins.iter().map(OsString::from));
        }
    }
    let start = supervised::again(CHILD, arguments);
    let start = start.map(|start| start.keep_stderr().line_bytes_max(ANSWER_BYTES_MAX));
    let (report, stderr) = supervised::ask(start, None, Some(deadline))?;
    // Messages of its host, as if they were this one's.
    streams::say(&stderr);
    serde_json::from_slice(&report).map_err(|error| Fault {
        plugin: None,
        call: None,
        outcome: "exited",
        message: format!(
            "the child that asked {} answered what cannot be read: {error}",
            group.plugins.join(", ")
        ),
        whose: Whose::Plugin,
    })
}

/// Runs the child: asks for keys, and reports the answers in their order.
///
/// # Errors
///
/// Exit code 2: this process has no supervisor; 1 when the report cannot be sent.
pub(crate) fn child(args: &AskChildArgs, global: &GlobalArgs) -> Result<()> {
    let (mut inside, _) = supervised::enter()?;
    let host = host_of_child(host_options(global)?).map_err(|error| failure(&error))?;
    let line = match args.what.as_str() {
        super::devices::Devices::WORD => answers::<super::devices::Devices>(&host, args),
        super::devices::Capable::WORD => answers::<super::devices::Capable>(&host, args),
        super::targets::Targets::WORD => answers::<super::targets::Targets>(&host, args),
        other => return Err(Failure::input(format!("nothing is known of {other}"))),
    };
    inside.say(&line).map_err(|error| Failure::work(format!("cannot report: {error}")))?;
    // The answers are sent: neither `shutdown` nor destructors are waited for.
    chipdock_supervise::leave(0)
}

fn answers<Q: Question>(host: &Host, args: &AskChildArgs) -> Vec<u8> {
    let answer = |name: String| {
        let found = Q::ask(host, &name).map_err(|error| Lack::from(&error));
        (name, found)
    };
    let all: Replies<Q::Answer> = match &args.unlisted {
        None => args.names.iter().cloned().map(answer).collect(),
        Some(plugin) => match open_unlisted::<Q>(host, plugin) {
            Ok(names) => names.into_iter().map(answer).collect(),
            Err(lack) => vec![(plugin.clone(), Err(lack))],
        },
    };
    let line = serde_json::to_vec(&all).unwrap_or_default();
    if line.len() + 2 < ANSWER_BYTES_MAX {
        return line;
    }
    let lack = Lack {
        kind: "BrokenPlugin".to_owned(),
        message: format!("its answer has {} bytes; at most {ANSWER_BYTES_MAX} are taken", line.len()),
        help: "report it to the maintainer of the plugin".to_owned(),
    };
    let none: Replies<Q::Answer> = all.into_iter().map(|(name, _)| (name, Err(lack.clone()))).collect();
    serde_json::to_vec(&none).unwrap_or_default()
}

/// Opens a plugin without a manifest; returns the names after the prefix that only it provides.
fn open_unlisted<Q: Question>(host: &Host, plugin: &str) -> Found<Vec<String>> {
    if let Err(error) = host.open_plugin(plugin) {
        let reports = host.plugins();
        let problem =
            reports.iter().find(|report| report.name == plugin).and_then(|report| report.problem.as_ref());
        // No plugin, or one that the user left out or has already: no row.
        let is_unused = problem
            .is_some_and(|problem| problem.kind.is_left_out() || problem.kind == ProblemKind::NoSymbol);
        return if is_unused { Ok(Vec::new()) } else { Err(Lack::from(&error)) };
    }
    let keys = host.keys().into_iter().filter(|report| report.plugins == [plugin]);
    Ok(keys.filter_map(|report| name_in_key(&report.key, Q::PREFIX).map(str::to_owned)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(names: &[&str]) -> Group {
        let wanted = Wanted::Names(names.iter().map(ToString::to_string).collect());
        Group { plugins: vec!["bad".to_owned()], wanted }
    }

    fn unlisted(plugin: &str) -> Group {
        Group { plugins: vec![plugin.to_owned()], wanted: Wanted::Unlisted }
    }

    fn replies(name: &str, value: i32) -> std::result::Result<Replies<i32>, Fault> {
        Ok(vec![(name.to_owned(), Ok(value))])
    }

    fn killed() -> Fault {
        Fault {
            plugin: None,
            call: None,
            outcome: "killed",
            message: "it hurts".to_owned(),
            whose: Whose::Plugin,
        }
    }

    fn rows(all: &Answers<i32>) -> Vec<(&str, Option<i32>)> {
        all.rows.iter().map(|row| (row.name.as_str(), row.found.as_ref().ok().copied())).collect()
    }

    /// ASK-A1, ASK-A3: a failed child fails all that it was asked, and host memory is there all the
    /// same.
    #[test]
    fn a_failed_child_is_a_row_for_each_name() {
        let mut all = Answers { rows: Vec::new(), failed: Vec::new() };
        all.take(group(&["cpu", "toy"]), Err(killed()), "", &|name| (name == "cpu").then_some(1)).unwrap();
        all.take(group(&["good"]), replies("good", 2), "", &|_| None).unwrap();
        all.take(unlisted("stray"), Err(killed()), "", &|_| None).unwrap();
        let wanted = [("cpu", Some(1)), ("cpu", None), ("toy", None), ("good", Some(2)), ("stray", None)];
        assert_eq!(rows(&all), wanted);
        assert_eq!(all.failed[0].asked, ["bad"]);
        assert!(all.take(group(&["good"]), Ok(Vec::new()), "", &|_| None).is_err());
        assert!(all.take(group(&["good"]), replies("other", 2), "", &|_| None).is_err());
    }

    /// ASK-A1: nobody has what two libraries without manifests register.
    #[test]
    fn a_name_of_several_unlisted_plugins_is_disputed() {
        let mut all = Answers { rows: Vec::new(), failed: Vec::new() };
        for plugin in ["one", "two"] {
            all.take(unlisted(plugin), replies("toy", 1), "device_api.", &|_| None).unwrap();
        }
        all.take(unlisted("two"), replies("own", 2), "device_api.", &|_| None).unwrap();
        assert_eq!(rows(&all), [("toy", None), ("own", Some(2))]);
        let lack = all.rows[0].found.as_ref().unwrap_err();
        assert!(lack.message.starts_with("device_api.toy is provided by 2 plugins"), "{lack:?}");
        assert!(lack.help.contains("--prefer device_api.toy=one"), "{lack:?}");
        assert_eq!(all.rows[0].plugins, ["one", "two"]);
    }
}
