//! How ops are spelled, as data.

use chipdock_ir::{DType, Op};

use crate::{Code, Infix, Prelude};

/// How a call of an op on scalars is written.
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
        /// Its name.
        name: &'static str,
        /// Names of helpers that it needs; each is a row of the same table or stands in `define` of the dialect.
        text: &'static str,
    },
}

/// One op on one scalar type.
#[derive(Clone, Copy, Debug)]
pub struct OpRow {
    /// The op.
    pub op: Op,
    /// The type of its first argument.
    pub dtype: DType,
    /// How it is written.
    pub spelling: Spelling,
}

/// Rows, one per op and type. An op that has none is not supported and reported so.
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

    /// The types that an op has rows for.
    #[must_use]
    pub fn types(&self, op: Op) -> Vec<DType> {
        self.rows.iter().filter(|row| row.op == op).map(|row| row.dtype).collect()
    }

    /// The call as the table spells it; `None` when it has no row.
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
