//! Runs ops that are more than a kernel on registers.

use super::{Frame, Machine, Stop};
use chipdock_ir::DType;
use chipdock_ir::op::DotProduct;
use half::{bf16, f16};

use crate::bound::{self, ANY, Num};
use crate::code::{FoldKind, NONE, Reg};
use crate::error::{ErrorKind, InterpretError};
use crate::kernels::Binary;
use crate::memory::{self, Fault};
use crate::scalar::Lane;
use crate::threads::Touch;

impl Frame<'_> {
    /// See [`chipdock_ir::Op::QMultiplyShift`]; shift amounts are taken modulo 64.
    #[inline(never)] // keeps the dispatch loop small
    pub(super) fn q_multiply_shift<const B: bool>(
        &mut self,
        dst: Reg,
        list: u32,
        lanes: u32,
        per_axis: bool,
    ) {
        let regs = self.list(list, if per_axis { 5 } else { 4 });
        for lane in 0..lanes {
            let at = |index: usize, lane: u32| match regs.get(index) {
                Some(&NONE) | None => 0,
                Some(&reg) => self.get(reg + lane) as i32 as i64,
            };
            let (x, y) = (at(0, lane), at(1, lane));
            let (left, right) = if per_axis {
                (at(2, lane), at(4, 0).wrapping_add(at(3, lane)))
            } else {
                let (q, s) = (at(2, 0), at(3, 0));
                (s.max(0), q.wrapping_sub(s.min(0)))
            };
            let product = x.wrapping_shl(left as u32).wrapping_mul(y);
            let half = if right > 0 { 1_i64.wrapping_shl(right as u32 - 1) } else { 0 };
            let value = product.wrapping_add(half).wrapping_shr(right as u32) as i32;
            let is_exact = regs.iter().all(|&reg| reg == NONE || self.bound::<B>(reg) == 0.0)
                && (!B || regs.iter().take(2).all(|&reg| self.bound::<B>(reg + lane) == 0.0));
            self.set::<B>(dst + lane, (value as i64 as u64, if is_exact { 0.0 } else { ANY }));
        }
    }

    #[inline(never)] // keeps the dispatch loop small
    pub(super) fn dot_add<const B: bool>(&mut self, dst: Reg, list: u32, lanes: u16, dot: u8) {
        let &[c, a, b] = self.list(list, 3) else { return };
        let Some(dot) = DotProduct::ALL.get(usize::from(dot)) else { return };
        let group = u32::from(dot.group);
        for lane in 0..u32::from(lanes) {
            let sum = self.num::<B>(c + lane);
            let factors =
                (lane * group..(lane + 1) * group).map(|at| [self.num::<B>(a + at), self.num::<B>(b + at)]);
            let value = match dot.a {
                DType::BFLOAT16 => bound::dot::<bf16>(sum, factors),
                DType::FLOAT16 => bound::dot::<f16>(sum, factors),
                _ => int_dot(sum, factors),
            };
            self.set::<B>(dst + lane, value);
        }
    }

    #[inline(never)] // keeps the dispatch loop small
    pub(super) fn dp4a<const B: bool>(&mut self, dst: Reg, [a, b, sum]: [Reg; 3], is_signed: bool) {
        let mut total = self.get(sum);
        let mut is_exact = self.bound::<B>(sum) == 0.0;
        for lane in 0..4 {
            // Registers hold extended values: the low bits of the product are right for both signs.
            total = total.wrapping_add(self.get(a + lane).wrapping_mul(self.get(b + lane)));
            is_exact &= self.bound::<B>(a + lane) + self.bound::<B>(b + lane) == 0.0;
        }
        let value = if is_signed { total as i32 as i64 as u64 } else { u64::from(total as u32) };
        self.set::<B>(dst, (value, if is_exact { 0.0 } else { ANY }));
    }
}

/// Adds products to an int32. Registers hold extended values, so that 64 bits hold each product.
fn int_dot(sum: Num, factors: impl Iterator<Item = [Num; 2]>) -> Num {
    let (total, error) = factors
        .fold(sum, |(total, error), [a, b]| (total.wrapping_add(a.0.wrapping_mul(b.0)), error + a.1 + b.1));
    (total as i32 as i64 as u64, if error == 0.0 { 0.0 } else { ANY })
}

impl<'c> Machine<'c> {
    /// Adds to an element in one step (IR-K7); the order among threads is arbitrary.
    #[inline(never)] // keeps the dispatch loop small
    pub(super) fn atomic<const B: bool>(
        &mut self,
        frame: &mut Frame<'c>,
        add: &Binary,
        [dst, address, value]: [Reg; 3],
        lane: Lane,
    ) -> Stop<()> {
        self.lost |= B && frame.bound::<B>(address) > 0.0;
        let term = frame.num::<B>(value);
        let place = memory::pointee(frame.get(address));
        let Some((space, offset)) = place.filter(|(space, _)| *space < self.memory.spaces.len()) else {
            return Err(self.bad_address(frame, Fault::Outside, None));
        };
        let touched = match self.clock.watching && !self.quiet {
            true => self.touch(space, offset, lane, Touch::Atomic),
            false => Ok(()),
        };
        if let Err(fault) = touched {
            return Err(self.bad_address(frame, fault, Some((space, offset, lane))));
        }
        if B && self.trials > 0 {
            self.remember(space, offset, lane);
        }
        let Some(memory) = self.memory.spaces.get_mut(space) else { return Ok(()) };
        let done = memory.load::<B>(offset, lane).and_then(|old| {
            let new = if B { (add.bounded)(old, term) } else { ((add.plain)(old.0, term.0), 0.0) };
            if B {
                memory.fold(offset, lane, FoldKind::Sum, new, [old, term])?;
            } else {
                memory.store::<B>(offset, lane, new)?;
            }
            Ok(old)
        });
        match done {
            Ok((old, bound)) => {
                // The order of the threads is unspecified.
                let bound = if B && self.clock.watching { ANY } else { bound };
                frame.set::<B>(dst, (old, bound));
                Ok(())
            }
            Err(fault) => Err(self.bad_address(frame, fault, Some((space, offset, lane)))),
        }
    }

    #[cold]
    pub(super) fn bad_address(
        &self,
        frame: &Frame<'c>,
        fault: Fault,
        place: Option<(usize, usize, Lane)>,
    ) -> Box<InterpretError> {
        let view =
            place.and_then(|(space, ..)| frame.views.iter().position(|view| view.space == Some(space)));
        let name = view.and_then(|view| frame.function.views.get(view)).map(|info| info.name.clone());
        let buffer = name.unwrap_or_else(|| "what an address points to".into());
        let indices = place.map_or(Vec::new(), |(_, offset, lane)| vec![(offset / lane.size_bytes()) as i64]);
        let kind = match fault {
            Fault::Constant => ErrorKind::ConstantWritten { buffer },
            Fault::Uninitialized => ErrorKind::Uninitialized { buffer, indices },
            Fault::Race { earlier_write } => ErrorKind::Race { buffer, indices, write: true, earlier_write },
            Fault::ThreadRace { earlier_write, at } => {
                let other = self.clock.threads.as_ref().map(|threads| threads.who(at)).unwrap_or_default();
                ErrorKind::ThreadRace { buffer, indices, write: true, earlier_write, other }
            }
            Fault::Outside => ErrorKind::OutsideMemory {
                buffer,
                offset_bytes: place.and_then(|(_, offset, _)| i64::try_from(offset).ok()).unwrap_or(0),
                size_bytes: place
                    .and_then(|(space, ..)| self.memory.spaces.get(space))
                    .map_or(0, |space| space.bytes.len()),
            },
        };
        self.error(frame, kind)
    }
}
