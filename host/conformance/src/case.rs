//! Cases of the suite, the groups that they belong to, and the profiles that they need.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use chipdock_raw_host::HOOK;
use serde::{Deserialize, Serialize};

use crate::{Context, Facts, Verdict};

/// Conformance level that a plugin can reach (SUITE-S13).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// The library can be inspected, opened and queried.
    Loadable,
    /// The plugin's devices keep the contract.
    Device,
    /// The plugin's target kinds, code generators and loaders keep the contract.
    Codegen,
    /// Everything that the plugin registers keeps the contract, in long runs too.
    Full,
}

impl Level {
    /// All levels, lowest first.
    pub const ALL: &[Self] = &[Self::Loadable, Self::Device, Self::Codegen, Self::Full];

    /// Returns true if a run at this level also runs the cases of `other`.
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
            /// All values in order.
            pub const ALL: &[Self] = &[$(Self::$name),*];

            /// Returns the name.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$name => $text),*
                }
            }

            /// Returns the value of a name, if there is one.
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
    /// Subject area of a case; the first part of its id.
    Group {
        /// Inspection of the file without running it: exports, manifest, symbols, dependencies.
        Image = "image",
        /// Opening, handshake, registration, shutdown.
        Load = "load",
        /// Plain functions, and values that cross the ABI.
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
    /// Returns the level that the group belongs to.
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

    /// Returns true if the group's cases run while no other case does.
    #[must_use]
    pub fn is_exclusive(self) -> bool {
        self == Self::Soak
    }

    /// Returns true if the kernels of several of the group's cases may be built in one module
    /// (SUITE-S17).
    #[must_use]
    pub fn shares_modules(self) -> bool {
        matches!(self, Self::Op | Self::Kernel)
    }

    /// Returns a one-line description for users.
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
    /// Optional feature of a plugin; a plugin claims the profiles that it supports (SUITE-S6).
    Profile {
        /// Arithmetic on float16.
        Float16 = "float16",
        /// Arithmetic on bfloat16.
        Bfloat16 = "bfloat16",
        /// Arithmetic on float64.
        Float64 = "float64",
        /// Arithmetic on int64 and uint64.
        Int64 = "int64",
        /// Vector types beyond those that the passes split into scalars.
        Vectors = "vectors",
        /// Loops bound to blocks and threads, on the axes that the target kind declares.
        GpuThreads = "gpu-threads",
        /// Shared memory with barriers.
        SharedMemory = "shared-memory",
        /// Shared memory whose size is known at launch.
        DynamicSharedMemory = "dynamic-shared-memory",
        /// Shuffles between the threads of a warp.
        Warp = "warp",
        /// Atomic additions.
        Atomics = "atomics",
        /// Several streams that progress independently.
        SeveralStreams = "several-streams",
        /// Several devices of one kind.
        SeveralDevices = "several-devices",
        /// Page-locked host memory.
        Pinned = "pinned",
        /// Device memory that the host can write directly.
        HostVisible = "host-visible",
        /// Memory at the same address on host and device.
        Unified = "unified",
        /// Typed errors for invalid handles and ranges (D.19).
        CheckedHandles = "checked-handles",
        /// Hooks that provoke failures which no call can cause (I).
        FailureInjection = "failure-injection",
        /// Device time between marks on its streams: interface `timer` 1 (N).
        Timer = "timer",
        /// Values that rise with the work, and waits for them: interface `timeline` 1 (N).
        Timeline = "timeline",
        /// Streams and memory shared with the driver's own interface: interface `external` 1 (N).
        External = "external",
        /// Host addresses of host-visible memory whose handle is no address: interface `map` 1 (N).
        Map = "map",
        /// Memory in the order of a stream: interface `memory.async` 1 (N).
        MemoryAsync = "memory-async",
        /// Workspace of the device's own: interface `workspace` 1 (N).
        Workspace = "workspace",
        /// Copies and launches that are recorded once, and replayed: interface `graph` 1 (N).
        Graph = "graph",
    }
}

impl Profile {
    /// Returns true if the profile is about a device itself: its streams, its memory, its
    /// interfaces. The others are about the code that runs there.
    #[must_use]
    pub fn is_of_device(self) -> bool {
        match self {
            Self::SeveralStreams
            | Self::SeveralDevices
            | Self::Pinned
            | Self::HostVisible
            | Self::Unified
            | Self::CheckedHandles
            | Self::FailureInjection
            | Self::Timer
            | Self::Timeline
            | Self::External
            | Self::Map
            | Self::MemoryAsync
            | Self::Workspace
            | Self::Graph => true,
            Self::Float16
            | Self::Bfloat16
            | Self::Float64
            | Self::Int64
            | Self::Vectors
            | Self::GpuThreads
            | Self::SharedMemory
            | Self::DynamicSharedMemory
            | Self::Warp
            | Self::Atomics => false,
        }
    }
}

impl IntoIterator for Profile {
    type Item = Self;
    type IntoIter = std::iter::Once<Self>;

    /// Yields the profile itself, once.
    fn into_iter(self) -> Self::IntoIter {
        std::iter::once(self)
    }
}

/// Scope of an instance: one registration of the plugin, or the plugin as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Subject {
    /// The plugin as a whole; one instance.
    Plugin,
    /// The manifest beside the library; one instance if there is a manifest.
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

/// Body of a case.
pub type Body = Arc<dyn Fn(&Context) -> Verdict + Send + Sync>;

/// One case, independent of any plugin.
#[derive(Clone)]
pub struct Case {
    /// `group/name[/parameters]` (SUITE-S1).
    pub id: String,
    /// Group of the case.
    pub group: Group,
    /// The clause that the case tests, such as `D.4`.
    pub clause: &'static str,
    /// Kind of registration that the case tests.
    pub subject: Subject,
    /// Profiles that the case needs; all of them must be supported.
    pub profiles: Vec<Profile>,
    /// Time after which the case counts as hung.
    pub deadline: Duration,
    /// Whether the worker process ends normally after the case, so that its exit is part of the
    /// case.
    pub ends_process: bool,
    /// The test itself. Runs on the main thread of a worker.
    pub body: Body,
}

impl fmt::Debug for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Case").field("id", &self.id).field("clause", &self.clause).finish_non_exhaustive()
    }
}

/// A case applied to one registration.
#[derive(Clone, Debug)]
pub struct Instance {
    /// `id@registration`, or the id of the case alone.
    pub id: String,
    /// The registration's name; empty for the plugin as a whole.
    pub registration: String,
    /// The case.
    pub case: Case,
}

/// Default time limit of a case.
pub const DEADLINE: Duration = Duration::from_secs(20);

/// Builder of the list of cases.
#[derive(Debug, Default)]
pub struct Cases {
    cases: Vec<Case>,
}

/// Builder of one case; [`Draft::run`] adds the case to the list.
pub struct Draft<'a> {
    cases: &'a mut Cases,
    case: Case,
}

impl Cases {
    /// Starts a case; `name` is the part of its id after the group.
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

    /// Returns the cases in order.
    #[must_use]
    pub fn into_vec(self) -> Vec<Case> {
        self.cases
    }
}

impl Draft<'_> {
    /// Adds profiles that the case needs; `None` adds nothing.
    #[must_use]
    pub fn profile(mut self, profiles: impl IntoIterator<Item = Profile>) -> Self {
        self.case.profiles.extend(profiles);
        self
    }

    /// Sets the time limit in seconds.
    #[must_use]
    pub fn deadline(mut self, seconds: u64) -> Self {
        self.case.deadline = Duration::from_secs(seconds);
        self
    }

    /// Makes the end of the worker process part of the case.
    #[must_use]
    pub fn ends_process(mut self) -> Self {
        self.case.ends_process = true;
        self
    }

    /// Sets the body and adds the case to the list.
    pub fn run(mut self, body: impl Fn(&Context) -> Verdict + Send + Sync + 'static) {
        self.case.body = Arc::new(body);
        self.cases.cases.push(self.case);
    }
}

/// Random programs of a run. Supervisor and workers use the same ones, so that their lists of cases
/// agree (SUITE-S2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seeds {
    /// Seed of the first random program.
    pub first: u64,
    /// Number of random programs.
    pub programs: u64,
}

impl Default for Seeds {
    fn default() -> Self {
        Self { first: 0, programs: 64 }
    }
}

/// Returns an instance for each pair of a case and a registration that the case applies to.
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
        // Failure injection hooks are subjects only of cases that end their process, and the device
        // with it.
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
