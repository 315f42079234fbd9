//! The trait [`Expressions`]: types, constants, operators, memory, vectors and ops of a C-like
//! language.

use chipdock_ir::{BinaryOp, CompareOp, DType, PointerType, ThreadAxis};

use crate::{Access, Answer, Code, OpCall, OpTable, Overflow, Prelude, Vector};

/// Describes the differences between C-like languages within expressions, under the rules of
/// [`crate::Dialect`].
///
/// A language of the C family implements [`CFamily`](crate::c_family::CFamily) and gets these
/// methods from it; a more distant language, such as one without implicit conversions, implements
/// them itself. Methods with a default body answer for C.
pub trait Expressions {
    /// The type of a value in variables and expressions.
    ///
    /// # Errors
    ///
    /// A type that the language does not support.
    fn value_type(&self, dtype: DType, prelude: &mut Prelude) -> Answer<String>;

    /// The type of a pointer variable; refused if the language has no pointers.
    ///
    /// # Errors
    ///
    /// A scope or an element type that the language does not support.
    fn pointer_type(&self, pointer: Option<&PointerType>, prelude: &mut Prelude) -> Answer<String>;

    /// Behaviour of signed arithmetic on overflow.
    fn overflow(&self) -> Overflow {
        Overflow::Undefined
    }

    /// The type in which an index that may not fit 32 bits is computed: int64, or int32 in a
    /// language without int64; there 64-bit positions are computed in 32 bits, since no buffer is
    /// longer.
    fn index_type(&self) -> DType {
        DType::INT64
    }

    /// Returns true if the compiler evaluates constant computations, and rejects those that
    /// overflow or divide by 0: each of their constants is then stored in a variable.
    fn checks_constants(&self) -> bool {
        false
    }

    /// An integer or boolean constant of a scalar type.
    ///
    /// # Errors
    ///
    /// A type that the language does not support.
    fn integer(&self, value: i128, dtype: DType) -> Answer<Code>;

    /// A float constant of a scalar type, with its exact value.
    ///
    /// # Errors
    ///
    /// A type that the language does not support.
    fn float(&self, value: f64, dtype: DType, prelude: &mut Prelude) -> Answer<Code>;

    /// A scalar conversion with the IR's semantics.
    ///
    /// # Errors
    ///
    /// A type that the language does not support.
    fn cast(&self, value: &Code, from: DType, to: DType, prelude: &mut Prelude) -> Answer<Code>;

    /// A conversion of a float that, truncated, is known to be within an integer type: nothing
    /// saturates, and there is no NaN.
    ///
    /// # Errors
    ///
    /// As for [`Expressions::cast`].
    fn cast_within(&self, value: &Code, from: DType, to: DType, prelude: &mut Prelude) -> Answer<Code> {
        self.cast(value, from, to, prelude)
    }

    /// Converts the bits of an integer to another integer type, modulo its width; needed with
    /// [`Overflow::Undefined`].
    ///
    /// # Errors
    ///
    /// A type that the language does not support.
    fn cast_bits(&self, value: &Code, to: DType, prelude: &mut Prelude) -> Answer<Code>;

    /// Rounds the result of one operation on scalars to its float type, if the language computes in
    /// a wider one.
    ///
    /// # Errors
    ///
    /// A type that the language does not support.
    fn rounded(&self, value: Code, dtype: DType, prelude: &mut Prelude) -> Answer<Code> {
        let _ = (dtype, prelude);
        Ok(value)
    }

    /// The quotient of two scalars of a float type, rounded to nearest; an operator if the
    /// language's rounds so.
    ///
    /// # Errors
    ///
    /// A type that the language does not support.
    fn quotient(&self, a: &Code, b: &Code, dtype: DType, prelude: &mut Prelude) -> Answer<Code> {
        self.rounded(Code::infix(crate::Infix::Div, a, b), dtype, prelude)
    }

    /// Guarded division and remainder of scalar integers, and the scalar minimum and maximum, with
    /// the IR's semantics.
    ///
    /// # Errors
    ///
    /// A type that the language does not support.
    fn guarded(&self, op: BinaryOp, a: &Code, b: &Code, dtype: DType, prelude: &mut Prelude) -> Answer<Code>;

    /// An operand of a division, of a scalar signed integer type of at least 32 bits, that may be
    /// the least integer: hidden from compilers that take the quotients of two such numbers to
    /// differ in sign where the numbers do.
    fn hidden(&self, operand: &Code, dtype: DType, prelude: &mut Prelude) -> Code {
        let _ = (dtype, prelude);
        operand.clone()
    }

    /// A choice between two scalars; both may be evaluated.
    fn choice(&self, condition: &Code, then: &Code, otherwise: &Code) -> Code {
        Code::ternary(condition, then, otherwise)
    }

    /// A choice between two scalars that evaluates only the chosen one; `None` if that needs a
    /// statement.
    fn lazy_choice(&self, condition: &Code, then: &Code, otherwise: &Code) -> Option<Code> {
        Some(Code::ternary(condition, then, otherwise))
    }

    /// The amount of a shift, an integer within the width of `dtype`, as the second operand of a
    /// shift operator.
    ///
    /// # Errors
    ///
    /// A type that the language does not support.
    fn shift_amount(&self, amount: Code, dtype: DType, prelude: &mut Prelude) -> Answer<Code> {
        let _ = (dtype, prelude);
        Ok(amount)
    }

    /// A comparison of two scalars of a type; for booleans, false is less than true. With a NaN
    /// only `!=` is true (IR-N6), also where a compiler assumes that there is none: a language
    /// whose compilers may compares bits.
    fn comparison(&self, op: CompareOp, a: &Code, b: &Code, operand: DType, prelude: &mut Prelude) -> Code {
        let _ = (operand, prelude);
        Code::infix(crate::Infix::of_comparison(op), a, b)
    }

    /// `result` in place of a computation on `operand` that would give the same value; for
    /// languages whose compilers warn about a variable that is never read.
    fn instead_of(&self, operand: &Code, result: &Code) -> Code {
        let _ = operand;
        result.clone()
    }

    /// The index of this thread on an axis, as a value of type `dtype`, which is int32 or int64.
    ///
    /// # Errors
    ///
    /// An axis that the language does not support.
    fn thread_index(&self, axis: ThreadAxis, dtype: DType, prelude: &mut Prelude) -> Answer<Code>;

    /// The expression for a load.
    ///
    /// # Errors
    ///
    /// A type or a form of access that the language does not support.
    fn load(&self, access: &Access, prelude: &mut Prelude) -> Answer<Code>;

    /// The statement of a store.
    ///
    /// # Errors
    ///
    /// A type or a form of access that the language does not support.
    fn store(&self, access: &Access, value: &Code, prelude: &mut Prelude) -> Answer<String>;

    /// A computation on vectors whose result has type `dtype`.
    ///
    /// # Errors
    ///
    /// A type or a computation that the language does not support.
    fn vector(&self, computation: Vector<'_>, dtype: DType, prelude: &mut Prelude) -> Answer<Code>;

    /// Spellings of ops on scalars, as data.
    fn ops(&self) -> &OpTable;

    /// An op that no row of the table can express; `None` leaves it to the table.
    fn op(&self, call: &OpCall<'_>, prelude: &mut Prelude) -> Option<Answer<Code>> {
        let _ = (call, prelude);
        None
    }
}
