//! Children that report, die, hang, fill their pipes and leave others behind, by way of a shell
//! (CHILD-V1 to CHILD-V9).

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use chipdock_supervise::{Asked, Ended, Next, Outcome, Start, ask, signal_name};

const SHORT: Duration = Duration::from_millis(500);

/// `$R` is the descriptor to report by.
fn shell(script: &str) -> Start {
    let mut command = Command::new("sh");
    let script = format!("R=${{CHIPDOCK_REPORT_TO%%,*}}; report() {{ echo \"$1\" >/dev/fd/$R; }}; {script}");
    command.args(["-c", &script]).stdin(Stdio::null()).stdout(Stdio::null());
    Start::new(command).keep_stderr()
}

fn outcome(script: &str) -> Outcome {
    ask(shell(script), Some(SHORT)).outcome
}

/// CHILD-V7: each way to end is told apart from the others.
#[test]
fn each_way_to_end_is_distinguished() {
    let Asked { outcome: crashed, stderr } = ask(shell("echo it hurts >&2; kill -11 $$"), Some(SHORT));
    assert_eq!(crashed, Outcome::Ended(Ended::Killed { signal: libc::SIGSEGV }));
    assert_eq!(stderr.last_lines(400), "it hurts");
    assert_eq!(outcome("exit 0"), Outcome::Ended(Ended::Exited { code: 0 }));
    assert_eq!(outcome("exit 7"), Outcome::Ended(Ended::Exited { code: 7 }));
    assert_eq!(outcome("exec sleep 60"), Outcome::Ended(Ended::Silent { deadline: SHORT }));
    assert_eq!(outcome("report one; report two"), Outcome::Reported(b"two".to_vec()));
    assert_eq!(outcome("report yes; exit 1"), Outcome::Ended(Ended::Exited { code: 1 }));
    assert_eq!(outcome("report yes; kill -6 $$"), Outcome::Ended(Ended::Killed { signal: libc::SIGABRT }));
    let missing = ask(Start::new(Command::new("/no/such/program")), None).outcome;
    assert!(matches!(missing, Outcome::Ended(Ended::NotStarted { .. })), "{missing:?}");
}

/// CHILD-V7: Rust's own handler lets a signal that was only sent go by; a child's ends it all the
/// same. This test is its own child.
#[test]
fn a_signal_that_was_sent_is_fatal() {
    if std::env::var_os("CHIPDOCK_TEST_RAISE").is_some() {
        let mut inside = chipdock_supervise::Inside::take().unwrap();
        // SAFETY: a signal to this process.
        unsafe { libc::raise(libc::SIGSEGV) };
        inside.say(b"alive").unwrap();
        chipdock_supervise::leave(0);
    }
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "a_signal_that_was_sent_is_fatal", "--nocapture"]);
    command.env("CHIPDOCK_TEST_RAISE", "1").stdin(Stdio::null()).stdout(Stdio::null());
    let asked = ask(Start::new(command).keep_stderr(), Some(Duration::from_secs(20)));
    assert_eq!(
        asked.outcome,
        Outcome::Ended(Ended::Killed { signal: libc::SIGSEGV }),
        "{}",
        asked.stderr.text()
    );
}

/// CHILD-V7: the words for it.
#[test]
fn an_end_has_its_words() {
    let words = [
        (Ended::Killed { signal: libc::SIGSEGV }, "crashed (SIGSEGV)"),
        (Ended::Killed { signal: libc::SIGKILL }, "was killed (SIGKILL)"),
        (Ended::Killed { signal: libc::SIGTRAP }, "crashed (SIGTRAP)"),
        (Ended::Killed { signal: libc::SIGSYS }, "crashed (SIGSYS)"),
        (Ended::Killed { signal: libc::SIGXCPU }, "was killed (SIGXCPU)"),
        (Ended::Killed { signal: libc::SIGVTALRM }, "was killed (SIGVTALRM)"),
        (Ended::Killed { signal: libc::SIGRTMIN() }, "was killed (a real-time signal)"),
        (Ended::Exited { code: 0 }, "ended its process with exit code 0"),
        (Ended::Silent { deadline: SHORT }, "did not come back within 0.5 s"),
    ];
    for (ended, expected) in words {
        assert_eq!(ended.to_string(), expected);
    }
    assert_eq!(signal_name(libc::SIGFPE), "SIGFPE");
}

/// CHILD-V1: what is printed is no report, and the report is on none of the three.
#[test]
fn printing_disturbs_nothing() {
    let said = outcome("echo noise; echo noise >&2; test $R -gt 2 && report yes; echo noise");
    assert_eq!(said, Outcome::Reported(b"yes".to_vec()));
}

/// CHILD-V1: no core file.
#[test]
fn no_core_is_left() {
    assert_eq!(outcome("report $(ulimit -c)"), Outcome::Reported(b"0".to_vec()));
}

/// CHILD-V5: neither who holds the pipes nor who fills them makes us wait, or hold more than so
/// much.
#[test]
fn others_in_the_pipes_are_not_waited_for() {
    let started = Instant::now();
    assert_eq!(outcome("setsid sleep 5 & exit 3"), Outcome::Ended(Ended::Exited { code: 3 }));
    let filled = ask(shell("yes >&2"), Some(SHORT));
    assert_eq!(filled.outcome, Outcome::Ended(Ended::Silent { deadline: SHORT }));
    assert!(filled.stderr.text().len() <= 2 * chipdock_supervise::TAIL_BYTES);
    // A process that left the group fills the pipes of a child that has ended.
    let left = ask(shell("setsid timeout 3 yes >&2 & exit 3"), Some(Duration::from_secs(60)));
    assert_eq!(left.outcome, Outcome::Ended(Ended::Exited { code: 3 }));
    let long = ask(shell("yes | tr -d '\\n' | head -c 3000000 >/dev/fd/$R; report; report yes"), None);
    assert_eq!(long.outcome, Outcome::Reported(b"yes".to_vec()));
    assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
}

fn is_alive(process: i32) -> bool {
    let state = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    !state.is_empty() && !state.contains(") Z ")
}

fn gone_soon(process: i32) -> bool {
    let until = Instant::now() + Duration::from_secs(3);
    while Instant::now() < until && is_alive(process) {
        std::thread::sleep(Duration::from_millis(5));
    }
    !is_alive(process)
}

fn number(next: Next) -> i32 {
    let Next::Line(line) = next else { panic!("expected a line, found {next:?}") };
    String::from_utf8(line).unwrap().parse().unwrap()
}

/// CHILD-V6: what a child started ends with it, whether it ended by itself or was ended.
#[test]
fn the_whole_group_ends() {
    for script in ["sleep 60 & report $!; exit 0", "sleep 60 & report $!; wait"] {
        let mut child = shell(script).start().unwrap();
        let grandchild = number(child.next(Instant::now() + SHORT));
        child.stop();
        assert!(child.status().is_some());
        assert!(gone_soon(grandchild), "{script}");
    }
}

/// CHILD-V2, CHILD-V3: dropped, or with the thread that started it, a child ends.
#[test]
fn a_child_ends_with_its_thread() {
    let dropped = number(shell("report $$; exec sleep 60").start().unwrap().next(Instant::now() + SHORT));
    assert!(!is_alive(dropped));
    let thread = std::thread::spawn(|| {
        let mut child = shell("report $$; exec sleep 60").start().unwrap();
        let process = number(child.next(Instant::now() + SHORT));
        // Not dropped: the kernel has to do it.
        std::mem::forget(child);
        process
    });
    assert!(gone_soon(thread.join().unwrap()));
}

/// CHILD-V1: a file that is shared is the child's too, under the number that it is given.
#[test]
fn shared_values_are_inherited() {
    let (notebook, file) = chipdock_supervise::Notebook::new().unwrap();
    let script = "S=${CHIPDOCK_REPORT_TO#*,}; printf '\\003\\000\\000\\000abc' >/proc/self/fd/$S; exit 0";
    let asked = ask(shell(script).share(file), Some(SHORT));
    assert_eq!(asked.outcome, Outcome::Ended(Ended::Exited { code: 0 }));
    assert_eq!(notebook.read(), "abc");
}
