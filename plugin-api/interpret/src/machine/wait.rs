//! Selects the threads that go on when every thread of a block waits or has ended.

use std::cmp::Ordering;

use super::launch::{Run, State};
use super::{Frame, Machine, Stop};
use crate::code::{Together, Wait, WaitKind};
use crate::error::{ErrorKind, InterpretError};

impl WaitKind {
    /// Returns the name of the kind, for messages.
    fn name(&self) -> &'static str {
        match self {
            Self::Block => "a barrier of the block",
            Self::Grid => "a barrier of the grid",
            Self::Warp => "a barrier of the warp",
            Self::Implicit | Self::Turns | Self::Gather(_) | Self::Scatter => "an implicit barrier",
            Self::Activemask { .. } => "an activemask",
            Self::Shuffle(_) => "a shuffle",
            Self::Allreduce(_) => "a reduction over threads",
        }
    }

    /// Returns true if only the threads that reach the wait, and not all, wait for each other.
    fn is_implicit(&self) -> bool {
        matches!(self, Self::Implicit | Self::Turns | Self::Gather(_) | Self::Scatter)
    }
}

/// Returns the iterations of the loops around a wait.
fn laps<'f>(frame: &'f Frame<'_>, wait: &Wait) -> impl Iterator<Item = i64> + 'f {
    let (list, n) = wait.laps;
    let pairs = frame.list(list, 2 * n).chunks_exact(2);
    pairs.map(|pair| frame.get(pair[0]).wrapping_sub(frame.get(pair[1])) as i64)
}

impl<'c> Run<'c> {
    pub(super) fn wait_of(&self, thread: u32) -> Option<(u32, &'c Wait)> {
        match self.states.get(thread as usize) {
            Some(State::Waiting(number)) => {
                let function = self.frame_of(thread).function;
                function.waits.get(*number as usize).map(|wait| (*number, wait))
            }
            _ => None,
        }
    }

    /// Orders two waiting threads: by the earlier place, then the earlier iteration.
    fn order(&self, a: u32, b: u32) -> Ordering {
        let (Some((place_a, wait_a)), Some((place_b, wait_b))) = (self.wait_of(a), self.wait_of(b)) else {
            return Ordering::Equal;
        };
        if place_a != place_b {
            return place_a.cmp(&place_b);
        }
        laps(self.frame_of(a), wait_a).cmp(laps(self.frame_of(b), wait_b))
    }

    /// Groups threads that wait at one place in one iteration; the earliest group first.
    pub(super) fn groups(&self, threads: &[u32]) -> Vec<Vec<u32>> {
        let mut sorted = threads.to_vec();
        sorted.sort_by(|&a, &b| self.order(a, b));
        let mut groups: Vec<Vec<u32>> = Vec::new();
        for thread in sorted {
            match groups.last_mut() {
                Some(group) if self.order(group[0], thread).is_eq() => group.push(thread),
                _ => groups.push(vec![thread]),
            }
        }
        groups
    }

    pub(super) fn go_on(&mut self, threads: &[u32]) {
        for &thread in threads {
            self.states[thread as usize] = State::Ready { in_turn: false };
        }
    }
}

impl<'c> Machine<'c> {
    /// Lets threads go on; every thread of the block waits or has ended, and at least one waits.
    pub(super) fn resolve<const B: bool>(&mut self, run: &mut Run<'c>) -> Stop<()> {
        let waiting: Vec<u32> =
            (0..run.states.len() as u32).filter(|&thread| run.wait_of(thread).is_some()).collect();
        let Some(&first) = waiting.first() else { return Ok(()) };
        let all_here = waiting.iter().all(|&thread| run.order(first, thread).is_eq());
        if all_here
            && let Some((_, wait)) = run.wait_of(first)
            && self.together::<B>(run, &waiting, wait)?
        {
            return Ok(());
        }
        if self.warps::<B>(run, &waiting)? {
            return Ok(());
        }
        // Threads at an implicit barrier have no others to wait for.
        let groups = run.groups(&waiting);
        for group in &groups {
            if let Some((_, wait)) = run.wait_of(group[0])
                && wait.kind.is_implicit()
                && self.together::<B>(run, group, wait)?
            {
                return Ok(());
            }
        }
        Err(self.divergence(run, &groups))
    }

    /// Lets threads go on that wait for the whole block; returns false if the wait is not of that
    /// kind.
    fn together<const B: bool>(&mut self, run: &mut Run<'c>, threads: &[u32], wait: &'c Wait) -> Stop<bool> {
        match &wait.kind {
            WaitKind::Block | WaitKind::Implicit => {}
            WaitKind::Grid if run.n_blocks == 1 => {}
            WaitKind::Grid => {
                let what = "a barrier of all blocks of a grid: they run one after the other".into();
                return Err(self.error(run.frame_of(threads[0]), ErrorKind::Unsupported { what }));
            }
            WaitKind::Turns => {
                for &thread in threads {
                    run.states[thread as usize] = State::Ready { in_turn: true };
                }
                return Ok(true);
            }
            WaitKind::Gather(together) => self.gather(run, threads, together),
            WaitKind::Scatter => self.scatter(run, threads),
            WaitKind::Allreduce(reduction) => {
                self.barrier();
                self.allreduce::<B>(run, threads, reduction)?;
            }
            WaitKind::Warp | WaitKind::Activemask { .. } | WaitKind::Shuffle(_) => return Ok(false),
        }
        self.barrier();
        run.go_on(threads);
        Ok(true)
    }

    /// Groups threads that agree on all axes except the given ones, each group in order.
    pub(super) fn partners(&self, threads: &[u32], axes: u16) -> Vec<Vec<u32>> {
        let Some(clock) = &self.clock.threads else { return Vec::new() };
        let key = |thread: u32| {
            let mut indices = clock.indices(clock.block(), thread);
            for (axis, index) in indices.iter_mut().enumerate() {
                if axes >> axis & 1 == 1 {
                    *index = 0;
                }
            }
            indices
        };
        let mut groups: Vec<([i64; 9], Vec<u32>)> = Vec::new();
        let mut known = std::collections::HashMap::new();
        for &thread in threads {
            let key = key(thread);
            let number = *known.entry(key).or_insert_with(|| {
                groups.push((key, Vec::new()));
                groups.len() - 1
            });
            groups[number].1.push(thread);
        }
        groups.into_iter().map(|(_, group)| group).collect()
    }

    /// Lets threads that reduce together use the memory of the first of them.
    fn gather(&mut self, run: &mut Run<'c>, threads: &[u32], together: &Together) {
        for group in self.partners(threads, together.axes) {
            let Some((&leader, others)) = group.split_first() else { continue };
            for &view in &together.views {
                let theirs = run.frame_of(leader).views[view as usize].space;
                for &thread in others {
                    let own = run.frame_of(thread).views[view as usize].space;
                    if let (Some(own), Some(theirs)) = (own, theirs) {
                        swap(run.frame(thread), own, theirs);
                        run.gathered.push((thread, own, theirs));
                    }
                }
            }
        }
    }

    /// Gives threads their own memory back, with the contents of the memory that they shared.
    fn scatter(&mut self, run: &mut Run<'c>, threads: &[u32]) {
        for (thread, own, theirs) in std::mem::take(&mut run.gathered) {
            if !threads.contains(&thread) {
                run.gathered.push((thread, own, theirs));
                continue;
            }
            swap(run.frame(thread), theirs, own);
            let made = self.memory.spaces.get(theirs).cloned();
            if let (Some(made), Some(space)) = (made, self.memory.spaces.get_mut(own)) {
                *space = made;
            }
        }
    }

    #[cold]
    fn divergence(&mut self, run: &Run<'c>, groups: &[Vec<u32>]) -> Box<InterpretError> {
        // The thread that came furthest is reported as waiting: the others may never reach it.
        let mut reached = groups.iter().rev().filter_map(|group| {
            let thread = *group.first()?;
            run.wait_of(thread).map(|(place, wait)| (thread, place, &wait.kind))
        });
        let (Some((thread, place, kind)), other) = (reached.next(), reached.next()) else {
            return self.error(run.frame_of(0), ErrorKind::Unsupported { what: "threads that wait".into() });
        };
        let (other, other_place, other_kind) = other.unwrap_or((thread, place, kind));
        let frame = run.frame_of(other);
        let at = frame.position.saturating_sub(1);
        let other_span = frame.function.spans.get(at).copied().unwrap_or_default();
        if let Some(threads) = &mut self.clock.threads {
            threads.enter(thread);
        }
        let kind = ErrorKind::BarrierDivergence {
            waits_at: kind.name(),
            other: self.clock.threads.as_ref().map(|threads| threads.of_block(other)).unwrap_or_default(),
            other_waits_at: other_kind.name(),
            other_span,
            same_place: place == other_place,
        };
        self.error(run.frame_of(thread), kind)
    }
}

/// Points the views of one piece of memory to another.
fn swap(frame: &mut Frame<'_>, from: usize, to: usize) {
    for view in &mut frame.views {
        if view.space == Some(from) {
            view.space = Some(to);
        }
    }
}
