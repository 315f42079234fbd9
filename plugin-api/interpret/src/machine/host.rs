//! Runs accesses through pointers, and workspaces (INT-I11).

use super::{Frame, Machine, Stop};
use crate::code::Reg;
use crate::error::ErrorKind;
use crate::memory::{self, Fault};
use crate::scalar::Lane;

impl<'c> Machine<'c> {
    fn behind(&self, frame: &Frame<'c>, address: Reg) -> Stop<(usize, usize)> {
        let place = memory::pointee(frame.get(address));
        place
            .filter(|(space, _)| *space < self.memory.spaces.len())
            .ok_or_else(|| self.bad_address(frame, Fault::Outside, None))
    }

    #[inline(never)] // keeps the dispatch loop small
    pub(super) fn load_at<const B: bool>(
        &mut self,
        frame: &mut Frame<'c>,
        dst: Reg,
        address: Reg,
        lane: Lane,
    ) -> Stop<()> {
        self.lost |= frame.bound::<B>(address) > 0.0;
        let (space, offset) = self.behind(frame, address)?;
        let loaded = match self.memory.spaces.get(space) {
            Some(space) => space.load::<B>(offset, lane),
            None => Err(Fault::Outside),
        };
        let value = loaded.map_err(|fault| self.bad_address(frame, fault, Some((space, offset, lane))))?;
        frame.set::<B>(dst, value);
        Ok(())
    }

    #[inline(never)] // keeps the dispatch loop small
    pub(super) fn store_at<const B: bool>(
        &mut self,
        frame: &Frame<'c>,
        src: Reg,
        address: Reg,
        lane: Lane,
    ) -> Stop<()> {
        self.lost |= frame.bound::<B>(address) > 0.0;
        let (space, offset) = self.behind(frame, address)?;
        if B && self.trials > 0 {
            self.remember(space, offset, lane);
        }
        let stored = match self.memory.spaces.get_mut(space) {
            Some(space) => space.store::<B>(offset, lane, frame.num::<B>(src)),
            None => Err(Fault::Outside),
        };
        stored.map_err(|fault| self.bad_address(frame, fault, Some((space, offset, lane))))
    }

    #[inline(never)] // keeps the dispatch loop small
    pub(super) fn workspace<const B: bool>(
        &mut self,
        frame: &mut Frame<'c>,
        dst: Reg,
        size: Reg,
    ) -> Stop<()> {
        self.lost |= frame.bound::<B>(size) > 0.0;
        let size = frame.get(size);
        let bytes = usize::try_from(size).map_err(|_| self.memory_limit(frame, size))?;
        let space =
            self.memory.allocate(None, bytes, 1).map_err(|wanted| self.memory_limit(frame, wanted))?;
        self.workspaces.push(space);
        frame.set::<B>(dst, (memory::pointer(space, 0), 0.0));
        Ok(())
    }

    #[inline(never)] // keeps the dispatch loop small
    pub(super) fn free_workspace(&mut self, frame: &Frame<'c>, data: Reg) -> Stop<()> {
        let place = memory::pointee(frame.get(data)).filter(|(_, offset)| *offset == 0);
        let live = place.and_then(|(space, _)| self.workspaces.iter().position(|live| *live == space));
        let Some(live) = live else {
            let what = "what is freed is no workspace, or was freed before".into();
            return Err(self.error(frame, ErrorKind::Workspace { what }));
        };
        let space = self.workspaces.swap_remove(live);
        self.memory.release(space);
        Ok(())
    }

    /// Sets the tables of a workspace to elements of that size, if a view with such elements is its
    /// first.
    pub(super) fn adopt(&mut self, space: usize, unit_bytes: usize) {
        let with_bounds = self.memory.with_bounds;
        if self.workspaces.contains(&space)
            && let Some(memory) = self.memory.spaces.get_mut(space)
            && !memory.dirty
            && memory.unit_bytes().0 == 1
        {
            let size = memory.bytes.len();
            memory.clear(size, unit_bytes, with_bounds);
        }
    }
}
