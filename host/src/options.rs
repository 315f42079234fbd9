//! What a host is made with, and what it takes from its process.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use crate::process::{effective_user, has_raised_privileges};

/// How serious a line of the log is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LogLevel {
    /// Something failed.
    Error,
    /// Something works otherwise than expected.
    Warning,
    /// What happens, for a person.
    Info,
    /// What happens, for whoever debugs.
    Debug,
}

/// Where lines of the log go. Called from any thread.
pub type LogSink = Arc<dyn Fn(LogLevel, &str) + Send + Sync>;

/// What a host is made with.
#[derive(Clone)]
pub struct HostOptions {
    /// Plugin libraries, or folders of them, that are searched before all others.
    pub plugin_paths: Vec<PathBuf>,
    /// Globs of plugin names; when not empty, no other plugin is used.
    pub select: Vec<String>,
    /// Globs of plugin names that are not used.
    pub disable: Vec<String>,
    /// `(key, plugin)`: which plugin's registration of a key is taken when several have it.
    pub prefer: Vec<(String, String)>,
    /// Libraries or folders that are used whatever their owner and permissions are.
    pub trust: Vec<PathBuf>,
    /// How many threads parallel loops run on, the caller's included: 1 to 1024. Nothing, or 0, is automatic: as many as the
    /// process has processors, by its affinity mask and the quota of its control group.
    pub threads: Option<u32>,
    /// Where lines of the log go.
    pub log: LogSink,
    /// What is taken from the process.
    pub environment: Environment,
}

impl Default for HostOptions {
    /// What a command starts with: nothing added, everything taken from the process, warnings to stderr.
    fn default() -> Self {
        Self {
            plugin_paths: Vec::new(),
            select: Vec::new(),
            disable: Vec::new(),
            prefer: Vec::new(),
            trust: Vec::new(),
            threads: None,
            log: Arc::new(|level, line| {
                if level <= LogLevel::Warning {
                    eprintln!("chipdock: {line}");
                }
            }),
            environment: Environment::of_process(),
        }
    }
}

impl HostOptions {
    /// Nothing from the process: only the plugins that `plugin_paths` names are seen.
    #[must_use]
    pub fn isolated() -> Self {
        Self { environment: Environment::empty(), ..Self::default() }
    }
}

/// What a host takes from its process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Environment {
    /// `CHIPDOCK_PLUGIN_PATH`: folders or libraries, separated by `:`.
    pub plugin_path: Option<OsString>,
    /// `CHIPDOCK_PLUGINS_SELECT`: globs of plugin names, separated by commas.
    pub select: Option<String>,
    /// `CHIPDOCK_PLUGINS_DISABLE`: globs of plugin names, separated by commas.
    pub disable: Option<String>,
    /// `CHIPDOCK_PLUGINS_PREFER`: `KEY=PLUGIN`, separated by commas.
    pub prefer: Option<String>,
    /// `CHIPDOCK_PLUGINS_TRUST`: libraries or folders, separated by `:`.
    pub trust: Option<OsString>,
    /// `CHIPDOCK_THREADS`: how many threads parallel loops run on.
    pub threads: Option<String>,
    /// `XDG_DATA_HOME`, or `.local/share` in the user's home.
    pub data_home: Option<PathBuf>,
    /// Folders of the system, in order.
    pub system_folders: Vec<PathBuf>,
    /// The folder in which the executable lies.
    pub executable_folder: Option<PathBuf>,
    /// The effective user.
    pub user: u32,
    /// True when the process has more privileges than whoever started it: variables and user paths are ignored.
    pub raised_privileges: bool,
}

impl Environment {
    /// This process.
    #[must_use]
    pub fn of_process() -> Self {
        let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".local/share"));
        let executable = std::env::current_exe().ok();
        Self {
            plugin_path: std::env::var_os("CHIPDOCK_PLUGIN_PATH"),
            select: std::env::var("CHIPDOCK_PLUGINS_SELECT").ok(),
            disable: std::env::var("CHIPDOCK_PLUGINS_DISABLE").ok(),
            prefer: std::env::var("CHIPDOCK_PLUGINS_PREFER").ok(),
            trust: std::env::var_os("CHIPDOCK_PLUGINS_TRUST"),
            threads: std::env::var("CHIPDOCK_THREADS").ok(),
            // A relative one is invalid by its specification, and would mean the current directory.
            data_home: std::env::var_os("XDG_DATA_HOME")
                .map(PathBuf::from)
                .filter(|path| path.is_absolute())
                .or_else(home)
                .filter(|path| path.is_absolute()),
            system_folders: ["/usr/local/lib/chipdock/plugins", "/usr/lib/chipdock/plugins"]
                .map(PathBuf::from)
                .to_vec(),
            executable_folder: executable.and_then(|path| Some(path.parent()?.to_owned())),
            user: effective_user(),
            raised_privileges: has_raised_privileges(),
        }
    }

    /// Nothing but the user.
    #[must_use]
    pub fn empty() -> Self {
        Self {
            plugin_path: None,
            select: None,
            disable: None,
            prefer: None,
            trust: None,
            threads: None,
            data_home: None,
            system_folders: Vec::new(),
            executable_folder: None,
            user: effective_user(),
            raised_privileges: has_raised_privileges(),
        }
    }
}
