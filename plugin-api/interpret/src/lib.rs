//! The reference interpreter: the oracle of every differential test.
//!
//! It runs a module as read (blocks with axes), scheduled to threads, and after any pass up to device functions, reports
//! what no backend can be trusted to report (accesses out of bounds, races of parallel iterations and of threads, barriers
//! that not all threads reach, reads of what was never written), and derives for each value of the result how far a conforming backend may be from it.
//!
//! # Rules
//!
//! - **INT-I1 Arithmetic** is that of [`chipdock_ir::BinaryOp`], [`chipdock_ir::ExprKind::Cast`] and [`chipdock_ir::Op`]: integers wrap;
//!   x / 0 = x and x mod 0 = 0; shift amounts are taken modulo the width; `min` and `max` are `a < b ? a : b` and
//!   `a > b ? a : b`; `round` takes halves to even. Each float operation is rounded once into its type; float16 and
//!   bfloat16 are computed in float32.
//! - **INT-I2 Blocks.** Where the predicate is false nothing happens. Each axis value lies in its domain. `init` runs when
//!   every reduction axis is at its first value.
//! - **INT-I3 Loops.** Every kind runs its iterations in order, in steps, none when the extent is not positive. Two
//!   iterations of a parallel loop must not touch one element, unless neither writes it.
//! - **INT-I4 Memory.** Each index lies in its axis' extent. What an allocated buffer holds is undefined until written, and
//!   reading it is an error. A tensor argument is compact and begins at its data: symbols of strides and offset are bound
//!   to that, and any other stride or offset of the parameter is an error, as compiled code raises one (IR-F3).
//!   What was written, and who touched what, is kept for each element of the narrowest view that was declared so far;
//!   bounds of errors for each element of the allocation.
//! - **INT-I5 Limits.** Iterations and calls, memory and nesting of calls have limits, and passing one is an error. No input
//!   makes the interpreter panic.
//! - **INT-I6 State.** When a run fails, the arguments are as they were before it.
//! - **INT-I7 Pointers.** A parameter that is a pointer takes a tensor, and points to its first element. Tensors of different
//!   parameters do not overlap.
//! - **INT-I8 Threads.** The blocks of a grid run one after the other, x fastest. The threads of a block do so too, each until
//!   it waits for others or ends; when none can go on, those whose partners are there do, first of warps, then of the
//!   block. A kernel free of races gives the same in any order, and one that is not is reported, with the element and both
//!   threads (IR-K4). A block has at most 65,536 threads.
//! - **INT-I9 Waiting.** Threads that wait for each other in vain are reported with both places (IR-K3). An activemask takes
//!   together those that are there when nobody of the warp can go on otherwise.
//! - **INT-I10 Undefined values.** In a function with shuffles, a value that was never written may be stored in memory of scope
//!   `local`, which then holds nothing, and be passed to a shuffle, whose takers then have nothing. Any other use of it is
//!   the error of a read of what was never written (IR-K7).
//! - **INT-I11 Packed calls** ([`Interpreter::run_packed`]). Arguments, tensors, shapes and strides lie in memory of their own,
//!   as TVM-FFI and DLPack lay them out; what a pointer points to is held to that memory's end. An assertion ends the run
//!   with its error. A workspace is undefined until written, is freed once, and is freed by the end of a run that succeeds.
//!   Of functions that a packed call names, those that every host has are called ([`Op::CallPacked`](chipdock_ir::Op) of
//!   `tvm.contrib.sort.{sort,argsort,argsort_nms,topk}`): a sort keeps the order of equal elements, −0 equals 0, and NaN is
//!   greater than every number. What they touch is not looked at for races. Other functions of elsewhere are not called.
//! - **INT-I12 Parallel launches** ([`Op::ParallelLaunch`](chipdock_ir::Op)) run as many tasks as they may, five at most, one after
//!   the other, the last first. Two tasks must not touch one element, unless neither writes it, as iterations (INT-I3).
//!
//! # Error bounds
//!
//! With [`Interpreter::with_bounds`] every value carries a bound on its absolute distance from the value of any
//! *conforming backend*. A backend conforms when
//!
//! - **INT-B1** each operation is off by no more than [`ulps`](chipdock_ir::accuracy::ulps) units in the last place of its own result, `+ − × ÷
//!   sqrt fma` and casts being rounded to nearest even;
//! - **INT-B2** a product and the sum that takes it may be contracted into one rounding, wherever the product comes from;
//! - **INT-B3** a reduction of a block, `C[i] = C[i] + x` (or `−`, `×`, `min`, `max`), associates in any order; a loop that
//!   is no block's reduction keeps its order; reductions over threads (IR-K6, [`Op::ThreadAllreduce`](chipdock_ir::Op)) and atomic
//!   additions of threads, too, associate in any order, and what an atomic addition gives back may be anything;
//! - **INT-B4** everything else, integers and booleans included, is exact.
//!
//! What decides nothing is bounded by the running error of both sides. Where a comparison, a cast to an integer or a
//! branch is nearer to its border than its operands' bounds, both outcomes are run and the bound covers them; where that
//! cannot be done (a loop of ambiguous length, a store to an ambiguous index, a possible overflow) the bound is infinite,
//! and [`compare()`] counts such lanes and leaves them out.

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
    /// For a buffer parameter. The run writes it in place.
    Tensor(Array),
    /// For an integer or boolean parameter; it must be in range of the parameter's type.
    Int(i128),
    /// For a float parameter; rounded into the parameter's type.
    Float(f64),
}

/// What a run did.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// Every tensor parameter after the run, in order, whether it was written or not.
    pub outputs: Vec<Output>,
    /// The value returned, as an array of one element, with its bound.
    pub returned: Option<(Array, f64)>,
    /// Iterations and calls that ran.
    pub n_steps: u64,
}

impl Outcome {
    /// The tensor parameter of that name after the run.
    #[must_use]
    pub fn output(&self, name: &str) -> Option<&Output> {
        self.outputs.iter().find(|output| output.name == name)
    }
}

/// Limits of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Iterations and calls.
    pub steps_max: u64,
    /// Bytes of all buffers that live at once, arguments included.
    pub memory_bytes_max: u64,
    /// Calls within calls.
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
    /// An interpreter of a module, without bounds, with the default limits.
    #[must_use]
    pub fn new(module: &'m IrModule) -> Self {
        Self { module, limits: Limits::default(), bounds: false }
    }

    /// Derives error bounds too, at two to four times the time.
    #[must_use]
    pub fn with_bounds(self) -> Self {
        Self { bounds: true, ..self }
    }

    /// Takes other limits.
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

    /// Lists what a function, and each that it calls, has that is not run: a run that reaches such a place ends there with
    /// [`ErrorKind::Unsupported`].
    ///
    /// # Errors
    ///
    /// See [`ErrorKind`]: there is no such function, or it is malformed.
    pub fn refused(&self, function: &str) -> Result<Vec<InterpretError>, InterpretError> {
        let functions = compile::compile(self.module, function).map_err(|error| *error)?;
        Ok(functions.iter().flat_map(code::Function::refused).collect())
    }

    /// Runs a function of the packed calling convention, `(self_handle, args, num_args, result) -> int32`, as the passes
    /// make it; tensors are written in place.
    ///
    /// # Errors
    ///
    /// See [`ErrorKind`]; what the function itself raises is [`ErrorKind::Assertion`]. The arguments are then as they were
    /// (INT-I6).
    pub fn run_packed(
        &self,
        function: &str,
        args: &mut [PackedArg],
    ) -> Result<PackedOutcome, InterpretError> {
        packed::run_packed(self, function, args).map_err(|error| *error)
    }
}
