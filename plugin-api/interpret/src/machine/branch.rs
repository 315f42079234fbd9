//! Branches that another backend may take differently: both sides are run, and bounds cover both
//! outcomes.

use std::collections::HashMap;

use super::{Flow, Frame, Machine, Stop};
use crate::bound::{ANY, Num};
use crate::code::{Inst, NONE, Reg};
use crate::memory::Snapshot;
use crate::scalar::Lane;

/// The greatest nesting of branches that are tried; each doubles the work.
const TRIALS_MAX: u32 = 4;
/// The greatest number of steps of a branch that is tried.
const TRIAL_STEPS_MAX: u64 = 1 << 16;

/// An element that a store overwrote.
pub(crate) struct Undo {
    place: ElementKey,
    before: Snapshot,
}

/// An element: space, byte, type.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct ElementKey {
    space: usize,
    offset: usize,
    size_bytes: usize,
    lane: LaneKey,
}

/// A lane type that can be hashed.
#[derive(Clone, Copy)]
struct LaneKey(Lane);

impl PartialEq for LaneKey {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}
impl Eq for LaneKey {}
impl std::hash::Hash for LaneKey {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        std::mem::discriminant(&self.0).hash(state);
    }
}

/// Returns the bound of a value if the other side may have another value instead.
pub(crate) fn cover(lane: Lane, (value, bound): Num, (other, other_bound): Num) -> f64 {
    if value == other {
        return bound.max(other_bound);
    }
    if lane == Lane::Handle {
        return ANY;
    }
    let distance = (lane.to_f64(value) - lane.to_f64(other)).abs();
    if distance.is_finite() { bound.max(distance + other_bound) } else { ANY }
}

impl<'c> Machine<'c> {
    /// Records the contents of an element before it is overwritten.
    pub(super) fn remember(&mut self, space: usize, offset: usize, lane: Lane) {
        if let Some(memory) = self.memory.spaces.get(space) {
            let place = ElementKey { space, offset, size_bytes: lane.size_bytes(), lane: LaneKey(lane) };
            self.undo.push(Undo { place, before: memory.snapshot(offset, lane) });
        }
    }

    /// Runs both sides of a branch whose condition may be off. The frame is past the branch; it
    /// ends at `join`, as if only the side that the condition selects had run, with bounds that
    /// cover the other.
    pub(super) fn try_both(
        &mut self,
        frame: &mut Frame<'c>,
        otherwise: usize,
        join: usize,
        (dst, lanes, lane): (Reg, u32, Lane),
    ) -> Stop<()> {
        let branch = frame.position - 1;
        let condition = match frame.function.code.get(branch) {
            Some(Inst::Branch { condition, .. }) => *condition,
            _ => return Ok(()),
        };
        let sides = [otherwise, frame.position];
        let holds = frame.get(condition) != 0;
        let (taken, other) = (sides[usize::from(holds)], sides[usize::from(!holds)]);
        if self.trials >= TRIALS_MAX {
            self.poison_stores(frame, branch..join);
            frame.position = taken;
            return Ok(());
        }
        let mark = self.undo.len();
        self.trials += 1;
        let trial = self.trial(frame, other, join);
        let elsewhere = self.roll_back(mark);
        let other_values: Vec<Num> = match dst {
            NONE => Vec::new(),
            dst => (dst..dst + lanes).map(|reg| frame.num::<true>(reg)).collect(),
        };
        frame.position = taken;
        // The selected side counts, including its errors.
        let flow = self.execute::<true>(frame, join);
        self.trials -= 1;
        if flow? != Flow::Stopped {
            // A return that was not foreseen: the branch is known to have no other exit.
            self.lost = true;
            return Ok(());
        }
        if !trial {
            self.poison_stores(frame, branch..join);
        }
        self.merge(mark, elsewhere);
        if dst != NONE {
            for (reg, other) in (dst..).zip(other_values) {
                let value = frame.num::<true>(reg);
                let bound = if trial { cover(lane, value, other) } else { ANY };
                frame.set::<true>(reg, (value.0, bound));
            }
        }
        Ok(())
    }

    /// Runs a side to find its effects; returns false if it fails, which is no error of the
    /// selected side.
    fn trial(&mut self, frame: &mut Frame<'c>, start: usize, join: usize) -> bool {
        frame.position = start;
        let (quiet, open, lost) = (self.quiet, self.clock.depth(), self.lost);
        let budget = self.steps_left.min(TRIAL_STEPS_MAX);
        let kept = self.steps_left - budget;
        let calls = self.calls;
        (self.quiet, self.steps_left) = (true, budget);
        let flow = self.execute::<true>(frame, join);
        self.steps_left += kept;
        self.quiet = quiet;
        self.calls = calls;
        self.clock.close(open);
        let went_well = matches!(flow, Ok(Flow::Stopped)) && self.lost == lost;
        self.lost = lost;
        went_well
    }

    /// Undoes the stores since `mark`; returns the contents that they had written to each element.
    fn roll_back(&mut self, mark: usize) -> HashMap<ElementKey, Snapshot> {
        let mut elsewhere = HashMap::new();
        for undo in self.undo.drain(mark.min(self.undo.len())..).rev() {
            if let Some(space) = self.memory.spaces.get_mut(undo.place.space) {
                let (offset, lane) = (undo.place.offset, undo.place.lane.0);
                elsewhere.entry(undo.place).or_insert_with(|| space.snapshot(offset, lane));
                space.restore(offset, lane, &undo.before);
            }
        }
        elsewhere
    }

    /// Widens the bounds of elements that either side stored.
    fn merge(&mut self, mark: usize, mut elsewhere: HashMap<ElementKey, Snapshot>) {
        // An element that only the selected side stored has, on the other side, its previous
        // contents: the first record of it.
        for undo in self.undo.get(mark..).unwrap_or_default() {
            elsewhere.entry(undo.place).or_insert(undo.before);
        }
        for (place, other) in elsewhere {
            let (offset, lane) = (place.offset, place.lane.0);
            if self.trials > 0 {
                self.remember(place.space, offset, lane);
            }
            let Some(space) = self.memory.spaces.get_mut(place.space) else { continue };
            let here = space.snapshot(offset, lane);
            let bound = if here.is_written() && other.is_written() {
                cover(lane, (here.value, here.bound), (other.value, other.bound))
            } else {
                ANY
            };
            space.set_bound(offset, lane, bound);
            space.dirty = true;
        }
        if self.trials == 0 {
            self.undo.clear();
        }
    }

    /// Sets the bound of every possible destination of the code's stores to "anything".
    fn poison_stores(&mut self, frame: &Frame<'c>, code: std::ops::Range<usize>) {
        for inst in frame.function.code.get(code).unwrap_or_default() {
            match *inst {
                Inst::Store { view, .. } => match frame.views[view as usize].space {
                    Some(space) => {
                        if let Some(space) = self.memory.spaces.get_mut(space) {
                            space.poison();
                        }
                    }
                    None => self.memory.poison(),
                },
                // The stores of a callee, or through a view declared there, are not known here.
                Inst::Call { .. } | Inst::CallHost { .. } | Inst::Declare { .. } | Inst::Match { .. } => {
                    self.memory.poison()
                }
                _ => {}
            }
        }
    }
}
