//! Runs operations of the threads of a warp, and reductions over threads (IR-K7).

use super::launch::Run;
use super::{Frame, Machine, Stop};
use crate::bound::{ANY, Num};
use crate::code::{Allreduce, From, NONE, Shuffle, WaitKind};
use crate::error::{ErrorKind, InterpretError};
use crate::memory::Gathered;

impl<'c> Machine<'c> {
    /// Lets threads go on that wait for others of their warp; returns false if there are none.
    pub(super) fn warps<const B: bool>(&mut self, run: &mut Run<'c>, waiting: &[u32]) -> Stop<bool> {
        let Some(clock) = &self.clock.threads else { return Ok(false) };
        let mut warps: Vec<Vec<u32>> = Vec::new();
        for &thread in waiting {
            match warps.last_mut() {
                Some(warp) if clock.warp(warp[0]) == clock.warp(thread) => warp.push(thread),
                _ => warps.push(vec![thread]),
            }
        }
        let mut any = false;
        for warp in warps {
            let groups = run.groups(&warp);
            let mut moved = false;
            for group in &groups {
                let Some((_, wait)) = run.wait_of(group[0]) else { continue };
                match &wait.kind {
                    WaitKind::Shuffle(shuffle) => moved |= self.shuffle::<B>(run, group, *shuffle)?,
                    WaitKind::Warp if group.len() == warp.len() => {
                        if let Some(clock) = &mut self.clock.threads {
                            clock.barrier_of_warp(clock.warp(group[0]));
                        }
                        run.go_on(group);
                        moved = true;
                    }
                    _ => {}
                }
            }
            // The threads at an activemask, while nothing else of the warp can move, are together.
            if !moved {
                moved = self.activemask::<B>(run, &groups);
            }
            any |= moved;
        }
        Ok(any)
    }

    fn activemask<const B: bool>(&mut self, run: &mut Run<'c>, groups: &[Vec<u32>]) -> bool {
        for group in groups {
            let Some(WaitKind::Activemask { dst }) = run.wait_of(group[0]).map(|(_, wait)| &wait.kind) else {
                continue;
            };
            let Some(clock) = &self.clock.threads else { return false };
            let mask = group.iter().fold(0_u32, |mask, &thread| mask | bit(clock.lane(thread)));
            for &thread in group {
                run.frame(thread).set::<B>(*dst, (u64::from(mask), 0.0));
            }
            run.go_on(group);
            return true;
        }
        false
    }

    /// Runs the shuffle for the threads whose whole mask has arrived; returns false if there are
    /// none.
    fn shuffle<const B: bool>(&mut self, run: &mut Run<'c>, group: &[u32], shuffle: Shuffle) -> Stop<bool> {
        let mut ready = Vec::new();
        for &thread in group {
            if self.is_complete(run, group, thread, shuffle)? {
                ready.push(thread);
            }
        }
        let mut values: Vec<(u32, Option<Vec<Num>>, u32)> = Vec::with_capacity(ready.len());
        for &thread in &ready {
            let (source, lane) = self.source(run, &ready, thread, shuffle)?;
            let frame = run.frame_of(source);
            let regs = shuffle.value..shuffle.value + shuffle.lanes;
            let ambiguous = B && run.frame_of(thread).bound::<B>(shuffle.lane) > 0.0;
            let value = |reg| {
                let (value, bound) = frame.num::<B>(reg);
                (value, if ambiguous { ANY } else { bound })
            };
            self.lost |= B && run.frame_of(thread).bound::<B>(shuffle.mask) > 0.0;
            values.push((thread, (!frame.undefined).then(|| regs.map(value).collect()), lane));
        }
        for (thread, value, lane) in values {
            let frame = run.frame(thread);
            frame.undefined = false;
            match value {
                Some(value) => {
                    (shuffle.dst..).zip(value).for_each(|(reg, value)| frame.set::<B>(reg, value));
                }
                None => {
                    if let Some(clock) = &mut self.clock.threads {
                        clock.enter(thread);
                    }
                    let buffer = "the value that a shuffle takes from lane".into();
                    let kind = ErrorKind::Uninitialized { buffer, indices: vec![i64::from(lane)] };
                    let error = self.error(frame, kind);
                    self.tolerate(frame, error)?;
                }
            }
        }
        run.go_on(&ready);
        Ok(!ready.is_empty())
    }

    /// Returns true if all lanes that a thread's mask names, except ended threads, are in the group
    /// with the same mask.
    fn is_complete(&mut self, run: &Run<'c>, group: &[u32], thread: u32, shuffle: Shuffle) -> Stop<bool> {
        let Some(clock) = &self.clock.threads else { return Ok(false) };
        let mask = run.frame_of(thread).get(shuffle.mask) as u32;
        let lane = clock.lane(thread);
        if mask & bit(lane) == 0 {
            return Err(self.inactive(run, thread, lane, mask));
        }
        Ok((0..64).filter(|&lane| mask & bit(lane) != 0).all(|lane| match clock.at_lane(thread, lane) {
            Some(other) if run.wait_of(other).is_some() => {
                group.contains(&other) && run.frame_of(other).get(shuffle.mask) as u32 == mask
            }
            _ => true,
        }))
    }

    /// Returns the thread whose value a thread gets, and its lane.
    fn source(&mut self, run: &Run<'c>, ready: &[u32], thread: u32, shuffle: Shuffle) -> Stop<(u32, u32)> {
        let Some(clock) = &self.clock.threads else { return Ok((thread, 0)) };
        let frame = run.frame_of(thread);
        let own = clock.lane(thread);
        let operand = frame.get(shuffle.lane) as u32;
        let first = own / shuffle.width * shuffle.width;
        let end = first + shuffle.width;
        let lane = match shuffle.from {
            From::Lane => Some(first + operand % shuffle.width),
            From::Up => own.checked_sub(operand).filter(|lane| *lane >= first),
            From::Down => own.checked_add(operand).filter(|lane| *lane < end),
            From::Xor => Some(own ^ operand).filter(|lane| *lane < end),
        };
        let lane = lane.unwrap_or(own);
        let mask = frame.get(shuffle.mask) as u32;
        match clock.at_lane(thread, lane) {
            Some(other) if mask & bit(lane) != 0 && ready.contains(&other) => Ok((other, lane)),
            _ => Err(self.inactive(run, thread, lane, mask)),
        }
    }

    #[cold]
    fn inactive(&mut self, run: &Run<'c>, thread: u32, lane: u32, mask: u32) -> Box<InterpretError> {
        if let Some(clock) = &mut self.clock.threads {
            clock.enter(thread);
        }
        self.error(run.frame_of(thread), ErrorKind::InactiveLane { lane, mask })
    }

    /// Combines the values of the threads of each group, and stores the result for each.
    pub(super) fn allreduce<const B: bool>(
        &mut self,
        run: &mut Run<'c>,
        threads: &[u32],
        reduction: &Allreduce,
    ) -> Stop<()> {
        for group in self.partners(threads, reduction.axes) {
            let result = self.combine::<B>(run, &group, reduction)?;
            for &thread in &group {
                self.barrier();
                if let Some(clock) = &mut self.clock.threads {
                    clock.enter(thread);
                }
                let frame = run.frame(thread);
                for (value, result) in reduction.values.iter().zip(&result) {
                    frame.set::<B>(value.lhs, *result);
                    self.store::<B>(frame, value.lhs, value.target.0, (value.target.1, 1), NONE, None)?;
                }
            }
        }
        Ok(())
    }

    fn combine<const B: bool>(
        &mut self,
        run: &mut Run<'c>,
        group: &[u32],
        reduction: &Allreduce,
    ) -> Stop<Vec<Num>> {
        self.lost |= B && group.iter().any(|&t| run.frame_of(t).bound::<B>(reduction.condition) > 0.0);
        let taking = |frame: &Frame<'c>| frame.get(reduction.condition) != 0;
        let takers: Vec<u32> = group.iter().copied().filter(|&t| taking(run.frame_of(t))).collect();
        let of = |frame: &Frame<'c>| -> Vec<Num> {
            reduction.values.iter().map(|value| frame.num::<B>(value.value)).collect()
        };
        let Some((&leader, others)) = takers.split_first() else {
            let frame = run.frame_of(group[0]);
            return Ok(reduction.values.iter().map(|value| frame.num::<B>(value.identity)).collect());
        };
        let mut result = of(run.frame_of(leader));
        let mut gathered: Vec<Gathered> = reduction.values.iter().map(|_| Gathered::default()).collect();
        for &thread in others {
            let term = of(run.frame_of(thread));
            let old = result.clone();
            let frame = run.frame(leader);
            for ((value, lhs), rhs) in reduction.values.iter().zip(&result).zip(&term) {
                frame.set::<B>(value.lhs, *lhs);
                frame.set::<B>(value.rhs, *rhs);
            }
            let position = frame.position;
            frame.position = reduction.code.0 as usize;
            self.execute::<B>(frame, reduction.code.1 as usize)?;
            frame.position = position;
            result = reduction.values.iter().map(|value| frame.num::<B>(value.lhs)).collect();
            for (at, value) in reduction.values.iter().enumerate().filter(|_| B) {
                result[at].1 = match value.fold {
                    Some(kind) => gathered[at].take(value.lane, kind, result[at], old[at], term[at]),
                    None if value.is_exact => result[at].1,
                    // Another order rounds differently, by an unknown amount.
                    None => ANY,
                };
            }
        }
        Ok(result)
    }

    /// Handles a read of an uninitialised value where that is no error yet (INT-I10).
    #[inline(never)] // keeps the dispatch loop small
    #[cold]
    pub(super) fn tolerate(&mut self, frame: &mut Frame<'c>, error: Box<InterpretError>) -> Stop<()> {
        let at = frame.position.saturating_sub(1) as u32;
        let around = frame.function.tolerant.iter().filter(|code| code.start <= at && at < code.end);
        let innermost = around.min_by_key(|code| code.end - code.start);
        let (Some(code), ErrorKind::Uninitialized { .. }, 0) = (innermost, &error.kind, self.trials) else {
            return Err(error);
        };
        match code.target {
            Some((view, index, lanes)) => self.forget(frame, view, index, lanes)?,
            None => frame.undefined = true,
        }
        frame.position = code.resume as usize;
        Ok(())
    }
}

/// Returns the bit of a lane in a mask; for warps of 64, a bit means two lanes.
fn bit(lane: u32) -> u32 {
    1 << (lane % 32)
}
