//! What differs between C-like languages within expressions: types, constants, operators, memory, vectors, ops.

use chipdock_ir::{BinaryOp, CompareOp, DType, PointerType, ThreadAxis};

use crate::{Access, Answer, Code, OpCall, OpTable, Overflow, Prelude, Vector};

/// Answers what differs between C-like languages within expressions; [`crate::Dialect`] says how.
///
/// A language of the C family implements [`CFamily`](crate::c_family::CFamily) and has these answers from there; one
/// that is farther away, such as a language without implicit conversions, gives its own. Questions with a default have
/// the answer of C.
pub trait Expressions {
    /// The type of a value in variables and expressions.
    ///
    /// # Errors
    ///
    /// A type that the language does not have.
    fn value_type(&self, dtype: DType, prelude: &mut Prelude) -> Answer<String>;

    /// The type of a pointer variable; refused where there are none.
    ///
    /// # Errors
    ///
    /// A scope or an element type that the language does not have.
    fn pointer_type(&self, pointer: Option<&PointerType>, prelude: &mut Prelude) -> Answer<String>;

    /// What signed arithmetic does when it does not fit.
    fn overflow(&self) -> Overflow {
        Overflow::Undefined
    }

    /// The type in which an index that may not fit 32 bits is computed: int64, or int32 in a language that has no other;
    /// there 64-bit positions are computed in 32 bits, since no buffer is longer.
    fn index_type(&self) -> DType {
        DType::INT64
    }

    /// True where the compiler computes what has only constants in it, and refuses what does not fit, or divides by 0: a
    /// variable then holds each of those constants.
    fn checks_constants(&self) -> bool {
        false
    }

    /// An integer or boolean constant of a scalar type.
    ///
    /// # Errors
    ///
    /// A type that the language does not have.
    fn integer(&self, value: i128, dtype: DType) -> Answer<Code>;

    /// A float constant of a scalar type, exactly.
    ///
    /// # Errors
    ///
    /// A type that the language does not have.
    fn float(&self, value: f64, dtype: DType, prelude: &mut Prelude) -> Answer<Code>;

    /// A scalar conversion with the IR's semantics.
    ///
    /// # Errors
    ///
    /// A type that the language does not have.
    fn cast(&self, value: &Code, from: DType, to: DType, prelude: &mut Prelude) -> Answer<Code>;

    /// The bits of an integer as another integer type, modulo its width: what [`Overflow::Undefined`] needs.
    ///
    /// # Errors
    ///
    /// A type that the language does not have.
    fn cast_bits(&self, value: &Code, to: DType, prelude: &mut Prelude) -> Answer<Code>;

    /// The result of one operation on scalars of a float type, rounded into it where the language computes wider.
    ///
    /// # Errors
    ///
    /// A type that the language does not have.
    fn rounded(&self, value: Code, dtype: DType, prelude: &mut Prelude) -> Answer<Code> {
        let _ = (dtype, prelude);
        Ok(value)
    }

    /// The quotient of two scalars of a float type, rounded to nearest: an operator, where the language's is.
    ///
    /// # Errors
    ///
    /// A type that the language does not have.
    fn quotient(&self, a: &Code, b: &Code, dtype: DType, prelude: &mut Prelude) -> Answer<Code> {
        self.rounded(Code::infix(crate::Infix::Div, a, b), dtype, prelude)
    }

    /// Guarded division and remainder of scalar integers, and the scalar minimum and maximum, with the IR's semantics.
    ///
    /// # Errors
    ///
    /// A type that the language does not have.
    fn guarded(&self, op: BinaryOp, a: &Code, b: &Code, dtype: DType, prelude: &mut Prelude) -> Answer<Code>;

    /// A choice between two scalars; both may be evaluated.
    fn choice(&self, condition: &Code, then: &Code, otherwise: &Code) -> Code {
        Code::ternary(condition, then, otherwise)
    }

    /// A choice between two scalars that evaluates only the one chosen; `None` where only a statement can.
    fn lazy_choice(&self, condition: &Code, then: &Code, otherwise: &Code) -> Option<Code> {
        Some(Code::ternary(condition, then, otherwise))
    }

    /// The amount of a shift, an integer within the width of `dtype`, as the second operand of a shift operator.
    ///
    /// # Errors
    ///
    /// A type that the language does not have.
    fn shift_amount(&self, amount: Code, dtype: DType, prelude: &mut Prelude) -> Answer<Code> {
        let _ = (dtype, prelude);
        Ok(amount)
    }

    /// A comparison of two scalars of a type; of booleans, false is below true.
    fn comparison(&self, op: CompareOp, a: &Code, b: &Code, operand: DType) -> Code {
        let _ = operand;
        Code::infix(crate::Infix::of_comparison(op), a, b)
    }

    /// `result` in place of a computation on `operand` that would give it anyway; for languages whose compilers complain
    /// of a variable that nothing reads.
    fn instead_of(&self, operand: &Code, result: &Code) -> Code {
        let _ = operand;
        result.clone()
    }

    /// The index of this thread on an axis, as a value of the type, which is int32 or int64.
    ///
    /// # Errors
    ///
    /// An axis that the language does not have.
    fn thread_index(&self, axis: ThreadAxis, dtype: DType, prelude: &mut Prelude) -> Answer<Code>;

    /// The value of a load.
    ///
    /// # Errors
    ///
    /// A type or a form of access that the language does not have.
    fn load(&self, access: &Access, prelude: &mut Prelude) -> Answer<Code>;

    /// The statement of a store.
    ///
    /// # Errors
    ///
    /// A type or a form of access that the language does not have.
    fn store(&self, access: &Access, value: &Code, prelude: &mut Prelude) -> Answer<String>;

    /// A computation on vectors whose result has type `dtype`.
    ///
    /// # Errors
    ///
    /// A type or a computation that the language does not have.
    fn vector(&self, computation: Vector<'_>, dtype: DType, prelude: &mut Prelude) -> Answer<Code>;

    /// How ops on scalars are spelled, as data.
    fn ops(&self) -> &OpTable;

    /// An op that no row of the table can say; `None` leaves it to the table.
    fn op(&self, call: &OpCall<'_>, prelude: &mut Prelude) -> Option<Answer<Code>> {
        let _ = (call, prelude);
        None
    }
}
