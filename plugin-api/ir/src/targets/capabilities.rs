//! Capabilities: the properties of a target that passes use.
//!
//! Each capability is declared once, in the table below. The groups of [`TargetCapabilities`], the
//! option names of a target kind ([`CapabilityOptions`]), the check of a kind, the JSON Schemas in
//! `plugin-api/abi/schemas` and the table in the guide follow from it. To add one, add a row, and
//! use it in a pass; `BLESS=1` writes schemas and guide anew.
//!
//! * **TC1** A row that names an option is read from the option that the kind names for it. Where
//!   the kind names none, or the option is not set, the capability has its default, which assumes
//!   nothing of the device.
//! * **TC2** A row under `kind` is a field of the kind itself: the same for all its targets, except
//!   by TC3.
//! * **TC3** `missing_types` contains besides the kind's own those types of
//!   [`TargetKind::optional_types`] whose option is false or not set. A type that is not known here
//!   is ignored.
//! * **TC4** [`TargetCapabilities::options`] has the names of the options that capabilities and
//!   types are read from, so that an error about a limit names the option that sets it. An option
//!   that has one value sets nothing.
//! * **TC5** `native_ops` contains besides the kind's own those ops of [`TargetKind::optional_ops`]
//!   whose option is true. An op that is not known here is ignored.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{OptionType, Target, TargetKind};
use crate::Stage;
use crate::op::DotProduct;
use crate::{DType, Op, ThreadAxis};

/// A row of the table of capabilities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capability {
    /// Name: in [`CapabilityOptions`], in a kind's JSON, and in its group.
    pub name: &'static str,
    /// Group: a field of [`TargetCapabilities`].
    pub group: &'static str,
    /// Meaning.
    pub doc: &'static str,
    /// Source of the value.
    pub source: CapabilitySource,
}

/// The source of a capability's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CapabilitySource {
    /// An option of the target, which the kind names.
    Option {
        /// The type of the option.
        option_type: OptionType,
        /// The unit of the value; empty if it has none.
        unit: &'static str,
        /// The value if the option is not set; empty if it is then unknown.
        default: &'static str,
        /// The usual name of the option, TVM's if TVM has it.
        usual_name: &'static str,
    },
    /// The field of that name of the kind (for `missing_types` also TC3).
    Kind {
        /// The unit of the value; empty if it has none.
        unit: &'static str,
    },
}

/// A type of capabilities whose values are read from options.
trait FromOption: Sized {
    const TYPE: OptionType;

    /// Converts a value to this type; `None` for a value of another type.
    fn from_option(value: &Value) -> Option<Self>;
}

impl FromOption for bool {
    const TYPE: OptionType = OptionType::Bool;

    fn from_option(value: &Value) -> Option<Self> {
        value.as_bool()
    }
}

impl FromOption for u32 {
    const TYPE: OptionType = OptionType::Int;

    fn from_option(value: &Value) -> Option<Self> {
        value.as_u64()?.try_into().ok()
    }
}

impl FromOption for Option<i64> {
    const TYPE: OptionType = OptionType::Int;

    fn from_option(value: &Value) -> Option<Self> {
        value.as_i64().map(Some)
    }
}

/// By axis x, y, z; the missing axes of a shorter list are unknown.
impl FromOption for [Option<i64>; 3] {
    const TYPE: OptionType = OptionType::IntList;

    fn from_option(value: &Value) -> Option<Self> {
        let list = value.as_array()?;
        Some([0, 1, 2].map(|axis| list.get(axis).and_then(Value::as_i64)))
    }
}

/// Items that are no strings are left out.
impl FromOption for Vec<String> {
    const TYPE: OptionType = OptionType::StrList;

    fn from_option(value: &Value) -> Option<Self> {
        let list = value.as_array()?;
        Some(list.iter().filter_map(Value::as_str).map(str::to_owned).collect())
    }
}

/// How exact functions of floats are where there is a choice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Accuracy {
    /// As fast as the specification allows (rule IR-N11).
    #[default]
    Fast,
    /// As exact as the target can be.
    High,
}

impl FromOption for Accuracy {
    const TYPE: OptionType = OptionType::Str;

    fn from_option(value: &Value) -> Option<Self> {
        match value.as_str()? {
            "fast" => Some(Self::Fast),
            "high" => Some(Self::High),
            _ => None,
        }
    }
}

fn option<T: FromOption>(target: &Target, name: &str) -> Option<T> {
    target.options.get(name).and_then(T::from_option)
}

macro_rules! capabilities {
    ($(
        $(#[doc = $group_doc:literal])+
        $group:ident: $Group:ident {
            $(
                $(#[doc = $doc:literal])+
                $name:ident: $type:ty = $default:expr, $shown:literal $(, one of [$($allowed:literal),+])?,
                    in $unit:literal, usually $usual:literal;
            )*
            kind {
                $(
                    $(#[doc = $kind_doc:literal])+
                    $kind_name:ident: $kind_type:ty = $read:expr $(, in $kind_unit:literal)?;
                )*
            }
        }
    )+) => {
        $(
            $(#[doc = $group_doc])+
            #[derive(Clone, Debug, PartialEq, Eq)]
            pub struct $Group {
                $($(#[doc = $doc])+ pub $name: $type,)*
                $($(#[doc = $kind_doc])+ pub $kind_name: $kind_type,)*
            }

            impl Default for $Group {
                /// Returns the values for a target that states nothing.
                fn default() -> Self {
                    Self { $($name: $default,)* $($kind_name: <$kind_type>::default(),)* }
                }
            }

            impl $Group {
                /// Reads the capabilities by rules TC1 to TC3.
                fn of(from: (&TargetKind, &Target)) -> Self {
                    Self {
                        $($name: option::<$type>(from.1, &from.0.capabilities.$name)
                            $(.filter(|found| [$($allowed),+].contains(found)))?
                            .unwrap_or($default),)*
                        $($kind_name: {
                            let read: fn(&TargetKind, &Target) -> $kind_type = $read;
                            read(from.0, from.1)
                        },)*
                    }
                }
            }
        )+

        /// The names of the options of a target kind that hold capabilities; empty for a capability
        /// that none holds.
        #[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
        pub struct CapabilityOptions {
            $($(
                $(#[doc = $doc])+
                #[serde(default, skip_serializing_if = "String::is_empty")]
                pub $name: String,
            )*)+
        }

        impl CapabilityOptions {
            /// Returns the names of those options of a kind that have more than one value.
            fn of_choices(kind: &TargetKind) -> Self {
                let is_fixed =
                    |name: &str| kind.options.iter().any(|option| option.name == name && option.has_one_value());
                let choice = |name: &String| if is_fixed(name) { String::new() } else { name.clone() };
                Self { $($($name: choice(&kind.capabilities.$name),)*)+ }
            }

            /// Lists the capabilities that are read from options, each with the name of its option.
            pub fn named(&self) -> impl Iterator<Item = (&'static Capability, &str)> {
                let all = [$($((stringify!($name), &self.$name),)*)+];
                all.into_iter().filter(|(_, option)| !option.is_empty()).filter_map(|(name, option)| {
                    Some((Capability::by_name(name)?, option.as_str()))
                })
            }
        }

        /// All capabilities, by group.
        pub const CAPABILITIES: &[Capability] = &[
            $(
                $(Capability {
                    name: stringify!($name),
                    group: stringify!($group),
                    doc: concat!($($doc),+).trim_ascii(),
                    source: CapabilitySource::Option {
                        option_type: <$type as FromOption>::TYPE,
                        unit: $unit,
                        default: $shown,
                        usual_name: $usual,
                    },
                },)*
                $(Capability {
                    name: stringify!($kind_name),
                    group: stringify!($group),
                    doc: concat!($($kind_doc),+).trim_ascii(),
                    source: CapabilitySource::Kind { unit: concat!("" $(, $kind_unit)?) },
                },)*
            )+
        ];

        /// The capabilities of a target, which passes use instead of its name.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct TargetCapabilities {
            /// The target itself, for the attribute of the functions and for messages.
            pub target: Arc<Target>,
            /// Stage of the modules that its code generator takes.
            pub stage: Stage,
            /// Whether its functions can be host functions.
            pub is_host: bool,
            /// The device that the target runs on.
            pub device: TargetDevice,
            /// The names of the options that they are read from, for messages (TC4).
            pub options: OptionNames,
            $($(#[doc = $group_doc])+ pub $group: $Group,)+
        }

        impl TargetKind {
            /// Returns the capabilities of a target of this kind. `device_type` is the number of
            /// its device if the kind does not state it.
            #[must_use]
            pub fn capabilities(&self, target: &Arc<Target>, device_type: i32) -> TargetCapabilities {
                TargetCapabilities {
                    target: Arc::clone(target),
                    stage: self.stage,
                    is_host: self.is_host,
                    device: TargetDevice {
                        name: self.device.clone(),
                        device_type: if self.device_type == 0 { device_type } else { self.device_type },
                        is_assigned: self.device_type == 0 && !self.is_host,
                    },
                    options: OptionNames {
                        capabilities: CapabilityOptions::of_choices(self),
                        types: self.optional_types.clone(),
                    },
                    $($group: $Group::of((self, target)),)+
                }
            }
        }

        impl TargetCapabilities {
            /// Returns the capabilities that are read from options, by name; null if unknown.
            #[must_use]
            pub fn of_options(&self) -> BTreeMap<&'static str, Value> {
                let all = [$($((stringify!($name), serde_json::json!(self.$group.$name)),)*)+];
                all.into_iter().collect()
            }

            /// Returns the capabilities of a generic host: no threads, global and local memory, no
            /// op beyond the core.
            ///
            /// For code that lowers without a target kind; see [`TargetKind::capabilities`] for the
            /// capabilities of a kind.
            #[must_use]
            pub fn host(kind: impl Into<String>) -> Self {
                let host = Self {
                    target: Arc::new(Target { kind: kind.into(), ..Target::default() }),
                    stage: Stage::Host,
                    is_host: true,
                    device: TargetDevice { name: "cpu".into(), device_type: 1, is_assigned: false },
                    options: OptionNames::default(),
                    $($group: $Group::default(),)+
                };
                host.with(|host| host.memory.storage_scopes = vec!["global".into(), "local".into()])
            }
        }
    };
}

capabilities! {
    /// Limits of the size of a launch, and of the arguments of a device function.
    limits: Limits {
        /// The greatest number of threads in a block.
        threads_per_block_max: Option<i64> = None, "", in "threads", usually "max_num_threads";
        /// The greatest number of threads in a block along each axis x, y, z.
        block_dimensions_max: [Option<i64>; 3] = [None; 3], "", in "threads", usually "max_block_dimensions";
        /// The greatest number of blocks in a grid along each axis x, y, z.
        grid_dimensions_max: [Option<i64>; 3] = [None; 3], "", in "blocks", usually "max_grid_dimensions";
        /// The greatest number of arguments of a device function.
        function_args_max: Option<i64> = None, "", in "arguments", usually "max_function_args";
        /// The greatest number of pointers among the arguments of a device function.
        function_pointers_max: Option<i64> = None, "", in "pointers", usually "max_storage_buffers";
        kind {}
    }

    /// Memory: sizes, scopes and addressing.
    memory: Memory {
        /// The most shared memory that a block has.
        shared_memory_bytes_max: Option<i64> = None, "", in "bytes", usually "max_shared_memory_per_block";
        /// The width of a pointer of host functions, 32 or 64: it decides where the fields of a
        /// tensor's descriptor are.
        pointer_bits: u32 = 64, "64", one of [32, 64], in "bits", usually "pointer-bits";
        kind {
            /// Storage scopes, by name.
            storage_scopes: Vec<String> = |kind, _| kind.storage_scopes.clone();
            /// Whether data pointers are handles that nothing may be added to.
            opaque_handles: bool = |kind, _| kind.opaque_handles;
            /// Whether device functions cannot move a pointer: a view of memory is then of a data
            /// pointer itself.
            fixed_pointers: bool = |kind, _| kind.fixed_pointers;
            /// Whether the functions that kernels call take scalars only, no pointers.
            scalar_arguments: bool = |kind, _| kind.scalar_arguments;
        }
    }

    /// Execution of the threads of a block.
    execution: Execution {
        /// The number of threads in a warp; 1: there are no warps.
        warp_size: Option<i64> = None, "", in "threads", usually "thread_warp_size";
        /// Whether the threads of a block run one after another, as on a processor: copies to
        /// shared memory gain nothing, and the elements that one thread accesses should be
        /// adjacent.
        runs_threads_serially: bool = false, "false", in "", usually "runs_threads_serially";
        /// The dot products (`dot_add`) that the code generator spells itself, by their operands:
        /// `uint8*int8`.
        dot_products: Vec<String> = Vec::new(), "none", in "", usually "dot-products";
        /// The products of tiles (`chipdock.tiles`) that default schedules use, by their operands:
        /// `uint8*int8`.
        tile_products: Vec<String> = Vec::new(), "none", in "", usually "tile-products";
        kind {
            /// Thread axes that loops may be bound to; without any, what a device runs is launched
            /// as one thread.
            thread_axes: Vec<ThreadAxis> = |kind, _| kind.thread_axes.iter().filter_map(|axis| axis.parse().ok()).collect();
            /// Whether long loops of host functions ask whether to go on.
            asks_to_go_on: bool = |kind, _| kind.asks_to_go_on;
            /// Ops that the code generator spells itself, beyond the core ops: those of the kind,
            /// and those of its `optional_ops` whose option is true.
            native_ops: Vec<Op> = native_ops;
        }
    }

    /// The processor of a host: facts for schedules. None of them changes a result.
    processor: Processor {
        /// The width of a vector register.
        vector_bits: Option<i64> = None, "", in "bits", usually "vector-bits";
        /// The number of vector registers.
        vector_registers: Option<i64> = None, "", in "registers", usually "vector-registers";
        /// The number of cores.
        cores: Option<i64> = None, "", in "cores", usually "num-cores";
        /// The size of the first data cache of a core.
        l1_cache_bytes: Option<i64> = None, "", in "bytes", usually "l1-cache-bytes";
        /// The size of the second cache, most often a core's own.
        l2_cache_bytes: Option<i64> = None, "", in "bytes", usually "l2-cache-bytes";
        /// The size of the third cache, most often shared by the cores.
        l3_cache_bytes: Option<i64> = None, "", in "bytes", usually "l3-cache-bytes";
        kind {}
    }

    /// Functions of floats.
    math: Math {
        /// How exact functions of float32 are on a host: `fast`, or `high`, within 0.51 units of
        /// the last place.
        accuracy: Accuracy = Accuracy::Fast, "fast", in "", usually "accuracy";
        kind {}
    }

    /// Types that device functions compute with.
    types: Types {
        kind {
            /// Scalar types that device functions cannot compute with: those of the kind, and those
            /// of its `optional_types` whose option is false or not set.
            missing_types: Vec<DType> = missing_types;
            /// The greatest number of lanes of a vector; 0: any number.
            lanes_max: u16 = |kind, _| kind.lanes_max, in "lanes";
        }
    }
}

/// Returns the ops beyond the core ops that a target's code generator spells (TC5).
fn native_ops(kind: &TargetKind, target: &Target) -> Vec<Op> {
    let optional = kind.optional_ops.iter();
    let present = optional.filter(|(_, option)| target.bool(option) == Some(true)).map(|(name, _)| name);
    let all = kind.native_ops.iter().chain(present).filter_map(|name| Op::by_name(name));
    all.fold(Vec::new(), |mut known, op| {
        if !known.contains(&op) {
            known.push(op);
        }
        known
    })
}

/// Returns the types that a target lacks (TC3).
fn missing_types(kind: &TargetKind, target: &Target) -> Vec<DType> {
    let optional = kind.optional_types.iter();
    let lacking = optional.filter(|(_, option)| target.bool(option) != Some(true)).map(|(name, _)| name);
    kind.missing_types.iter().chain(lacking).filter_map(|name| name.parse().ok()).collect()
}

/// The device that a target runs on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetDevice {
    /// Name, as in `device_api.<name>`.
    pub name: String,
    /// DLPack's number of the device, or the one that the host assigned.
    pub device_type: i32,
    /// Whether the host assigned the number: code that is to run elsewhere asks for it by name.
    pub is_assigned: bool,
}

/// The names of the options of a target that its capabilities are read from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OptionNames {
    /// That of each capability; empty for one that no option holds.
    pub capabilities: CapabilityOptions,
    /// That of each type which some devices have, by type: [`TargetKind::optional_types`].
    pub types: BTreeMap<String, String>,
}

impl OptionNames {
    /// Returns the name of the option that says whether device functions compute with scalars of
    /// that type.
    #[must_use]
    pub fn of_type(&self, dtype: DType) -> Option<&str> {
        self.types.get(&dtype.scalar().to_string()).map(String::as_str)
    }
}

impl Capability {
    /// Returns the capability of that name.
    #[must_use]
    pub fn by_name(name: &str) -> Option<&'static Self> {
        CAPABILITIES.iter().find(|capability| capability.name == name)
    }
}

impl TargetCapabilities {
    /// Returns true for a device without thread axes: what it runs is launched as one thread
    /// (IR-K8).
    #[must_use]
    pub fn launches_one_thread(&self) -> bool {
        !self.is_host && self.execution.thread_axes.is_empty()
    }

    /// Returns the same capabilities, edited.
    #[must_use]
    pub fn with(mut self, edit: impl FnOnce(&mut Self)) -> Self {
        edit(&mut self);
        self
    }
}

impl Execution {
    /// Returns true if several threads of a warp run in lockstep: the elements that neighbours
    /// access should then be adjacent.
    #[must_use]
    pub fn runs_in_lockstep(&self) -> bool {
        self.warp_size.is_some_and(|threads| threads > 1) && !self.runs_threads_serially
    }

    /// Returns true if the code generator spells that dot product itself.
    #[must_use]
    pub fn has_dot(&self, dot: DotProduct) -> bool {
        self.dot_products.contains(&dot.name())
    }

    /// Returns true if default schedules compute sums of that dot product by tiles.
    #[must_use]
    pub fn has_tiles(&self, dot: DotProduct) -> bool {
        self.has_dot(dot) && self.tile_products.contains(&dot.name())
    }

    /// Returns true if the code generator spells that op itself, besides the core ops.
    #[must_use]
    pub fn has_native(&self, op: Op) -> bool {
        self.native_ops.contains(&op)
    }
}

impl Types {
    /// Returns true unless device functions are known not to compute with scalars of that type.
    #[must_use]
    pub fn has(&self, dtype: DType) -> bool {
        !self.missing_types.contains(&dtype.scalar())
    }
}
