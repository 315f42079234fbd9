//! Stages of explicit vector operations.

use chipdock_ir::build::Body;
use chipdock_ir::{Buffer, CompareOp, Expr, Stmt, StmtKind};

use super::Generator;
use super::facts::{Lanes, Scope, Size};
use super::loops::Nest;
use super::op;

impl Generator<'_> {
    /// Computes a tensor whose last axis is `M`, several lanes at a time; a remainder is masked by
    /// predicates.
    pub(crate) fn vectors(&mut self, f: &mut Body, to: &Buffer, shape: &[Size]) {
        let lanes = *self.random.pick(&[2_u16, 4, 4, 8, 3]);
        let m = self.m_value as u16;
        let is_even = m.is_multiple_of(lanes);
        let chunks = Size::Const(m.div_ceil(lanes) as u8);
        let mut sizes = shape.to_vec();
        if let Some(last) = sizes.last_mut() {
            *last = chunks;
        }
        let nest = Nest { ordered: false, straight: false, block: self.in_block() };
        self.nest(f, &sizes, nest, &Scope::default(), &mut |this, f, scope| {
            let mut scope = scope.clone();
            let Some((_, chunk)) = scope.at.pop() else { return };
            let base = chunk * this.index_number(lanes.into());
            let ramp = base.clone().ramp(this.index_number(1), lanes);
            let predicate = (!is_even).then(|| {
                let size = this.index_number(m.into()).broadcast(lanes);
                Expr::compare(CompareOp::Lt, ramp.clone(), size)
            });
            scope.lanes = Some(Lanes { base, lanes, predicate: predicate.clone() });
            let mut at: Vec<Expr> = scope.at.iter().map(|(_, index)| index.clone()).collect();
            at.push(ramp);
            let wanted = to.dtype.with_lanes(lanes);
            let depth = this.options.depth;
            if this.random.one_in(3) {
                let dtype = this.any_type().with_lanes(lanes);
                let value = this.value(dtype, &scope, 2);
                f.bind("v", value.expr);
            }
            let value = this.value(wanted, &scope, depth);
            let value = op::convert(value, wanted, &mut this.random).fit();
            this.note(&value);
            let store = StmtKind::Store { buffer: to.clone(), indices: at, value: value.expr, predicate };
            f.push(Stmt::new(store));
        });
    }
}
