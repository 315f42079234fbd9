//! Loads and stores of 64-bit integers, word by word (INT64-W3).

use chipdock_ir::{Buffer, DType, Expr, ExprKind, Op, Stmt, StmtKind};

use super::{Answer, Lowerer, is_wide};
use crate::PassError;
use crate::simplify;
use crate::types::words::{Words, shuffled};

/// Indices of the lower words and of the upper words of the elements at an index.
fn word_indices(buffer: &Buffer, at: &Expr) -> (Expr, Expr) {
    let (lanes, count) = (buffer.dtype.lanes, at.dtype.lanes);
    let number = |value: u16, like: &Expr| Expr::int(value.into(), like.dtype);
    let low = match (lanes, count) {
        (1, _) => at.clone() * number(2, at),
        (_, 1) => (at.clone() * number(2 * lanes, at)).ramp(number(2, at), lanes),
        _ => {
            let each = (0..count).flat_map(|element| std::iter::repeat_n(element, lanes.into()));
            let elements = shuffled(vec![at.clone()], each.collect());
            let within = Expr::i32(0).ramp(Expr::i32(2), lanes).cast(at.dtype.with_lanes(lanes));
            let within = shuffled(vec![within], (0..count).flat_map(|_| 0..lanes).collect());
            elements.clone() * number(2 * lanes, &elements) + within
        }
    };
    let high = low.clone() + number(1, &low);
    (simplify::expr(&low), simplify::expr(&high))
}

impl Lowerer<'_> {
    /// The index of an access of a flat buffer, in a form that may be used more than once.
    fn position(&mut self, buffer: &Buffer, indices: &[Expr]) -> Answer<Expr> {
        let [index] = indices else {
            let message = format!("expected a flat buffer, found {} of {} axes", buffer.name, indices.len());
            return Err(PassError::bug(super::PASS, &self.function.name, message));
        };
        let index = simplify::expr(&self.index(index)?);
        Ok(match &index.kind {
            // An index known to be a ramp is a contiguous access.
            ExprKind::Ramp { base, stride, lanes } => {
                self.named("at", base.clone()).ramp(stride.clone(), *lanes)
            }
            _ => self.named("at", index),
        })
    }

    fn mask(&mut self, predicate: Option<&Expr>) -> Answer<Option<Expr>> {
        let Some(predicate) = predicate else { return Ok(None) };
        let predicate = self.other(predicate)?;
        Ok(Some(self.named("mask", predicate)))
    }

    pub(super) fn load_words(
        &mut self,
        e: &Expr,
        buffer: &Buffer,
        indices: &[Expr],
        predicate: Option<&Expr>,
    ) -> Answer<Words> {
        let new = self.buffer(buffer)?;
        let at = self.position(buffer, indices)?;
        let predicate = self.mask(predicate)?;
        let (low, high) = word_indices(buffer, &at);
        let dtype = DType::UINT32.with_lanes(e.dtype.lanes);
        let mut word = |name: &str, index: Expr| {
            let (buffer, predicate) = (new.clone(), predicate.clone());
            let kind = ExprKind::Load { buffer, indices: vec![index], predicate };
            self.named(name, Expr::new(kind, dtype).with_span(e.span))
        };
        let low = word("low", low);
        Ok(Words { high: word("high", high), low })
    }

    pub(super) fn load(
        &mut self,
        e: &Expr,
        buffer: &Buffer,
        indices: &[Expr],
        predicate: Option<&Expr>,
    ) -> Answer<Expr> {
        let buffer = self.buffer(buffer)?;
        let indices = indices.iter().map(|index| self.index(index)).collect::<Answer<_>>()?;
        let predicate = predicate.map(|predicate| self.other(predicate)).transpose()?;
        Ok(Expr::new(ExprKind::Load { buffer, indices, predicate }, e.dtype).with_span(e.span))
    }

    /// The address of an element; for 64-bit integers, that of the first word.
    pub(super) fn address(&mut self, e: &Expr, target: &Expr) -> Answer<Expr> {
        let target = match &target.kind {
            ExprKind::Load { buffer, indices, .. } if is_wide(buffer.dtype) => {
                let new = self.buffer(buffer)?;
                let at = self.position(buffer, indices)?;
                let (low, _) = word_indices(buffer, &at);
                let first = if low.dtype.is_scalar() { low } else { shuffled(vec![low], vec![0]) };
                Expr::load(&new, vec![simplify::expr(&first)])
            }
            _ => self.other(target)?,
        };
        Ok(Expr::call(Op::AddressOf, vec![target], e.dtype))
    }

    pub(super) fn store(&mut self, stmt: &Stmt) -> Answer<Stmt> {
        let StmtKind::Store { buffer, indices, value, predicate } = &stmt.kind else {
            return Ok(stmt.clone());
        };
        let new = self.buffer(buffer)?;
        if is_wide(buffer.dtype) {
            return self.store_words(stmt, (buffer, &new), (indices, value, predicate.as_ref()));
        }
        let value = self.other(value)?;
        let indices: Vec<Expr> = indices.iter().map(|index| self.index(index)).collect::<Answer<_>>()?;
        let predicate = predicate.as_ref().map(|predicate| self.other(predicate)).transpose()?;
        let used: Vec<&Expr> = indices.iter().chain([&value]).chain(&predicate).collect();
        let before = self.bound(&used);
        let kind = StmtKind::Store { buffer: new, indices, value, predicate };
        Ok(Stmt::seq(before.into_iter().chain([Stmt::new(kind).with_span(stmt.span)])))
    }

    fn store_words(
        &mut self,
        stmt: &Stmt,
        (buffer, new): (&Buffer, &Buffer),
        (indices, value, predicate): (&[Expr], &Expr, Option<&Expr>),
    ) -> Answer<Stmt> {
        // All parts are bound to names: the second store's value may read memory that the first
        // store writes.
        let Words { high, low } = self.words(value)?;
        let at = self.position(buffer, indices)?;
        let predicate = self.mask(predicate)?;
        let (low_at, high_at) = word_indices(buffer, &at);
        let used: Vec<&Expr> = [&low, &high, &low_at, &high_at].into_iter().chain(&predicate).collect();
        let before = self.bound(&used);
        let word = |at: &Expr, value: &Expr| {
            let (buffer, predicate) = (new.clone(), predicate.clone());
            let kind = StmtKind::Store { buffer, indices: vec![at.clone()], value: value.clone(), predicate };
            Stmt::new(kind).with_span(stmt.span)
        };
        Ok(Stmt::seq(before.into_iter().chain([word(&low_at, &low), word(&high_at, &high)])))
    }
}
