//! Fields of argument structures.

/// Field codes of [`Op::StructGet`](crate::Op::StructGet) and
/// [`Op::StructSet`](crate::Op::StructSet), TVM's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(i32)]
#[allow(missing_docs, reason = "the names are the fields")]
pub enum StructField {
    Address = 0,
    Data = 1,
    Shape = 2,
    Strides = 3,
    Ndim = 4,
    TypeCode = 5,
    TypeBits = 6,
    TypeLanes = 7,
    ByteOffset = 8,
    DeviceId = 9,
    DeviceType = 10,
    AnyTypeIndex = 13,
    AnyPadding = 14,
    AnyValue = 15,
    Int64Element = 17,
}

impl StructField {
    /// Returns the field of that code.
    #[must_use]
    pub fn by_code(code: i128) -> Option<Self> {
        use StructField::*;
        const ALL: [StructField; 15] = [
            Address,
            Data,
            Shape,
            Strides,
            Ndim,
            TypeCode,
            TypeBits,
            TypeLanes,
            ByteOffset,
            DeviceId,
            DeviceType,
            AnyTypeIndex,
            AnyPadding,
            AnyValue,
            Int64Element,
        ];
        ALL.into_iter().find(|field| *field as i32 as i128 == code)
    }
}
