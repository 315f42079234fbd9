//! What differs between C-like languages: the text around expressions. What is within one, [`Expressions`] answers.

use chipdock_ir::{BinaryOp, Buffer, CompareOp, DType, Op, PointerType, StorageScope, ThreadAxis};

use crate::{Code, Expressions, Prelude, Uses};

/// What names of helpers begin with, unless a dialect has another prefix.
pub(crate) const HELPER_PREFIX: &str = "cd_";

/// A dialect's "no": what is not supported, and what to do about it. Becomes the message of a diagnostic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal(pub String);

impl Refusal {
    /// A refusal with that message.
    pub fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }
}

/// What a dialect answers.
pub type Answer<T> = Result<T, Refusal>;

/// What a sum, difference or product of signed integers does when it does not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overflow {
    /// It wraps, as in the IR: WGSL.
    Wraps,
    /// Nothing is promised: C, OpenCL C, CUDA C. The writer goes through unsigned types.
    Undefined,
}

/// A parameter of a function in the text.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// Its name in the text.
    pub name: String,
    /// The type of its value; `handle` for pointers.
    pub dtype: DType,
    /// What a typed pointer points to.
    pub pointer: Option<PointerType>,
    /// True for a pointer through which the function writes.
    pub is_written: bool,
    /// True for a pointer through which the function may read.
    pub is_read: bool,
    /// True for a pointer through which the function adds atomically.
    pub is_atomic: bool,
}

/// The dynamic shared memory of a kernel: the dialect declares `name` as a pointer to, or an array of, `element` in
/// memory, in the signature, the preamble or the module's lines; how long it is, the launch tells.
#[derive(Clone, Debug)]
pub struct DynamicShared {
    /// Its name in the text, unique in the file.
    pub name: String,
    /// What its allocation has as elements; `uint8` where the function has none, though its launch tells a size.
    pub element: DType,
    /// How many of them, where that is constant.
    pub count: Option<i128>,
    /// What the function does with it.
    pub uses: Uses,
}

/// What the signature of a kernel must say of its launch.
#[derive(Clone, Debug)]
pub struct Launch {
    /// Threads of a block on the axes x, y, z, where constant; 1 on an axis that the kernel does not have.
    pub block: [Option<u64>; 3],
    /// The axes that it has.
    pub axes: Vec<ThreadAxis>,
    /// Whether its blocks may wait for each other.
    pub is_cooperative: bool,
    /// Shared memory whose size the launch tells.
    pub dynamic_shared: Option<DynamicShared>,
    /// Whether it has operations of warps.
    pub uses_warp: bool,
}

/// A function, as far as its signature goes.
#[derive(Clone, Debug)]
pub struct Signature {
    /// Its name in the text.
    pub name: String,
    /// 0 internal, 1 packed C function, 2 device kernel; `calling_conv` of the IR.
    pub calling_conv: i64,
    /// Its parameters, in order.
    pub params: Vec<Parameter>,
    /// The type of what it returns.
    pub ret: Option<DType>,
    /// True when buffers of different parameters do not overlap.
    pub is_noalias: bool,
    /// True when another function of the module calls it.
    pub is_called: bool,
    /// True for a function that is hardly ever called, such as one that words an error.
    pub is_cold: bool,
    /// True for a function that is faster out of line.
    pub is_no_inline: bool,
    /// Of a kernel (calling convention 2) alone.
    pub launch: Option<Launch>,
}

/// Where the declaration of a buffer stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AllocationPlace {
    /// Where its allocation stands in the function.
    Here,
    /// At the top of the function's body, after the preamble: `__local` of OpenCL C, `threadgroup` of MSL.
    Function,
    /// Before the function, under a name that is unique in the file: `var<workgroup>` of WGSL.
    Module,
}

/// A buffer to declare.
#[derive(Clone, Copy, Debug)]
pub struct Allocation<'a> {
    /// Its name in the text.
    pub name: &'a str,
    /// The buffer.
    pub buffer: &'a Buffer,
    /// How many elements, lanes counted; at least 1.
    pub count: i128,
    /// What the function does with it.
    pub uses: Uses,
}

/// A barrier.
#[derive(Clone, Copy, Debug)]
pub struct Barrier<'a> {
    /// Whose threads wait: `shared`, `shared.dyn` (of the block) or `warp`.
    pub scope: &'a str,
    /// Whether it must order accesses to global memory too: those of shared memory it always does.
    pub orders_global: bool,
}

/// Which elements of a buffer an access touches.
#[derive(Clone, Debug)]
pub enum Place {
    /// One element, at an index in elements.
    Element(Code),
    /// As many neighbours as the access has lanes, from an index on. The start is aligned to an element, not more.
    Contiguous(Code),
    /// One element per lane: a vector of indices and its type.
    Lanes(Code, DType),
}

/// A load or a store.
#[derive(Clone, Debug)]
pub struct Access {
    /// The buffer's data variable as the text names it.
    pub base: Code,
    /// The element type with which `base` was declared; `None` for an untyped pointer.
    pub base_element: Option<DType>,
    /// The type of the value that is loaded or stored, with its lanes.
    pub dtype: DType,
    /// Where the buffer lives.
    pub scope: StorageScope,
    /// What the function does with this memory, here and elsewhere.
    pub uses: Uses,
    /// Which elements.
    pub place: Place,
    /// Lanes that are accessed, a boolean vector; `None`: all.
    pub predicate: Option<Code>,
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
    /// A comparison lane by lane of operands of the type.
    Compare(CompareOp, Code, Code, DType),
    /// Conjunction of booleans.
    And(Code, Code),
    /// Disjunction of booleans.
    Or(Code, Code),
    /// Negation of a boolean.
    Not(Code),
    /// condition, then, otherwise, lane by lane.
    Select(Code, Code, Code),
    /// A conversion from the type.
    Cast(Code, DType),
    /// Lanes picked out of the concatenation of vectors of these types.
    Shuffle(&'a [(Code, DType)], &'a [u16]),
    /// An op lane by lane, with the types of its arguments.
    Op(Op, &'a [(Code, DType)]),
    /// The value in the form that variables have.
    Settle(Code),
}

/// An argument of an op.
#[derive(Clone, Debug)]
pub enum Argument<'a> {
    /// A value and its type.
    Value(Code, DType),
    /// A string; of a function of the module, its name in the text.
    Text(&'a str),
    /// The place of a load, of which the op wants the address: of `address_of`, and of `atomic_add` of an `address_of`.
    Address(Access),
}

/// A call of an op.
#[derive(Clone, Debug)]
pub struct OpCall<'a> {
    /// The op.
    pub op: Op,
    /// Its arguments.
    pub args: &'a [Argument<'a>],
    /// Integer constants among the arguments, by position.
    pub constants: &'a [Option<i128>],
    /// The type of the result.
    pub dtype: DType,
    /// What the function returns, for ops that leave it.
    pub function_ret: Option<DType>,
}

/// An assertion of a function.
pub struct Assertion<'a> {
    /// What has to hold.
    pub condition: &'a Code,
    /// The kind of the error.
    pub kind: &'a str,
    /// Its message, in parts.
    pub message: &'a [MessagePart],
    /// Where it stands: `function`, or `function: line:column` where the module was read from a text.
    pub location: &'a str,
    /// What the function returns.
    pub ret: Option<DType>,
}

/// A part of an assertion's message.
#[derive(Clone, Debug)]
pub enum MessagePart {
    /// A text.
    Text(String),
    /// An integer, printed in decimal, and its type.
    Integer(Code, DType),
}

/// Answers what differs between C-like languages: statements, declarations, functions.
///
/// The writer owns text, names, precedence, statements and everything that the IR's semantics fix; a dialect answers
/// the questions below, and those of [`Expressions`]. Texts of types and helpers that an answer needs are put into the
/// [`Prelude`] on the way. No answer needs a device, and none panics; what a dialect cannot express it refuses with a
/// [`Refusal`].
///
/// Questions with a default have the answer of C.
pub trait Dialect: Expressions {
    /// The name of the target, for messages.
    fn name(&self) -> &str;

    /// True for a name that may not be given out: keywords, macros, and whatever the dialect's own texts use
    /// ([`contains_word`](crate::contains_word) looks one up). Never for one that begins with `v_` or `f_`.
    fn is_reserved(&self, name: &str) -> bool;

    /// What the names of the dialect's helpers begin with; no other name does.
    fn helper_prefix(&self) -> &str {
        HELPER_PREFIX
    }

    /// The text before everything else, once the prelude is complete.
    fn header(&self, prelude: &Prelude) -> String;

    /// A line that says of the next that it comes from that line of the file that the module was read from, or from none
    /// of it; nothing when the language has no such line, or nobody asked for it.
    fn place(&self, line: Option<u32>) -> Option<String> {
        let _ = line;
        None
    }

    /// The declaration of a value that never changes: `const int32_t x = 1;`, `let x: i32 = 1;`.
    fn constant(&self, type_name: &str, name: &str, value: &Code) -> String {
        format!("const {type_name} {name} = {};", value.text)
    }

    /// The statement that evaluates a value that nobody takes; of type `handle`, a call that gives none.
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

    /// A line before a loop that is to be written out `count` times; empty when the language has none.
    fn unroll_hint(&self, count: Option<i128>, prelude: &mut Prelude) -> String {
        let _ = (count, prelude);
        String::new()
    }

    /// The declaration of a buffer under a name that is known to the rest of the block (of the function, of the file, as
    /// [`Dialect::allocation_place`] has it).
    ///
    /// # Errors
    ///
    /// A scope, element type or size that the language does not have.
    fn allocation(&self, allocation: &Allocation<'_>, prelude: &mut Prelude) -> Answer<String>;

    /// Where the declarations of buffers of a scope stand. Dynamic shared memory of a kernel has none: it is part of
    /// [`Launch`].
    fn allocation_place(&self, scope: &StorageScope) -> AllocationPlace {
        let _ = scope;
        AllocationPlace::Here
    }

    /// The statement that waits for the other threads of a scope; empty where nothing has to be said.
    ///
    /// # Errors
    ///
    /// A scope that the language has no barrier for.
    fn barrier(&self, barrier: &Barrier<'_>, prelude: &mut Prelude) -> Answer<String>;

    /// Whether compilers of the language are known to get loads under conditions wrong when they turn branches into masks. Loads
    /// that are in bounds are then made before their condition.
    fn keeps_branches(&self) -> bool {
        false
    }

    /// What stands before a function in which other loads stand under conditions, so that its branches are kept; asked for when
    /// [`Self::keeps_branches`].
    fn branches_kept(&self, prelude: &mut Prelude) -> String {
        let _ = prelude;
        String::new()
    }

    /// The signature of a function, without what follows it.
    ///
    /// # Errors
    ///
    /// A calling convention or a parameter that the language does not have.
    fn signature(&self, signature: &Signature, prelude: &mut Prelude) -> Answer<String>;

    /// True where parameters of functions of a calling convention are declared at module scope, so that their names are
    /// unique in the file: WGSL's bindings.
    fn are_parameters_of_module(&self, calling_conv: i64) -> bool {
        let _ = calling_conv;
        false
    }

    /// A parameter as the body names it: `args.n` where scalars stand in a struct, `n != 0` where a boolean comes as
    /// something else. Of its type; where that is a 64-bit integer and [`Expressions::index_type`] is narrower, what
    /// [`Expressions::cast_bits`] takes.
    fn parameter(&self, signature: &Signature, position: usize, prelude: &mut Prelude) -> Code {
        let _ = prelude;
        Code::primary(signature.params.get(position).map_or("", |param| &param.name))
    }

    /// Declarations at module scope that stand before the function: bindings, structs of arguments.
    ///
    /// # Errors
    ///
    /// A parameter that the language does not have.
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

    /// A condition that is most often true.
    fn likely(&self, condition: &Code) -> Code {
        condition.clone()
    }

    /// A text as an argument of a function that lies outside of the module.
    ///
    /// # Errors
    ///
    /// There are no texts.
    fn text(&self, text: &str) -> Answer<Code> {
        Err(Refusal::new(format!("has no texts as arguments of a C function; found \"{text}\"")))
    }

    /// A call of a function that lies outside of the module.
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
