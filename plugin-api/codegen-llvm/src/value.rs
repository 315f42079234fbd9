//! A value in the text.

use chipdock_ir::DType;

/// A value: its operand in an instruction, and its type in the IR.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Value {
    /// An operand without its type: `%12`, `42`, `true`, `zeroinitializer`.
    pub(crate) text: String,
    /// Type in the IR; rule LLVM-V4 gives its form in a register.
    pub(crate) dtype: DType,
}

impl Value {
    /// Creates a value.
    pub(crate) fn new(text: impl Into<String>, dtype: DType) -> Self {
        Self { text: text.into(), dtype }
    }

    /// The operand with its type: `i32 %12`.
    pub(crate) fn typed(&self) -> String {
        format!("{} {}", crate::types::register(self.dtype), self.text)
    }

    /// The value of a scalar integer or boolean constant.
    pub(crate) fn as_int(&self) -> Option<i128> {
        match self.text.as_str() {
            "true" => Some(1),
            "false" => Some(0),
            text => text.parse().ok(),
        }
    }
}
