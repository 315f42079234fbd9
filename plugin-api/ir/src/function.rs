//! Functions and modules.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use crate::{Buffer, DType, Expr, FloatBits, Stmt, Target, Var};

/// Where something was read: line and column, both from 1; 0 when it was not read from a text.
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

    /// It as a place in a function: `function: line:column`, or `function` without a position.
    #[must_use]
    pub fn within(self, function: &str) -> String {
        if self == Self::NONE {
            return function.to_owned();
        }
        format!("{function}: {}:{}", self.line, self.column)
    }
}

/// Attributes by name, in the order of names.
pub type Attrs = BTreeMap<Arc<str>, AttrValue>;

/// The value of an attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AttrValue {
    /// Nothing.
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
    /// Values by name.
    Map(BTreeMap<Arc<str>, AttrValue>),
    /// A target.
    Target(Arc<Target>),
    /// An expression over the function's parameters.
    Expr(Expr),
}

/// Names of function attributes that this crate and the passes know.
pub mod attr {
    /// Bool: buffers of different parameters do not overlap.
    pub const NOALIAS: &str = "tirx.noalias";
    /// Str: the name that callers know it by.
    pub const GLOBAL_SYMBOL: &str = "global_symbol";
    /// Target: what it is compiled for.
    pub const TARGET: &str = "target";
    /// Int: 0 default, 1 packed C function, 2 device kernel launch.
    pub const CALLING_CONV: &str = "calling_conv";
    /// List of Str: thread axes and further launch parameters of a device function, in order.
    pub const KERNEL_LAUNCH_PARAMS: &str = "tirx.kernel_launch_params";
    /// Of those parameters, the one that asks for a launch whose blocks may wait for each other.
    pub const COOPERATIVE_LAUNCH: &str = "tirx.use_cooperative_launch";
    /// Of those parameters, the one that tells the bytes of dynamic shared memory; it is last.
    pub const DYNAMIC_SHARED_MEMORY: &str = "tirx.use_dyn_shared_memory";
    /// Bool: callable from outside of its module.
    pub const IS_GLOBAL_FUNC: &str = "tirx.is_global_func";
    /// Bool: this is the function that a module without a chosen one runs.
    pub const IS_ENTRY_FUNC: &str = "tirx.is_entry_func";
    /// Str: of a packed entry function, the name of the function that it came from.
    pub const SOURCE_NAME: &str = "chipdock.source_name";
    /// List of Str: of a packed entry function, the type of each argument; a tensor is "handle".
    pub const ARG_TYPES: &str = "chipdock.arg_types";
    /// Str: of a packed entry function, for people: `f(A: Tensor([n], float32), k: int32)`.
    pub const SIGNATURE: &str = "chipdock.signature";
    /// Map: of a host function that was compiled for a device, that device, where its tensors are: `name` (Str, as in
    /// `device_api.<name>`), `type` (Int, DLPack's number; 0: the host that runs it assigned one), `opaque_handles` (Bool:
    /// nothing may be added to its data pointers).
    pub const DEVICE: &str = "chipdock.device";
    /// Key of a statement's note, within a launch: its blocks are lowered, and the barriers between what shares memory are
    /// not inserted yet (IR-K5).
    pub const IMPLICIT_BARRIERS: &str = "chipdock.implicit_barriers";
    /// Bool, on an allocation of such a function: memory of the device.
    pub const DEVICE_MEMORY: &str = "chipdock.device_memory";
    /// Bool: rarely called, best kept out of line.
    pub const COLD: &str = "chipdock.cold";
    /// Bool: best kept out of line, though called often: inlined, it takes registers from its caller.
    pub const NO_INLINE: &str = "chipdock.no_inline";
}

/// A parameter of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Param {
    /// A tensor. Free variables of its shape, strides and offset are bound by the first parameter that has them bare.
    Buffer(Buffer),
    /// A scalar, or a pointer.
    Var(Var),
}

impl Param {
    /// The parameter's name.
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
    /// Its name within the module.
    pub name: Arc<str>,
    /// Its parameters, in order.
    pub params: Vec<Param>,
    /// What it returns; `None` for nothing.
    pub ret: Option<DType>,
    /// Notes; see [`attr`].
    pub attrs: Attrs,
    /// True for a function of blocks (`s_tir=True`), whose body is an implicit root block.
    pub s_tir: bool,
    /// What the implicit root block allocates (`T.sblock_alloc_buffer` at the top of the function).
    pub alloc_buffers: Vec<Buffer>,
    /// What it does.
    pub body: Stmt,
}

/// A module: functions with unique names, and notes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IrModule {
    /// The functions, in order.
    pub functions: Vec<PrimFunc>,
    /// Notes.
    pub attrs: Attrs,
}

/// The functions of a module by name.
pub type Functions<'m> = HashMap<&'m str, &'m PrimFunc>;

impl IrModule {
    /// The functions by name, for whoever looks up many; the first one of a name that two have.
    #[must_use]
    pub fn by_name(&self) -> Functions<'_> {
        self.functions.iter().rev().map(|function| (&*function.name, function)).collect()
    }

    /// The function of that name. Goes through all of them: [`Self::by_name`] is for many names.
    #[must_use]
    pub fn function(&self, name: &str) -> Option<&PrimFunc> {
        self.functions.iter().find(|function| &*function.name == name)
    }
}
