//! How far buffers reach: whether 32 bits hold every index into one, and the check of those that
//! reach too far.

use chipdock_ir::{Buffer, CompareOp, DType, Expr, Stmt, StmtKind};

use crate::simplify::Ranges;

/// The type in which indices into the flat form of a buffer are computed: int32 only if the reach
/// is known to fit it.
pub(crate) fn index_type(buffer: &Buffer, ranges: &Ranges) -> DType {
    let fits = elements_max(buffer, ranges).is_some_and(|most| most <= i128::from(i32::MAX));
    if fits { DType::INT32 } else { DType::INT64 }
}

/// An upper bound of the number of elements, of one lane each, that lie between the data pointer
/// and the end of the buffer, on either side of the pointer; `None` if it exceeds 128 bits.
pub(crate) fn elements_max(buffer: &Buffer, ranges: &Ranges) -> Option<i128> {
    let most = |e: &Expr| {
        let (low, high) = ranges.of(e);
        low.unsigned_abs().max(high.unsigned_abs())
    };
    let extents: Vec<u128> =
        buffer.shape.iter().map(|extent| ranges.of(extent).1.max(0).unsigned_abs()).collect();
    let size = if buffer.strides.is_empty() || extents.contains(&0) {
        product(&extents)?
    } else {
        extents.iter().zip(&buffer.strides).try_fold(1_u128, |sum, (extent, stride)| {
            sum.checked_add((extent - 1).checked_mul(most(stride))?)
        })?
    };
    let offset = buffer.elem_offset.as_ref().map_or(0, most);
    let all = size.checked_add(offset)?.checked_mul(buffer.dtype.lanes.into())?;
    i128::try_from(all).ok()
}

/// Checks that a size in elements is at most `most`: now where it is constant, else by the
/// statement that is returned, which raises a ValueError that names the function.
///
/// # Errors
///
/// The message, if the constant is larger.
pub(crate) fn at_most(
    most: i128,
    function: &str,
    [expected, advice]: [&str; 2],
    constant: Option<i128>,
    size: impl FnOnce() -> Expr,
) -> Result<Option<Stmt>, String> {
    match constant {
        Some(found) if found <= most => Ok(None),
        Some(found) => Err(format!("{expected}, found {found}: {advice}")),
        None => {
            let found = size();
            let condition = Expr::compare(CompareOp::Le, found.clone(), Expr::int(most, found.dtype));
            let before = Expr::str(format!("{function}: {expected}, found "));
            let message = vec![before, found, Expr::str(format!(": {advice}"))];
            Ok(Some(Stmt::new(StmtKind::Assert { condition, kind: "ValueError".into(), message })))
        }
    }
}

fn product(extents: &[u128]) -> Option<u128> {
    if extents.contains(&0) {
        return Some(0);
    }
    extents.iter().try_fold(1_u128, |size, extent| size.checked_mul(*extent))
}

#[cfg(test)]
mod tests {
    use chipdock_ir::{BufferNode, StorageScope, Var};

    use super::*;

    const MAX: i64 = i32::MAX as i64;

    fn long(value: i64) -> Expr {
        Expr::int(value.into(), DType::INT64)
    }

    fn buffer(shape: Vec<Expr>, dtype: DType) -> Buffer {
        Buffer::new("B", shape, dtype, StorageScope::GLOBAL)
    }

    fn with(shape: &[i64], strides: &[i64], offset: Option<Expr>) -> Buffer {
        let all = |values: &[i64]| values.iter().map(|value| long(*value)).collect();
        let node = BufferNode {
            strides: all(strides),
            elem_offset: offset,
            ..(*buffer(all(shape), DType::INT8)).clone()
        };
        Buffer::from_node(node)
    }

    fn index(buffer: &Buffer) -> DType {
        index_type(buffer, &Ranges::new())
    }

    #[test]
    fn only_values_known_to_fit_are_narrow() {
        let size = |name: &str, dtype| Var::new(name, dtype).expr();
        let (n, m, l) = (size("n", DType::INT32), size("m", DType::INT32), size("l", DType::INT64));
        let (narrow, wide) = (DType::INT32, DType::INT64);
        for (shape, dtype, expected) in [
            (vec![long(MAX)], DType::INT8, narrow),
            (vec![long(MAX + 1)], DType::INT8, wide),
            (vec![Expr::i32(65537), Expr::i32(65536)], DType::INT8, wide),
            (vec![Expr::i32(0), long(1 << 62)], DType::INT8, narrow),
            // One lane each: a ramp, or a word, of a vector lies that much further on.
            (vec![long(MAX / 4)], DType::FLOAT32.with_lanes(4), narrow),
            (vec![long(MAX / 4 + 1)], DType::FLOAT32.with_lanes(4), wide),
            (vec![n.clone()], DType::FLOAT32, narrow),
            (vec![n.clone()], DType::FLOAT32.with_lanes(4), wide),
            (vec![n.clone(), Expr::i32(1)], DType::FLOAT32, narrow),
            (vec![n.clone(), Expr::i32(2)], DType::INT8, wide),
            (vec![n, m], DType::FLOAT32, wide),
            (vec![l], DType::FLOAT32, wide),
            (vec![long(i64::MAX); 3], DType::INT8, wide),
        ] {
            assert_eq!(index(&buffer(shape.clone(), dtype)), expected, "{shape:?} of {dtype}");
        }
    }

    #[test]
    fn strides_and_the_offset_count() {
        let (narrow, wide) = (DType::INT32, DType::INT64);
        assert_eq!(index(&with(&[2, 8], &[MAX - 8, 1], None)), narrow);
        assert_eq!(index(&with(&[2, 8], &[MAX - 7, 1], None)), wide);
        assert_eq!(index(&with(&[2, 8], &[-(MAX - 7), 1], None)), wide);
        assert_eq!(index(&with(&[8], &[], Some(long(MAX - 8)))), narrow);
        assert_eq!(index(&with(&[8], &[], Some(long(MAX - 7)))), wide);
        let offset = Var::new("offset", DType::INT32);
        assert_eq!(index(&with(&[8], &[], Some(offset.expr()))), wide);
        let mut ranges = Ranges::new();
        ranges.set(&offset, 0, 1000);
        assert_eq!(index_type(&with(&[8], &[], Some(offset.expr())), &ranges), narrow);
    }
}
