//! Runs a command to its end, whatever it does: with a time limit, with its output kept up to a
//! bound, and with a measurement of its memory.

use std::io::Read;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// End of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The process exited with a code.
    Code(i32),
    /// A signal ended the process.
    Signal(i32),
    /// The process did not end, and was killed at the end of its time.
    Never,
}

/// Result of a process.
#[derive(Clone, Debug)]
pub struct Watched {
    /// End of the process.
    pub ended: Ended,
    /// Standard output, without its middle if it is long.
    pub stdout: Vec<u8>,
    /// Standard error, without its middle if it is long.
    pub stderr: Vec<u8>,
    /// Number of bytes written to both streams.
    pub text_bytes: u64,
    /// Largest memory that the process, or a child that it waited for, held at once.
    pub memory_bytes: u64,
    /// Running time.
    pub time: Duration,
}

/// Sizes of the kept parts of a stream: its beginning and its end.
const KEPT_BYTES: usize = 2 << 20;
const TAIL_BYTES: usize = 64 << 10;
/// Time for which a stream is read after the process has ended, because a child of it may hold the
/// stream open.
const LINGER: Duration = Duration::from_secs(5);

/// Largest address space of a command.
const ADDRESSES_BYTES_MAX: u64 = 4 << 30;

#[derive(Default)]
struct Stream {
    kept: Vec<u8>,
    tail: Vec<u8>,
    bytes: u64,
    is_done: bool,
}

type Shared = Arc<Mutex<Stream>>;

fn read(mut from: impl Read + Send + 'static) -> Shared {
    let shared = Shared::default();
    let stream = Arc::clone(&shared);
    std::thread::spawn(move || {
        let mut buffer = vec![0; 1 << 16];
        loop {
            let count = from.read(&mut buffer).unwrap_or(0);
            let mut stream = stream.lock().unwrap_or_else(PoisonError::into_inner);
            if count == 0 {
                stream.is_done = true;
                return;
            }
            stream.bytes += count as u64;
            let room = KEPT_BYTES.saturating_sub(stream.kept.len()).min(count);
            stream.kept.extend_from_slice(&buffer[..room]);
            stream.tail.extend_from_slice(&buffer[room..count]);
            let surplus = stream.tail.len().saturating_sub(TAIL_BYTES);
            stream.tail.drain(..surplus);
        }
    });
    shared
}

fn taken(shared: &Shared, until: Instant) -> (Vec<u8>, u64) {
    loop {
        let mut stream = shared.lock().unwrap_or_else(PoisonError::into_inner);
        if stream.is_done || Instant::now() >= until {
            let mut kept = std::mem::take(&mut stream.kept);
            kept.append(&mut stream.tail);
            return (kept, stream.bytes);
        }
        drop(stream);
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Runs a command in its own process group, which is killed when the command has ended or its time
/// is up.
///
/// # Panics
///
/// If it cannot be started.
#[expect(clippy::zombie_processes, reason = "wait4 waits for it, and says how much memory it took")]
pub fn run(command: &mut Command, limit: Duration) -> Watched {
    let started = Instant::now();
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    // SAFETY: one system call, which is allowed between fork and exec.
    unsafe { command.pre_exec(limited) };
    let mut child = command.spawn().expect("the command starts");
    let stdout = read(child.stdout.take().expect("a pipe"));
    let stderr = read(child.stderr.take().expect("a pipe"));
    let number = child.id().cast_signed();
    let (mut ended, mut memory_bytes) = (None, 0);
    while ended.is_none() && started.elapsed() < limit {
        ended = waited(number, libc::WNOHANG, &mut memory_bytes);
        if ended.is_none() {
            std::thread::sleep(Duration::from_millis(2));
        }
    }
    // SAFETY: the group of a child of ours: it has not been waited for, or has just been, and
    // nobody took its number.
    unsafe { libc::kill(-number, libc::SIGKILL) };
    let ended = ended.unwrap_or_else(|| {
        waited(number, 0, &mut memory_bytes);
        Ended::Never
    });
    let time = started.elapsed();
    let until = Instant::now() + LINGER;
    let ((stdout, out_bytes), (stderr, err_bytes)) = (taken(&stdout, until), taken(&stderr, until));
    Watched { ended, stdout, stderr, text_bytes: out_bytes + err_bytes, memory_bytes, time }
}

/// Limits the memory of a command, so that one that reads or allocates without end fails before the
/// machine's memory is used up.
fn limited() -> std::io::Result<()> {
    let limit = libc::rlimit { rlim_cur: ADDRESSES_BYTES_MAX, rlim_max: ADDRESSES_BYTES_MAX };
    // SAFETY: a limit to read from.
    match unsafe { libc::setrlimit(libc::RLIMIT_AS, &raw const limit) } {
        0 => Ok(()),
        _ => Err(std::io::Error::last_os_error()),
    }
}

/// Returns how a child process ended, once it has.
fn waited(number: i32, options: i32, memory_bytes: &mut u64) -> Option<Ended> {
    let mut status = 0;
    // SAFETY: all zeros is a valid value of this struct of integers.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: a child of ours that nobody else waits for, and places to write to.
    if unsafe { libc::wait4(number, &raw mut status, options, &raw mut usage) } != number {
        return None;
    }
    *memory_bytes = usage.ru_maxrss.cast_unsigned() * 1024;
    Some(if libc::WIFSIGNALED(status) {
        Ended::Signal(libc::WTERMSIG(status))
    } else {
        Ended::Code(libc::WEXITSTATUS(status))
    })
}
