//! The trait [`LlvmTarget`]: differences between the targets that LLVM compiles for.

use chipdock_ir::{StorageScope, ThreadAxis};

use crate::{DotInstructions, TileInstructions};

/// A refusal by a target: what is not supported, and what to do about it. Becomes the message of a
/// diagnostic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal(pub String);

impl Refusal {
    /// A refusal with the given message.
    pub fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }
}

/// Result of a target's method.
pub type Answer<T> = Result<T, Refusal>;

/// The callers of a function, which determine its calling convention.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallingConv {
    /// Called by other functions of the module.
    Internal,
    /// Called by the host through the packed convention.
    Packed,
    /// Launched as a kernel of a device.
    Kernel,
}

/// Assumptions that floating-point operations may make beyond those of the IR, with one flag each
/// as LLVM names them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FastMath {
    /// No operand and no result is a NaN.
    pub nnan: bool,
    /// No operand and no result is an infinity.
    pub ninf: bool,
    /// The sign of zero is ignored.
    pub nsz: bool,
    /// A quotient may be a product with the reciprocal.
    pub arcp: bool,
    /// Operations may be fused.
    pub contract: bool,
    /// Sums and products may associate in another order.
    pub reassoc: bool,
}

/// Describes the differences between the targets that LLVM compiles for: one implementation in each
/// plugin.
///
/// A target is created for one build: its methods answer for one triple, one processor, one set of
/// options.
pub trait LlvmTarget {
    /// The target kind's name, for messages.
    fn name(&self) -> &str;

    /// LLVM's triple.
    fn triple(&self) -> &str;

    /// LLVM's data layout for that triple.
    fn data_layout(&self) -> &str;

    /// Width of a pointer in bits, 32 or 64.
    fn pointer_bits(&self) -> u32 {
        64
    }

    /// Attributes of every function with a body, by name (`target-cpu`, `target-features`, …).
    fn function_attributes(&self) -> Vec<(String, String)>;

    /// The keyword of a calling convention (`ptx_kernel`), or an empty string for C's own.
    ///
    /// # Errors
    ///
    /// Functions with that convention are not supported by this target.
    fn calling_convention(&self, convention: CallingConv) -> Answer<&'static str>;

    /// The address space of a storage scope.
    ///
    /// # Errors
    ///
    /// A scope that the target does not support.
    fn address_space(&self, scope: &StorageScope) -> Answer<u32>;

    /// The name of the intrinsic (no arguments, result `i32`) that returns a thread's index on an
    /// axis.
    ///
    /// # Errors
    ///
    /// The target has no threads.
    fn thread_index(&self, axis: ThreadAxis) -> Answer<&'static str>;

    /// The instructions, one per line, of a barrier among the threads of a storage scope.
    ///
    /// # Errors
    ///
    /// The target has no threads.
    fn barrier(&self, scope: &str) -> Answer<&'static [&'static str]>;

    /// Assumptions of floating-point operations beyond those of the IR.
    fn fast_math(&self) -> FastMath {
        FastMath::default()
    }

    /// Returns true if an instruction converts float16 to and from float32. Otherwise LLVM would
    /// call a library that may not be available, so this crate writes out the conversion.
    fn converts_float16(&self) -> bool {
        false
    }

    /// Returns true if the instruction that converts a float to an integer saturates, and gives 0
    /// for a NaN. Otherwise this crate writes out that behaviour so that vectors stay vectors.
    fn saturates(&self) -> bool {
        false
    }

    /// The processor's instructions for dot products.
    fn dot_instructions(&self) -> DotInstructions {
        DotInstructions::None
    }

    /// The processor's tiles, on x86-64 under Linux: code asks its kernel for permission (rule
    /// LLVM-V15).
    fn tiles(&self) -> TileInstructions {
        TileInstructions::default()
    }

    /// The intrinsic function (of no arguments, without result) after which other threads see this
    /// thread's stores that bypass the caches; `None` if the order of ordinary stores is enough for
    /// them.
    fn store_fence(&self) -> Option<&'static str> {
        None
    }

    /// Returns true if functions have a host that sets `__chipdock_env`: errors, workspace,
    /// parallel regions.
    fn has_environment(&self) -> bool {
        true
    }
}
