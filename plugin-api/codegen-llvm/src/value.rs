//! A value in the text.

use chipdock_ir::DType;

/// A value: what stands for it in an instruction, and the IR's type of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Value {
    /// An operand without its type: `%12`, `42`, `true`, `zeroinitializer`.
    pub(crate) text: String,
    /// Its type in the IR; how it lies in a register is rule LLVM-V4.
    pub(crate) dtype: DType,
}

impl Value {
    /// A value.
    pub(crate) fn new(text: impl Into<String>, dtype: DType) -> Self {
        Self { text: text.into(), dtype }
    }

    /// The operand with its type: `i32 %12`.
    pub(crate) fn typed(&self) -> String {
        format!("{} {}", crate::types::register(self.dtype), self.text)
    }

    /// The constant, when it is a scalar integer or boolean one.
    pub(crate) fn as_int(&self) -> Option<i128> {
        match self.text.as_str() {
            "true" => Some(1),
            "false" => Some(0),
            text => text.parse().ok(),
        }
    }
}
