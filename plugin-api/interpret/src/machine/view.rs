//! Views of memory, and accesses through them.

use std::sync::Arc;

use super::{Frame, Machine, Stop};
use crate::bound::ANY;
use crate::code::{Fold, NONE, OperandLayout, ParamCode, Reg, ViewInfo};
use crate::error::ErrorKind;
use crate::memory::{self, Fault};
use crate::scalar::Lane;
use crate::threads::Touch;

/// The value of an extent or stride that is not known yet.
const UNKNOWN: i64 = i64::MIN;

/// A buffer's view of memory.
#[derive(Clone, Default)]
pub(crate) struct View {
    /// The number of its memory; `None` before it is declared.
    pub(super) space: Option<usize>,
    /// Position of its first element in the memory, in units of its lanes ([`Lane::size_units`]):
    /// bytes, or bits if elements share bytes.
    pub(super) base: i64,
    pub(super) dims: Vec<Dim>,
    /// The memory that it owns, to be reused or released.
    pub(crate) owned: Option<usize>,
}

#[derive(Clone, Copy)]
pub(super) struct Dim {
    extent: i64,
    /// Stride in units.
    stride: i64,
}

impl View {
    /// Makes a compact view of a whole tensor.
    pub(crate) fn of_tensor(space: usize, shape: &[usize], element_units: usize) -> Self {
        let mut dims: Vec<Dim> =
            shape.iter().map(|&extent| Dim { extent: extent as i64, stride: UNKNOWN }).collect();
        make_compact(&mut dims, element_units);
        Self { space: Some(space), base: 0, dims, owned: None }
    }

    fn shape(&self) -> Vec<i64> {
        self.dims.iter().map(|dim| dim.extent).collect()
    }
}

/// Sets missing strides to compact ones; returns false if that is impossible.
fn make_compact(dims: &mut [Dim], element_units: usize) -> bool {
    let mut stride = Some(element_units as i64);
    for dim in dims.iter_mut().rev() {
        if dim.stride == UNKNOWN {
            let Some(stride) = stride else { return false };
            dim.stride = stride;
        }
        // An axis of extent 0 or 1 leaves the stride unchanged; nothing is reached through it.
        stride = dim.stride.checked_mul(dim.extent.max(1));
    }
    true
}

/// The position of the elements of an access.
struct Access<'f> {
    view: &'f View,
    info: &'f ViewInfo,
    indices: &'f [Reg],
    space: usize,
}

impl<'c> Machine<'c> {
    #[inline(always)]
    fn access<'f>(&self, frame: &'f Frame<'c>, view: u32, index: u32) -> Stop<Access<'f>> {
        let info = &frame.function.views[view as usize];
        let view = &frame.views[view as usize];
        let start = index as usize;
        let indices = frame.function.lists.get(start..start + view.dims.len()).unwrap_or_default();
        match view.space {
            Some(space) => Ok(Access { view, info, indices, space }),
            None => {
                let what = format!("an access to buffer {} before it is declared", info.name);
                Err(self.error(frame, ErrorKind::Malformed { what }))
            }
        }
    }

    /// Returns the offset of the element at a lane of the last index, in units.
    #[inline(always)]
    fn offset(&self, frame: &Frame<'c>, access: &Access<'_>, at: u32, write: bool) -> Stop<usize> {
        let mut offset = access.view.base;
        let last = access.indices.len().wrapping_sub(1);
        let mut inside = true;
        for (axis, (dim, &reg)) in access.view.dims.iter().zip(access.indices).enumerate() {
            let reg = if axis == last { reg + at } else { reg };
            let index = frame.get(reg) as i64;
            inside &= (index as u64) < (dim.extent as u64);
            offset = offset.wrapping_add(index.wrapping_mul(dim.stride));
        }
        if !inside {
            return Err(self.out_of_bounds(frame, access, at, write));
        }
        // A negative offset becomes one past the end.
        Ok(usize::try_from(offset).unwrap_or(usize::MAX))
    }

    fn index_values(frame: &Frame<'c>, access: &Access<'_>, at: u32) -> Vec<i64> {
        let last = access.indices.len().wrapping_sub(1);
        let value = |(axis, &reg): (usize, &Reg)| frame.get(if axis == last { reg + at } else { reg }) as i64;
        access.indices.iter().enumerate().map(value).collect()
    }

    #[cold]
    fn out_of_bounds(
        &self,
        frame: &Frame<'c>,
        access: &Access<'_>,
        at: u32,
        write: bool,
    ) -> Box<crate::InterpretError> {
        let indices = Self::index_values(frame, access, at);
        let kind = ErrorKind::OutOfBounds {
            buffer: Arc::clone(&access.info.name),
            indices,
            shape: access.view.shape(),
            write,
        };
        self.error(frame, kind)
    }

    #[cold]
    fn fault(
        &self,
        frame: &Frame<'c>,
        access: &Access<'_>,
        (at, offset): (u32, usize),
        (fault, write): (Fault, bool),
    ) -> Box<crate::InterpretError> {
        let buffer = Arc::clone(&access.info.name);
        let indices = Self::index_values(frame, access, at);
        let kind = match fault {
            Fault::Constant => ErrorKind::ConstantWritten { buffer },
            Fault::Uninitialized => ErrorKind::Uninitialized { buffer, indices },
            Fault::Race { earlier_write } => ErrorKind::Race { buffer, indices, write, earlier_write },
            Fault::ThreadRace { earlier_write, at } => {
                let other = self.clock.threads.as_ref().map(|threads| threads.who(at)).unwrap_or_default();
                ErrorKind::ThreadRace { buffer, indices, write, earlier_write, other }
            }
            Fault::Outside => ErrorKind::OutsideMemory {
                buffer,
                offset_bytes: i64::try_from(offset).unwrap_or(-1),
                size_bytes: self.memory.spaces.get(access.space).map_or(0, |space| space.bytes.len()),
            },
        };
        self.error(frame, kind)
    }

    /// Returns true if one of the indices may be off.
    fn is_ambiguous<const B: bool>(frame: &Frame<'c>, indices: &[Reg], lanes: u32) -> bool {
        let Some((&last, others)) = indices.split_last() else { return false };
        B && (others.iter().any(|&reg| frame.bound::<B>(reg) > 0.0)
            || (last..last + lanes).any(|reg| frame.bound::<B>(reg) > 0.0))
    }

    #[inline(always)]
    pub(super) fn load<const B: bool>(
        &mut self,
        frame: &mut Frame<'c>,
        dst: Reg,
        view: u32,
        (index, lanes): (u32, u32),
        predicate: Reg,
    ) -> Stop<()> {
        let access = self.access(frame, view, index)?;
        let (lane, per_element, space) = (access.info.lane, access.info.lanes, access.space);
        let ambiguous = B && Self::is_ambiguous::<B>(frame, access.indices, lanes);
        let watched = access.info.shared && self.clock.watching && !self.quiet;
        // The most frequent loads: one element, unmasked, without other threads.
        if lanes * per_element == 1
            && predicate == NONE
            && !watched
            && let Ok((offset, lane)) = self.offset(frame, &access, 0, false).map(|offset| lane.at(offset))
            && let Some(Ok((value, bound))) =
                self.memory.spaces.get(space).map(|space| space.load::<B>(offset, lane))
        {
            frame.set::<B>(dst, (value, if ambiguous { ANY } else { bound }));
            return Ok(());
        }
        for at in 0..lanes {
            let first = dst + at * per_element;
            let mut masked = 0.0;
            if predicate != NONE {
                masked = frame.bound::<B>(predicate + at);
                if frame.get(predicate + at) == 0 {
                    let bound = if masked > 0.0 { ANY } else { 0.0 };
                    (first..first + per_element).for_each(|reg| frame.set::<B>(reg, (0, bound)));
                    continue;
                }
            }
            let access = self.access(frame, view, index)?;
            let offset = self.offset(frame, &access, at, false)?;
            for part in 0..per_element {
                let (offset, lane) = lane.at(offset.saturating_add(part as usize * lane.size_units()));
                let loaded = match self.memory.spaces.get(space) {
                    Some(space) => space.load::<B>(offset, lane),
                    None => Err(Fault::Outside),
                };
                let touched = if watched && loaded.is_ok() {
                    self.touch(space, offset, lane, Touch::Read)
                } else {
                    Ok(())
                };
                match (loaded, touched) {
                    (Ok((value, bound)), Ok(())) => {
                        let bound = if B && (ambiguous || masked > 0.0) { ANY } else { bound };
                        frame.set::<B>(first + part, (value, bound));
                    }
                    (Err(fault), _) | (_, Err(fault)) => {
                        let access = self.access(frame, view, index)?;
                        return Err(self.fault(frame, &access, (at, offset), (fault, false)));
                    }
                }
            }
        }
        Ok(())
    }

    pub(super) fn touch(
        &mut self,
        space: usize,
        offset: usize,
        lane: Lane,
        touch: Touch,
    ) -> Result<(), Fault> {
        let Some(space) = self.memory.spaces.get_mut(space) else { return Err(Fault::Outside) };
        if touch != Touch::Atomic {
            space.touch(&self.clock, offset, lane.size_bytes(), touch == Touch::Write)?;
        }
        match &self.clock.threads {
            Some(threads) => space.mark(threads, offset, lane.size_bytes(), touch),
            None => Ok(()),
        }
    }

    #[inline(always)]
    pub(super) fn store<const B: bool>(
        &mut self,
        frame: &Frame<'c>,
        src: Reg,
        view: u32,
        (index, lanes): (u32, u32),
        predicate: Reg,
        fold: Option<&Fold>,
    ) -> Stop<()> {
        let access = self.access(frame, view, index)?;
        let (lane, per_element, space) = (access.info.lane, access.info.lanes, access.space);
        let mut ambiguous = B && Self::is_ambiguous::<B>(frame, access.indices, lanes);
        let watched = self.clock.watching && !access.info.private && !self.quiet;
        for at in 0..lanes {
            if predicate != NONE {
                ambiguous |= B && frame.bound::<B>(predicate + at) > 0.0;
                if frame.get(predicate + at) == 0 {
                    continue;
                }
            }
            let offset = self.offset(frame, &access, at, true)?;
            for part in 0..per_element {
                let (offset, lane) = lane.at(offset.saturating_add(part as usize * lane.size_units()));
                let from = at * per_element + part;
                let value = frame.num::<B>(src + from);
                if B && self.trials > 0 {
                    self.remember(space, offset, lane);
                }
                let mut stored = if watched { self.touch(space, offset, lane, Touch::Write) } else { Ok(()) };
                if stored.is_ok() {
                    stored = match (self.memory.spaces.get_mut(space), fold) {
                        (Some(space), Some(fold)) if B => {
                            let operands = [fold.old, fold.term].map(|reg| frame.num::<B>(reg + from));
                            space.fold(offset, lane, fold.kind, value, operands)
                        }
                        (Some(space), _) => space.store::<B>(offset, lane, value),
                        (None, _) => Err(Fault::Outside),
                    };
                }
                if let Err(fault) = stored {
                    return Err(self.fault(frame, &access, (at, offset), (fault, true)));
                }
            }
        }
        if ambiguous && let Some(space) = self.memory.spaces.get_mut(space) {
            // The other side may have stored anywhere.
            space.poison();
        }
        Ok(())
    }

    pub(super) fn address<const B: bool>(
        &mut self,
        frame: &mut Frame<'c>,
        dst: Reg,
        view: u32,
        index: u32,
    ) -> Stop<()> {
        let access = self.access(frame, view, index)?;
        let (offset, _) = access.info.lane.at(self.offset(frame, &access, 0, false)?);
        let pointer = memory::pointer(access.space, offset);
        let bound = if Self::is_ambiguous::<B>(frame, access.indices, 1) { ANY } else { 0.0 };
        frame.set::<B>(dst, (pointer, bound));
        Ok(())
    }

    /// Marks elements as never written; an index out of bounds is an error, as for a store.
    pub(super) fn forget(&mut self, frame: &Frame<'c>, view: u32, index: u32, lanes: u32) -> Stop<()> {
        let access = self.access(frame, view, index)?;
        let (lane, per_element) = (access.info.lane, access.info.lanes as usize);
        for at in 0..lanes {
            let offset = self.offset(frame, &access, at, true)?;
            if let Some(space) = self.memory.spaces.get_mut(access.space) {
                for part in 0..per_element {
                    let (offset, lane) = lane.at(offset.saturating_add(part * lane.size_units()));
                    space.forget(offset, lane);
                }
            }
        }
        Ok(())
    }

    fn name(frame: &Frame<'c>, view: u32) -> Arc<str> {
        frame.function.views.get(view as usize).map_or_else(|| Arc::from(""), |info| Arc::clone(&info.name))
    }

    /// Returns the axes of a form, and its offset, in units.
    fn form<const B: bool>(
        &mut self,
        frame: &Frame<'c>,
        view: u32,
        list: u32,
        form: OperandLayout,
    ) -> Stop<(Vec<Dim>, i64)> {
        let rank = form.rank as usize;
        let n = form.rank * (1 + u32::from(form.has_strides)) + u32::from(form.has_offset);
        let regs = frame.list(list, n);
        self.lost |= regs.iter().any(|&reg| frame.bound::<B>(reg) > 0.0);
        let values: Vec<i64> = regs.iter().map(|&reg| frame.get(reg) as i64).collect();
        let element = frame.function.views[view as usize].element_units();
        let units = |elements: i64| elements.checked_mul(element as i64);
        let mut dims = Vec::with_capacity(rank);
        let mut is_good = true;
        for axis in 0..rank {
            let extent = values.get(axis).copied().unwrap_or(0);
            let stride = if form.has_strides {
                values.get(rank + axis).copied().and_then(units)
            } else {
                Some(UNKNOWN)
            };
            is_good &= extent >= 0 && stride.is_some();
            dims.push(Dim { extent, stride: stride.unwrap_or(UNKNOWN) });
        }
        let offset = if form.has_offset { values.last().copied().and_then(units) } else { Some(0) };
        match offset {
            Some(offset) if is_good && make_compact(&mut dims, element) => Ok((dims, offset)),
            _ => {
                let shape = values.into_iter().take(rank).collect();
                let kind = ErrorKind::BadExtent { buffer: Self::name(frame, view), shape };
                Err(self.error(frame, kind))
            }
        }
    }

    /// Returns the requirements of an allocation: its view, its size in bytes, bytes of a lane.
    pub(super) fn needed<const B: bool>(
        &mut self,
        frame: &Frame<'c>,
        view: u32,
        list: u32,
        form: OperandLayout,
    ) -> Stop<(View, usize, usize)> {
        let (dims, base) = self.form::<B>(frame, view, list, form)?;
        let info = &frame.function.views[view as usize];
        let (element, unit) = (info.element_units() as i64, info.lane.size_bytes());
        // One past the last element.
        let mut size = base.checked_add(element);
        for dim in &dims {
            let reach = dim.extent.checked_sub(1).and_then(|last| last.checked_mul(dim.stride));
            size = size.zip(reach).and_then(|(size, reach)| size.checked_add(reach));
        }
        if dims.iter().any(|dim| dim.extent == 0) {
            size = Some(0);
        }
        let Some(size) = size.and_then(|size| usize::try_from(size).ok()) else {
            let shape = dims.iter().map(|dim| dim.extent).collect();
            let kind = ErrorKind::BadExtent { buffer: Self::name(frame, view), shape };
            return Err(self.error(frame, kind));
        };
        let size_bytes = info.lane.bytes_of_units(size);
        Ok((View { space: None, base, dims, owned: None }, size_bytes, unit))
    }

    pub(super) fn memory_limit(&self, frame: &Frame<'c>, wanted_bytes: u64) -> Box<crate::InterpretError> {
        let memory_bytes_max = self.limits.memory_bytes_max;
        self.error(frame, ErrorKind::MemoryLimit { wanted_bytes, memory_bytes_max })
    }

    pub(super) fn allocate<const B: bool>(
        &mut self,
        frame: &mut Frame<'c>,
        view: u32,
        list: u32,
        form: OperandLayout,
        data: Reg,
    ) -> Stop<()> {
        let (needed, size, unit) = self.needed::<B>(frame, view, list, form)?;
        let old = frame.views[view as usize].owned;
        let space =
            self.memory.allocate(old, size, unit).map_err(|wanted| self.memory_limit(frame, wanted))?;
        frame.views[view as usize] = View { space: Some(space), owned: Some(space), ..needed };
        frame.set::<B>(data, (memory::pointer(space, 0), 0.0));
        Ok(())
    }

    pub(super) fn declare<const B: bool>(
        &mut self,
        frame: &mut Frame<'c>,
        view: u32,
        list: u32,
        form: OperandLayout,
        data: Reg,
    ) -> Stop<()> {
        let (dims, offset) = self.form::<B>(frame, view, list, form)?;
        self.lost |= frame.bound::<B>(data) > 0.0;
        let (space, start) = self.pointee(frame, view, frame.get(data))?;
        if !self.workspaces.is_empty() {
            self.adopt(space, frame.function.views[view as usize].lane.size_bytes());
        }
        self.refine(frame, view, space);
        let base = self.units(frame, view, start).saturating_add(offset);
        frame.views[view as usize] = View { space: Some(space), base, dims, owned: None };
        Ok(())
    }

    /// Converts a byte position to units of the view.
    fn units(&self, frame: &Frame<'c>, view: u32, byte: usize) -> i64 {
        let lane = frame.function.views[view as usize].lane;
        (byte as i64).saturating_mul(if let Lane::Part(_) = lane { 8 } else { 1 })
    }

    /// Makes the memory keep records per element of a view, which may be narrower than the memory's
    /// elements.
    fn refine(&mut self, frame: &Frame<'c>, view: u32, space: usize) {
        let bytes = frame.function.views[view as usize].lane.size_bytes();
        if let Some(memory) = self.memory.spaces.get_mut(space) {
            memory.refine(bytes);
        }
    }

    fn pointee(&self, frame: &Frame<'c>, view: u32, pointer: u64) -> Stop<(usize, usize)> {
        memory::pointee(pointer).filter(|(space, _)| *space < self.memory.spaces.len()).ok_or_else(|| {
            let buffer = Self::name(frame, view);
            self.error(frame, ErrorKind::OutsideMemory { buffer, offset_bytes: 0, size_bytes: 0 })
        })
    }

    pub(super) fn match_region<const B: bool>(
        &mut self,
        frame: &mut Frame<'c>,
        [view, source]: [u32; 2],
        list: u32,
        [data, offset]: [Reg; 2],
    ) -> Stop<()> {
        let from = frame.views[source as usize].clone();
        let Some(space) = from.space else {
            let what = format!("buffer {} is matched before it is declared", Self::name(frame, source));
            return Err(self.error(frame, ErrorKind::Malformed { what }));
        };
        let rank = from.dims.len();
        let regs = frame.list(list, 2 * rank as u32);
        self.lost |= regs.iter().any(|&reg| frame.bound::<B>(reg) > 0.0);
        let values: Vec<i64> = regs.iter().map(|&reg| frame.get(reg) as i64).collect();
        let (mins, extents) = values.split_at(rank.min(values.len()));
        let kept = frame.function.views[view as usize].rank as usize;
        let mut base = from.base;
        let mut inside = true;
        for (axis, dim) in from.dims.iter().enumerate() {
            let (min, extent) = (mins[axis], extents[axis]);
            inside &= min >= 0 && extent >= 0 && min.checked_add(extent).is_some_and(|end| end <= dim.extent);
            // Axes that are dropped have one index.
            inside &= axis + kept >= rank || extent == 1;
            base = base.wrapping_add(min.wrapping_mul(dim.stride));
        }
        if !inside {
            let kind = ErrorKind::OutOfBounds {
                buffer: Self::name(frame, source),
                indices: mins.iter().zip(extents).map(|(min, extent)| min.saturating_add(*extent)).collect(),
                shape: from.shape(),
                write: false,
            };
            return Err(self.error(frame, kind));
        }
        let dims = from.dims[rank - kept..]
            .iter()
            .zip(&extents[rank - kept..])
            .map(|(dim, &extent)| Dim { extent, stride: dim.stride })
            .collect();
        if offset != NONE {
            let element = frame.function.views[view as usize].element_units().max(1) as i64;
            frame.set::<B>(offset, ((base / element) as u64, 0.0));
        }
        frame.views[view as usize] = View { space: Some(space), base, dims, owned: None };
        frame.set::<B>(data, (memory::pointer(space, 0), 0.0));
        Ok(())
    }

    pub(super) fn dim<const B: bool>(
        &mut self,
        frame: &mut Frame<'c>,
        dst: Reg,
        view: u32,
        (axis, is_stride): (u32, bool),
    ) -> Stop<()> {
        let element = frame.function.views[view as usize].element_units().max(1) as i64;
        let dim = frame.views[view as usize].dims.get(axis as usize).copied();
        let value = dim.map(|dim| if is_stride { dim.stride } else { dim.extent });
        match value {
            Some(value) if value != UNKNOWN => {
                let value = if is_stride { value / element } else { value };
                frame.set::<B>(dst, (value as u64, 0.0));
                Ok(())
            }
            _ => Err(self.argument(
                frame,
                view,
                format!(
                    "a size is not known along axis {axis}: a bare pointer has no shape; pass the sizes too"
                ),
            )),
        }
    }

    fn argument(&self, frame: &Frame<'c>, view: u32, message: String) -> Box<crate::InterpretError> {
        self.error(frame, ErrorKind::Argument { parameter: Self::name(frame, view).to_string(), message })
    }

    pub(super) fn check_dim(
        &mut self,
        frame: &mut Frame<'c>,
        src: Reg,
        view: u32,
        (axis, is_stride): (u32, bool),
    ) -> Stop<()> {
        let element = frame.function.views[view as usize].element_units() as i64;
        let expected = frame.get(src) as i64;
        let scale = if is_stride { element } else { 1 };
        let scaled = expected.checked_mul(scale);
        let mut found = None;
        if let Some(dim) = frame.views[view as usize].dims.get_mut(axis as usize) {
            let extent = dim.extent;
            let place = if is_stride { &mut dim.stride } else { &mut dim.extent };
            match scaled {
                Some(value) if *place == UNKNOWN && value >= 0 => *place = value,
                // Nothing is reached through the stride of a single index.
                _ if Some(*place) != scaled && !(is_stride && extent <= 1) => {
                    found = Some(*place / scale.max(1))
                }
                _ => {}
            }
        }
        match found {
            None => Ok(()),
            Some(found) => {
                let what = if is_stride { "stride" } else { "extent" };
                let message = format!("expected {what} {expected} along axis {axis}, found {found}");
                Err(self.argument(frame, view, message))
            }
        }
    }

    pub(super) fn check_begin(&self, frame: &Frame<'c>, src: Reg, view: u32) -> Stop<()> {
        let element = frame.function.views[view as usize].element_units().max(1) as i64;
        let found = frame.views[view as usize].base / element;
        match frame.get(src) as i64 {
            expected if expected == found => Ok(()),
            expected => {
                let message = format!(
                    "expected a tensor that begins at element {expected} of its data, found one at {found}"
                );
                Err(self.argument(frame, view, message))
            }
        }
    }

    pub(super) fn compact(&mut self, frame: &mut Frame<'c>, view: u32) -> Stop<()> {
        let element = frame.function.views[view as usize].element_units();
        if make_compact(&mut frame.views[view as usize].dims, element) {
            return Ok(());
        }
        let shape = frame.views[view as usize].shape();
        Err(self.error(frame, ErrorKind::BadExtent { buffer: Self::name(frame, view), shape }))
    }

    /// Passes a caller's argument to a parameter of a callee: a view, or a register.
    pub(super) fn pass<const B: bool>(
        &mut self,
        caller: &Frame<'c>,
        frame: &mut Frame<'c>,
        (_, param): (&Arc<str>, &ParamCode),
        (is_view, number): (bool, u32),
    ) -> Stop<()> {
        match param {
            ParamCode::Scalar { reg, .. } => frame.set::<B>(*reg, caller.num::<B>(number)),
            ParamCode::Tensor { view, data } if is_view => {
                let mut passed = caller.views[number as usize].clone();
                passed.owned = None;
                let lane = frame.function.views[*view as usize].lane;
                let (start, _) = lane.at(passed.base.max(0) as usize);
                let pointer = passed.space.map_or(0, |space| memory::pointer(space, start));
                frame.views[*view as usize] = passed;
                frame.set::<B>(*data, (pointer, 0.0));
            }
            ParamCode::Tensor { view, data } => {
                let pointer = caller.num::<B>(number);
                let rank = frame.function.views[*view as usize].rank as usize;
                let (space, start) = self.pointee(frame, *view, pointer.0)?;
                self.refine(frame, *view, space);
                let dims = vec![Dim { extent: UNKNOWN, stride: UNKNOWN }; rank];
                frame.views[*view as usize] =
                    View { space: Some(space), base: self.units(frame, *view, start), dims, owned: None };
                frame.set::<B>(*data, pointer);
            }
        }
        Ok(())
    }
}
