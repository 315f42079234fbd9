//! Functions and modules.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use crate::{Buffer, DType, Expr, FloatBits, Stmt, Target, Var};

/// A position in a text: line and column, both from 1; 0 if the node was not read from a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Span {
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
}

impl Span {
    /// No position.
    pub const NONE: Self = Self { line: 0, column: 0 };

    /// Formats the position as a place in a function: `function: line:column`, or `function`
    /// without a position.
    #[must_use]
    pub fn within(self, function: &str) -> String {
        if self == Self::NONE {
            return function.to_owned();
        }
        format!("{function}: {}:{}", self.line, self.column)
    }
}

/// Attributes by name, sorted by name.
pub type Attrs = BTreeMap<Arc<str>, AttrValue>;

/// The value of an attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AttrValue {
    /// No value.
    None,
    /// A boolean.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A float.
    Float(FloatBits),
    /// A string.
    Str(Arc<str>),
    /// A list.
    List(Vec<AttrValue>),
    /// A map from names to values.
    Map(BTreeMap<Arc<str>, AttrValue>),
    /// A target.
    Target(Arc<Target>),
    /// An expression over the function's parameters.
    Expr(Expr),
}

/// The function attributes that this crate and the passes use.
pub mod attr {
    /// Bool: buffers of different parameters do not overlap.
    pub const NOALIAS: &str = "tirx.noalias";
    /// Str: the name by which callers refer to the function.
    pub const GLOBAL_SYMBOL: &str = "global_symbol";
    /// Target: the target that the function is compiled for.
    pub const TARGET: &str = "target";
    /// Int: 0 default, 1 packed C function, 2 device kernel launch.
    pub const CALLING_CONV: &str = "calling_conv";
    /// List of Str: thread axes and further launch parameters of a device function, in order.
    pub const KERNEL_LAUNCH_PARAMS: &str = "tirx.kernel_launch_params";
    /// The launch parameter for a launch whose blocks may wait for each other.
    pub const COOPERATIVE_LAUNCH: &str = "tirx.use_cooperative_launch";
    /// The launch parameter with the bytes of dynamic shared memory; it is last.
    pub const DYNAMIC_SHARED_MEMORY: &str = "tirx.use_dyn_shared_memory";
    /// Bool: callable from outside the module.
    pub const IS_GLOBAL_FUNC: &str = "tirx.is_global_func";
    /// Bool: the function that runs in a module when none is chosen.
    pub const IS_ENTRY_FUNC: &str = "tirx.is_entry_func";
    /// Str: for a packed entry function, the name of the function that it was made from.
    pub const SOURCE_NAME: &str = "chipdock.source_name";
    /// List of Str: for a packed entry function, the type of each argument; a tensor is "handle".
    pub const ARG_TYPES: &str = "chipdock.arg_types";
    /// Str: for a packed entry function, its signature for messages:
    /// `f(A: Tensor([n], float32), k: int32)`.
    pub const SIGNATURE: &str = "chipdock.signature";
    /// Map: for a host function that was compiled for a device, the device of its tensors: `name`
    /// (Str, as in `device_api.<name>`), `type` (Int, DLPack's number; 0: the host that runs it
    /// assigned one), `opaque_handles` (Bool: nothing may be added to its data pointers).
    pub const DEVICE: &str = "chipdock.device";
    /// Key of an `Attr` statement within a launch: its blocks are lowered, and the barriers between
    /// accesses to shared memory are not inserted yet (IR-K5).
    pub const IMPLICIT_BARRIERS: &str = "chipdock.implicit_barriers";
    /// Key of an `Attr` statement about nothing: on a device whose target has no thread axes, its
    /// body is a launch (IR-K8). TVM's name.
    pub const DEVICE_SCOPE: &str = "device_scope";
    /// Bool, on an allocation of a host function for a device: memory of that device.
    pub const DEVICE_MEMORY: &str = "chipdock.device_memory";
    /// Int or Expr, on a parallel loop: the least number of iterations that pay for a task of their
    /// own. The expression reads no memory, and is of what is known before the loop.
    pub const GRAIN: &str = "chipdock.grain";
    /// On a function: a person has scheduled it, and no default schedule changes it on a host.
    pub const SCHEDULED: &str = "chipdock.scheduled";
    /// Key of an `Attr` statement about a data variable, a buffer or nothing, and annotation of a
    /// loop or a block: stores within it, to that memory or to any, need not stay in caches, unless
    /// the value is 0.
    pub const NONTEMPORAL: &str = "chipdock.nontemporal";
    /// Annotation of a loop that is a product of tiles
    /// ([`TileProduct`](crate::analysis::TileProduct)): a target may compute it by its tiles, and
    /// then adds the products of the loop to each sum in any order. Of any other loop it says
    /// nothing, and so does the value 0.
    pub const TILES: &str = "chipdock.tiles";
    /// Bool: rarely called, best kept out of line.
    pub const COLD: &str = "chipdock.cold";
    /// Bool: best kept out of line, though called often: inlined, it takes registers from its
    /// caller.
    pub const NO_INLINE: &str = "chipdock.no_inline";
}

/// A parameter of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Param {
    /// A tensor. Free variables of its shape, strides and offset are bound by the first parameter
    /// that has them bare.
    Buffer(Buffer),
    /// A scalar, or a pointer.
    Var(Var),
}

impl Param {
    /// Returns the parameter's name.
    #[must_use]
    pub fn name(&self) -> &Arc<str> {
        match self {
            Self::Buffer(buffer) => &buffer.name,
            Self::Var(var) => &var.name,
        }
    }
}

/// A function over buffers and scalars.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrimFunc {
    /// Name within the module.
    pub name: Arc<str>,
    /// Parameters, in order.
    pub params: Vec<Param>,
    /// Type of the result; `None` for no result.
    pub ret: Option<DType>,
    /// Attributes; see [`attr`].
    pub attrs: Attrs,
    /// True for a function of blocks (`s_tir=True`), whose body is an implicit root block.
    pub s_tir: bool,
    /// Buffers that the implicit root block allocates (`T.sblock_alloc_buffer` at the top of the
    /// function).
    pub alloc_buffers: Vec<Buffer>,
    /// Body.
    pub body: Stmt,
}

/// A module: functions with unique names, and attributes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IrModule {
    /// The functions, in order.
    pub functions: Vec<PrimFunc>,
    /// Attributes.
    pub attrs: Attrs,
}

/// The functions of a module by name.
pub type Functions<'m> = HashMap<&'m str, &'m PrimFunc>;

impl IrModule {
    /// Returns the functions by name, for many lookups; of two functions with one name, the first.
    #[must_use]
    pub fn by_name(&self) -> Functions<'_> {
        self.functions.iter().rev().map(|function| (&*function.name, function)).collect()
    }

    /// Returns the function of that name, by a linear search: [`Self::by_name`] is for many names.
    #[must_use]
    pub fn function(&self, name: &str) -> Option<&PrimFunc> {
        self.functions.iter().find(|function| &*function.name == name)
    }
}
