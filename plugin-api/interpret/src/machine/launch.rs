//! Runs launches: the threads of a grid, block after block, on frames that are reused.

use std::collections::HashMap;

use super::{Flow, Frame, Machine, Stop, View};
use crate::code::{Launch, OperandLayout, Reg};
use crate::error::ErrorKind;
use crate::memory;
use crate::threads::Threads;
use chipdock_ir::StorageRank;

/// Memory of which several threads share one instance, by view and owner.
#[derive(Default)]
pub(super) struct Instances {
    /// The space, and whether it is in use since the block (launch) began.
    table: HashMap<(u32, Owner), (usize, bool)>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Owner {
    Launch,
    Block,
    Warp(u32),
}

/// The state of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// Not begun; it has no frame yet.
    Fresh,
    /// Ready to go on, on its frame; if `in_turn`, it takes its turn with a barrier of its own
    /// before and after (IR-K6).
    Ready { in_turn: bool },
    /// Waiting at that place.
    Waiting(u32),
    /// Ended; its frame may be reused.
    Ended,
}

/// A block that runs. A thread that never waits needs a frame only while it runs.
pub(super) struct Run<'c> {
    pub(super) frames: Vec<Frame<'c>>,
    idle: Vec<usize>,
    pub(super) states: Vec<State>,
    /// The frame of each thread that has one.
    places: Vec<usize>,
    /// Views of memory from outside that has instances: the view, and the index of the viewed
    /// memory in the launch's `outer`.
    aliases: Vec<(u32, usize)>,
    /// Threads that temporarily use another's memory: the thread, its own space, the other's
    /// (IR-K6).
    pub(super) gathered: Vec<(u32, usize, usize)>,
    pub(super) n_blocks: u64,
}

impl<'c> Run<'c> {
    pub(super) fn frame(&mut self, thread: u32) -> &mut Frame<'c> {
        &mut self.frames[self.places[thread as usize]]
    }

    pub(super) fn frame_of(&self, thread: u32) -> &Frame<'c> {
        &self.frames[self.places[thread as usize]]
    }
}

impl<'c> Machine<'c> {
    /// Runs a launch to its end (IR-K1); the frame then continues after it.
    #[inline(never)] // keeps the dispatch loop small
    pub(super) fn launch<const B: bool>(&mut self, frame: &mut Frame<'c>, launch: u32) -> Stop<()> {
        let Some(code) = frame.function.launches.get(launch as usize) else { return Ok(()) };
        if self.clock.threads.is_some() {
            let what = "a function that launches threads is called by a thread".into();
            return Err(self.error(frame, ErrorKind::BadLaunch { what }));
        }
        let extents = self.extents::<B>(frame, code)?;
        let start = frame.position;
        frame.position = code.end as usize;
        if extents.iter().any(|&extent| extent <= 0) {
            return Ok(());
        }
        let product = |extents: &[i64]| {
            extents.iter().try_fold(1_u64, |product, &extent| product.checked_mul(extent as u64))
        };
        let (n_blocks, n_threads) = (product(&extents[..3]), product(&extents[3..]));
        let n_threads = match n_threads.filter(|n| *n <= Threads::BLOCK_MAX) {
            Some(n) => n as u32,
            None => {
                let what = format!("a block has at most {} threads here", Threads::BLOCK_MAX);
                return Err(self.error(frame, ErrorKind::BadLaunch { what }));
            }
        };
        let mut run = Run {
            frames: Vec::new(),
            idle: Vec::new(),
            states: Vec::new(),
            places: vec![0; n_threads as usize],
            aliases: aliases(frame, code),
            gathered: Vec::new(),
            n_blocks: n_blocks.unwrap_or(u64::MAX),
        };
        let threads = Threads::new(extents, n_threads, frame.function.warp_size, self.launched);
        self.clock.launch(Some(Box::new(threads)));
        let result = self.blocks::<B>(frame, (code, start), &mut run);
        self.launched = self.clock.threads.as_ref().map_or(0, |threads| threads.now());
        self.clock.launch(None);
        for view in run.frames.iter().flat_map(|frame| &frame.views) {
            view.owned.into_iter().for_each(|space| self.memory.release(space));
        }
        for (_, (space, _)) in std::mem::take(&mut self.instances).table {
            self.memory.release(space);
        }
        result
    }

    fn extents<const B: bool>(&mut self, frame: &Frame<'c>, code: &Launch) -> Stop<[i64; 9]> {
        let mut extents = [1; 9];
        for axis in &code.axes {
            let mut found = axis.extents.iter().map(|&reg| frame.get(reg) as i64);
            self.lost |= axis.extents.iter().any(|&reg| frame.bound::<B>(reg) > 0.0);
            let first = found.next().unwrap_or(1);
            if let Some(other) = found.find(|extent| *extent != first) {
                let what = format!("{} has {first} threads in one place and {other} in another", axis.axis);
                return Err(self.error(frame, ErrorKind::BadLaunch { what }));
            }
            extents[axis.axis as usize] = first;
        }
        Ok(extents)
    }

    fn blocks<const B: bool>(
        &mut self,
        parent: &Frame<'c>,
        (code, start): (&'c Launch, usize),
        run: &mut Run<'c>,
    ) -> Stop<()> {
        for _ in 0..run.n_blocks {
            if let Some(threads) = &mut self.clock.threads {
                threads.begin_block();
            }
            for ((_, owner), (_, is_live)) in &mut self.instances.table {
                *is_live &= *owner == Owner::Launch;
            }
            run.states.clear();
            run.states.resize(run.places.len(), State::Fresh);
            while self.round::<B>(parent, (code, start), run)? {
                self.resolve::<B>(run)?;
            }
        }
        Ok(())
    }

    /// Runs each thread of the block that can go on up to its next wait; returns false if all have
    /// ended.
    fn round<const B: bool>(
        &mut self,
        parent: &Frame<'c>,
        (code, start): (&'c Launch, usize),
        run: &mut Run<'c>,
    ) -> Stop<bool> {
        let mut goes_on = false;
        for thread in 0..run.states.len() {
            let mut turn = false;
            if let Some(threads) = &mut self.clock.threads {
                threads.enter(thread as u32);
            }
            match run.states[thread] {
                State::Ended => continue,
                State::Waiting(_) => {
                    goes_on = true;
                    continue;
                }
                State::Ready { in_turn } => turn = in_turn,
                State::Fresh => {
                    let place = self.begin::<B>(parent, (code, start), run)?;
                    run.places[thread] = place;
                }
            }
            if turn {
                self.barrier();
            }
            let place = run.places[thread];
            let frame = &mut run.frames[place];
            let flow = self.execute::<B>(frame, code.end as usize)?;
            if turn {
                self.barrier();
            }
            run.states[thread] = match flow {
                Flow::Waiting(wait) => {
                    goes_on = true;
                    State::Waiting(wait)
                }
                Flow::Stopped | Flow::Ended => {
                    run.idle.push(place);
                    State::Ended
                }
                Flow::Returned(_) => {
                    let what = "a return within a launch of threads".into();
                    return Err(self.error(frame, ErrorKind::Malformed { what }));
                }
            };
        }
        Ok(goes_on)
    }

    /// Returns a frame for the thread that was entered.
    fn begin<const B: bool>(
        &mut self,
        parent: &Frame<'c>,
        (code, start): (&'c Launch, usize),
        run: &mut Run<'c>,
    ) -> Stop<usize> {
        self.step(parent)?;
        let place = run.idle.pop().unwrap_or(run.frames.len());
        if place == run.frames.len() {
            let views = parent.views.iter().map(|view| View { owned: None, ..view.clone() }).collect();
            let (regs, bounds) = (parent.regs.clone(), parent.bounds.clone());
            let function = parent.function;
            run.frames.push(Frame { function, position: start, regs, bounds, views, undefined: false });
        }
        let frame = &mut run.frames[place];
        frame.position = start;
        frame.undefined = false;
        if let Some(threads) = &self.clock.threads {
            let indices = threads.indices(threads.block(), threads.thread());
            for axis in &code.axes {
                frame.set::<B>(axis.index, (indices[axis.axis as usize] as u64, 0.0));
            }
        }
        for (number, &(view, data, rank)) in code.outer.iter().enumerate() {
            let outer = parent.views[view as usize].space.and_then(|space| self.memory.spaces.get(space));
            let Some((size, (unit, part))) = outer.map(|space| (space.bytes.len(), space.unit_bytes()))
            else {
                continue;
            };
            let space = if rank == StorageRank::Local {
                let old = frame.views[view as usize].owned;
                let space = self.memory.allocate(old, size, unit);
                let space = space.map_err(|wanted| self.memory_limit(frame, wanted))?;
                frame.views[view as usize].owned = Some(space);
                space
            } else {
                self.instance(frame, (view, rank), size, unit)?
            };
            if let Some(memory) = self.memory.spaces.get_mut(space) {
                memory.refine(part);
            }
            for (alias, _) in run.aliases.iter().filter(|(_, of)| *of == number) {
                frame.views[*alias as usize].space = Some(space);
            }
            frame.set::<B>(data, (memory::pointer(space, 0), 0.0));
        }
        Ok(place)
    }

    /// Returns the instance of a piece of memory for the running thread; the first thread that asks
    /// makes it (IR-K2).
    fn instance(
        &mut self,
        frame: &Frame<'c>,
        (view, rank): (u32, StorageRank),
        size: usize,
        unit: usize,
    ) -> Stop<usize> {
        let owner = match (rank, &self.clock.threads) {
            (StorageRank::Warp, Some(threads)) => Owner::Warp(threads.warp(threads.thread())),
            (StorageRank::Shared, _) => Owner::Block,
            _ => Owner::Launch,
        };
        let known = self.instances.table.get(&(view, owner)).copied();
        if let Some((space, true)) = known {
            let found = self.memory.spaces.get(space).map_or(0, |space| space.bytes.len());
            if found == size {
                return Ok(space);
            }
            let name = frame.function.views.get(view as usize).map_or("", |info| &*info.name);
            let what =
                format!("threads allocate {size} and {found} bytes for the buffer {name} that they share");
            return Err(self.error(frame, ErrorKind::BadLaunch { what }));
        }
        let space = self.memory.allocate(known.map(|(space, _)| space), size, unit);
        let space = space.map_err(|wanted| self.memory_limit(frame, wanted))?;
        self.instances.table.insert((view, owner), (space, true));
        Ok(space)
    }

    #[inline(never)] // keeps the dispatch loop small
    pub(super) fn allocate_once<const B: bool>(
        &mut self,
        frame: &mut Frame<'c>,
        (view, rank): (u32, StorageRank),
        list: u32,
        form: OperandLayout,
        data: Reg,
    ) -> Stop<()> {
        let (needed, size, unit) = self.needed::<B>(frame, view, list, form)?;
        let space = self.instance(frame, (view, rank), size, unit)?;
        frame.views[view as usize] = View { space: Some(space), ..needed };
        frame.set::<B>(data, (memory::pointer(space, 0), 0.0));
        Ok(())
    }

    /// Orders the accesses so far before the following ones, for the running block.
    pub(super) fn barrier(&mut self) {
        if let Some(threads) = &mut self.clock.threads {
            threads.barrier_of_block();
        }
    }
}

/// Returns the views outside of a launch of memory that has instances in it.
fn aliases(frame: &Frame<'_>, code: &Launch) -> Vec<(u32, usize)> {
    let mut aliases = Vec::new();
    for (number, (outer, ..)) in code.outer.iter().enumerate() {
        let space = frame.views[*outer as usize].space;
        let same = |view: &View| space.is_some() && view.space == space;
        aliases.extend((0..).zip(&frame.views).filter(|(_, view)| same(view)).map(|(at, _)| (at, number)));
    }
    aliases
}
