//! The libLLVM that a host compiles with: known by what it answered before, opened when it has
//! work.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::sync::{Mutex, OnceLock};

use chipdock_plugin_api::kit::{PerProcess, lock};
use chipdock_plugin_api::{Error, ErrorKind, HostRef};
use serde_json::{Value, json};

use super::library::{self, LIBRARY, Llvm, NAMES};
use super::machine::{HostCpu, component};
use super::worker;
use crate::cache::{self, Memory};

/// A libLLVM of this process, opened or not.
pub(crate) struct Chosen {
    pub(super) known: Known,
    /// The name in the settings.
    named: Option<OsString>,
    /// What is kept for the next process, and what its answers depend on besides the question.
    memory: Option<(Memory, String)>,
    /// The question to which it is the answer that is kept.
    question: Option<String>,
    opened: OnceLock<&'static Llvm>,
}

/// What is known of a libLLVM, whether it is open or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Known {
    /// The name by which the linker finds it.
    name: String,
    version: [u32; 3],
    /// Its file.
    path: Option<PathBuf>,
    /// Identifies its file in fingerprints.
    file: Option<String>,
    host: HostCpu,
    components: Vec<&'static str>,
}

/// Libraries by the name in the settings.
type Opened = Mutex<BTreeMap<Option<OsString>, &'static Llvm>>;
static OPENED: PerProcess<Opened> = PerProcess::new(|_| Mutex::default());

/// The library that a host's settings name, or that is found: the same for each call in a process.
///
/// Hosts whose settings name different files each have their own.
///
/// # Errors
///
/// * `Unavailable`: there is none, with each name that was tried and the reason for its rejection;
///   the next call looks again.
/// * The host's error for the setting.
pub(crate) fn chosen(host: HostRef) -> Result<&'static Chosen, Error> {
    type All = Mutex<BTreeMap<(Option<OsString>, bool), &'static Chosen>>;
    static CHOSEN: PerProcess<All> = PerProcess::new(|_| Mutex::default());
    let named = host.setting(&LIBRARY)?.map(PathBuf::into_os_string).filter(|name| !name.is_empty());
    let remembers = Memory::is_asked_for(host)?;
    let mut all = lock(CHOSEN.of_this());
    if let Some(chosen) = all.get(&(named.clone(), remembers)) {
        return Ok(chosen);
    }
    let memory = remembers.then(Memory::open).flatten();
    let chosen: &'static Chosen = Box::leak(Box::new(Chosen::new(named.clone(), memory)?));
    all.insert((named, remembers), chosen);
    Ok(chosen)
}

/// The library that a host's settings name, or that is found, opened.
///
/// # Errors
///
/// As [`chosen`] and [`Chosen::open`].
pub(crate) fn library_of(host: HostRef) -> Result<&'static Llvm, Error> {
    chosen(host)?.open()
}

/// Opens the library of that name in the settings, once in a process.
fn opened(
    named: &Option<OsString>,
    open: impl FnOnce() -> Result<Llvm, Error>,
) -> Result<&'static Llvm, Error> {
    let mut all = lock(OPENED.of_this());
    if let Some(llvm) = all.get(named) {
        return Ok(llvm);
    }
    let llvm: &'static Llvm = Box::leak(Box::new(open()?));
    worker::contain_fatal_errors(llvm);
    all.insert(named.clone(), llvm);
    Ok(llvm)
}

/// The question which libLLVM the names lead to that are tried; `None` where the answer cannot be
/// kept.
pub(super) fn question(named: &Option<OsString>) -> Option<String> {
    let names: Vec<&OsStr> = match named {
        Some(name) => vec![name],
        None => NAMES.iter().map(OsStr::new).collect(),
    };
    // Another part of the program has opened one of them, which the linker takes then.
    let is_free = !names.iter().any(|name| library::is_loaded(name));
    is_free.then(|| cache::way_to(&names)).flatten()
}

impl Known {
    pub(super) fn of(llvm: &Llvm) -> Self {
        Self {
            name: llvm.name.clone(),
            version: llvm.version,
            path: llvm.path.clone(),
            file: llvm.file.clone(),
            host: llvm.host(),
            components: llvm.targets(),
        }
    }

    fn to_json(&self, identity: &str) -> Option<Value> {
        Some(json!({
            "name": self.name,
            "version": self.version,
            "path": self.path.as_ref()?.to_str()?,
            "file": self.file.as_ref()?,
            "identity": identity,
            "triple": self.host.triple,
            "cpu": self.host.cpu,
            "features": self.host.features,
            "components": self.components,
        }))
    }

    /// Reads what [`Self::to_json`] wrote, and the identity of the file.
    pub(super) fn from_json(json: &Value) -> Option<(Self, String)> {
        let text = |name: &str| json[name].as_str().map(str::to_owned);
        let numbers = json["version"].as_array()?;
        let number = |index: usize| numbers.get(index)?.as_u64().and_then(|it| u32::try_from(it).ok());
        let components = json["components"].as_array()?.iter().map(|name| component(name.as_str()?));
        let known = Self {
            name: text("name")?,
            version: [number(0)?, number(1)?, number(2)?],
            path: Some(text("path")?.into()),
            file: Some(text("file")?),
            host: HostCpu { triple: text("triple")?, cpu: text("cpu")?, features: text("features")? },
            components: components.collect::<Option<_>>()?,
        };
        Some((known, text("identity")?))
    }
}

impl Chosen {
    /// Takes what an earlier process found, or opens the library (LLKEPT-P1).
    pub(super) fn new(named: Option<OsString>, memory: Option<Memory>) -> Result<Self, Error> {
        let is_open = lock(OPENED.of_this()).contains_key(&named);
        let question = memory.as_ref().filter(|_| !is_open).and_then(|_| question(&named));
        let kept = memory.as_ref().zip(question.as_ref()).and_then(|(memory, question)| {
            let (known, identity) = Known::from_json(&memory.read(&["library", question])?)?;
            (cache::settled(known.path.as_deref()?)? == identity).then_some((known, identity))
        });
        if let Some((known, identity)) = kept {
            let memory = memory.map(|memory| (memory, identity));
            return Ok(Self { known, named, memory, question, opened: OnceLock::new() });
        }
        let llvm = opened(&named, || library::search(named.as_deref()))?;
        let known = Known::of(llvm);
        let memory =
            memory.and_then(|memory| Some((memory, known.path.as_deref().and_then(cache::settled)?)));
        if let (Some((memory, identity)), Some(question)) = (&memory, &question)
            && let Some(answer) = known.to_json(identity)
        {
            memory.write(&["library", question], &answer);
        }
        Ok(Self { known, named, memory, question, opened: OnceLock::from(llvm) })
    }

    /// The library, which the first call opens.
    ///
    /// # Errors
    ///
    /// `Unavailable`: it is not the one any more that answered before (LLKEPT-P4).
    pub(crate) fn open(&self) -> Result<&'static Llvm, Error> {
        if let Some(llvm) = self.opened.get() {
            return Ok(llvm);
        }
        let path = self.known.path.clone().unwrap_or_default();
        let changed = |why: &str| {
            if let (Some((memory, _)), Some(question)) = (&self.memory, &self.question) {
                memory.write(&["library", question], &Value::Null);
            }
            let path = path.display();
            let message = format!(
                "{self} was at {path} when it was used before, and is not the same now: {why}; start the process again"
            );
            Error::new(ErrorKind::UNAVAILABLE, message)
        };
        let open = || library::open_file(&self.known.name, &path).map_err(|why| changed(&why));
        let llvm = opened(&self.named, open)?;
        if llvm.file != self.known.file {
            return Err(changed("its file has changed"));
        }
        Ok(self.opened.get_or_init(|| llvm))
    }

    /// The processor that this process runs on, as LLVM reports it.
    pub(crate) fn host(&self) -> &HostCpu {
        &self.known.host
    }

    /// Identifies the library in fingerprints; `None` if its file is not known.
    pub(crate) fn fingerprint(&self) -> Option<String> {
        self.known.file.as_ref().map(|file| format!("{self}; {file}"))
    }

    /// Answers a question by what is kept, or by the library.
    ///
    /// # Errors
    ///
    /// Those of `ask` and of [`Self::open`].
    pub(crate) fn recall(
        &self,
        question: &[&str],
        ask: impl FnOnce(&'static Llvm) -> Result<Value, Error>,
    ) -> Result<Value, Error> {
        let Some((memory, identity)) = &self.memory else { return ask(self.open()?) };
        let question = [&[identity.as_str()], question].concat();
        if let Some(answer) = memory.read(&question) {
            return Ok(answer);
        }
        let answer = ask(self.open()?)?;
        memory.write(&question, &answer);
        Ok(answer)
    }
}

impl core::fmt::Display for Chosen {
    /// Identifies the library in messages, and in fingerprints.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let [major, minor, patch] = self.known.version;
        write!(f, "LLVM {major}.{minor}.{patch} ({})", self.known.name)
    }
}
