//! What there is to test: cases, the groups they stand in, and what they need.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{Context, Facts, Verdict};

/// How far a plugin came (SUITE-S13).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// It can be looked at, opened and asked.
    Loadable,
    /// Its devices keep the contract.
    Device,
    /// Its target kinds, code generators and loaders keep the contract.
    Codegen,
    /// Everything that it registers does, for long too.
    Full,
}

impl Level {
    /// All, from the least.
    pub const ALL: &[Self] = &[Self::Loadable, Self::Device, Self::Codegen, Self::Full];

    /// Whether a run at this level runs cases that belong to `other`.
    #[must_use]
    pub fn includes(self, other: Self) -> bool {
        other == Self::Loadable || other == self || self == Self::Full
    }
}

macro_rules! named {
    ($(#[$doc:meta])* $type:ident { $($(#[$item:meta])* $name:ident = $text:literal),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum $type {
            $($(#[$item])* #[serde(rename = $text)] $name),*
        }

        impl $type {
            /// All, in order.
            pub const ALL: &[Self] = &[$(Self::$name),*];

            /// Its name.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$name => $text),*
                }
            }

            /// The one of that name.
            #[must_use]
            pub fn by_name(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|known| known.name() == name)
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.name())
            }
        }
    };
}

named! {
    /// What cases are about; the first part of their ids.
    Group {
        /// The file, without running it: exports, manifest, symbols, dependencies.
        Image = "image",
        /// Opening, handshake, registration, shutdown.
        Load = "load",
        /// Plain functions, and values that cross.
        Function = "function",
        /// Counting devices, attributes.
        Query = "query",
        /// Data spaces and workspaces.
        Memory = "memory",
        /// Copies in all directions.
        Copy = "copy",
        /// Streams and synchronisation.
        Stream = "stream",
        /// Wrong calls.
        Misuse = "misuse",
        /// Many threads at once.
        Threads = "threads",
        /// Target kinds: options, ranges, canonicalizer.
        Target = "target",
        /// Modules: load, reload, damaged bytes.
        Module = "module",
        /// Code generation, node by node and type by type.
        Op = "op",
        /// Whole kernels.
        Kernel = "kernel",
        /// Random programs against the interpreter.
        Fuzz = "fuzz",
        /// Growth of memory and handles.
        Soak = "soak",
    }
}

impl Group {
    /// The level that it belongs to.
    #[must_use]
    pub fn level(self) -> Level {
        match self {
            Self::Image | Self::Load => Level::Loadable,
            Self::Query | Self::Memory | Self::Copy | Self::Stream | Self::Misuse | Self::Threads => {
                Level::Device
            }
            Self::Target | Self::Module | Self::Op | Self::Kernel | Self::Fuzz => Level::Codegen,
            Self::Function | Self::Soak => Level::Full,
        }
    }

    /// Whether its cases run while nothing else does.
    #[must_use]
    pub fn is_exclusive(self) -> bool {
        self == Self::Soak
    }

    /// For a person, one line.
    #[must_use]
    pub fn doc(self) -> &'static str {
        match self {
            Self::Image => "the file, without running it: exports, manifest, symbols, dependencies",
            Self::Load => "opening, handshake, registration, shutdown",
            Self::Function => "plain functions, and values that cross",
            Self::Query => "counting devices, attributes",
            Self::Memory => "data spaces and workspaces",
            Self::Copy => "copies in all directions",
            Self::Stream => "streams and synchronisation",
            Self::Misuse => "wrong calls: a typed error, and a usable device afterwards",
            Self::Threads => "many threads at once",
            Self::Target => "target kinds: options, ranges, canonicalizer",
            Self::Module => "modules: load, reload, damaged bytes",
            Self::Op => "code generation, node by node and type by type",
            Self::Kernel => "whole kernels",
            Self::Fuzz => "random programs against the interpreter",
            Self::Soak => "growth of memory and handles",
        }
    }
}

named! {
    /// What not every plugin has; a plugin claims those that it has (SUITE-S6).
    Profile {
        /// Arithmetic on float16.
        Float16 = "float16",
        /// Arithmetic on bfloat16.
        Bfloat16 = "bfloat16",
        /// Arithmetic on float64.
        Float64 = "float64",
        /// Arithmetic on int64 and uint64.
        Int64 = "int64",
        /// Vector types beyond what the passes take apart.
        Vectors = "vectors",
        /// Loops bound to blocks and threads.
        GpuThreads = "gpu-threads",
        /// Shared memory with barriers.
        SharedMemory = "shared-memory",
        /// Shared memory whose size is known at launch.
        DynamicSharedMemory = "dynamic-shared-memory",
        /// Shuffles between the threads of a warp.
        Warp = "warp",
        /// Atomic additions.
        Atomics = "atomics",
        /// Several streams that make progress by themselves.
        SeveralStreams = "several-streams",
        /// Several devices of one kind.
        SeveralDevices = "several-devices",
        /// Page-locked host memory.
        Pinned = "pinned",
        /// Device memory that the host writes in place.
        HostVisible = "host-visible",
        /// Memory that both sides address alike.
        Unified = "unified",
        /// Wrong handles and ranges are answered with typed errors (D.19).
        CheckedHandles = "checked-handles",
        /// Hooks by which failures are provoked that no call can bring about (I).
        FailureInjection = "failure-injection",
        /// The device's time between marks of its streams: interface `timer` 1 (N).
        Timer = "timer",
        /// Streams and memory shared with the driver's own interface: interface `external` 1 (N).
        External = "external",
        /// Addresses of host-visible memory whose handle is none: interface `map` 1 (N).
        Map = "map",
    }
}

impl IntoIterator for Profile {
    type Item = Self;
    type IntoIter = std::iter::Once<Self>;

    /// Itself alone.
    fn into_iter(self) -> Self::IntoIter {
        std::iter::once(self)
    }
}

/// What an instance of a case is about: one registration of the plugin, or all of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Subject {
    /// The plugin as a whole; once.
    Plugin,
    /// The manifest beside the library; once, when there is one.
    Manifest,
    /// Each `device_api.<name>`.
    DeviceApi,
    /// Each `target.kind.<name>`.
    TargetKind,
    /// Each `target.build.<name>`.
    Codegen,
    /// Each `module.load.<name>`.
    Loader,
    /// Each plain function.
    Function,
}

/// What a case does.
pub type Body = Arc<dyn Fn(&Context) -> Verdict + Send + Sync>;

/// One case, for whatever plugin.
#[derive(Clone)]
pub struct Case {
    /// `group/name[/parameters]` (SUITE-S1).
    pub id: String,
    /// Its group.
    pub group: Group,
    /// The clause that it tests, as `D.4`.
    pub clause: &'static str,
    /// What it is about.
    pub subject: Subject,
    /// What it needs beyond what every plugin has: all of these.
    pub profiles: Vec<Profile>,
    /// After so long without an end it counts as hung.
    pub deadline: Duration,
    /// Whether the worker ends, as any process does, after it: its exit is part of the case.
    pub ends_process: bool,
    /// What it does. Runs on the main thread of a worker.
    pub body: Body,
}

impl fmt::Debug for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Case").field("id", &self.id).field("clause", &self.clause).finish_non_exhaustive()
    }
}

/// A case about one registration.
#[derive(Clone, Debug)]
pub struct Instance {
    /// `id@registration`, or the case's id.
    pub id: String,
    /// The registration's name; empty for the plugin as a whole.
    pub registration: String,
    /// The case.
    pub case: Case,
}

/// How long a case may take when it does not say.
pub const DEADLINE: Duration = Duration::from_secs(20);

/// The list of cases as it is put together.
#[derive(Debug, Default)]
pub struct Cases {
    cases: Vec<Case>,
}

/// A case that is being described; it is in the list once [`Draft::run`] is called.
pub struct Draft<'a> {
    cases: &'a mut Cases,
    case: Case,
}

impl Cases {
    /// Describes a case; `name` is what follows the group in its id.
    pub fn case(
        &mut self,
        group: Group,
        name: impl fmt::Display,
        clause: &'static str,
        subject: Subject,
    ) -> Draft<'_> {
        let case = Case {
            id: format!("{group}/{name}"),
            group,
            clause,
            subject,
            profiles: Vec::new(),
            deadline: DEADLINE,
            ends_process: false,
            body: Arc::new(|_| Ok(())),
        };
        Draft { cases: self, case }
    }

    /// The cases, in order.
    #[must_use]
    pub fn into_vec(self) -> Vec<Case> {
        self.cases
    }
}

impl Draft<'_> {
    /// It needs these, and what was said before; nothing for `None`.
    #[must_use]
    pub fn profile(mut self, profiles: impl IntoIterator<Item = Profile>) -> Self {
        self.case.profiles.extend(profiles);
        self
    }

    /// It may take so many seconds.
    #[must_use]
    pub fn deadline(mut self, seconds: u64) -> Self {
        self.case.deadline = Duration::from_secs(seconds);
        self
    }

    /// The end of the process is part of it.
    #[must_use]
    pub fn ends_process(mut self) -> Self {
        self.case.ends_process = true;
        self
    }

    /// What it does.
    pub fn run(mut self, body: impl Fn(&Context) -> Verdict + Send + Sync + 'static) {
        self.case.body = Arc::new(body);
        self.cases.cases.push(self.case);
    }
}

/// What a run is made of besides the plugin: the same in supervisor and workers, so that their lists agree (SUITE-S2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seeds {
    /// The first seed of random cases.
    pub first: u64,
    /// How many random programs.
    pub programs: u64,
}

impl Default for Seeds {
    fn default() -> Self {
        Self { first: 0, programs: 64 }
    }
}

/// What the names of functions begin with by which a plugin lets the suite make its devices fail.
pub const HOOK: &str = "conformance.";

/// Every case that is about something that the plugin has, with that.
#[must_use]
pub fn instances(cases: &[Case], facts: &Facts) -> Vec<Instance> {
    let mut all = Vec::new();
    for case in cases {
        let is_once = match case.subject {
            Subject::Plugin => true,
            Subject::Manifest => facts.has_manifest,
            _ => false,
        };
        if is_once {
            all.push(Instance { id: case.id.clone(), registration: String::new(), case: case.clone() });
            continue;
        }
        // Functions by which a plugin lets the suite make its devices fail are subjects of cases alone that end their
        // process, and the device with it.
        let is_hook =
            |name: &str| case.subject == Subject::Function && name.starts_with(HOOK) && !case.ends_process;
        let names = facts.registrations(case.subject).filter(|name| !is_hook(name));
        all.extend(names.map(|name| Instance {
            id: format!("{}@{name}", case.id),
            registration: name.to_owned(),
            case: case.clone(),
        }));
    }
    all
}
