//! Spellings of ops, as data.

use chipdock_ir::{DType, Op};

use crate::{Code, Infix, Prelude};

/// Syntax of a call of an op on scalars.
#[derive(Clone, Copy, Debug)]
pub enum Spelling {
    /// A call of a function of the language.
    Call(&'static str),
    /// A binary operator.
    Infix(Infix),
    /// A prefix operator.
    Prefix(&'static str),
    /// A call of a helper that is defined when it is first used.
    Helper {
        /// Name of the helper.
        name: &'static str,
        /// Definition of the helper.
        text: &'static str,
    },
}

/// One op on one scalar type.
#[derive(Clone, Copy, Debug)]
pub struct OpRow {
    /// The op.
    pub op: Op,
    /// Type of the first argument.
    pub dtype: DType,
    /// Spelling of the op for this type.
    pub spelling: Spelling,
}

/// Rows, one per op and type. An op without a row is not supported and reported as such.
#[derive(Clone, Copy, Debug)]
pub struct OpTable {
    /// The rows.
    pub rows: &'static [OpRow],
}

impl OpTable {
    /// The row of an op on a scalar type.
    #[must_use]
    pub fn row(&self, op: Op, dtype: DType) -> Option<&'static OpRow> {
        self.rows.iter().find(|row| row.op == op && row.dtype == dtype)
    }

    /// The types for which an op has rows.
    #[must_use]
    pub fn types(&self, op: Op) -> Vec<DType> {
        self.rows.iter().filter(|row| row.op == op).map(|row| row.dtype).collect()
    }

    /// Spells a call as its row defines; `None` if it has no row.
    #[must_use]
    pub fn spell(&self, op: Op, dtype: DType, args: &[Code], prelude: &mut Prelude) -> Option<Code> {
        let row = self.row(op, dtype)?;
        match (row.spelling, args) {
            (Spelling::Call(function), _) => Some(Code::call(function, args)),
            (Spelling::Infix(operator), [a, b]) => Some(Code::infix(operator, a, b)),
            (Spelling::Prefix(operator), [a]) => Some(Code::prefix(operator, a)),
            (Spelling::Helper { name, text }, _) => {
                prelude.define(name, |_| text.to_owned());
                Some(Code::call(name, args))
            }
            (Spelling::Infix(_) | Spelling::Prefix(_), _) => None,
        }
    }
}
