//! The columns of the table of ops: their types, and what a signature implies.

use crate::{DType, Expr, ExprKind};

/// The shape of an op's arguments and result (OP3), which implies most columns for most ops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signature {
    /// One float; the result has its type.
    FloatUnary,
    /// Two floats of one type; the result has it.
    FloatBinary,
    /// Three floats of one type; the result has it.
    FloatTernary,
    /// One float; the result is boolean of as many lanes.
    FloatTest,
    /// One integer; the result has its type.
    IntUnary,
    /// One integer; the result is int32 of as many lanes.
    IntCount,
    /// Two integers of one type; the result has it.
    IntBinary,
    /// Two integers or two booleans of one type; the result has it.
    BitBinary,
    /// One integer or float; the result has its type.
    NumberUnary,
    /// Any other shape: the row states the parameters, the result and the other columns.
    Custom,
}

/// The effect of a call besides its value (OP5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// No effect: the call may be moved, repeated or dropped.
    Pure,
    /// The call reads state that others write.
    Reads,
    /// The call changes state.
    Writes,
}

/// The subject of an op (OP6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// A value computed from values.
    Value,
    /// Pointers: addresses, offsets, memory that a pointer refers to.
    Pointer,
    /// Argument structures of packed calls.
    Struct,
    /// Workspace memory.
    Workspace,
    /// Calls of functions, and their arguments.
    Call,
    /// The end of a function, with an error.
    Exit,
    /// A note for optimisers.
    Note,
    /// Threads: barriers, exchanges, atomics, the end of a thread.
    Thread,
}

/// The threads that a call concerns besides the one that makes it (OP8).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Threads {
    /// No other threads.
    Alone,
    /// No other threads, but the call ends the thread.
    Exit,
    /// The threads of the warp: the call returns the active ones.
    ActiveMask,
    /// The threads of the warp, which exchange values: (mask, value, lane, width, warp_size).
    Shuffle,
    /// A barrier, of the scope that its argument names.
    Barrier,
    /// The threads of a block, whose values the call combines.
    Reduction,
}

impl Threads {
    /// Returns true for an op that only warps have; a barrier of a warp is determined by its
    /// argument, not by its op.
    #[must_use]
    pub const fn is_of_warp(self) -> bool {
        matches!(self, Self::ActiveMask | Self::Shuffle)
    }

    /// Returns true if other threads must make the call too.
    #[must_use]
    pub const fn is_collective(self) -> bool {
        matches!(self, Self::Shuffle | Self::Barrier | Self::Reduction)
    }
}

/// The form in which an op reaches a code generator (OP10).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lowering {
    /// Unchanged: every code generator spells it, a *core op*.
    Core,
    /// As core ops, on every type that it takes.
    Arithmetic,
    /// A function of floats: as core ops on the types for which the pass has them, else as a call
    /// of the first of [`OpInfo::c_names`].
    Function,
    /// Not at all: an earlier pass removes it.
    Earlier,
    /// Unchanged, on targets that support it natively; other targets refuse it.
    Native,
}

/// The spelling of a call in a script (OP13).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// `T.<name>(arguments)`.
    Call,
    /// Between its operands, by this operator of Python's; two constants as [`Form::Call`].
    Infix(&'static str),
    /// `T.<name>(dtype, arguments)`: the type of the call first.
    TypeFirst,
    /// `T.<name>(arguments, dtype)`: the type of the call last.
    TypeLast,
    /// As [`Form::Call`], the first argument, a zero, as `T.type_annotation(dtype)`.
    TypeAnnotation,
    /// As [`Form::Call`], a constant int32 argument with its type, which a number of Python's does
    /// not have.
    TypedConstant,
    /// `T.call_intrin(dtype, "tirx.<name>", arguments)`: TVM has no such function below `T`.
    FullName,
    /// As [`Form::Call`] where the result is int32, which TVM's function gives, and as
    /// [`Form::FullName`] else.
    FullNameUnlessInt32,
    /// As [`Form::Call`], but `T.call_intrin(dtype, "prim.<name>", arguments)` of handles.
    FullNameOfHandles,
}

impl Form {
    /// Returns the position of the call's type among `count` arguments, for a call that states it.
    #[must_use]
    pub const fn type_place(self, count: usize) -> Option<usize> {
        match self {
            Self::TypeFirst => Some(0),
            Self::TypeLast => Some(count),
            _ => None,
        }
    }
}

/// The treatment of a keyword argument `dtype` by TVM's function of the op (OP13).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DTypeKeyword {
    /// Accepted and ignored.
    Ignored,
    /// Taken as the first argument.
    First,
    /// Not accepted.
    Refused,
}

/// The kinds of values that an argument may be (OP3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// Anything.
    Any,
    /// Anything but a handle.
    Value,
    /// Anything of one lane.
    Scalar,
    /// A float.
    Float,
    /// An integer.
    Integer,
    /// An integer or a boolean.
    Bits,
    /// An integer or a float.
    Number,
    /// A boolean.
    Bool,
    /// A handle.
    Handle,
    /// A scalar int32 or int64.
    Index,
    /// The type of that argument.
    Like(usize),
    /// This type, with as many lanes as that argument.
    LanesOf(usize, DType),
    /// This type, of any number of lanes.
    Lanes(DType),
    /// This type, a scalar.
    Exactly(DType),
    /// A constant of this type.
    Constant(DType),
    /// A constant zero, which carries its type.
    Zero,
    /// A string.
    Text,
    /// A string that names a function of the module.
    FunctionName,
}

impl Takes {
    /// Returns true if the argument, which is one of `args`, is of this kind.
    #[must_use]
    pub fn admits(self, arg: &Expr, args: &[Expr]) -> bool {
        let dtype = arg.dtype;
        let other = |index: usize| args.get(index).map(|other| other.dtype);
        match self {
            Self::Like(index) => other(index) == Some(dtype),
            Self::LanesOf(index, wanted) => {
                other(index).is_some_and(|other| dtype == wanted.with_lanes(other.lanes))
            }
            Self::Constant(wanted) => dtype == wanted && arg.as_int().is_some(),
            Self::Zero => is_zero(arg),
            Self::Text => matches!(arg.kind, ExprKind::Str(_)),
            _ => self.admits_type(dtype),
        }
    }

    /// Returns true if an argument of that type may be of this kind, whatever the other arguments
    /// are.
    #[must_use]
    pub fn admits_type(self, dtype: DType) -> bool {
        match self {
            Self::Any | Self::Like(_) | Self::Zero | Self::FunctionName => true,
            Self::Value => !dtype.is_handle(),
            Self::Scalar => dtype.is_scalar(),
            Self::Float => dtype.is_float(),
            Self::Integer => dtype.is_integer(),
            Self::Bits => dtype.is_integer() || dtype.is_bool(),
            Self::Number => dtype.is_integer() || dtype.is_float(),
            Self::Bool => dtype.is_bool(),
            Self::Handle => dtype.is_handle(),
            Self::Index => dtype == DType::INT32 || dtype == DType::INT64,
            Self::LanesOf(_, wanted) | Self::Lanes(wanted) => dtype.scalar() == wanted,
            Self::Exactly(wanted) | Self::Constant(wanted) => dtype == wanted,
            Self::Text => dtype == DType::HANDLE,
        }
    }

    /// Returns true if the argument is one value for all lanes of a call on vectors.
    #[must_use]
    pub const fn is_uniform(self) -> bool {
        matches!(self, Self::Scalar | Self::Index | Self::Exactly(_) | Self::Constant(_) | Self::Zero)
    }

    /// Returns true if the argument may be a string.
    #[must_use]
    pub const fn is_text(self) -> bool {
        matches!(self, Self::Text | Self::FunctionName)
    }
}

fn is_zero(expr: &Expr) -> bool {
    expr.as_int() == Some(0) || matches!(expr.kind, ExprKind::Float(bits) if bits.value() == 0.0)
}

/// The type of a call (OP4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gives {
    /// The type of that argument.
    Like(usize),
    /// This type, with as many lanes as that argument.
    LanesOf(usize, DType),
    /// This type.
    Exactly(DType),
    /// Whatever type the call states.
    Stated,
    /// No value; the call has [`DType::HANDLE`].
    Nothing,
}

/// A parameter of an op (OP3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpParam {
    /// Name in scripts; empty if it is given only by position.
    pub name: &'static str,
    /// Kinds of values that it may be.
    pub takes: Takes,
}

/// Makes a parameter with a name.
pub(super) const fn named(name: &'static str, takes: Takes) -> OpParam {
    OpParam { name, takes }
}

/// Makes a parameter that is given only by position.
pub(super) const fn positional(takes: Takes) -> OpParam {
    OpParam { name: "", takes }
}

/// A row of the table of ops; the rules of each column are at [`crate::op`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OpInfo {
    /// OP1: the name in scripts, in the wire, in a target's `native_ops` and in messages.
    pub name: &'static str,
    /// OP1: other names that scripts may use.
    pub aliases: &'static [&'static str],
    /// OP1: the name of the builtin in TVM's namespaces of devices, as in `T.cuda.<name>`.
    pub device_name: Option<&'static str>,
    /// OP2: the minor of the wire format 1.x that introduced the op.
    pub wire_minor: u64,
    /// OP3: the shape of arguments and result.
    pub signature: Signature,
    /// OP3: the parameters.
    pub params: &'static [OpParam],
    /// OP3: the kind of further arguments; `None` if there are none.
    pub rest: Option<Takes>,
    /// OP3: the arguments in words, for messages about wrong ones.
    pub expects: &'static str,
    /// OP4: the type of a call.
    pub gives: Gives,
    /// OP5: the effect besides the value.
    pub effect: Effect,
    /// OP6: the subject.
    pub class: Class,
    /// OP7: whether a call on vectors is the call on each lane, and may replace the calls on
    /// scalars.
    pub is_elementwise: bool,
    /// OP4: whether the result is the argument rounded to an integral value; an integer is
    /// unchanged.
    pub is_rounding: bool,
    /// OP8: the threads that a call concerns.
    pub threads: Threads,
    /// OP9: the approximate price of a call in instructions; `None` if it is expensive, or must not
    /// run unnecessarily.
    pub cost: Option<u8>,
    /// OP10: how the op reaches a code generator.
    pub lowering: Lowering,
    /// OP11: units in the last place of float32 and float64 by which a conforming result may be
    /// off.
    pub ulps: f64,
    /// OP12: the functions of C's mathematical library that compute it on float64.
    pub c_names: &'static [&'static str],
    /// OP13: how a script writes a call.
    pub form: Form,
    /// OP13: how a keyword argument `dtype` is treated.
    pub dtype_keyword: DTypeKeyword,
}

impl OpInfo {
    /// Makes a row from a name and what its signature implies; the table overrides the columns that
    /// differ.
    pub(super) const fn new(name: &'static [&'static str; 1], signature: Signature) -> Self {
        use Signature::{
            BitBinary, Custom, FloatBinary, FloatTernary, FloatTest, FloatUnary, IntBinary, IntCount,
            IntUnary, NumberUnary,
        };
        const X_FLOAT: OpParam = named("x", Takes::Float);
        const X_INTEGER: OpParam = named("x", Takes::Integer);
        const X_BITS: OpParam = named("x", Takes::Bits);
        const X_NUMBER: OpParam = named("x", Takes::Number);
        const Y: OpParam = named("y", Takes::Like(0));
        const Z: OpParam = named("z", Takes::Like(0));
        let params: &'static [OpParam] = match signature {
            FloatUnary | FloatTest => &[X_FLOAT],
            FloatBinary => &[X_FLOAT, Y],
            FloatTernary => &[X_FLOAT, Y, Z],
            IntUnary | IntCount => &[X_INTEGER],
            IntBinary => &[X_INTEGER, Y],
            BitBinary => &[X_BITS, Y],
            NumberUnary => &[X_NUMBER],
            Custom => &[],
        };
        let expects = match signature {
            FloatUnary | FloatTest | FloatBinary => "floats",
            FloatTernary => "three floats of one type",
            IntUnary | IntBinary | BitBinary => "integers",
            IntCount => "an integer",
            NumberUnary => "numbers",
            Custom => "",
        };
        let gives = match signature {
            FloatTest => Gives::LanesOf(0, DType::BOOL),
            IntCount => Gives::LanesOf(0, DType::INT32),
            _ => Gives::Like(0),
        };
        let lowering = match signature {
            FloatUnary | FloatBinary => Lowering::Function,
            FloatTest | IntCount => Lowering::Arithmetic,
            _ => Lowering::Core,
        };
        Self {
            name: name[0],
            aliases: &[],
            device_name: None,
            wire_minor: 0,
            signature,
            params,
            rest: None,
            expects,
            gives,
            effect: Effect::Pure,
            class: Class::Value,
            is_elementwise: !matches!(signature, Custom),
            is_rounding: false,
            threads: Threads::Alone,
            cost: None,
            lowering,
            ulps: 0.0,
            c_names: if matches!(signature, FloatUnary | FloatBinary | FloatTernary) { name } else { &[] },
            form: Form::Call,
            dtype_keyword: DTypeKeyword::Ignored,
        }
    }

    /// Returns the least number of arguments.
    #[must_use]
    pub const fn arity_min(&self) -> usize {
        self.params.len()
    }

    /// Returns the number of arguments; `None` if any number may follow.
    #[must_use]
    pub const fn arity(&self) -> Option<usize> {
        if self.rest.is_some() { None } else { Some(self.params.len()) }
    }

    /// Returns the kind of the argument at that position; `None` if there is none.
    #[must_use]
    pub fn takes(&self, position: usize) -> Option<Takes> {
        self.params.get(position).map(|param| param.takes).or(self.rest)
    }

    /// Returns true if the number of arguments is right and each is of the expected kind.
    #[must_use]
    pub fn admits(&self, args: &[Expr]) -> bool {
        args.len() >= self.arity_min()
            && args
                .iter()
                .enumerate()
                .all(|(position, arg)| self.takes(position).is_some_and(|takes| takes.admits(arg, args)))
    }
}
