//! A forked child after its parent has used the plugin (P10.6).

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::FromRawFd as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use super::made::Made;
use super::shown;
use crate::stop::ensure;
use crate::{Cases, Context, Group, Stop, Subject, Verdict};

/// Time for a child to compile, load and run a small kernel, or to refuse that.
const PATIENCE: Duration = Duration::from_secs(30);
/// Answer of a child that computed.
const COMPUTED: &str = "computed";
/// Beginning of the answer of a child that was refused.
const REFUSED: &str = "WrongState";

pub(super) fn add(cases: &mut Cases) {
    let draft = cases.case(Group::Module, "fork/after-use", "P10.6", Subject::Loader);
    draft.deadline(120).run(after_use);
}

fn after_use(c: &Context<'_>) -> Verdict {
    let made = Made::cached(c)?;
    made.still(c)?;
    let answer = in_child(|| match c.new_host().and_then(|host| made.anew(&host)) {
        Ok(()) => COMPUTED.to_owned(),
        Err(Stop::Failed(failure)) => failure.found,
        Err(stop) => format!("{stop:?}"),
    })?;
    let expected = "the same results with a new host in a forked child, or WrongState at once";
    ensure(answer == COMPUTED || answer.starts_with(REFUSED), expected, shown(&answer))?;
    made.still(c).map_err(|stop| stop.note("in the parent, after its child"))
}

/// Runs `body` in a forked child, and returns its answer, or a description of the child's end where
/// it gave none.
fn in_child(body: impl FnOnce() -> String) -> Verdict<String> {
    let mut ends = [0; 2];
    // SAFETY: room for two descriptors.
    if unsafe { libc::pipe(ends.as_mut_ptr()) } != 0 {
        return Err(Stop::suite(format!("no pipe: {}", std::io::Error::last_os_error())));
    }
    // SAFETY: just made, with no other owner.
    let [mut reader, mut writer] = ends.map(|end| unsafe { File::from_raw_fd(end) });
    // SAFETY: the child does as a user's program does there, and ends without destructors.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let answer = catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|_| "a panic".to_owned());
        // Less than a pipe holds: nobody reads before this process has ended.
        let _ = writer.write_all(shown(&answer).as_bytes());
        // SAFETY: ends this process at once.
        unsafe { libc::_exit(0) };
    }
    if child < 0 {
        return Err(Stop::suite(format!("no child: {}", std::io::Error::last_os_error())));
    }
    drop(writer);
    let until = Instant::now() + PATIENCE;
    let (mut status, mut is_late) = (0, false);
    // SAFETY: a child of ours, and a place for its status.
    while unsafe { libc::waitpid(child, &raw mut status, libc::WNOHANG) } == 0 {
        if !is_late && Instant::now() > until {
            is_late = true;
            // SAFETY: a child of ours, which has not been waited for.
            unsafe { libc::kill(child, libc::SIGKILL) };
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    let mut answer = Vec::new();
    let _ = reader.read_to_end(&mut answer);
    Ok(match () {
        () if is_late => format!("the child hangs: no answer within {} s", PATIENCE.as_secs()),
        () if answer.is_empty() => format!("the child ended with status {status:#x}, without an answer"),
        () => String::from_utf8_lossy(&answer).into_owned(),
    })
}
