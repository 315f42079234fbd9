//! The trait [`Dialect`]: differences between C-like languages in the text around expressions;
//! [`Expressions`] has those within.

use chipdock_ir::{
    BinaryOp, Buffer, CompareOp, ConstantData, DType, Op, PointerType, StorageScope, ThreadAxis,
};

use crate::{Code, Expressions, Prelude, Uses};

/// Prefix of the names of helpers, unless a dialect has another.
pub(crate) const HELPER_PREFIX: &str = "cd_";

/// A refusal by a dialect: what is not supported, and what to do about it. Becomes the message of a
/// diagnostic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal(pub String);

impl Refusal {
    /// A refusal with the given message.
    pub fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }
}

/// Result of a dialect's method.
pub type Answer<T> = Result<T, Refusal>;

/// Behaviour of a sum, difference or product of signed integers that overflows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overflow {
    /// The result wraps, as in the IR: WGSL.
    Wraps,
    /// The behaviour is undefined: C, OpenCL C, CUDA C. The writer uses unsigned types instead.
    Undefined,
}

/// A parameter of a function in the text.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// Name in the text.
    pub name: String,
    /// The type of the value; `handle` for pointers.
    pub dtype: DType,
    /// The pointee of a typed pointer.
    pub pointer: Option<PointerType>,
    /// Whether the function writes through the pointer.
    pub is_written: bool,
    /// Whether the function may read through the pointer.
    pub is_read: bool,
    /// Whether the function adds atomically through the pointer.
    pub is_atomic: bool,
}

/// The dynamic shared memory of a kernel: the dialect declares `name` as a pointer to, or an array
/// of, `element` in memory, in the signature, the preamble or the module's lines; its size is a
/// launch parameter.
#[derive(Clone, Debug)]
pub struct DynamicShared {
    /// Name in the text, unique in the file.
    pub name: String,
    /// The element type of its allocation; `uint8` if the function has no such allocation but its
    /// launch gives a size.
    pub element: DType,
    /// The number of elements, if it is constant.
    pub count: Option<i128>,
    /// The function's uses of this memory.
    pub uses: Uses,
}

/// The properties of a kernel's launch that its signature must declare.
#[derive(Clone, Debug)]
pub struct Launch {
    /// Threads per block on the axes x, y, z, if constant; 1 for an axis that the kernel does not
    /// use.
    pub block: [Option<u64>; 3],
    /// The thread axes of the kernel.
    pub axes: Vec<ThreadAxis>,
    /// Whether blocks of the kernel may wait for each other.
    pub is_cooperative: bool,
    /// Shared memory whose size is a launch parameter.
    pub dynamic_shared: Option<DynamicShared>,
    /// Whether the kernel has warp operations.
    pub uses_warp: bool,
}

/// A function as its signature describes it.
#[derive(Clone, Debug)]
pub struct Signature {
    /// Name in the text.
    pub name: String,
    /// 0 internal, 1 packed C function, 2 device kernel; `calling_conv` of the IR.
    pub calling_conv: i64,
    /// Parameters, in order.
    pub params: Vec<Parameter>,
    /// The type of the return value.
    pub ret: Option<DType>,
    /// Whether buffers of different parameters never overlap.
    pub is_noalias: bool,
    /// Whether another function of the module calls it.
    pub is_called: bool,
    /// Whether the function is hardly ever called, such as one that builds an error message.
    pub is_cold: bool,
    /// Whether the function must not be inlined because it is faster out of line.
    pub is_no_inline: bool,
    /// Launch of a kernel (calling convention 2); `None` for other functions.
    pub launch: Option<Launch>,
}

/// Position of the declaration of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AllocationPlace {
    /// At the allocation's place in the function.
    Here,
    /// At the top of the function's body, after the preamble: `__local` of OpenCL C, `threadgroup`
    /// of MSL.
    Function,
    /// Before the function, under a name that is unique in the file: `var<workgroup>` of WGSL.
    Module,
}

/// A buffer to declare.
#[derive(Clone, Copy, Debug)]
pub struct Allocation<'a> {
    /// Name in the text.
    pub name: &'a str,
    /// The buffer.
    pub buffer: &'a Buffer,
    /// Number of elements, counting lanes; at least 1.
    pub count: i128,
    /// The function's uses of this memory.
    pub uses: Uses,
}

/// A barrier.
#[derive(Clone, Copy, Debug)]
pub struct Barrier<'a> {
    /// The scope of threads that wait: `shared`, `shared.dyn` (the block) or `warp`.
    pub scope: &'a str,
    /// Whether the barrier must order accesses to global memory too; it always orders those to
    /// shared memory.
    pub orders_global: bool,
}

/// The elements of a buffer that an access touches.
#[derive(Clone, Debug)]
pub enum Place {
    /// One element, at an index in elements.
    Element(Code),
    /// As many adjacent elements as the access has lanes, from an index on. The start is aligned to
    /// an element, not more.
    Contiguous(Code),
    /// One element per lane: a vector of indices and its type.
    Lanes(Code, DType),
}

/// A load or a store.
#[derive(Clone, Debug)]
pub struct Access {
    /// The name of the buffer's data variable in the text.
    pub base: Code,
    /// The element type with which `base` was declared; `None` for an untyped pointer.
    pub base_element: Option<DType>,
    /// The type of the value that is loaded or stored, with its lanes.
    pub dtype: DType,
    /// Storage scope of the buffer.
    pub scope: StorageScope,
    /// All uses of this memory in the function.
    pub uses: Uses,
    /// The accessed elements.
    pub place: Place,
    /// Boolean vector of the lanes that are accessed; `None` for all lanes.
    pub predicate: Option<Code>,
    /// Whether what a store writes need not stay in caches.
    pub is_streamed: bool,
}

/// A computation on vectors.
#[derive(Clone, Debug)]
pub enum Vector<'a> {
    /// A scalar in every lane.
    Broadcast(Code),
    /// base, base + stride, …
    Ramp(Code, Code),
    /// An operator lane by lane; integer division is guarded as in the IR.
    Binary(BinaryOp, Code, Code),
    /// A comparison lane by lane, of operands of the given type.
    Compare(CompareOp, Code, Code, DType),
    /// Conjunction of booleans.
    And(Code, Code),
    /// Disjunction of booleans.
    Or(Code, Code),
    /// Negation of a boolean.
    Not(Code),
    /// condition, then, otherwise, lane by lane.
    Select(Code, Code, Code),
    /// A conversion from the given type.
    Cast(Code, DType),
    /// Lanes picked from the concatenation of vectors of these types.
    Shuffle(&'a [(Code, DType)], &'a [u16]),
    /// An op lane by lane, with the types of its arguments.
    Op(Op, &'a [(Code, DType)]),
    /// The value converted to the representation that variables have.
    Settle(Code),
}

/// An argument of an op.
#[derive(Clone, Debug)]
pub enum Argument<'a> {
    /// A value and its type.
    Value(Code, DType),
    /// A string; for a function of the module, its name in the text.
    Text(&'a str),
    /// The place of a load whose address the op takes: for `address_of`, and for `atomic_add` of an
    /// `address_of`.
    Address(Access),
}

/// A call of an op.
#[derive(Clone, Debug)]
pub struct OpCall<'a> {
    /// The op.
    pub op: Op,
    /// Arguments of the call.
    pub args: &'a [Argument<'a>],
    /// Integer constants among the arguments, by position.
    pub constants: &'a [Option<i128>],
    /// The type of the result.
    pub dtype: DType,
    /// The return type of the function, for ops that leave it.
    pub function_ret: Option<DType>,
}

/// An assertion of a function.
pub struct Assertion<'a> {
    /// The condition that must hold.
    pub condition: &'a Code,
    /// The kind of the error.
    pub kind: &'a str,
    /// Its message, in parts.
    pub message: &'a [MessagePart],
    /// Source location: `function`, or `function: line:column` if the module was read from a text.
    pub location: &'a str,
    /// The return type of the function.
    pub ret: Option<DType>,
}

/// A constant of a module: bytes that are declared as a buffer (IR-B8).
#[derive(Clone, Copy, Debug)]
pub struct ConstantArray<'a> {
    /// Name of the buffer, for messages.
    pub name: &'a str,
    /// Type of a lane of its elements.
    pub element: DType,
    /// Bytes that its address is a multiple of: more than any vector of it needs.
    pub alignment_bytes: u32,
    /// The bytes.
    pub data: &'a ConstantData,
}

/// A part of an assertion's message.
#[derive(Clone, Debug)]
pub enum MessagePart {
    /// A text.
    Text(String),
    /// An integer, printed in decimal, and its type.
    Integer(Code, DType),
}

/// Describes the differences between C-like languages: statements, declarations, functions.
///
/// The writer owns text, names, precedence, statements and everything that the IR's semantics fix;
/// a dialect implements the methods below, and those of [`Expressions`]. The definitions of types
/// and helpers that a method needs are added to the [`Prelude`] on the way. No method needs a
/// device, and none panics; a dialect rejects what it cannot express with a [`Refusal`].
///
/// Methods with a default body answer for C.
pub trait Dialect: Expressions {
    /// The name of the target, for messages.
    fn name(&self) -> &str;

    /// Returns true for a name that must not be declared: keywords, macros, and names that the
    /// dialect's own texts use ([`contains_word`](crate::contains_word) looks one up). Never true
    /// for a name that begins with `v_` or `f_`.
    fn is_reserved(&self, name: &str) -> bool;

    /// The prefix of the names of the dialect's helpers; no other name begins with it.
    fn helper_prefix(&self) -> &str {
        HELPER_PREFIX
    }

    /// The text before everything else, written once the prelude is complete.
    fn header(&self, prelude: &Prelude) -> String;

    /// A directive saying that the next line comes from the given line of the file that the module
    /// was read from, or from no line of it; `None` if the language has no such directive or it was
    /// not requested.
    fn place(&self, line: Option<u32>) -> Option<String> {
        let _ = line;
        None
    }

    /// The declaration of a value that never changes: `const int32_t x = 1;`, `let x: i32 = 1;`.
    fn constant(&self, type_name: &str, name: &str, value: &Code) -> String {
        format!("const {type_name} {name} = {};", value.text)
    }

    /// The statement that evaluates a value and discards it; for type `handle`, a call without a
    /// result.
    fn discard(&self, value: &Code, dtype: DType) -> String {
        let _ = dtype;
        format!("{};", value.text)
    }

    /// The declaration of a variable: `int32_t x = 1;`, `var x: i32;`.
    fn variable(&self, type_name: &str, name: &str, value: Option<&Code>) -> String {
        match value {
            Some(value) => format!("{type_name} {name} = {};", value.text),
            None => format!("{type_name} {name};"),
        }
    }

    /// The head of a loop over `name` from `start` while it is less than `end`, in steps of one.
    fn for_loop(&self, type_name: &str, name: &str, start: &Code, end: &Code) -> String {
        let end = end.at_least(crate::Precedence::Shift);
        format!("for ({type_name} {name} = {}; {name} < {end}; ++{name})", start.text)
    }

    /// A line before a loop that is to be unrolled `count` times; empty if the language has none.
    fn unroll_hint(&self, count: Option<i128>, prelude: &mut Prelude) -> String {
        let _ = (count, prelude);
        String::new()
    }

    /// The declaration of a buffer under a name that is visible in the rest of the block (of the
    /// function, of the file: see [`Dialect::allocation_place`]).
    ///
    /// # Errors
    ///
    /// A scope, element type or size that the language does not support.
    fn allocation(&self, allocation: &Allocation<'_>, prelude: &mut Prelude) -> Answer<String>;

    /// The address of the bytes of a constant, which the definitions at module scope have: a
    /// pointer to elements of that type (IR-B8).
    ///
    /// # Errors
    ///
    /// A language in which constants are not written.
    fn constant_array(&self, array: &ConstantArray<'_>, prelude: &mut Prelude) -> Answer<Code> {
        let (_, name) = (prelude, array.name);
        Err(Refusal::new(format!(
            "has no constants of tensors (T.allocate_const); pass `{name}` as an argument"
        )))
    }

    /// Returns the position of the declarations of buffers of a scope. Dynamic shared memory of a
    /// kernel is not declared this way: it is part of [`Launch`].
    fn allocation_place(&self, scope: &StorageScope) -> AllocationPlace {
        let _ = scope;
        AllocationPlace::Here
    }

    /// The statement that waits for the other threads of a scope; empty if no statement is needed.
    ///
    /// # Errors
    ///
    /// A scope for which the language has no barrier.
    fn barrier(&self, barrier: &Barrier<'_>, prelude: &mut Prelude) -> Answer<String>;

    /// The statement after which other threads see this thread's stores that need not stay in
    /// caches ([`Access::is_streamed`]); `None` if ordinary stores are written for them.
    fn store_fence(&self, prelude: &mut Prelude) -> Option<String> {
        let _ = prelude;
        None
    }

    /// Returns true if compilers of the language are known to miscompile loads under conditions
    /// when they turn branches into masks. Loads that are in bounds are then made before their
    /// condition.
    fn keeps_branches(&self) -> bool {
        false
    }

    /// The first statement of a loop that has other loads under conditions, so that its branches
    /// are kept; called only if [`Self::keeps_branches`] returns true.
    fn branches_kept(&self, prelude: &mut Prelude) -> String {
        let _ = prelude;
        String::new()
    }

    /// The signature of a function, without its body.
    ///
    /// # Errors
    ///
    /// An unsupported calling convention or parameter.
    fn signature(&self, signature: &Signature, prelude: &mut Prelude) -> Answer<String>;

    /// Returns true if parameters of functions of a calling convention are declared at module
    /// scope, so that their names are unique in the file: WGSL's bindings.
    fn are_parameters_of_module(&self, calling_conv: i64) -> bool {
        let _ = calling_conv;
        false
    }

    /// The expression for a parameter in the body: `args.n` if scalars stand in a struct, `n != 0`
    /// if a boolean is passed as another type. It has the parameter's type; if that is a 64-bit
    /// integer and [`Expressions::index_type`] is narrower, it has a type that
    /// [`Expressions::cast_bits`] accepts.
    fn parameter(&self, signature: &Signature, position: usize, prelude: &mut Prelude) -> Code {
        let _ = prelude;
        Code::primary(signature.params.get(position).map_or("", |param| &param.name))
    }

    /// Declarations at module scope before the function: bindings, structs of arguments.
    ///
    /// # Errors
    ///
    /// An unsupported parameter.
    fn module_lines(&self, signature: &Signature, prelude: &mut Prelude) -> Answer<Vec<String>> {
        let _ = (signature, prelude);
        Ok(Vec::new())
    }

    /// The first lines of a function's body.
    fn preamble(&self, signature: &Signature, prelude: &mut Prelude) -> Vec<String> {
        let _ = (signature, prelude);
        Vec::new()
    }

    /// The statement that leaves the function with an error unless the condition holds.
    ///
    /// # Errors
    ///
    /// A language without errors, or a function that cannot return one.
    fn assert(&self, assertion: &Assertion<'_>, prelude: &mut Prelude) -> Answer<String>;

    /// A condition marked as true in most cases.
    fn likely(&self, condition: &Code) -> Code {
        condition.clone()
    }

    /// A text as an argument of a function outside the module.
    ///
    /// # Errors
    ///
    /// A language without such arguments.
    fn text(&self, text: &str) -> Answer<Code> {
        Err(Refusal::new(format!("has no texts as arguments of a C function; found \"{text}\"")))
    }

    /// A call of a function outside the module.
    ///
    /// # Errors
    ///
    /// A language without such functions.
    fn call_extern(
        &self,
        name: &str,
        args: &[(Code, DType)],
        ret: DType,
        prelude: &mut Prelude,
    ) -> Answer<Code>;
}
