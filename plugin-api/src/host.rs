//! The host, as a plugin uses it.

use core::ffi::c_void;

use chipdock_abi::{ChipdockAny, ChipdockDevice, ChipdockHost, ChipdockInterface, ChipdockNeeds1};

use crate::interface::table_of;
use crate::text::{str_in_lossy, str_out};
use crate::{Any, Error, ErrorKind, Function, Stream};

/// The level of a log line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum LogLevel {
    /// Something failed.
    Error = chipdock_abi::CHIPDOCK_LOG_ERROR,
    /// Something works differently than expected.
    Warning = chipdock_abi::CHIPDOCK_LOG_WARNING,
    /// Progress, for users.
    Info = chipdock_abi::CHIPDOCK_LOG_INFO,
    /// Details, for debugging.
    Debug = chipdock_abi::CHIPDOCK_LOG_DEBUG,
}

/// A handle to a host: errors are raised with it and taken from it, and it provides services.
///
/// A plugin keeps it in what it registers and in the functions it makes, never in a global: there
/// may be several hosts in a process (P10). Hosts live as long as the process, so this is a plain
/// copyable handle.
#[derive(Clone, Copy)]
pub struct HostRef(&'static ChipdockHost);

impl core::fmt::Debug for HostRef {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "HostRef({:p})", self.0)
    }
}

impl PartialEq for HostRef {
    fn eq(&self, other: &Self) -> bool {
        core::ptr::eq(self.0, other.0)
    }
}

impl Eq for HostRef {}

impl HostRef {
    /// Makes a handle to a host's table.
    ///
    /// # Safety
    ///
    /// * `table` keeps the host rules of the contract, H.1 to H.6.
    #[must_use]
    pub unsafe fn new(table: &'static ChipdockHost) -> Self {
        Self(table)
    }

    /// Makes a handle to a host's table, or returns `None` if the table is null.
    ///
    /// # Safety
    ///
    /// * `table` is null or lives as long as the process and keeps the host rules of the contract,
    ///   H.1 to H.6.
    #[must_use]
    pub unsafe fn from_raw(table: *const ChipdockHost) -> Option<Self> {
        // SAFETY: the caller guarantees that a table that is not null lives as long as the process.
        unsafe { table.as_ref() }.map(Self)
    }

    /// Returns the table.
    #[must_use]
    pub fn table(self) -> &'static ChipdockHost {
        self.0
    }

    /// Returns the host's version, semver.
    #[must_use]
    pub fn version(self) -> String {
        // SAFETY: H.1, the version is a live string.
        unsafe { str_in_lossy(self.0.version) }.into_owned()
    }

    /// Raises `error` as this thread's error, as a function of a table does before it returns
    /// non-zero.
    ///
    /// The error is borrowed; the host adds a reference of its own.
    pub fn raise(self, error: &Error) {
        let raw = error.as_any_view().into_raw();
        // SAFETY: H.2, callable from any thread; the error is borrowed for the call.
        unsafe { (self.0.raise_object)(self.0.self_, &raw) };
    }

    /// Moves this thread's error out, if there is one. Only the thread that saw the non-zero return
    /// can take it, and it must do so before it calls anything else of the boundary.
    #[must_use]
    pub fn take_error(self) -> Option<Error> {
        let mut raw = Any::NONE.into_raw();
        // SAFETY: H.3, writes None or an owned error.
        let any = unsafe {
            (self.0.take_error)(self.0.self_, &mut raw);
            Any::from_raw(raw)
        };
        any.to::<Error>().ok()
    }

    /// Turns the return value of a table's function into a result; `what` names the function in the
    /// error for a callee that returned non-zero without raising one.
    ///
    /// # Errors
    ///
    /// The error that the callee raised, or `BrokenPlugin` when it raised none (P7).
    pub fn check(self, status: i32, what: impl FnOnce() -> String) -> Result<(), Error> {
        if status == 0 {
            return Ok(());
        }
        Err(self.take_error().unwrap_or_else(|| {
            let kind = ErrorKind::from_status(status);
            let meaning = kind.map(|kind| format!(" ({kind})")).unwrap_or_default();
            Error::new(
                ErrorKind::BROKEN_PLUGIN,
                format!(
                    "{} returned status {status}{meaning} and raised no error: it must raise one before it returns \
                     (P7); report it to the maintainer of the plugin",
                    what()
                ),
            )
        }))
    }

    /// Writes a line to the host's log.
    pub fn log(self, level: LogLevel, message: &str) {
        // SAFETY: H.2; the message is borrowed for the call.
        unsafe { (self.0.log)(self.0.self_, level as i32, str_out(message)) };
    }

    /// Returns the registered function of that name, or `None`. May load another plugin; not
    /// allowed during `init`.
    ///
    /// # Errors
    ///
    /// The error of loading the plugin that provides the function.
    pub fn function(self, name: &str) -> Result<Option<Function>, Error> {
        let mut raw = Any::NONE.into_raw();
        // SAFETY: H.4, writes None or an owned function.
        let (status, found) = unsafe {
            let status = (self.0.function)(self.0.self_, str_out(name), &mut raw);
            (status, Any::from_raw(raw))
        };
        self.check(status, || format!("the host's `function` for `{name}`"))?;
        found.to::<Option<Function>>()
    }

    /// Returns the stream that is active on this thread for `device`.
    ///
    /// # Errors
    ///
    /// The host's error: the host does not know the device, or `Unavailable` after it was shut
    /// down.
    pub fn current_stream(self, device: ChipdockDevice) -> Result<Stream, Error> {
        let mut stream = core::ptr::null_mut();
        // SAFETY: H.2 and H.10; the place is writable.
        let status = unsafe { (self.0.current_stream)(self.0.self_, device, &mut stream) };
        self.check(status, || "the host's `current_stream`".to_owned())?;
        Ok(Stream::from_raw(stream))
    }

    /// Queries an interface of the host: its table and the first argument of the table's functions,
    /// or `None` if the host does not have it. May be called during `init`. `Table` is the struct
    /// that belongs to `name` and `version`.
    ///
    /// # Errors
    ///
    /// * `BrokenPlugin`: the host's answer is no table of that size.
    /// * The error that the host raised.
    pub fn query<Table: Copy + 'static>(
        self,
        name: &str,
        version: u32,
    ) -> Result<Option<(&'static Table, *mut c_void)>, Error> {
        let mut found = ChipdockInterface::NONE;
        // SAFETY: H.2 and H.5; the name is borrowed for the call, and the place is writable.
        let status = unsafe { (self.0.query)(self.0.self_, str_out(name), version, &mut found) };
        self.check(status, || format!("the host's `query` for `{name}` {version}"))?;
        // SAFETY: P3.12, an interface of a host lives as long as its table.
        unsafe { table_of(&found, name, version) }
    }

    /// Returns an interface that another plugin registered, and that the manifest of this one names
    /// among `needs.keys` (H.11): its table, and the first argument of the table's functions.
    /// `key` is what it extends, such as `device_api.cuda`. `Table` is the struct that belongs to
    /// `name` and `version`.
    ///
    /// # Errors
    ///
    /// * `KeyError`: the manifest does not name it. `Unavailable`: the host hands out no
    ///   interfaces, or the other plugin is not available. `NotFound`: it has no such interface.
    /// * `BrokenPlugin`: it is no table of that size.
    ///
    /// # Safety
    ///
    /// * The functions are called before the `shutdown` of this plugin for this host returns, and
    ///   as the interface's clauses say.
    pub unsafe fn needed<Table: Copy + 'static>(
        self,
        key: &str,
        name: &str,
        version: u32,
    ) -> Result<(&'static Table, *mut c_void), Error> {
        let key = format!("{key}/{name}/{version}");
        let Some((needs, self_)) = self.query::<ChipdockNeeds1>("needs", 1)? else {
            let message = format!("the host hands out no interfaces of other plugins, and {key} is needed");
            return Err(Error::new(ErrorKind::UNAVAILABLE, message));
        };
        let mut found = ChipdockInterface::NONE;
        // SAFETY: H.11; the key is borrowed for the call, and the place is writable.
        let status = unsafe { (needs.find)(self_, str_out(&key), &mut found) };
        self.check(status, || format!("the host's `needs` for {key}"))?;
        // SAFETY: P3.11, the table is static; H.11 for the rest.
        unsafe { table_of(&found, name, version) }?
            .ok_or_else(|| Error::new(ErrorKind::NOT_FOUND, format!("nobody has the interface {key}")))
    }

    /// Returns the host for code that runs without a host: it has an error slot for each thread and
    /// nothing else.
    ///
    /// It is meant for tests and examples. Its log goes to stderr, and it has no functions and no
    /// interfaces.
    ///
    /// # Examples
    ///
    /// ```
    /// use chipdock_plugin_api::{Any, Error, ErrorKind, Function, HostRef};
    ///
    /// let host = HostRef::standalone();
    /// let half = Function::from_fn(host, |args| {
    ///     let whole: i64 = chipdock_plugin_api::argument(args, 0, "whole")?;
    ///     if whole % 2 != 0 {
    ///         return Err(Error::new(ErrorKind::VALUE_ERROR, format!("expected an even number, found {whole}")));
    ///     }
    ///     Ok(Any::from(whole / 2))
    /// });
    /// assert_eq!(half.call(host, &[42.into()])?.to::<i64>()?, 21);
    /// assert_eq!(half.call(host, &[43.into()]).unwrap_err().kind(), ErrorKind::VALUE_ERROR);
    /// # Ok::<(), Error>(())
    /// ```
    #[must_use]
    pub fn standalone() -> Self {
        Self(&crate::slot::STANDALONE)
    }
}

/// Writes an owned value to the place that the other side passed.
///
/// # Safety
///
/// * `out` is null or writable; what it holds is not dropped.
pub(crate) unsafe fn write_out<T>(out: *mut T, value: T) -> Result<(), Error> {
    if out.is_null() {
        return Err(Error::new(
            ErrorKind::VALUE_ERROR,
            "the place for the result is null: pass a valid pointer",
        ));
    }
    // SAFETY: not null, and the caller guarantees that it is writable.
    unsafe { out.write(value) };
    Ok(())
}

/// Writes an owned `Any`, as [`write_out`] does.
///
/// # Safety
///
/// * As for [`write_out`].
#[inline]
pub(crate) unsafe fn write_any(out: *mut ChipdockAny, value: Any) -> Result<(), Error> {
    if out.is_null() {
        return Err(Error::new(
            ErrorKind::VALUE_ERROR,
            "the place for the result is null: pass a valid pointer",
        ));
    }
    // SAFETY: not null, and the caller guarantees that it is writable; ownership goes to whoever
    // reads it.
    unsafe { out.write(value.into_raw()) };
    Ok(())
}
