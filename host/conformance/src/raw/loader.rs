//! A module loader through its table, with artifacts that need not be valid.

use chipdock_abi::{
    ChipdockArtifact, ChipdockDevice, ChipdockEnv, ChipdockInterface, ChipdockModule, ChipdockModuleHandle,
    ChipdockModuleLoader, ChipdockSection,
};
use chipdock_plugin_api::{Any, Error, ErrorKind, Function};

use super::codegen::{self, Chain};
use super::env::Lent;
use super::host::SuiteHost;
use super::kind::{bytes_out, null_table};
use super::plugin::{Plugin, Table};

/// A section of an artifact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawSection {
    /// Name of the section.
    pub name: Vec<u8>,
    /// Kind of the section.
    pub kind: Vec<u8>,
    /// Alignment of its bytes.
    pub alignment_bytes: u64,
    /// Bytes of the section.
    pub data: Vec<u8>,
}

/// An artifact as bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RawArtifact {
    /// The index.
    pub index_json: Vec<u8>,
    /// The sections.
    pub sections: Vec<RawSection>,
    /// Extensions of the artifact: names and flags.
    pub extensions: Vec<(String, u32)>,
}

impl From<&chipdock_host::artifact::Artifact> for RawArtifact {
    fn from(artifact: &chipdock_host::artifact::Artifact) -> Self {
        let section = |section: &chipdock_host::artifact::Section| RawSection {
            name: section.name().into(),
            kind: section.kind().into(),
            alignment_bytes: section.alignment_bytes(),
            data: section.data().to_vec(),
        };
        Self {
            index_json: artifact.index_json().into(),
            sections: artifact.sections().iter().map(section).collect(),
            extensions: Vec::new(),
        }
    }
}

impl From<&codegen::Section> for RawSection {
    fn from(section: &codegen::Section) -> Self {
        Self {
            name: section.name.clone().into(),
            kind: section.kind.clone().into(),
            alignment_bytes: section.alignment_bytes,
            data: section.data.clone(),
        }
    }
}

impl RawArtifact {
    /// Calls with the artifact as the boundary has it, its sections aligned as they say (M.3).
    fn with<R>(&self, body: impl FnOnce(&ChipdockArtifact) -> R) -> R {
        let mut storage: Vec<(Vec<u8>, usize)> = Vec::with_capacity(self.sections.len());
        for section in &self.sections {
            let alignment = usize::try_from(section.alignment_bytes.clamp(1, 1 << 20)).unwrap_or(1);
            // The heap block of a vector never moves while it is not resized.
            let mut bytes: Vec<u8> = Vec::with_capacity(section.data.len() + alignment);
            let start = (alignment - bytes.as_ptr().addr() % alignment) % alignment;
            bytes.resize(start, 0);
            bytes.extend_from_slice(&section.data);
            storage.push((bytes, start));
        }
        let raw = self.sections.iter().zip(&storage).map(|(section, (bytes, start))| ChipdockSection {
            name: bytes_out(&section.name),
            kind: bytes_out(&section.kind),
            alignment_bytes: section.alignment_bytes,
            data: bytes[*start..].as_ptr().cast(),
            size_bytes: section.data.len() as u64,
        });
        let raw: Vec<ChipdockSection> = raw.collect();
        let chain = Chain::of(&self.extensions);
        body(&ChipdockArtifact {
            index_json: bytes_out(&self.index_json),
            sections: raw.as_ptr(),
            sections_count: raw.len() as u64,
            next: chain.first(),
        })
    }
}

/// A module loader.
#[derive(Clone)]
pub struct Loader {
    /// Name of the module kind.
    pub kind: String,
    table: Table<ChipdockModuleLoader>,
    host: &'static SuiteHost,
}

/// Environment that compiled code is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Environment {
    /// One that works.
    Working,
    /// Null.
    Null,
}

/// A loaded module, destroyed when it is dropped.
pub struct Module {
    handle: ChipdockModuleHandle,
    host: &'static SuiteHost,
}

impl Loader {
    /// Returns the loader of that kind, if the plugin registered it.
    #[must_use]
    pub fn of(plugin: &Plugin, kind: &str) -> Option<Self> {
        let (kind, table) = plugin.loaders().into_iter().find(|(known, _)| known == kind)?;
        Some(Self { kind, table, host: plugin.host() })
    }

    /// Returns the host that its errors are raised with.
    #[must_use]
    pub fn host(&self) -> &'static SuiteHost {
        self.host
    }

    /// Asks whether an artifact would run on a device: returns the verdict and the reason.
    ///
    /// # Errors
    ///
    /// The error that the plugin raised.
    pub fn check(&self, artifact: &RawArtifact, device: ChipdockDevice) -> Result<(i32, Any), Error> {
        let table = self.table.table.ok_or_else(null_table)?;
        let (mut verdict, mut reason) = (i32::MIN, Any::NONE.into_raw());
        drop(self.host.take_error());
        let status = artifact.with(|raw| {
            // SAFETY: a registered table, its `self_`, an artifact that lives for the call, places to write to.
            unsafe { (table.verdict)(self.table.self_, raw, device, &mut verdict, &mut reason) }
        });
        // SAFETY: P7.8, None or a value that is ours now.
        let reason = unsafe { Any::from_raw(reason) };
        self.host.check(status, "check").map(|()| (verdict, reason))
    }

    /// Loads an artifact.
    ///
    /// # Errors
    ///
    /// The error that the plugin raised; `BrokenPlugin` when it returns a module without a table.
    pub fn load(&self, artifact: &RawArtifact, environment: Environment) -> Result<Module, Error> {
        match environment {
            Environment::Working => self.load_with(artifact, self.host.env().table()),
            Environment::Null => self.load_with(artifact, std::ptr::null()),
        }
    }

    /// Loads an artifact with an environment that counts its releases.
    ///
    /// # Errors
    ///
    /// As [`Self::load`].
    pub fn load_lent(&self, artifact: &RawArtifact, lent: &'static Lent) -> Result<Module, Error> {
        self.load_with(artifact, lent.table())
    }

    fn load_with(&self, artifact: &RawArtifact, env: *const ChipdockEnv) -> Result<Module, Error> {
        let table = self.table.table.ok_or_else(null_table)?;
        let mut handle = ChipdockModuleHandle { self_: std::ptr::null_mut(), table: std::ptr::null() };
        drop(self.host.take_error());
        let status = artifact.with(|raw| {
            // SAFETY: a registered table, its `self_`, an artifact that lives for the call, an environment for good or
            // null, and a place to write to.
            unsafe { (table.load)(self.table.self_, raw, env, &mut handle) }
        });
        self.host.check(status, "load")?;
        if handle.table.is_null() {
            return Err(Error::new(ErrorKind::BROKEN_PLUGIN, "load answered a module without a table"));
        }
        Ok(Module { handle, host: self.host })
    }
}

impl Module {
    pub(super) fn host(&self) -> &'static SuiteHost {
        self.host
    }

    fn table(&self) -> &'static ChipdockModule {
        // SAFETY: checked when it was loaded; static by P9.3.
        unsafe { &*self.handle.table }
    }

    /// Returns the function of that name, or `None`.
    ///
    /// # Errors
    ///
    /// The error that the plugin raised; `BrokenPlugin` when it returns something else than a function.
    pub fn function(&self, name: &[u8]) -> Result<Option<Function>, Error> {
        let mut out = Any::NONE.into_raw();
        drop(self.host.take_error());
        // SAFETY: a loaded module, a name that lives for the call, a place for an owned value.
        let status = unsafe { (self.table().function)(self.handle.self_, bytes_out(name), &mut out) };
        // SAFETY: P7.8, None or a value that is ours now.
        let out = unsafe { Any::from_raw(out) };
        self.host.check(status, "function")?;
        out.to::<Option<Function>>().map_err(|error| {
            let message = format!("`function` answered no function: {}", error.message());
            Error::new(ErrorKind::BROKEN_PLUGIN, message)
        })
    }
}

impl Module {
    /// Returns the interface of that name and version; its table is null where there is none.
    ///
    /// # Errors
    ///
    /// The error that the plugin raised.
    pub fn query(&self, name: &str, version: u32) -> Result<ChipdockInterface, Error> {
        // Not null, so that what was not written is seen.
        let mut out = ChipdockInterface { table: std::ptr::from_ref(self).cast(), ..ChipdockInterface::NONE };
        drop(self.host.take_error());
        // SAFETY: P3.12, a loaded module, a name that lives for the call, a place to write to.
        let status =
            unsafe { (self.table().query)(self.handle.self_, bytes_out(name.as_bytes()), version, &mut out) };
        self.host.check(status, "query").map(|()| out)
    }
}

impl Drop for Module {
    fn drop(&mut self) {
        // SAFETY: M.5, once and last.
        unsafe { (self.table().destroy)(self.handle.self_) };
    }
}
