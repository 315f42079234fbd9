//! The reference interpreter: the oracle of every differential test.
//!
//! It runs a module as read (blocks with axes), scheduled to threads, and after any pass up to
//! device functions. It reports defects that no backend can be trusted to report (accesses out of
//! bounds, races of parallel iterations and of threads, barriers that not all threads reach, reads
//! of uninitialised memory), and derives for each value of the result how far a conforming backend
//! may be from it.
//!
//! # Rules
//!
//! - **INT-I1 Arithmetic** is that of [`chipdock_ir::BinaryOp`], [`chipdock_ir::ExprKind::Cast`]
//!   and [`chipdock_ir::Op`]: integers wrap; x / 0 = x and x mod 0 = 0; shift amounts are taken
//!   modulo the width; `min` and `max` are `a < b ? a : b` and `a > b ? a : b`; `round` takes
//!   halves to even. Each float operation is rounded once to its type; float16 and bfloat16 are
//!   computed in float32.
//! - **INT-I2 Blocks.** A block does not run where its predicate is false. Each axis value lies in
//!   its domain. `init` runs when every reduction axis is at its first value.
//! - **INT-I3 Loops.** Every kind runs its iterations in order, in steps, none if the extent is not
//!   positive. Two iterations of a parallel loop must not access one element, unless neither writes
//!   it.
//! - **INT-I4 Memory.** Each index lies in its axis' extent. The contents of an allocated buffer
//!   are undefined until written, and reading them is an error. A tensor argument is compact and
//!   begins at its data: symbols of strides and offset are bound to that, and any other stride or
//!   offset of the parameter is an error, as compiled code raises one (IR-F3). Initialisation and
//!   accesses are recorded for each element of the narrowest view that was declared so far; error
//!   bounds for each element of the allocation. A store to a constant, through whatever pointer, is
//!   an error (IR-B8); its bytes are copied once in a run.
//! - **INT-I5 Limits.** Iterations and calls, memory and nesting of calls have limits, and
//!   exceeding one is an error. No input makes the interpreter panic.
//! - **INT-I6 State.** If a run fails, the arguments are as they were before it.
//! - **INT-I7 Pointers.** A pointer parameter takes a tensor, and points to its first element.
//!   Tensors of different parameters do not overlap.
//! - **INT-I8 Threads.** The blocks of a grid run one after the other, x fastest. So do the threads
//!   of a block, each until it waits for others or ends; if none can go on, those whose partners
//!   have arrived do, first of warps, then of the block. A kernel free of races gives the same in
//!   any order, and one that is not is reported, with the element and both threads (IR-K4). A block
//!   has at most 65,536 threads.
//! - **INT-I9 Waiting.** Threads that wait for each other in vain are reported with both places
//!   (IR-K3). An activemask includes the threads that wait at it when no other thread of the warp
//!   can go on.
//! - **INT-I10 Undefined values.** In a function with shuffles, a value that was never written may
//!   be stored in memory of scope `local`, which is then uninitialised, and be passed to a shuffle,
//!   whose result is then undefined. Any other use of it is the error of a read of uninitialised
//!   memory (IR-K7).
//! - **INT-I11 Packed calls** ([`Interpreter::run_packed`]). Arguments, tensors, shapes and strides
//!   lie in separate memory, as TVM-FFI and DLPack lay them out; an access through a pointer is
//!   checked against the end of that memory. An assertion ends the run with its error. A workspace
//!   is undefined until written, is freed once, and is freed by the end of a run that succeeds. Of
//!   the functions that a packed call may name, those that every host has are supported
//!   ([`Op::CallPacked`](chipdock_ir::Op) of `tvm.contrib.sort.{sort,argsort,argsort_nms,topk}`): a
//!   sort keeps the order of equal elements, −0 equals 0, and NaN is greater than every number.
//!   Their accesses are not checked for races. Other functions from outside the module are not
//!   called.
//! - **INT-I12 Parallel launches** ([`Op::ParallelLaunch`](chipdock_ir::Op)) run as many tasks as
//!   they may, at most five, one after the other, the last first. Two tasks must not access one
//!   element, unless neither writes it, as iterations (INT-I3).
//!
//! # Error bounds
//!
//! With [`Interpreter::with_bounds`] every value carries a bound on its absolute distance from the
//! value of any *conforming backend*. A backend conforms when
//!
//! - **INT-B1** each operation is off by no more than [`ulps`](chipdock_ir::accuracy::ulps) units
//!   in the last place of its own result, `+ − × ÷ sqrt fma` and casts being rounded to nearest
//!   even;
//! - **INT-B2** a product and the sum that uses it may be contracted into one rounding, wherever
//!   the product comes from;
//! - **INT-B3** a reduction of a block, `C[i] = C[i] + x` (or `−`, `×`, `min`, `max`; its new value
//!   may be bound to a name that nothing else uses), associates in any order; a loop that is no
//!   block's reduction keeps its order; reductions over threads (IR-K6,
//!   [`Op::ThreadAllreduce`](chipdock_ir::Op)) and atomic additions of threads associate in any
//!   order too, and the result of an atomic addition may be anything;
//! - **INT-B4** everything else, integers and booleans included, is exact.
//!
//! A value on which no decision depends is bounded by the running error of both sides. If a
//! comparison, a cast to an integer or a branch is nearer to its border than its operands' bounds,
//! both outcomes are run and the bound covers them; if that is impossible (a loop of ambiguous
//! length, a store to an ambiguous index, a possible overflow) the bound is infinite, and
//! [`compare()`] counts such lanes and skips them.

mod array;
mod bound;
mod code;
mod compare;
mod compile;
mod error;
mod kernels;
mod machine;
mod math;
mod memory;
mod packed;
mod run;
mod scalar;
mod sort;
mod threads;

pub use array::Array;
pub use compare::{Mismatch, Output, Report, compare};
pub use error::{ErrorKind, InterpretError, ThreadIndex};

pub use packed::{PackedArg, PackedOutcome, PackedTensor};

use chipdock_ir::IrModule;

/// An argument of a run.
#[derive(Clone, Debug, PartialEq)]
pub enum Arg {
    /// An argument for a buffer parameter. The run writes it in place.
    Tensor(Array),
    /// An argument for an integer or boolean parameter, in range of the parameter's type.
    Int(i128),
    /// An argument for a float parameter; rounded to the parameter's type.
    Float(f64),
}

/// The result of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// Every tensor parameter after the run, in order, whether it was written or not.
    pub outputs: Vec<Output>,
    /// The returned value, as an array of one element, with its bound.
    pub returned: Option<(Array, f64)>,
    /// Number of iterations and calls that ran.
    pub n_steps: u64,
}

impl Outcome {
    /// Returns the tensor parameter of that name after the run.
    #[must_use]
    pub fn output(&self, name: &str) -> Option<&Output> {
        self.outputs.iter().find(|output| output.name == name)
    }
}

/// Limits of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Number of iterations and calls.
    pub steps_max: u64,
    /// Bytes of all buffers that are live at once, arguments included.
    pub memory_bytes_max: u64,
    /// Depth of nested calls.
    pub calls_max: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { steps_max: 1 << 32, memory_bytes_max: 1 << 30, calls_max: 200 }
    }
}

/// Runs functions of a module.
///
/// # Examples
///
/// ```
/// use chipdock_interpret::{Arg, Array, Interpreter};
/// use chipdock_ir::{Attrs, Buffer, DType, Expr, ForKind, IrModule, Param, PrimFunc, Stmt, StorageScope, Var};
///
/// let (n, i) = (Var::new("n", DType::INT32), Var::new("i", DType::INT32));
/// let a = Buffer::new("A", vec![n.expr()], DType::FLOAT32, StorageScope::GLOBAL);
/// let doubled = Expr::load(&a, vec![i.expr()]) + Expr::load(&a, vec![i.expr()]);
/// let store = Stmt::store(&a, vec![i.expr()], doubled);
/// let module = IrModule {
///     functions: vec![PrimFunc {
///         name: "double".into(),
///         params: vec![Param::Buffer(a)],
///         ret: None,
///         attrs: Attrs::new(),
///         s_tir: false,
///         alloc_buffers: vec![],
///         body: Stmt::for_loop(i, n.expr(), ForKind::Serial, store),
///     }],
///     attrs: Attrs::new(),
/// };
/// let mut args = [Arg::Tensor(Array::from_f32(&[3], &[1.0, 2.0, 3.0]))];
/// let outcome = Interpreter::new(&module).run("double", &mut args)?;
/// assert_eq!(outcome.outputs[0].array.to_f64(), [2.0, 4.0, 6.0]);
/// # Ok::<(), chipdock_interpret::InterpretError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Interpreter<'m> {
    module: &'m IrModule,
    limits: Limits,
    bounds: bool,
}

impl<'m> Interpreter<'m> {
    /// Makes an interpreter of a module, without bounds, with the default limits.
    #[must_use]
    pub fn new(module: &'m IrModule) -> Self {
        Self { module, limits: Limits::default(), bounds: false }
    }

    /// Derives error bounds too, which takes two to four times as long.
    #[must_use]
    pub fn with_bounds(self) -> Self {
        Self { bounds: true, ..self }
    }

    /// Sets the limits.
    #[must_use]
    pub fn with_limits(self, limits: Limits) -> Self {
        Self { limits, ..self }
    }

    /// Runs a function. One argument per parameter, in order; tensors are written in place.
    ///
    /// # Errors
    ///
    /// See [`ErrorKind`]; the arguments are then as they were (INT-I6).
    pub fn run(&self, function: &str, args: &mut [Arg]) -> Result<Outcome, InterpretError> {
        run::run(self, function, args).map_err(|error| *error)
    }

    /// Lists the parts of a function, and of each function that it calls, that are not supported: a
    /// run that reaches one ends there with [`ErrorKind::Unsupported`].
    ///
    /// # Errors
    ///
    /// See [`ErrorKind`]: there is no such function, or it is malformed.
    pub fn refused(&self, function: &str) -> Result<Vec<InterpretError>, InterpretError> {
        let functions = compile::compile(self.module, function).map_err(|error| *error)?;
        Ok(functions.iter().flat_map(code::Function::refused).collect())
    }

    /// Runs a function of the packed calling convention,
    /// `(self_handle, args, num_args, result) -> int32`, as the passes produce it; tensors are
    /// written in place.
    ///
    /// # Errors
    ///
    /// See [`ErrorKind`]; an error that the function itself raises is [`ErrorKind::Assertion`]. The
    /// arguments are then as they were (INT-I6).
    pub fn run_packed(
        &self,
        function: &str,
        args: &mut [PackedArg],
    ) -> Result<PackedOutcome, InterpretError> {
        packed::run_packed(self, function, args).map_err(|error| *error)
    }
}
