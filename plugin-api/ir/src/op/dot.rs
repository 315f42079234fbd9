//! The dot products that [`Op::DotAdd`](crate::Op::DotAdd) adds.

use crate::DType;

/// The element types of a call of [`Op::DotAdd`](crate::Op::DotAdd).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DotProduct {
    /// Element type of the first factors.
    pub a: DType,
    /// Element type of the second factors.
    pub b: DType,
    /// Element type of the sum.
    pub sum: DType,
    /// Number of products for each lane of the sum.
    pub group: u16,
}

const fn dot(a: DType, b: DType, sum: DType, group: u16) -> DotProduct {
    DotProduct { a, b, sum, group }
}

impl DotProduct {
    /// Every combination of types.
    pub const ALL: &'static [Self] = &[
        dot(DType::UINT8, DType::INT8, DType::INT32, 4),
        dot(DType::INT8, DType::INT8, DType::INT32, 4),
        dot(DType::UINT8, DType::UINT8, DType::INT32, 4),
        dot(DType::INT16, DType::INT16, DType::INT32, 2),
        dot(DType::BFLOAT16, DType::BFLOAT16, DType::FLOAT32, 2),
        dot(DType::FLOAT16, DType::FLOAT16, DType::FLOAT32, 2),
    ];

    /// Returns the dot product of a call with arguments of these types; `None` if there is none.
    ///
    /// ```
    /// use chipdock_ir::{DType, op::DotProduct};
    /// let types = (DType::INT32.with_lanes(2), DType::UINT8.with_lanes(8), DType::INT8.with_lanes(8));
    /// assert_eq!(DotProduct::of(types.0, types.1, types.2).map(DotProduct::name).as_deref(), Some("uint8*int8"));
    /// assert_eq!(DotProduct::of(types.0, types.2, types.1), None);
    /// ```
    #[must_use]
    pub fn of(c: DType, a: DType, b: DType) -> Option<Self> {
        let found = Self::ALL.iter().copied().find(|dot| {
            (dot.sum, dot.a, dot.b) == (c.scalar(), a.scalar(), b.scalar())
                && Some(a.lanes) == c.lanes.checked_mul(dot.group)
        });
        found.filter(|_| a.lanes == b.lanes)
    }

    /// Returns the name, as in the capability `dot_products`: `uint8*int8`.
    #[must_use]
    pub fn name(self) -> String {
        format!("{}*{}", self.a, self.b)
    }

    /// Returns the dot product of that name.
    #[must_use]
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|dot| dot.name() == name)
    }
}
