//! The trait that a language of the family implements.

use chipdock_ir::{BinaryOp, DType, Op, PointerType, StorageScope, ThreadAxis};

use super::{Half, LaneAccess, Spellings, access, casts, integers, is_half, scalar, types, vectors};
use crate::{Access, Answer, Argument, Code, Expressions, Infix, OpCall, OpTable, Prelude, Refusal, Vector};

/// A language of the C family: its spellings, and its differences in meaning from the other
/// languages.
///
/// [`Self::spellings`] and [`Self::space`] are required. All other methods default to C99.
pub trait CFamily: Sized {
    /// The spellings of the language.
    fn spellings(&self) -> &Spellings;

    /// The address-space qualifier of pointers to memory of a scope; empty for none.
    ///
    /// # Errors
    ///
    /// A scope that the language does not support.
    fn space(&self, scope: &StorageScope) -> Answer<&'static str>;

    // -- types and constants ----------------------------------------------------------------------

    /// Records the features that a type requires of a device, and rejects a type that the device
    /// does not support; called before a value of the type is written.
    ///
    /// # Errors
    ///
    /// A type that the device does not support.
    fn check(&self, dtype: DType, prelude: &mut Prelude) -> Answer<()> {
        let _ = (dtype, prelude);
        Ok(())
    }

    /// The type of an element in memory.
    ///
    /// # Errors
    ///
    /// A type that the language does not support.
    fn memory_type(&self, dtype: DType) -> Answer<&'static str> {
        self.spellings().memory(dtype).ok_or_else(|| self.refused_type(dtype))
    }

    /// The refusal for a type that the language does not support.
    fn refused_type(&self, dtype: DType) -> Refusal {
        Refusal::new(format!("has no type {dtype}"))
    }

    /// The type of a pointer variable.
    ///
    /// # Errors
    ///
    /// A scope or an element that the language does not support.
    fn pointer(&self, pointer: Option<&PointerType>) -> Answer<String> {
        let Some(pointer) = pointer else { return self.memory_type(DType::HANDLE).map(str::to_owned) };
        let (space, element) = (self.space(&pointer.scope)?, self.memory_type(pointer.element.scalar())?);
        Ok(if space.is_empty() { format!("{element}*") } else { format!("{space} {element}*") })
    }

    /// An infinite or NaN constant of type float32 or float64.
    ///
    /// # Errors
    ///
    /// Any refusal of [`Self::bit_cast`].
    fn not_finite(&self, value: f64, dtype: DType, prelude: &mut Prelude) -> Answer<Code> {
        casts::not_finite(self, value, dtype, prelude)
    }

    /// Reinterprets the bits of a scalar as another type of 32 or 64 bits; one of the types is a
    /// float, the other an integer.
    ///
    /// # Errors
    ///
    /// A type that the language does not support.
    fn bit_cast(&self, value: &Code, from: DType, to: DType, prelude: &mut Prelude) -> Answer<Code> {
        casts::bit_cast(self, value, from, to, prelude)
    }

    // -- halves -----------------------------------------------------------------------------------

    /// Defines one of the helpers between floats and the bits of halves, under its name.
    fn define_half(&self, half: Half, prelude: &mut Prelude) {
        half.define(self, prelude);
    }

    /// Converts the bits of a half, an integer of 16 bits, to its value.
    fn half_value(&self, bits: &Code, dtype: DType, prelude: &mut Prelude) -> Code {
        Half::value(self, bits, dtype, prelude)
    }

    /// Converts a float to the bits of a half, rounded to nearest even, as an integer of 16 bits.
    fn half_bits(&self, value: &Code, dtype: DType, prelude: &mut Prelude) -> Code {
        Half::bits(self, value, dtype, prelude)
    }

    /// Rounds a float to nearest even into a half; the result is a float.
    fn half_rounded(&self, value: &Code, dtype: DType, prelude: &mut Prelude) -> Code {
        Half::rounded(self, value, dtype, prelude)
    }

    /// Returns a float that rounds to a half as the value does: the value itself, or one rounded to
    /// odd. `from` is never a boolean.
    ///
    /// # Errors
    ///
    /// A type that the language does not support.
    fn half_source(&self, value: &Code, from: DType, to: DType, prelude: &mut Prelude) -> Answer<Code> {
        let _ = to;
        casts::half_source(self, value, from, prelude)
    }

    // -- memory -----------------------------------------------------------------------------------

    /// The definition of `name` as a variant of an element type through which memory of any type
    /// may be accessed; `None` if the type itself allows that.
    fn alias(&self, element: &str, name: &str) -> Option<String> {
        let _ = (element, name);
        None
    }

    /// Defines the prelude entries that [`Self::alias`] needs.
    fn define_alias(&self, prelude: &mut Prelude) {
        let _ = prelude;
    }

    /// Converts an element in memory to a value.
    fn loaded(&self, element: &Code, dtype: DType, prelude: &mut Prelude) -> Code {
        access::loaded(self, element, dtype, prelude)
    }

    /// Converts a value to an element in memory.
    fn stored(&self, value: &Code, dtype: DType, prelude: &mut Prelude) -> Code {
        access::stored(self, value, dtype, prelude)
    }

    /// A load of adjacent elements from a pointer to the first, in one expression; `None` if a
    /// helper is needed.
    fn vector_load(
        &self,
        pointer: &Code,
        dtype: DType,
        scope: &StorageScope,
        prelude: &mut Prelude,
    ) -> Option<Answer<Code>> {
        let _ = (pointer, dtype, scope, prelude);
        None
    }

    /// A store of adjacent elements to a pointer to the first, in one statement; `None` if a helper
    /// is needed.
    fn vector_store(
        &self,
        pointer: &Code,
        value: &Code,
        dtype: DType,
        scope: &StorageScope,
        prelude: &mut Prelude,
    ) -> Option<Answer<String>> {
        let _ = (pointer, value, dtype, scope, prelude);
        None
    }

    /// A store of adjacent elements that need not stay in caches
    /// ([`Access::is_streamed`](crate::Access)), in one statement; `None` for an ordinary one.
    fn streamed_store(
        &self,
        pointer: &Code,
        value: &Code,
        dtype: DType,
        prelude: &mut Prelude,
    ) -> Option<Answer<String>> {
        let _ = (pointer, value, dtype, prelude);
        None
    }

    /// The suffix of the name of a helper that accesses lanes; it distinguishes helpers for
    /// different kinds of memory.
    ///
    /// # Errors
    ///
    /// A scope that the language does not support.
    fn access_suffix(&self, access: &LaneAccess<'_>) -> Answer<String> {
        let space = self.space(access.scope)?.trim_start_matches('_');
        Ok(if space.is_empty() { String::new() } else { format!("_{space}") })
    }

    /// The body of a helper that accesses lanes; `None` for the default, one lane after the other.
    fn lanes_body(&self, access: &LaneAccess<'_>, prelude: &mut Prelude) -> Option<Answer<String>> {
        let _ = (access, prelude);
        None
    }

    // -- vectors ----------------------------------------------------------------------------------

    /// The type of a vector, defined on first use where it is a structure.
    ///
    /// # Errors
    ///
    /// A vector type that the language does not support.
    fn vector_type(&self, dtype: DType, prelude: &mut Prelude) -> Answer<String> {
        vectors::structure(self, dtype, prelude)
    }

    /// A lane of a named vector with `lanes` lanes; `lane` is a lane number or the counter of a
    /// loop.
    fn lane(&self, name: &str, lane: &str, lanes: u16) -> String {
        let _ = lanes;
        format!("{name}.{}[{lane}]", self.spellings().structures.member)
    }

    /// Returns true if vectors of that many lanes are written lane after lane, and false if they
    /// are written as a loop.
    fn lists_lanes(&self, lanes: u16) -> bool {
        let _ = lanes;
        false
    }

    /// The body of a function that returns a vector of these lanes.
    fn vector_returned(&self, type_name: &str, lanes: u16, values: &[String]) -> String {
        let _ = lanes;
        format!("    {type_name} r = {{{{{}}}}};\n    return r;\n", values.join(", "))
    }

    /// The body of a function that returns a vector; `lane` writes one lane, given its number or
    /// the counter of a loop.
    ///
    /// # Errors
    ///
    /// Any refusal of `lane`.
    fn lanes_returned(
        &self,
        dtype: DType,
        type_name: &str,
        prelude: &mut Prelude,
        lane: &mut dyn FnMut(&str, &mut Prelude) -> Answer<Code>,
    ) -> Answer<String> {
        vectors::lanes_returned(self, dtype, type_name, prelude, lane)
    }

    /// A function body with one statement per lane.
    ///
    /// # Errors
    ///
    /// Any refusal of `line`.
    fn each_lane(
        &self,
        lanes: u16,
        prelude: &mut Prelude,
        line: &mut dyn FnMut(&str, &mut Prelude) -> Answer<String>,
    ) -> Answer<String> {
        vectors::each_lane(self, lanes, prelude, line)
    }

    /// The language's native vectors, if their comparisons give lanes of 0 and -1.
    fn native_vectors(&self) -> Option<&dyn NativeVectors> {
        None
    }

    /// A computation on vectors that the language supports natively; `None` for others.
    fn native_vector(
        &self,
        computation: &Vector<'_>,
        dtype: DType,
        prelude: &mut Prelude,
    ) -> Option<Answer<Code>> {
        let _ = (computation, dtype, prelude);
        None
    }

    // -- ops --------------------------------------------------------------------------------------

    /// A function, defined on the way, that divides floats of a type and rounds to nearest; `None`
    /// if the operator `/` does.
    fn quotient_helper(&self, dtype: DType, prelude: &mut Prelude) -> Option<&'static str> {
        let _ = (dtype, prelude);
        None
    }

    /// An operand of a division that may be the least integer, as
    /// [`Expressions::hidden`](crate::Expressions::hidden) has it.
    fn operand_hidden(&self, operand: &Code, dtype: DType, prelude: &mut Prelude) -> Code {
        let _ = (dtype, prelude);
        operand.clone()
    }

    /// An op on scalars, or on lanes, that neither the shared code nor the table can express;
    /// `None` leaves it to them.
    fn special_op(
        &self,
        op: Op,
        args: &[(Code, DType)],
        dtype: DType,
        prelude: &mut Prelude,
    ) -> Option<Answer<Code>> {
        let _ = (op, args, dtype, prelude);
        None
    }

    /// An op that is not a function of its arguments' values, such as a pointer, atomic or warp op;
    /// `None` for others.
    fn memory_op(&self, call: &OpCall<'_>, prelude: &mut Prelude) -> Option<Answer<Code>> {
        let _ = (call, prelude);
        None
    }
}

/// Native vectors of a language whose comparisons give lanes of 0 and -1, as wide as the compared
/// lanes.
pub trait NativeVectors {
    /// Returns true if there are vector types with that many lanes.
    fn has_lanes(&self, lanes: u16) -> bool;

    /// Converts a mask of one signed integer type to a mask of another.
    ///
    /// # Errors
    ///
    /// An unsupported vector type.
    fn mask_converted(&self, mask: &Code, from: DType, to: DType, prelude: &mut Prelude) -> Answer<Code>;

    /// Reinterprets a vector's bits as a vector type of the same size.
    fn same_bits(&self, value: &Code, type_name: &str) -> Code;

    /// The result of a comparison as a mask of that type.
    fn compared(&self, comparison: Code, mask: &str) -> Code {
        let _ = mask;
        comparison
    }

    /// Selects lane by lane: the second argument where the first, a mask, is -1, otherwise the
    /// third. `types` are the type of the result and that of the mask.
    fn select(&self, args: [Code; 3], types: [&str; 2], prelude: &mut Prelude) -> Code;
}

/// The values among the arguments of a call; `None` if any argument is not a value.
#[must_use]
pub fn values_of(call: &OpCall<'_>) -> Option<Vec<(Code, DType)>> {
    let value = |arg: &Argument<'_>| match arg {
        Argument::Value(code, dtype) => Some((code.clone(), *dtype)),
        _ => None,
    };
    call.args.iter().map(value).collect()
}

/// An op on scalars whose text does not come from the table.
pub(super) fn special<L: CFamily>(
    language: &L,
    op: Op,
    args: &[(Code, DType)],
    dtype: DType,
    prelude: &mut Prelude,
) -> Option<Answer<Code>> {
    if let Some(answer) = language.special_op(op, args, dtype, prelude) {
        return Some(answer);
    }
    match (op, args) {
        (Op::Reinterpret, [(value, from)]) => {
            Some(casts::reinterpret(language, value, *from, dtype, prelude))
        }
        _ => integers::op(language, op, args, prelude),
    }
}

/// Ops on pointers that every language with pointers supports.
fn pointer_op<L: CFamily>(language: &L, call: &OpCall<'_>, prelude: &mut Prelude) -> Option<Answer<Code>> {
    let spellings = language.spellings();
    match (call.op, call.args) {
        (Op::AddressOf, [Argument::Address(place)]) => Some(access::address(language, place, prelude)),
        (Op::AddressOf, _) => Some(Err(Refusal::new("has address_of of a buffer element only"))),
        (Op::Isnullptr, [Argument::Value(value, _)]) => {
            Some(Ok(Code::infix(Infix::Equal, value, &Code::primary(spellings.null?))))
        }
        (Op::HandleAddByteOffset, [Argument::Value(handle, _), Argument::Value(offset, _)]) => {
            let bytes = Code::infix(Infix::Add, &Code::prefix("(char*)", handle), offset);
            Some(Ok(Code::prefix(&format!("({})", spellings.handle?), &bytes)))
        }
        _ => None,
    }
}

impl<L: CFamily> Expressions for L {
    fn value_type(&self, dtype: DType, prelude: &mut Prelude) -> Answer<String> {
        self.check(dtype, prelude)?;
        if dtype.is_scalar() { Ok(scalar(self, dtype)?.to_owned()) } else { self.vector_type(dtype, prelude) }
    }

    fn pointer_type(&self, pointer: Option<&PointerType>, _: &mut Prelude) -> Answer<String> {
        self.pointer(pointer)
    }

    fn integer(&self, value: i128, dtype: DType) -> Answer<Code> {
        casts::integer(self, value, dtype)
    }

    fn float(&self, value: f64, dtype: DType, prelude: &mut Prelude) -> Answer<Code> {
        casts::float(self, value, dtype, prelude)
    }

    fn cast(&self, value: &Code, from: DType, to: DType, prelude: &mut Prelude) -> Answer<Code> {
        casts::cast(self, value, from, to, prelude)
    }

    fn cast_within(&self, value: &Code, _: DType, to: DType, prelude: &mut Prelude) -> Answer<Code> {
        self.check(to, prelude)?;
        Ok(super::converted(self, scalar(self, to)?, value))
    }

    fn cast_bits(&self, value: &Code, to: DType, _: &mut Prelude) -> Answer<Code> {
        Ok(super::converted(self, scalar(self, to)?, value))
    }

    fn rounded(&self, value: Code, dtype: DType, prelude: &mut Prelude) -> Answer<Code> {
        Ok(if is_half(dtype) { self.half_rounded(&value, dtype, prelude) } else { value })
    }

    fn quotient(&self, a: &Code, b: &Code, dtype: DType, prelude: &mut Prelude) -> Answer<Code> {
        let quotient = match self.quotient_helper(types::computed(dtype), prelude) {
            Some(name) => Code::call(name, &[a.clone(), b.clone()]),
            None => Code::infix(Infix::Div, a, b),
        };
        self.rounded(quotient, dtype, prelude)
    }

    fn guarded(&self, op: BinaryOp, a: &Code, b: &Code, dtype: DType, prelude: &mut Prelude) -> Answer<Code> {
        integers::guarded(self, op, [a, b], dtype, prelude)
    }

    fn hidden(&self, operand: &Code, dtype: DType, prelude: &mut Prelude) -> Code {
        self.operand_hidden(operand, dtype, prelude)
    }

    fn instead_of(&self, operand: &Code, result: &Code) -> Code {
        if self.spellings().warns_of_unread {
            Code::primary(format!("((void){}, {})", operand.operand(), result.text))
        } else {
            result.clone()
        }
    }

    fn thread_index(&self, axis: ThreadAxis, dtype: DType, _: &mut Prelude) -> Answer<Code> {
        let place = match axis {
            ThreadAxis::BlockX => Some(0),
            ThreadAxis::BlockY => Some(1),
            ThreadAxis::BlockZ => Some(2),
            ThreadAxis::ThreadX => Some(3),
            ThreadAxis::ThreadY => Some(4),
            ThreadAxis::ThreadZ => Some(5),
            _ => None,
        };
        let spellings = self.spellings();
        match place.and_then(|place: usize| Some(spellings.axes?[place])) {
            Some(text) => Ok(super::converted(self, scalar(self, dtype)?, &Code::primary(text))),
            None => Err(Refusal::new(format!("has no thread axis {axis}{}", spellings.axis_advice))),
        }
    }

    fn load(&self, access: &Access, prelude: &mut Prelude) -> Answer<Code> {
        access::load(self, access, prelude)
    }

    fn store(&self, access: &Access, value: &Code, prelude: &mut Prelude) -> Answer<String> {
        access::store(self, access, value, prelude)
    }

    fn vector(&self, computation: Vector<'_>, dtype: DType, prelude: &mut Prelude) -> Answer<Code> {
        vectors::vector(self, computation, dtype, prelude)
    }

    fn ops(&self) -> &OpTable {
        self.spellings().ops
    }

    fn op(&self, call: &OpCall<'_>, prelude: &mut Prelude) -> Option<Answer<Code>> {
        if let Some(answer) = self.memory_op(call, prelude) {
            return Some(answer);
        }
        if let Some(answer) = pointer_op(self, call, prelude) {
            return Some(answer);
        }
        let values = if call.dtype.is_scalar() { values_of(call)? } else { return None };
        if let Err(refusal) = self.check(call.dtype, prelude) {
            return Some(Err(refusal));
        }
        special(self, call.op, &values, call.dtype, prelude)
    }
}
