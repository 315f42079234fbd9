//! The options of a host, and its view of its process.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::Arc;

use chipdock_abi::{CHIPDOCK_LOG_ERROR, CHIPDOCK_LOG_INFO, CHIPDOCK_LOG_WARNING};

use crate::error::{Error, ErrorKind};
use crate::open::lock::PluginLock;
use crate::process::{effective_user, has_raised_privileges};
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

/// The options of a host.
#[derive(Clone)]
pub struct HostOptions {
    /// Plugin libraries, or folders of them, that are searched before all others.
    pub plugin_paths: Vec<PathBuf>,
    /// Globs of plugin names; when not empty, no other plugin is used.
    pub select: Vec<String>,
    /// Globs of plugin names that are not used.
    pub disable: Vec<String>,
    /// `(key, plugin)`: the plugin whose registration of a key is taken when several have it.
    pub prefer: Vec<(String, String)>,
    /// Libraries or folders that are used whatever their owner and permissions are.
    pub trust: Vec<PathBuf>,
    /// `(plugin, name, value)`: settings of plugins, which override those of the environment and of
    /// the user's file.
    pub settings: Vec<(String, String, String)>,
    /// When set, only plugins that the lock pins are used, with the pinned version and digests.
    pub locked: Option<Arc<PluginLock>>,
    /// The number of threads for parallel loops, the caller's included: 1 to 1024. None, or 0, is
    /// automatic: as many as the process has processors, by its affinity mask and the quota of its
    /// control group.
    pub threads: Option<u32>,
    /// Whether anything is remembered from one process to the next, among the caches of this user:
    /// digests of plugins' libraries, so that a library that has not changed is not read again to
    /// name it (those that a lock pins are always read), and what plugins find out about the
    /// machine. With `CHIPDOCK_CACHE_SIZE=0` nothing is remembered. It is not about results of
    /// compilations, for which each says whether they are kept.
    pub remember: bool,
    /// The receiver of log lines.
    pub log: LogSink,
    /// The part of the process that it may use.
    pub environment: Environment,
}

impl Default for HostOptions {
    /// Returns the options that a command starts with: nothing added, everything taken from the
    /// process, warnings to stderr.
    fn default() -> Self {
        Self {
            plugin_paths: Vec::new(),
            select: Vec::new(),
            disable: Vec::new(),
            prefer: Vec::new(),
            trust: Vec::new(),
            settings: Vec::new(),
            locked: None,
            threads: None,
            remember: false,
            log: LogLevel::Warning.to_stderr(),
            environment: Environment::of_process(),
        }
    }
}

impl HostOptions {
    /// Returns options with which only the plugins that `plugin_paths` names are seen, whatever the
    /// process's environment says. Their settings are still read from its variables, and from no
    /// file.
    #[must_use]
    pub fn isolated() -> Self {
        let environment = Environment { variables: Variables::of_process(), ..Environment::empty() };
        Self { environment, ..Self::default() }
    }

    /// Adds a setting of a plugin.
    ///
    /// # Examples
    ///
    /// ```
    /// use chipdock_host::HostOptions;
    ///
    /// let options = HostOptions::default().setting("npu", "lanes", "8");
    /// assert_eq!(options.settings[0].0, "npu");
    /// ```
    #[must_use]
    pub fn setting(
        mut self,
        plugin: impl Into<String>,
        name: impl Into<String>,
        value: impl Into<String>,
    ) -> Self {
        self.settings.push((plugin.into(), name.into(), value.into()));
        self
    }
}

/// Variables of the environment, as they were when they were taken.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Variables(Arc<BTreeMap<OsString, OsString>>);

impl Variables {
    /// Returns the variables of this process.
    #[must_use]
    pub fn of_process() -> Self {
        std::env::vars_os().collect()
    }

    /// Returns no variables at all.
    #[must_use]
    pub fn none() -> Self {
        Self::default()
    }

    /// Returns the value of the variable of that name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&OsStr> {
        self.0.get(OsStr::new(name)).map(OsString::as_os_str)
    }
}

impl<N: Into<OsString>, V: Into<OsString>> FromIterator<(N, V)> for Variables {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(variables: I) -> Self {
        Self(Arc::new(variables.into_iter().map(|(name, value)| (name.into(), value.into())).collect()))
    }
}

impl std::fmt::Debug for Variables {
    /// Prints only the number of variables: their values may be secrets.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Variables({})", self.0.len())
    }
}

/// The part of its process that a host uses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Environment {
    /// `CHIPDOCK_PLUGIN_PATH`: folders or libraries, separated by `:`.
    pub plugin_path: Option<OsString>,
    /// `CHIPDOCK_PLUGINS_SELECT`: globs of plugin names, separated by commas.
    pub select: Option<OsString>,
    /// `CHIPDOCK_PLUGINS_DISABLE`: globs of plugin names, separated by commas.
    pub disable: Option<OsString>,
    /// `CHIPDOCK_PLUGINS_PREFER`: `KEY=PLUGIN`, separated by commas.
    pub prefer: Option<OsString>,
    /// `CHIPDOCK_PLUGINS_TRUST`: libraries or folders, separated by `:`.
    pub trust: Option<OsString>,
    /// `CHIPDOCK_THREADS`: the number of threads for parallel loops.
    pub threads: Option<OsString>,
    /// `XDG_DATA_HOME`, or `.local/share` in the user's home.
    pub data_home: Option<PathBuf>,
    /// `XDG_CONFIG_HOME`, or `.config` in the user's home.
    pub config_home: Option<PathBuf>,
    /// All variables, for the settings of plugins.
    pub variables: Variables,
    /// Folders of the system, in order.
    pub system_folders: Vec<PathBuf>,
    /// The folder in which the executable lies.
    pub executable_folder: Option<PathBuf>,
    /// The effective user.
    pub user: u32,
    /// The private group of that user, whose files are the user's alone (FIND-D3).
    pub private_group: Option<u32>,
    /// True when the process has more privileges than the user who started it: variables and user
    /// paths are ignored.
    pub raised_privileges: bool,
}

impl Environment {
    /// Returns the environment of this process.
    #[must_use]
    pub fn of_process() -> Self {
        // A relative path is invalid by the specification, and would mean the current directory.
        let folder = |name: &str, in_home: &str| {
            let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(in_home));
            let named = std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
            named.or_else(home).filter(|path| path.is_absolute())
        };
        let executable = std::env::current_exe().ok();
        Self {
            plugin_path: std::env::var_os("CHIPDOCK_PLUGIN_PATH"),
            select: std::env::var_os("CHIPDOCK_PLUGINS_SELECT"),
            disable: std::env::var_os("CHIPDOCK_PLUGINS_DISABLE"),
            prefer: std::env::var_os("CHIPDOCK_PLUGINS_PREFER"),
            trust: std::env::var_os("CHIPDOCK_PLUGINS_TRUST"),
            threads: std::env::var_os("CHIPDOCK_THREADS"),
            data_home: folder("XDG_DATA_HOME", ".local/share"),
            config_home: folder("XDG_CONFIG_HOME", ".config"),
            variables: Variables::of_process(),
            system_folders: ["/usr/local/lib/chipdock/plugins", "/usr/lib/chipdock/plugins"]
                .map(PathBuf::from)
                .to_vec(),
            executable_folder: executable.and_then(|path| Some(path.parent()?.to_owned())),
            user: effective_user(),
            private_group: crate::open::discovery::private_group_of(effective_user()),
            raised_privileges: has_raised_privileges(),
        }
    }

    /// Returns `CHIPDOCK_PLUGINS_SELECT`, when it is set and may be used.
    pub(crate) fn select_text(&self) -> Result<Option<&str>, Error> {
        self.text("CHIPDOCK_PLUGINS_SELECT", self.select.as_deref())
    }

    /// Returns `CHIPDOCK_PLUGINS_DISABLE`, when it is set and may be used.
    pub(crate) fn disable_text(&self) -> Result<Option<&str>, Error> {
        self.text("CHIPDOCK_PLUGINS_DISABLE", self.disable.as_deref())
    }

    /// Returns `CHIPDOCK_PLUGINS_PREFER`, when it is set and may be used.
    pub(crate) fn prefer_text(&self) -> Result<Option<&str>, Error> {
        self.text("CHIPDOCK_PLUGINS_PREFER", self.prefer.as_deref())
    }

    /// Returns `CHIPDOCK_THREADS`, when it is set and may be used.
    pub(crate) fn threads_text(&self) -> Result<Option<&str>, Error> {
        self.text("CHIPDOCK_THREADS", self.threads.as_deref())
    }

    /// Returns a variable that is set and not empty. With raised privileges it counts as not set,
    /// as in [`Self::text`].
    pub(crate) fn variable(&self, name: &str) -> Option<&OsStr> {
        self.variables.get(name).filter(|value| !self.raised_privileges && !value.is_empty())
    }

    /// Returns a variable as text. With raised privileges it counts as not set: the user who
    /// started the process chose it.
    fn text<'a>(&self, name: &str, value: Option<&'a OsStr>) -> Result<Option<&'a str>, Error> {
        let Some(value) = value.filter(|_| !self.raised_privileges) else { return Ok(None) };
        let refused = || Error::new(ErrorKind::Value, format!("{name} is {value:?}, which is not UTF-8"));
        value.to_str().map(Some).ok_or_else(|| refused().hint("unset it, or set it to text"))
    }

    /// Returns an environment with nothing but the user.
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
            config_home: None,
            variables: Variables::none(),
            system_folders: Vec::new(),
            executable_folder: None,
            user: effective_user(),
            private_group: crate::open::discovery::private_group_of(effective_user()),
            raised_privileges: has_raised_privileges(),
        }
    }
}
