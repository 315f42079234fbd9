//! A module loader called through its table, with artifacts that may be invalid on purpose.

use chipdock_abi::{
    ChipdockArtifact, ChipdockDevice, ChipdockEnv, ChipdockInterface, ChipdockModule, ChipdockModuleHandle,
    ChipdockModuleLoader, ChipdockSection,
};
use chipdock_plugin_api::{Any, Error, ErrorKind, Function};

use crate::codegen::{self, Chain};
use crate::env::Lent;
use crate::host::RawHost;
use crate::kind::{bytes_out, null_table};
use crate::plugin::{Plugin, Table};

/// A section of an artifact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawSection {
    /// Name of the section.
    pub name: Vec<u8>,
    /// Kind of the section.
    pub kind: Vec<u8>,
    /// Alignment of the data.
    pub alignment_bytes: u64,
    /// Contents of the section.
    pub data: Vec<u8>,
}

/// An artifact as bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RawArtifact {
    /// Index as JSON.
    pub index_json: Vec<u8>,
    /// Sections of the artifact.
    pub sections: Vec<RawSection>,
    /// Names and flags of the artifact's extensions.
    pub extensions: Vec<(String, u32)>,
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
    /// Calls `body` with the artifact in the form of the ABI, its sections aligned as they require
    /// (M.3).
    pub(crate) fn with<R>(&self, body: impl FnOnce(&ChipdockArtifact) -> R) -> R {
        let mut storage: Vec<(Vec<u8>, usize)> = Vec::with_capacity(self.sections.len());
        for section in &self.sections {
            let alignment = usize::try_from(section.alignment_bytes.clamp(1, 1 << 20)).unwrap_or(1);
            // The heap block of a vector does not move unless it is resized.
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
        let chain = Chain::new(&self.extensions);
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
    host: &'static RawHost,
}

/// Environment that compiled code receives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Environment {
    /// A working environment.
    Working,
    /// A null pointer.
    Null,
}

/// A loaded module, destroyed on drop.
pub struct Module {
    handle: ChipdockModuleHandle,
    host: &'static RawHost,
}

// SAFETY: M.1, every function of the table may be called from any thread.
unsafe impl Send for Module {}
// SAFETY: M.1, every function of the table may be called from any thread.
unsafe impl Sync for Module {}

impl Loader {
    /// Returns the loader of a module kind, if the plugin registered it.
    #[must_use]
    pub fn find(plugin: &Plugin, kind: &str) -> Option<Self> {
        let (kind, table) = plugin.loaders().into_iter().find(|(known, _)| known == kind)?;
        Some(Self { kind, table, host: plugin.host() })
    }

    /// Returns the host that errors are raised with.
    #[must_use]
    pub fn host(&self) -> &'static RawHost {
        self.host
    }

    /// Asks whether an artifact would run on a device, and returns the verdict and the reason.
    ///
    /// # Errors
    ///
    /// The error that the plugin raised.
    pub fn check(&self, artifact: &RawArtifact, device: ChipdockDevice) -> Result<(i32, Any), Error> {
        let table = self.table.table.ok_or_else(null_table)?;
        let (mut verdict, mut reason) = (i32::MIN, Any::NONE.into_raw());
        self.host.begin();
        let status = artifact.with(|raw| {
            // SAFETY: the table is registered and called with its `self_`; the artifact lives for
            // the call, and there is room for the results.
            unsafe { (table.verdict)(self.table.self_, raw, device, &mut verdict, &mut reason) }
        });
        // SAFETY: by P7.8, the reason is `None` or a value that we now own.
        let reason = unsafe { Any::from_raw(reason) };
        self.host.check(status, "check").map(|()| (verdict, reason))
    }

    /// Loads an artifact.
    ///
    /// # Errors
    ///
    /// The error that the plugin raised; `BrokenPlugin` for a module without a table.
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
    /// Those of [`Self::load`].
    pub fn load_lent(&self, artifact: &RawArtifact, lent: &'static Lent) -> Result<Module, Error> {
        self.load_with(artifact, lent.table())
    }

    fn load_with(&self, artifact: &RawArtifact, env: *const ChipdockEnv) -> Result<Module, Error> {
        let table = self.table.table.ok_or_else(null_table)?;
        let mut handle = ChipdockModuleHandle { self_: std::ptr::null_mut(), table: std::ptr::null() };
        self.host.begin();
        let status = artifact.with(|raw| {
            // SAFETY: the table is registered and called with its `self_`; the artifact lives for
            // the call, the environment is null or never freed, and there is room for the result.
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
    pub(crate) fn host(&self) -> &'static RawHost {
        self.host
    }

    fn table(&self) -> &'static ChipdockModule {
        // SAFETY: the table was checked on loading and is static by P9.3.
        unsafe { &*self.handle.table }
    }

    /// Returns the function of a name, if the module has it.
    ///
    /// # Errors
    ///
    /// The error that the plugin raised; `BrokenPlugin` if the answer is no function.
    pub fn function(&self, name: &[u8]) -> Result<Option<Function>, Error> {
        let mut out = Any::NONE.into_raw();
        self.host.begin();
        // SAFETY: the module is loaded, the name lives for the call, and there is room for an owned
        // value.
        let status = unsafe { (self.table().function)(self.handle.self_, bytes_out(name), &mut out) };
        // SAFETY: by P7.8, the result is `None` or a value that we now own.
        let out = unsafe { Any::from_raw(out) };
        self.host.check(status, "function")?;
        out.to::<Option<Function>>().map_err(|error| {
            let message = format!("`function` answered no function: {}", error.message());
            Error::new(ErrorKind::BROKEN_PLUGIN, message)
        })
    }
}

impl Module {
    /// Returns the interface of a name and version; its table is null if there is none.
    ///
    /// # Errors
    ///
    /// The error that the plugin raised.
    pub fn query(&self, name: &str, version: u32) -> Result<ChipdockInterface, Error> {
        // Not null, so that an answer that was not written is detected.
        let mut out = ChipdockInterface { table: std::ptr::from_ref(self).cast(), ..ChipdockInterface::NONE };
        self.host.begin();
        // SAFETY: by P3.12, the module is loaded, the name lives for the call, and there is room
        // for the result.
        let status =
            unsafe { (self.table().query)(self.handle.self_, bytes_out(name.as_bytes()), version, &mut out) };
        self.host.check(status, "query").map(|()| out)
    }
}

impl Drop for Module {
    fn drop(&mut self) {
        // SAFETY: by M.5, the module is destroyed once and not used afterwards.
        unsafe { (self.table().destroy)(self.handle.self_) };
    }
}
