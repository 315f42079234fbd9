//! The log of a host: lines with a severity, for a person.

use std::io::Write as _;
use std::sync::Arc;

use chipdock_abi::{CHIPDOCK_LOG_ERROR, CHIPDOCK_LOG_INFO, CHIPDOCK_LOG_WARNING};
use chipdock_plugin_api as api;

use crate::bounds::{self, MESSAGE_BYTES_MAX};
use crate::shown::{LINE_CHARS_MAX, shown};

/// The severity of a log line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LogLevel {
    /// Something failed.
    Error,
    /// Something works otherwise than expected.
    Warning,
    /// Progress, for users.
    Info,
    /// Details, for debugging.
    Debug,
}

impl LogLevel {
    /// Returns a receiver that writes lines of this level, and graver ones, to stderr.
    #[must_use]
    pub fn to_stderr(self) -> LogSink {
        Arc::new(move |level, line| {
            if level <= self {
                let line = format!("chipdock: {}\n", shown(line, LINE_CHARS_MAX));
                // Where stderr cannot be written, the work goes on all the same.
                let _ = std::io::stderr().write_all(line.as_bytes());
            }
        })
    }

    /// Returns the level of that number; of an unknown one, the nearest that is graver (P3.6).
    pub(crate) fn of(level: i32) -> Self {
        match level {
            ..=CHIPDOCK_LOG_ERROR => Self::Error,
            CHIPDOCK_LOG_WARNING => Self::Warning,
            CHIPDOCK_LOG_INFO => Self::Info,
            _ => Self::Debug,
        }
    }
}

/// The receiver of log lines. It is called from any thread.
pub type LogSink = Arc<dyn Fn(LogLevel, &str) + Send + Sync>;

/// The log of one host. Leaked, because tables that plugins hold write to it as long as the process
/// lives.
pub(crate) struct Log(LogSink);

impl Log {
    /// Makes the log that writes to a sink.
    pub(crate) fn leaked(sink: LogSink) -> &'static Self {
        Box::leak(Box::new(Self(sink)))
    }

    /// Sends a line to the sink; a line that is too long is cut.
    pub(crate) fn write(&self, level: LogLevel, line: &str) {
        self.write_of(None, level, line);
    }

    /// Sends a plugin's line to the sink.
    pub(crate) fn write_of(&self, plugin: Option<&str>, level: LogLevel, message: &str) {
        let message = bounds::cut(message, MESSAGE_BYTES_MAX);
        let line = plugin.map(|plugin| format!("{plugin}: {message}"));
        let line = line.as_deref().unwrap_or(&message);
        // The sink is the embedder's code: its panic, which its hook has reported, is not
        // propagated. Code that logs may hold locks that a plugin or another thread waits for.
        let _ = api::caught(|| (self.0)(level, line));
        let _ = api::caught(|| event(level, plugin, &message));
    }
}

/// Emits a line of the log as an event (SP4 of [`trace`](crate::trace)).
pub(crate) fn event(level: LogLevel, plugin: Option<&str>, line: &str) {
    match level {
        LogLevel::Error => tracing::error!(plugin, "{line}"),
        LogLevel::Warning => tracing::warn!(plugin, "{line}"),
        LogLevel::Info => tracing::info!(plugin, "{line}"),
        LogLevel::Debug => tracing::debug!(plugin, "{line}"),
    }
}
