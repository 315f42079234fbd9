//! Limits, timers, priority, processors, and flags of the process.

use std::ptr;

use super::part::{Found, Part, asked};

/// A number of the process that can be read, and mostly be set.
struct Number {
    what: &'static str,
    value: i64,
    read: fn() -> i64,
    write: fn(i64) -> bool,
}

impl Part for Number {
    fn settle(&mut self, found: &mut Found) {
        let after = (self.read)();
        if after == self.value {
            return;
        }
        let undone = (self.write)(self.value) && (self.read)() == self.value;
        found.add(self.what, self.value.to_string(), after.to_string(), undone);
        if !undone {
            self.value = after;
        }
    }
}

fn number(what: &'static str, read: fn() -> i64, write: fn(i64) -> bool) -> Number {
    Number { what, value: read(), read, write }
}

/// Limits, timers and flags of the process.
pub(super) struct Limits {
    limits: Vec<(i32, libc::rlimit)>,
    timers: Vec<(i32, libc::itimerval)>,
    flags: Vec<Number>,
}

#[cfg(target_os = "linux")]
const LIMIT_NAMES: &[&str] = &[
    "RLIMIT_CPU",
    "RLIMIT_FSIZE",
    "RLIMIT_DATA",
    "RLIMIT_STACK",
    "RLIMIT_CORE",
    "RLIMIT_RSS",
    "RLIMIT_NPROC",
    "RLIMIT_NOFILE",
    "RLIMIT_MEMLOCK",
    "RLIMIT_AS",
    "RLIMIT_LOCKS",
    "RLIMIT_SIGPENDING",
    "RLIMIT_MSGQUEUE",
    "RLIMIT_NICE",
    "RLIMIT_RTPRIO",
    "RLIMIT_RTTIME",
];
/// In the order of their numbers on systems of Apple.
#[cfg(not(target_os = "linux"))]
const LIMIT_NAMES: &[&str] = &[
    "RLIMIT_CPU",
    "RLIMIT_FSIZE",
    "RLIMIT_DATA",
    "RLIMIT_STACK",
    "RLIMIT_CORE",
    "RLIMIT_AS",
    "RLIMIT_MEMLOCK",
    "RLIMIT_NPROC",
    "RLIMIT_NOFILE",
];

fn limit(number: i32) -> Option<libc::rlimit> {
    // SAFETY: writes the limit, two integers; an unknown number is an error.
    unsafe { asked(|limit| libc::getrlimit(number as _, limit)) }
}

fn limit_words(limit: &libc::rlimit) -> String {
    let words = |value: libc::rlim_t| match value {
        libc::RLIM_INFINITY => "unlimited".to_owned(),
        value => value.to_string(),
    };
    format!("{} of at most {}", words(limit.rlim_cur), words(limit.rlim_max))
}

fn is_same(one: &libc::rlimit, other: &libc::rlimit) -> bool {
    (one.rlim_cur, one.rlim_max) == (other.rlim_cur, other.rlim_max)
}

/// Puts a limit back; without the privilege to raise the hard one, as much of it as is allowed.
/// Returns whether all of it is back.
fn put_limit_back(number: i32, before: &libc::rlimit, after: &libc::rlimit) -> bool {
    // SAFETY: reads the limit.
    if unsafe { libc::setrlimit(number as _, before) } == 0 {
        return true;
    }
    let most = libc::rlimit { rlim_cur: before.rlim_cur.min(after.rlim_max), rlim_max: after.rlim_max };
    // SAFETY: as above.
    unsafe { libc::setrlimit(number as _, &raw const most) };
    false
}

fn timer(number: i32) -> Option<libc::itimerval> {
    // SAFETY: writes the timer, integers, and changes nothing.
    unsafe { asked(|timer| libc::getitimer(number, timer)) }
}

fn is_armed(timer: &libc::itimerval) -> bool {
    timer.it_value.tv_sec != 0 || timer.it_value.tv_usec != 0
}

impl Limits {
    pub(super) fn now() -> Self {
        let limits = (0..LIMIT_NAMES.len() as i32).filter_map(|number| Some((number, limit(number)?)));
        let timers = [libc::ITIMER_REAL, libc::ITIMER_VIRTUAL, libc::ITIMER_PROF];
        let timers = timers.into_iter().filter_map(|number| Some((number, timer(number)?)));
        Self { limits: limits.collect(), timers: timers.collect(), flags: flags() }
    }
}

impl Part for Limits {
    fn settle(&mut self, found: &mut Found) {
        for (number, before) in &mut self.limits {
            let Some(after) = limit(*number).filter(|after| !is_same(before, after)) else { continue };
            let undone = put_limit_back(*number, before, &after);
            let name = LIMIT_NAMES[*number as usize];
            found.add(format!("the limit {name}"), limit_words(before), limit_words(&after), undone);
            if !undone {
                *before = limit(*number).unwrap_or(after);
            }
        }
        for (number, before) in &self.timers {
            // One that runs has another value each time.
            let Some(after) = timer(*number).filter(|after| is_armed(after) != is_armed(before)) else {
                continue;
            };
            // SAFETY: the timer that was there before; one that was not armed stops it.
            let undone = unsafe { libc::setitimer(*number, before, ptr::null_mut()) } == 0;
            let words = |is_armed| if is_armed { "running" } else { "stopped" }.to_owned();
            let what = format!("interval timer {number}");
            found.add(what, words(is_armed(before)), words(is_armed(&after)), undone);
        }
        for flag in &mut self.flags {
            flag.settle(found);
        }
    }
}

#[cfg(target_os = "linux")]
fn flags() -> Vec<Number> {
    fn read(option: i32) -> i64 {
        // SAFETY: these options take nothing and return a number.
        i64::from(unsafe { libc::prctl(option, 0_u64, 0_u64, 0_u64, 0_u64) })
    }
    fn write(option: i32, value: i64) -> bool {
        // SAFETY: these options take a number.
        unsafe { libc::prctl(option, value, 0_u64, 0_u64, 0_u64) == 0 }
    }
    fn death_signal() -> i64 {
        let mut signal = 0_i32;
        // SAFETY: writes one number to a local.
        unsafe { libc::prctl(libc::PR_GET_PDEATHSIG, &raw mut signal) };
        i64::from(signal)
    }
    let set_dumpable = |value| write(libc::PR_SET_DUMPABLE, value);
    let set_death_signal = |value| write(libc::PR_SET_PDEATHSIG, value);
    vec![
        number("whether it may dump core", || read(libc::PR_GET_DUMPABLE), set_dumpable),
        number("the signal at its parent's death", death_signal, set_death_signal),
        // Nobody can take this back.
        number("whether it may gain no privileges", || read(libc::PR_GET_NO_NEW_PRIVS), |_| false),
    ]
}

#[cfg(not(target_os = "linux"))]
fn flags() -> Vec<Number> {
    Vec::new()
}

/// Priority and processors of the thread.
pub(super) struct Scheduling {
    priority: Number,
    processors: Option<[u64; WORDS]>,
}

/// For 1024 processors.
const WORDS: usize = 16;

fn priority() -> i64 {
    // SAFETY: takes numbers and returns one.
    i64::from(unsafe { libc::getpriority(libc::PRIO_PROCESS, 0) })
}

fn set_priority(priority: i64) -> bool {
    let priority = i32::try_from(priority).unwrap_or_default();
    // SAFETY: takes numbers and returns one.
    unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, priority) == 0 }
}

#[cfg(target_os = "linux")]
fn processors() -> Option<[u64; WORDS]> {
    let mut mask = [0_u64; WORDS];
    // SAFETY: writes at most so many bytes to the mask.
    let status = unsafe { libc::sched_getaffinity(0, size_of_val(&mask), mask.as_mut_ptr().cast()) };
    (status == 0).then_some(mask)
}

#[cfg(target_os = "linux")]
fn set_processors(mask: &[u64; WORDS]) -> bool {
    // SAFETY: reads so many bytes of the mask.
    unsafe { libc::sched_setaffinity(0, size_of_val(mask), mask.as_ptr().cast()) == 0 }
}

#[cfg(not(target_os = "linux"))]
fn processors() -> Option<[u64; WORDS]> {
    None
}

#[cfg(not(target_os = "linux"))]
fn set_processors(_: &[u64; WORDS]) -> bool {
    false
}

impl Scheduling {
    pub(super) fn now() -> Self {
        Self {
            priority: number("the priority of the thread", priority, set_priority),
            processors: processors(),
        }
    }
}

impl Part for Scheduling {
    fn settle(&mut self, found: &mut Found) {
        self.priority.settle(found);
        let (Some(before), Some(after)) = (self.processors, processors()) else { return };
        if before == after {
            return;
        }
        let undone = set_processors(&before);
        let count = |mask: [u64; WORDS]| mask.iter().map(|word| word.count_ones()).sum::<u32>().to_string();
        found.add("the processors of the thread", count(before), count(after), undone);
        if !undone {
            self.processors = Some(after);
        }
    }
}
