//! The options of a host.

use std::path::PathBuf;
use std::sync::Arc;

use crate::environment::{Environment, Variables};
pub(crate) use crate::log::LogLevel;
use crate::log::LogSink;
use crate::open::lock::PluginLock;
use crate::runtime::OnAsk;

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
    /// Asked whether to go on while a call of compiled code takes long (CALL-E5), such as for
    /// signals of the program's language.
    pub on_ask: Option<OnAsk>,
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
            on_ask: None,
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
