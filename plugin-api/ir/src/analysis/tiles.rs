//! Products of tiles: nests of loops around a dot product of vectors that a matrix unit computes as
//! a whole.

use crate::op::{DotProduct, Effect};
use crate::{BinaryOp, Buffer, Callee, DType, Expr, ExprKind, ForKind, Op, Stmt, StmtKind, Var};

/// Number of rows of a tile, of sums in a row, and of groups of products of a sum.
pub const TILE_SIDE: u16 = 16;
/// Greatest number of tiles of sums and operands together.
pub const TILES_MAX: i64 = 8;
/// Greatest number of nodes of an index, each counted as often as it occurs.
const NODES_MAX: usize = 256;

/// A product of tiles ([`attr::TILES`](crate::attr::TILES)): serial loops, the inner ones of
/// constant extents and from 0, around one statement, with `g` products in a group:
///
/// ```text
/// for s:                  # the steps
///     for r, j, k:        # in any order; r to 16 times the number of tiles along rows, j to that along columns, k to 16
///         sum[r, j, 0:16] = dot_add(sum[r, j, 0:16], rows[s, r, k, 0:g] in each group of lanes, columns[s, j, k, 0:16*g])
/// ```
///
/// Without `j` there is one tile along the columns. A row of `rows` is contiguous along `k`, and no
/// two places of `sum` are the same; otherwise each loop has any stride. Either factor may be the
/// one by rows. Not more than [`TILES_MAX`] tiles are in use.
#[derive(Clone, Debug)]
pub struct TileProduct<'a> {
    /// The types of its products.
    pub dot: DotProduct,
    /// The loop variable of the steps.
    pub step: &'a Var,
    /// Their first value.
    pub min: &'a Expr,
    /// Their number.
    pub extent: &'a Expr,
    /// The variables of the other loops.
    pub inner: Vec<&'a Var>,
    /// Number of tiles along rows and columns.
    pub tiles: [i64; 2],
    /// The sums, the operand by rows, and that by columns.
    pub sum: TileAccess<'a>,
    /// See `sum`.
    pub rows: TileAccess<'a>,
    /// See `sum`.
    pub columns: TileAccess<'a>,
}

/// The elements of tiles in memory. All distances are in elements.
#[derive(Clone, Debug)]
pub struct TileAccess<'a> {
    /// The buffer.
    pub buffer: &'a Buffer,
    /// Indices of the first row, where all inner loops are at 0.
    pub indices: &'a [Expr],
    /// From one row of a tile to the next: of sums, of `rows`, or, of `columns`, from one group to
    /// the next.
    pub row_stride: i64,
    /// From one tile to the next along columns.
    pub column_stride: i64,
}

/// An inner loop.
struct Inner<'a> {
    var: &'a Var,
    extent: i64,
}

impl<'a> TileProduct<'a> {
    /// Returns the product that a loop computes, if it is one.
    #[must_use]
    pub fn from_stmt(stmt: &'a Stmt) -> Option<Self> {
        let StmtKind::For { var: step, min, extent, kind: ForKind::Serial, step: None, body, .. } =
            &stmt.kind
        else {
            return None;
        };
        let (inner, body) = nest(body)?;
        let StmtKind::Store { buffer, indices, value, predicate: None } = &body.kind else { return None };
        let ExprKind::Call { callee: Callee::Op(Op::DotAdd), args } = &value.kind else { return None };
        let [c, a, b] = args.as_slice() else { return None };
        let dot = DotProduct::of(c.dtype, a.dtype, b.dtype).filter(|_| c.dtype.lanes == TILE_SIDE)?;
        let (from, read) = loaded(c)?;
        let sum = TileAccess::new(buffer, indices)?;
        (from == buffer && read == indices && !indices.iter().any(|index| mentions(index, step)))
            .then_some(())?;
        let (rows, columns) = match (spread(a, dot.group), spread(b, dot.group)) {
            (Some(rows), None) => (rows, loaded(b)?),
            (None, Some(rows)) => (rows, loaded(a)?),
            _ => return None,
        };
        let mut product = Self {
            dot,
            step,
            min,
            extent,
            inner: inner.iter().map(|of| of.var).collect(),
            tiles: [1, 1],
            sum,
            rows: TileAccess::new(rows.0, rows.1)?,
            columns: TileAccess::new(columns.0, columns.1)?,
        };
        product.classify(&inner)?;
        let [i, j] = product.tiles;
        (i * j + i + j <= TILES_MAX).then_some(product)
    }

    /// Finds which loop is which, by the buffers that each of them moves on in.
    fn classify(&mut self, inner: &[Inner<'a>]) -> Option<()> {
        let (side, group) = (i64::from(TILE_SIDE), i64::from(self.dot.group));
        let (mut has_rows, mut has_groups) = (false, false);
        let mut spans = Vec::new();
        for of in inner.iter().filter(|of| of.extent != 1) {
            let [sum, row, column] =
                [&self.sum, &self.rows, &self.columns].map(|access| access.coefficient(of.var));
            match (sum?, row?, column?) {
                (0, row, column) if row == group && column != 0 && of.extent == side && !has_groups => {
                    has_groups = true;
                    self.columns.row_stride = column;
                }
                (sum, row, 0) if sum != 0 && row != 0 && of.extent % side == 0 && !has_rows => {
                    has_rows = true;
                    self.tiles[0] = of.extent / side;
                    (self.sum.row_stride, self.rows.row_stride) = (sum, row);
                    spans.push((sum, of.extent));
                }
                (sum, 0, column) if sum != 0 && column != 0 && self.tiles[1] == 1 => {
                    self.tiles[1] = of.extent;
                    (self.sum.column_stride, self.columns.column_stride) = (sum, column);
                    spans.push((sum, of.extent));
                }
                _ => return None,
            }
        }
        (has_rows && has_groups && are_apart(spans)).then_some(())
    }

    /// The types of the elements of rows and columns.
    #[must_use]
    pub fn dtypes(&self) -> [DType; 2] {
        [self.rows.buffer.dtype, self.columns.buffer.dtype]
    }
}

impl<'a> TileAccess<'a> {
    fn new(buffer: &'a Buffer, indices: &'a [Expr]) -> Option<Self> {
        let plain = buffer.strides.is_empty() && buffer.dtype.is_scalar() && indices.iter().all(is_plain);
        plain.then_some(Self { buffer, indices, row_stride: 0, column_stride: 0 })
    }

    /// How far the element moves in memory from one value of a variable to the next; `None` if that
    /// is not constant.
    fn coefficient(&self, var: &Var) -> Option<i64> {
        let mut below = Some(1_i64);
        let mut total = 0_i64;
        for (index, size) in self.indices.iter().zip(&self.buffer.shape).rev() {
            match linear(index, var)? {
                0 => {}
                factor => total = total.checked_add(below?.checked_mul(factor)?)?,
            }
            below = below.and_then(|below| below.checked_mul(i64::try_from(size.as_int()?).ok()?));
        }
        // Far less than what an address holds in bytes.
        (total.abs() < 1 << 40).then_some(total)
    }
}

/// Serial loops in one another from 0 to constants, and what is in the innermost.
fn nest(body: &Stmt) -> Option<(Vec<Inner<'_>>, &Stmt)> {
    let (mut inner, mut body) = (Vec::new(), body);
    while let StmtKind::For { var, min, extent, kind: ForKind::Serial, step: None, body: within, .. } =
        &body.kind
    {
        (min.as_int() == Some(0) && inner.len() < 8).then_some(())?;
        let extent = i64::try_from(extent.as_int()?)
            .ok()
            .filter(|extent| (1..=i64::from(TILE_SIDE) * TILES_MAX).contains(extent))?;
        inner.push(Inner { var, extent });
        body = within;
    }
    Some((inner, body))
}

/// The adjacent elements of a load.
fn loaded(e: &Expr) -> Option<(&Buffer, &[Expr])> {
    let ExprKind::Load { buffer, indices, predicate: None } = &e.kind else { return None };
    let ExprKind::Ramp { stride, .. } = &indices.last()?.kind else { return None };
    (stride.as_int() == Some(1)).then_some((buffer, indices))
}

/// The adjacent elements that are the same in each group of lanes.
fn spread(e: &Expr, group: u16) -> Option<(&Buffer, &[Expr])> {
    let ExprKind::Shuffle { vectors, indices } = &e.kind else { return None };
    let [vector] = vectors.as_slice() else { return None };
    let is_spread = indices.iter().zip(0_u16..).all(|(index, lane)| *index == lane % group);
    (is_spread && vector.dtype.lanes == group).then(|| loaded(vector)).flatten()
}

fn mentions(e: &Expr, var: &Var) -> bool {
    let mut found = false;
    e.walk(&mut |e| found |= matches!(&e.kind, ExprKind::Var(of) if of == var));
    found
}

/// Whether an index is short, and the same whatever is in memory.
fn is_plain(e: &Expr) -> bool {
    let (mut left, mut nodes) = (vec![e], 0);
    while let Some(e) = left.pop() {
        nodes += 1;
        let is_fixed = match &e.kind {
            ExprKind::Load { .. } => false,
            ExprKind::Call { callee: Callee::Op(op), .. } => op.effect() == Effect::Pure,
            ExprKind::Call { .. } => false,
            _ => true,
        };
        if nodes > NODES_MAX || !is_fixed {
            return false;
        }
        e.for_each_child(&mut |child| left.push(child));
    }
    true
}

/// The factor of a variable in an index that is linear in it.
fn linear(e: &Expr, var: &Var) -> Option<i64> {
    match &e.kind {
        ExprKind::Var(of) if of == var => Some(1),
        ExprKind::Cast(value)
            if value.dtype.is_int() && e.dtype.is_int() && e.dtype.bits >= value.dtype.bits =>
        {
            linear(value, var)
        }
        ExprKind::Ramp { base, stride, .. } => {
            linear(stride, var).filter(|of| *of == 0).and(linear(base, var))
        }
        ExprKind::Binary(BinaryOp::Add, a, b) => linear(a, var)?.checked_add(linear(b, var)?),
        ExprKind::Binary(BinaryOp::Sub, a, b) => linear(a, var)?.checked_sub(linear(b, var)?),
        ExprKind::Binary(BinaryOp::Mul, a, b) => match (a.as_int(), b.as_int()) {
            (_, Some(factor)) => linear(a, var)?.checked_mul(i64::try_from(factor).ok()?),
            (Some(factor), _) => linear(b, var)?.checked_mul(i64::try_from(factor).ok()?),
            _ => (!mentions(e, var)).then_some(0),
        },
        _ => (!mentions(e, var)).then_some(0),
    }
}

/// Whether rows of sums that are so far apart, each so many times, do not overlap.
fn are_apart(mut spans: Vec<(i64, i64)>) -> bool {
    spans.sort_unstable();
    let mut used = i64::from(TILE_SIDE);
    spans.into_iter().all(|(stride, count)| {
        let apart = stride >= used;
        used = used.saturating_add(stride.saturating_mul(count - 1));
        apart
    })
}
