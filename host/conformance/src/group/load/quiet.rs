//! Opening, `init` and `shutdown` leave the process unchanged (P1.11, P1.12, P10.3, P10.8).
//!
//! Each worker observes the three steps once, on a fresh copy of the library, and one case checks
//! each step and part.

use std::rc::Rc;

use chipdock_raw_host::Plugin;

use super::session::{Session, call_everything, fresh_copy, refusal};
use super::state::{State, StatePart, printed};
use crate::group::image::is_of_the_system;
use crate::stop::ensure;
use crate::{Cases, Context, Group, Subject, Verdict, hosts};

/// Observed step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Opening,
    Init,
    Shutdown,
}

/// Result of a step, with the process state before and after it.
struct Watched {
    before: State,
    after: State,
    printed: String,
}

/// Observations of all three steps.
struct Life {
    opening: Watched,
    init: Watched,
    shutdown: Watched,
}

pub(super) fn add(cases: &mut Cases) {
    for (step, word) in [(Step::Opening, "opening"), (Step::Init, "init"), (Step::Shutdown, "shutdown")] {
        for (part, name) in [
            (StatePart::Threads, "starts-no-thread"),
            (StatePart::Files, "opens-no-file"),
            (StatePart::Settings, "changes-no-setting"),
            (StatePart::Libraries, "opens-no-library"),
            (StatePart::Output, "prints-nothing"),
        ] {
            let clause = match (step, part) {
                (Step::Opening, StatePart::Libraries) => "P1.12",
                (Step::Opening, _) => "P1.11",
                (Step::Init, StatePart::Threads | StatePart::Libraries) => "P10.3",
                (Step::Init | Step::Shutdown, _) => "P10.8",
            };
            let draft = cases.case(Group::Load, format!("{word}/{name}"), clause, Subject::Plugin);
            // A process of its own, because earlier cases may have caused the plugin's one-time
            // changes and openings.
            let is_once = matches!(part, StatePart::Settings | StatePart::Libraries);
            let draft = if is_once { draft.ends_process() } else { draft };
            draft.run(move |c| leaves_alone(c, step, word, part));
        }
    }
    let draft = cases.case(Group::Load, "calls/leave-the-thread-as-it-was", "P10.10", Subject::Plugin);
    draft.run(calls_leave_the_thread);
}

fn watch<T>(body: impl FnOnce() -> Verdict<T>) -> Verdict<(T, Watched)> {
    let before = State::now();
    let (result, printed) = printed(body)?;
    let after = State::now();
    Ok((result?, Watched { before, after, printed }))
}

fn life(c: &Context) -> Verdict<Rc<Life>> {
    c.cached("load/life", || {
        let copy = fresh_copy(c)?;
        let (raw, opening) = watch(|| Plugin::entry(&copy).map_err(|error| refusal(&error)))?;
        Plugin::check(raw).map_err(|error| refusal(&error))?;
        let (session, init) = watch(|| Session::open(raw, hosts::host()))?;
        let ((), shutdown) = watch(|| session.shut_down())?;
        Ok(Life { opening, init, shutdown })
    })
}

fn leaves_alone(c: &Context, step: Step, word: &str, part: StatePart) -> Verdict {
    let life = life(c)?;
    let watched = match step {
        Step::Opening => &life.opening,
        Step::Init => &life.init,
        Step::Shutdown => &life.shutdown,
    };
    if part == StatePart::Output {
        let expected = format!("{word}: nothing is printed; a host's `log` takes what has to be said");
        return ensure(watched.printed.is_empty(), expected, format!("{:?}", watched.printed));
    }
    let mut changes = watched.after.changes(&watched.before, part);
    if part == StatePart::Libraries && step == Step::Opening {
        // The library itself, and the system libraries that it depends on, are expected.
        let own = c.library().file_name().unwrap_or_default().to_string_lossy().into_owned();
        let file = |change: &str| {
            let path = change.trim_end_matches(" was opened");
            path.rsplit('/').next().unwrap_or_default().to_owned()
        };
        changes.retain(|change| file(change) != own && !is_of_the_system(&file(change)));
    }
    let expected = format!("{word} leaves the process as it was");
    ensure(changes.is_empty(), expected, changes.join("; "))
        .map_err(|stop| stop.note("what a device or a driver needs is done when it is first used"))
}

fn calls_leave_the_thread(c: &Context) -> Verdict {
    /// State that no call may change. The first call may open a driver, which may install signal
    /// handlers.
    const OF_THE_THREAD: &[&str] = &["floating-point mode", "locale", "working folder", "Umask", "SigBlk"];
    let plugin = c.plugin()?;
    let before = State::now();
    drop(call_everything(plugin));
    let between = State::now();
    drop(call_everything(plugin));
    let mut changes = between.changes(&before, StatePart::Settings);
    changes.retain(|change| OF_THE_THREAD.iter().any(|word| change.starts_with(word)));
    changes.extend(State::now().changes(&between, StatePart::Settings));
    let expected = "every call leaves signals, environment, folder and modes as they were";
    ensure(changes.is_empty(), expected, changes.join("; "))
}
