//! The part of its process that a host uses: variables, folders, and whose process it is.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::sync::Arc;

use crate::error::{Error, ErrorKind};
use crate::private_group;
use crate::process::{effective_user, has_raised_privileges};

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
            private_group: private_group::of_user(effective_user()),
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
            private_group: private_group::of_user(effective_user()),
            raised_privileges: has_raised_privileges(),
        }
    }
}
