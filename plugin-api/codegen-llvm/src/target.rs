//! What differs between the targets that LLVM compiles for.

use chipdock_ir::{StorageScope, ThreadAxis};

/// A target's "no": what is not supported, and what to do about it. Becomes the message of a diagnostic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal(pub String);

impl Refusal {
    /// A refusal with that message.
    pub fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }
}

/// What a target answers.
pub type Answer<T> = Result<T, Refusal>;

/// Who calls a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallingConv {
    /// Other functions of the module.
    Internal,
    /// The host, by the packed convention.
    Packed,
    /// A launch, as a device's kernel.
    Kernel,
}

/// What floating-point operations may assume besides what the IR allows, one flag each as LLVM names them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FastMath {
    /// No operand and no result is a NaN.
    pub nnan: bool,
    /// No operand and no result is an infinity.
    pub ninf: bool,
    /// The sign of zero does not count.
    pub nsz: bool,
    /// A quotient may be a product with the reciprocal.
    pub arcp: bool,
    /// Operations may be fused.
    pub contract: bool,
    /// Sums and products may associate in another order.
    pub reassoc: bool,
}

/// What differs between the targets that LLVM compiles for: one implementation in each plugin.
///
/// A target is made for one build: its answers are those of one triple, one processor, one set of options.
pub trait LlvmTarget {
    /// The target kind's name, for messages.
    fn name(&self) -> &str;

    /// LLVM's triple.
    fn triple(&self) -> &str;

    /// LLVM's data layout of that triple.
    fn data_layout(&self) -> &str;

    /// Bits of a pointer, 32 or 64.
    fn pointer_bits(&self) -> u32 {
        64
    }

    /// Attributes of every function that has a body, by name (`target-cpu`, `target-features`, …).
    fn function_attributes(&self) -> Vec<(String, String)>;

    /// The keyword of a calling convention (`ptx_kernel`), with nothing for C's own.
    ///
    /// # Errors
    ///
    /// Functions of that kind cannot be built for this target.
    fn calling_convention(&self, convention: CallingConv) -> Answer<&'static str>;

    /// The address space of a storage scope.
    ///
    /// # Errors
    ///
    /// The scope is unknown here.
    fn address_space(&self, scope: &StorageScope) -> Answer<u32>;

    /// The name of the intrinsic (no arguments, result `i32`) that tells a thread's index on an axis.
    ///
    /// # Errors
    ///
    /// There are no threads here.
    fn thread_index(&self, axis: ThreadAxis) -> Answer<&'static str>;

    /// The instructions, one a line, of a barrier among the threads of a storage scope.
    ///
    /// # Errors
    ///
    /// There are no threads here.
    fn barrier(&self, scope: &str) -> Answer<&'static [&'static str]>;

    /// What operations may assume besides what the IR allows.
    fn fast_math(&self) -> FastMath {
        FastMath::default()
    }

    /// Whether float16 is converted to and from float32 by an instruction. Where it is not, LLVM would call a library
    /// that may not be there, so that this crate writes the conversion out.
    fn converts_float16(&self) -> bool {
        false
    }

    /// Whether the instruction that converts a float to an integer saturates, and makes 0 of a NaN. Where it does not, this
    /// crate writes that out so that vectors stay vectors.
    fn saturates(&self) -> bool {
        false
    }

    /// Whether functions have a host that fills in `__chipdock_env`: errors, workspace, parallel regions.
    fn has_environment(&self) -> bool {
        true
    }
}
