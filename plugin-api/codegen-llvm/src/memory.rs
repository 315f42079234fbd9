//! Memory: where the elements of a buffer lie, loads, stores.

use chipdock_ir::{Buffer, Expr};

use crate::value::Value;
use crate::writer::Writer;

impl<'a> Writer<'a> {
    /// The value of a load.
    pub(crate) fn load(
        &mut self,
        e: &'a Expr,
        buffer: &'a Buffer,
        indices: &'a [Expr],
        predicate: Option<&'a Expr>,
    ) -> Value {
        let _ = (buffer, indices, predicate);
        self.refuse(e, "loads are not written yet")
    }

    /// The address of the first element that a load would touch, a `ptr`.
    pub(crate) fn address(
        &mut self,
        e: &'a Expr,
        buffer: &'a Buffer,
        indices: &'a [Expr],
        predicate: Option<&'a Expr>,
    ) -> Value {
        let _ = (buffer, indices, predicate);
        self.refuse(e, "addresses are not written yet")
    }
}
