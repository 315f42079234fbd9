//! Loops around the computation of one element, with or without a block.

use chipdock_ir::build::Body;
use chipdock_ir::{BinaryOp, CompareOp, Expr, ForKind, IterKind};

use super::Generator;
use super::facts::{Scope, Size};

/// Properties of a loop nest.
#[derive(Clone, Copy)]
pub(crate) struct Nest {
    /// Whether iterations depend on each other.
    pub(crate) ordered: bool,
    /// Whether the body is straight-line code that can be vectorized.
    pub(crate) straight: bool,
    /// Whether the body is in a block.
    pub(crate) block: bool,
}

/// Generator of the innermost statements.
pub(crate) type Inside<'f, 'o> = &'f mut dyn FnMut(&mut Generator<'o>, &mut Body, &Scope);

impl<'o> Generator<'o> {
    /// Chooses at random whether the next nest is in a block.
    pub(crate) fn in_block(&mut self) -> bool {
        self.options.blocks && !self.random.one_in(3)
    }

    /// Chooses the kind of a loop; `last` means that it has no inner loop.
    pub(crate) fn kind(&mut self, extent: &Expr, last: bool, nest: Nest) -> ForKind {
        let is_constant = extent.as_int().is_some();
        match self.random.below(8) {
            1..=2 if !nest.ordered => ForKind::Parallel,
            3 if is_constant => ForKind::Unrolled,
            4..=5 if is_constant && last && nest.straight && !nest.ordered && self.options.vectorized => {
                ForKind::Vectorized
            }
            _ => ForKind::Serial,
        }
    }

    /// Appends loops over the sizes, the first outermost, around `inside`.
    pub(crate) fn nest(
        &mut self,
        f: &mut Body,
        sizes: &[Size],
        nest: Nest,
        scope: &Scope,
        inside: Inside<'_, 'o>,
    ) {
        let mut around = Around { left: sizes, nest, found: Vec::new(), predicate: None, inside };
        if sizes == [Size::N, Size::M] && !nest.ordered && self.random.one_in(6) {
            return self.fused(f, scope, &mut around);
        }
        self.level(f, scope, &mut around);
    }

    fn level(&mut self, f: &mut Body, scope: &Scope, around: &mut Around<'_, '_, 'o>) {
        let Some((&size, rest)) = around.left.split_first() else {
            return self.innermost(f, scope, around);
        };
        let left = std::mem::replace(&mut around.left, rest);
        let extent = self.extent(size);
        if matches!(size, Size::N | Size::Product) && self.random.one_in(4) {
            self.tiles(f, size, &extent, scope, around);
        } else {
            let kind = self.kind(&extent, rest.is_empty(), around.nest);
            let name = *self.random.pick(&["i", "j", "k", "x"]);
            f.for_loop(name, extent, kind, |f, i| {
                around.found.push((size, i));
                self.level(f, scope, around);
                around.found.pop();
            });
        }
        around.left = left;
    }

    /// Splits a loop into two, with a predicate for the last tile.
    fn tiles(
        &mut self,
        f: &mut Body,
        size: Size,
        extent: &Expr,
        scope: &Scope,
        around: &mut Around<'_, '_, 'o>,
    ) {
        let tile = *self.random.pick(&[2, 4, 4, 8]);
        let tile = self.index_number(tile);
        let tiles = match (extent.as_int(), tile.as_int()) {
            (Some(extent), Some(tile)) => Expr::int((extent + tile - 1).div_euclid(tile), self.index),
            _ => Expr::binary(
                BinaryOp::FloorDiv,
                extent.clone() + (tile.clone() - self.index_number(1)),
                tile.clone(),
            ),
        };
        let outer = self.kind(&tiles, false, around.nest);
        let last = around.left.is_empty();
        let within = self.kind(&tile, last, around.nest);
        f.for_loop("io", tiles, outer, |f, io| {
            f.for_loop("ii", tile.clone(), within, |f, ii| {
                let i = io * tile + ii;
                let before = around.predicate.clone();
                around.also(Expr::compare(CompareOp::Lt, i.clone(), extent.clone()));
                around.found.push((size, i));
                self.level(f, scope, around);
                around.found.pop();
                around.predicate = before;
            });
        });
    }

    /// Fuses the loops over both sizes into one.
    fn fused(&mut self, f: &mut Body, scope: &Scope, around: &mut Around<'_, '_, 'o>) {
        around.left = &[];
        let extent = self.extent(Size::Product);
        let kind = self.kind(&extent, true, Nest { straight: false, ..around.nest });
        let m = self.extent(Size::M);
        f.for_loop("ij", extent, kind, |f, ij| {
            around.found.push((Size::N, Expr::binary(BinaryOp::FloorDiv, ij.clone(), m.clone())));
            around.found.push((Size::M, Expr::binary(BinaryOp::FloorMod, ij, m)));
            self.level(f, scope, around);
        });
    }

    fn innermost(&mut self, f: &mut Body, scope: &Scope, around: &mut Around<'_, '_, 'o>) {
        let mut scope = scope.clone();
        if !around.nest.block {
            scope.at.extend(around.found.iter().cloned());
            return match around.predicate.clone() {
                Some(predicate) => f.if_then(predicate, |f| (around.inside)(self, f, &scope)),
                None => (around.inside)(self, f, &scope),
            };
        }
        let name = *self.random.pick(&["B", "C", "update"]);
        f.block(name, |f| {
            for (size, index) in &around.found {
                let kind = if around.nest.ordered {
                    *self.random.pick(&[IterKind::Ordered, IterKind::Opaque])
                } else {
                    *self.random.pick(&[
                        IterKind::Spatial,
                        IterKind::Spatial,
                        IterKind::Spatial,
                        IterKind::Opaque,
                    ])
                };
                let axis = f.axis("v", kind, self.extent(*size), index);
                scope.at.push((*size, axis));
            }
            if let Some(predicate) = around.predicate.clone() {
                f.predicate(predicate);
            }
            (around.inside)(self, f, &scope);
        });
    }
}

/// State of a nest under construction.
struct Around<'a, 'f, 'o> {
    left: &'a [Size],
    nest: Nest,
    found: Vec<(Size, Expr)>,
    predicate: Option<Expr>,
    inside: Inside<'f, 'o>,
}

impl Around<'_, '_, '_> {
    fn also(&mut self, condition: Expr) {
        self.predicate = Some(match self.predicate.take() {
            Some(before) => before.and(condition),
            None => condition,
        });
    }
}
