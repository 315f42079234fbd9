//! Memory: bytes, with records of initialisation and accesses, and error bounds.

use crate::bound::ANY;
use crate::code::FoldKind;
use crate::scalar::{Flt, Lane, with_float};
use crate::threads::{Mark, Threads, Touch};

/// Number of bits of a pointer that hold the byte offset; the others hold one more than the number
/// of the space.
const OFFSET_BITS: u32 = 40;
/// One past the greatest number of a space.
const SPACES_MAX: usize = (1 << (64 - OFFSET_BITS)) - 1;

/// Makes a pointer to a byte of a space.
pub(crate) fn pointer(space: usize, offset_bytes: usize) -> u64 {
    ((space as u64 + 1) << OFFSET_BITS) | offset_bytes as u64
}

/// Returns the space and the byte of a pointer; `None` for null.
pub(crate) fn pointee(pointer: u64) -> Option<(usize, usize)> {
    let space = (pointer >> OFFSET_BITS).checked_sub(1)?;
    Some((space as usize, (pointer & ((1 << OFFSET_BITS) - 1)) as usize))
}

/// The reason why an access failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// It extends past the memory's end.
    Outside,
    /// The element was never written.
    Uninitialized,
    /// A write to the bytes of a constant.
    Constant,
    /// Another iteration accessed the element.
    Race { earlier_write: bool },
    /// Another thread of the launch accessed the element, at that moment.
    ThreadRace { earlier_write: bool, at: crate::threads::Moment },
}

/// The times of the last write and read of an element in a parallel loop, by [`Clock`]; 0 is never.
#[derive(Clone, Copy, Default)]
struct Stamp {
    write: u64,
    read: u64,
}

/// The data of a reduction for the bound of any association.
#[derive(Clone, Copy, Default)]
struct Gather {
    /// Number of terms; 0: no data.
    n: f64,
    /// Of a sum, the sum of magnitudes; of a product, the greatest possible partial product.
    most: f64,
    /// Of a product, the least possible partial product.
    least: f64,
    /// Errors of the terms and of the order taken.
    error: f64,
}

impl Gather {
    /// Adds one more term; returns the bound of the value.
    fn take(
        &mut self,
        lane: Lane,
        kind: FoldKind,
        (value, running): (f64, f64),
        old: (f64, f64),
        term: (f64, f64),
    ) -> f64 {
        let Some(facts) = Facts::of(lane) else { return running };
        if kind == FoldKind::Extreme {
            // The operand that a NaN drops depends on the order.
            return if old.0.is_nan() || term.0.is_nan() { ANY } else { running };
        }
        if self.n == 0.0 {
            *self = Self { n: 0.0, most: 1.0, least: 1.0, error: 0.0 };
            if kind == FoldKind::Sum {
                self.most = 0.0;
            }
            self.add(kind, old);
        }
        self.n += 1.0;
        self.add(kind, term);
        if value.is_finite() {
            self.error += facts.unit * value.abs();
        }
        if self.error == ANY || running == ANY && value.is_finite() {
            return ANY;
        }
        let bound = match kind {
            FoldKind::Sum => {
                let n = self.n * facts.unit;
                if n >= 0.5 { ANY } else { (self.error + n / (1.0 - n) * self.most) * (1.0 + 1e-9) }
            }
            _ if self.least < facts.normal => ANY,
            _ => running,
        };
        // Not a number if a part of it is infinite.
        let may_overflow = (self.most + bound).partial_cmp(&facts.max).is_none_or(std::cmp::Ordering::is_gt);
        if may_overflow {
            ANY
        } else if value.is_finite() {
            bound
        } else {
            0.0 // an infinite term or a NaN: so it is in every order
        }
    }

    fn add(&mut self, kind: FoldKind, (value, bound): (f64, f64)) {
        if value.is_finite() {
            match kind {
                FoldKind::Product => {
                    self.most *= (value.abs() + bound).max(1.0);
                    self.least *= if value == 0.0 { 1.0 } else { (value.abs() - bound).clamp(0.0, 1.0) };
                }
                _ => self.most += value.abs() + bound,
            }
        }
        self.error += bound;
    }
}

/// The terms of a reduction that is not in memory.
#[derive(Default)]
pub(crate) struct Gathered(Gather);

impl Gathered {
    /// Adds one more term; returns the bound of the value in any order.
    pub(crate) fn take(
        &mut self,
        lane: Lane,
        kind: FoldKind,
        value: (u64, f64),
        old: (u64, f64),
        term: (u64, f64),
    ) -> f64 {
        let wide = |(bits, bound): (u64, f64)| (lane.to_f64(bits), bound);
        self.0.take(lane, kind, wide(value), wide(old), wide(term))
    }
}

/// The properties of a float type that bounds depend on.
struct Facts {
    unit: f64,
    max: f64,
    normal: f64,
}

impl Facts {
    fn of(lane: Lane) -> Option<Self> {
        fn facts<T: Flt>() -> Facts {
            Facts { unit: T::UNIT, max: T::MAX, normal: T::NORMAL }
        }
        with_float!(lane, T => Some(facts::<T>()), None)
    }
}

/// The greatest number of parts that eight bytes can overlap: whole bytes.
const PARTS_MAX: usize = 8;

/// The contents of an element.
#[derive(Clone, Copy)]
pub(crate) struct Snapshot {
    pub(crate) value: u64,
    pub(crate) bound: f64,
    /// For each part that has its own record, whether it was written.
    written: [bool; PARTS_MAX],
    gather: Gather,
}

impl Snapshot {
    /// Returns true if all of it was written.
    pub(crate) fn is_written(&self) -> bool {
        !self.written.contains(&false)
    }
}

/// A piece of memory.
#[derive(Clone, Default)]
pub(crate) struct Space {
    pub(crate) bytes: Vec<u8>,
    /// Size of an element in bytes, as allocated.
    unit_bytes: usize,
    /// Size in bytes of an element of the narrowest view: a part.
    part_bytes: usize,
    /// Per part, whether it was written; empty if all were.
    written: Vec<bool>,
    /// Per part, the times of its accesses in a parallel loop; empty if there were none.
    stamps: Vec<Stamp>,
    /// Per part, the threads and times of its accesses in a launch; empty if there were none.
    marks: Vec<Mark>,
    /// Per element, its bound; empty in a run without bounds.
    bounds: Vec<f64>,
    gathers: Vec<Gather>,
    /// Whether anything was stored.
    pub(crate) dirty: bool,
    /// Whether these are the bytes of a constant, which nothing writes (IR-B8).
    is_constant: bool,
}

impl Space {
    /// Makes initialised memory.
    pub(crate) fn filled(bytes: Vec<u8>, unit_bytes: usize, with_bounds: bool) -> Self {
        let unit_bytes = unit_bytes.max(1);
        let bounds = if with_bounds { vec![0.0; bytes.len().div_ceil(unit_bytes)] } else { Vec::new() };
        Self { bytes, unit_bytes, part_bytes: unit_bytes, bounds, ..Self::default() }
    }

    /// Makes the memory undefined, reusing its allocations.
    pub(crate) fn clear(&mut self, size_bytes: usize, unit_bytes: usize, with_bounds: bool) {
        let n = size_bytes.div_ceil(unit_bytes.max(1));
        self.unit_bytes = unit_bytes.max(1);
        self.part_bytes = self.unit_bytes;
        self.bytes.clear();
        self.bytes.resize(size_bytes, 0);
        self.written.clear();
        self.written.resize(n, false);
        self.bounds.clear();
        self.bounds.resize(if with_bounds { n } else { 0 }, 0.0);
        self.stamps.clear();
        self.marks.clear();
        self.gathers.clear();
    }

    /// Returns the bytes, and the bounds of all elements.
    pub(crate) fn into_parts(self) -> (Vec<u8>, Vec<f64>) {
        (self.bytes, self.bounds)
    }

    /// Divides parts into narrower ones of so many bytes, from now on, because a view has such
    /// elements.
    pub(crate) fn refine(&mut self, bytes: usize) {
        let times = self.part_bytes / bytes.max(1);
        if times < 2 || bytes * times != self.part_bytes {
            return;
        }
        fn each<T: Copy>(table: &mut Vec<T>, times: usize, n: usize) {
            *table = table.iter().flat_map(|one| std::iter::repeat_n(*one, times)).take(n).collect();
        }
        self.part_bytes = bytes;
        let n = self.bytes.len().div_ceil(bytes);
        each(&mut self.written, times, n);
        each(&mut self.stamps, times, n);
        each(&mut self.marks, times, n);
    }

    /// Returns the range of elements of `unit_bytes` bytes that an access overlaps.
    #[inline(always)]
    fn elements(unit_bytes: usize, offset: usize, size_bytes: usize) -> (usize, usize) {
        if size_bytes == unit_bytes {
            // The common case; a shift, because sizes of types are powers of two.
            let unit = offset >> unit_bytes.trailing_zeros();
            let is_aligned = offset & (unit_bytes - 1) == 0;
            return (unit, unit + if is_aligned { 1 } else { 2 });
        }
        // A released space has no elements.
        let unit_bytes = unit_bytes.max(1);
        (offset / unit_bytes, (offset + size_bytes).div_ceil(unit_bytes))
    }

    #[inline(always)]
    fn units(&self, offset: usize, size_bytes: usize) -> (usize, usize) {
        Self::elements(self.unit_bytes, offset, size_bytes)
    }

    #[inline(always)]
    fn parts(&self, offset: usize, size_bytes: usize) -> (usize, usize) {
        Self::elements(self.part_bytes, offset, size_bytes)
    }

    #[inline(always)]
    pub(crate) fn load<const B: bool>(&self, offset: usize, lane: Lane) -> Result<(u64, f64), Fault> {
        let size_bytes = lane.size_bytes();
        let Some(bytes) = self.bytes.get(offset..offset.saturating_add(size_bytes)) else {
            return Err(Fault::Outside);
        };
        if !self.written.is_empty() {
            let (first, end) = self.parts(offset, size_bytes);
            if self.written.get(first..end).is_some_and(|units| units.contains(&false)) {
                return Err(Fault::Uninitialized);
            }
        }
        let bound = if B { self.bound(offset, size_bytes) } else { 0.0 };
        Ok((lane.read(bytes), bound))
    }

    /// Returns the bound of an access; for a part of an element, or several elements, anything
    /// unless they are exact.
    #[inline]
    fn bound(&self, offset: usize, size_bytes: usize) -> f64 {
        let (first, end) = self.units(offset, size_bytes);
        let units = self.bounds.get(first..end).unwrap_or_default();
        match units {
            [one] if size_bytes == self.unit_bytes => *one,
            units if units.iter().all(|&bound| bound == 0.0) => 0.0,
            _ => ANY,
        }
    }

    /// Sets the bound of an element, if the memory has bounds.
    pub(crate) fn set_bound(&mut self, offset: usize, lane: Lane, bound: f64) {
        let (first, end) = self.units(offset, lane.size_bytes());
        for unit in self.bounds.get_mut(first..end).into_iter().flatten() {
            *unit = bound;
        }
    }

    #[inline(always)]
    pub(crate) fn store<const B: bool>(
        &mut self,
        offset: usize,
        lane: Lane,
        (value, bound): (u64, f64),
    ) -> Result<(), Fault> {
        let size_bytes = lane.size_bytes();
        if self.is_constant {
            return Err(Fault::Constant);
        }
        let Some(bytes) = self.bytes.get_mut(offset..offset.saturating_add(size_bytes)) else {
            return Err(Fault::Outside);
        };
        lane.write(bytes, value);
        self.dirty = true;
        if !self.written.is_empty() {
            let (first, end) = self.parts(offset, size_bytes);
            if let Some(units) = self.written.get_mut(first..end) {
                units.fill(true);
            }
        }
        if B {
            // A boolean that may be off may be anything.
            let bound = if lane == Lane::Bool && bound > 0.0 { ANY } else { bound };
            // Other elements in the byte keep their bound.
            let is_shared = matches!(lane, Lane::Part(_));
            let bound = if is_shared { bound.max(self.bound(offset, size_bytes)) } else { bound };
            self.set_bound(offset, lane, bound);
            if !self.gathers.is_empty() {
                let (first, end) = self.units(offset, size_bytes);
                if let Some(units) = self.gathers.get_mut(first..end) {
                    units.fill(Gather::default());
                }
            }
        }
        Ok(())
    }

    /// Stores the result of a block's reduction with the bound of any association (INT-B3): the
    /// errors of the terms, the rounding of the order taken here, and `n · u · Σ|term|` for any
    /// other.
    pub(crate) fn fold(
        &mut self,
        offset: usize,
        lane: Lane,
        kind: FoldKind,
        (value, running): (u64, f64),
        [old, term]: [(u64, f64); 2],
    ) -> Result<(), Fault> {
        if self.gathers.is_empty() {
            self.gathers.resize(self.bounds.len(), Gather::default());
        }
        let (unit, _) = self.units(offset, lane.size_bytes());
        let mut gather = self.gathers.get(unit).copied().unwrap_or_default();
        let wide = |(bits, bound): (u64, f64)| (lane.to_f64(bits), bound);
        let bound = gather.take(lane, kind, (lane.to_f64(value), running), wide(old), wide(term));
        self.store::<true>(offset, lane, (value, bound))?;
        if let Some(place) = self.gathers.get_mut(unit) {
            *place = gather;
        }
        Ok(())
    }

    /// Returns the contents of an element, for [`Self::restore`].
    pub(crate) fn snapshot(&self, offset: usize, lane: Lane) -> Snapshot {
        let (unit, _) = self.units(offset, lane.size_bytes());
        let (first, end) = self.parts(offset, lane.size_bytes());
        let mut written = [true; PARTS_MAX];
        for (kept, part) in written.iter_mut().zip(self.written.get(first..end).unwrap_or_default()) {
            *kept = *part;
        }
        let bytes = self.bytes.get(offset..).unwrap_or_default();
        Snapshot {
            value: lane.read(bytes),
            bound: self.bound(offset, lane.size_bytes()),
            written,
            gather: self.gathers.get(unit).copied().unwrap_or_default(),
        }
    }

    /// Restores the contents of an element.
    pub(crate) fn restore(&mut self, offset: usize, lane: Lane, snapshot: &Snapshot) {
        let (unit, _) = self.units(offset, lane.size_bytes());
        if let Some(bytes) = self.bytes.get_mut(offset..) {
            lane.write(bytes, snapshot.value);
        }
        let (first, end) = self.parts(offset, lane.size_bytes());
        for (part, kept) in self.written.get_mut(first..end).into_iter().flatten().zip(snapshot.written) {
            *part = kept;
        }
        if let Some(gather) = self.gathers.get_mut(unit) {
            *gather = snapshot.gather;
        }
        self.set_bound(offset, lane, snapshot.bound);
    }

    /// Records an access in a parallel loop.
    #[inline]
    pub(crate) fn touch(
        &mut self,
        clock: &Clock,
        offset: usize,
        size_bytes: usize,
        write: bool,
    ) -> Result<(), Fault> {
        if self.stamps.is_empty() {
            self.stamps.resize(self.bytes.len().div_ceil(self.part_bytes.max(1)), Stamp::default());
        }
        let (first, end) = self.parts(offset, size_bytes);
        for stamp in self.stamps.get_mut(first..end).into_iter().flatten() {
            if clock.is_elsewhere(stamp.write) {
                return Err(Fault::Race { earlier_write: true });
            }
            if write {
                if clock.is_elsewhere(stamp.read) {
                    return Err(Fault::Race { earlier_write: false });
                }
                stamp.write = clock.now;
            } else if !clock.is_elsewhere(stamp.read) {
                // An earlier read by another iteration detects more than this one.
                stamp.read = clock.now;
            }
        }
        Ok(())
    }

    /// Records an access of a thread of a launch.
    pub(crate) fn mark(
        &mut self,
        threads: &Threads,
        offset: usize,
        size_bytes: usize,
        touch: Touch,
    ) -> Result<(), Fault> {
        if self.marks.is_empty() {
            self.marks.resize(self.bytes.len().div_ceil(self.part_bytes.max(1)), Mark::default());
        }
        let (first, end) = self.parts(offset, size_bytes);
        for mark in self.marks.get_mut(first..end).into_iter().flatten() {
            if let Some((earlier_write, at)) = mark.touch(threads, touch) {
                return Err(Fault::ThreadRace { earlier_write, at });
            }
        }
        Ok(())
    }

    /// Marks an element as never written.
    pub(crate) fn forget(&mut self, offset: usize, lane: Lane) {
        let (first, end) = self.parts(offset, lane.size_bytes());
        if let Some(parts) = self.written.get_mut(first..end) {
            parts.fill(false);
        }
    }

    /// Returns the size of an element in bytes, as allocated, and that of a part.
    pub(crate) fn unit_bytes(&self) -> (usize, usize) {
        (self.unit_bytes, self.part_bytes)
    }

    /// Sets the bounds of all elements to "anything".
    pub(crate) fn poison(&mut self) {
        self.bounds.fill(ANY);
        self.dirty = true;
    }
}

/// Time in iterations of parallel loops. Iterations run one after the other, so an access at time
/// `t` belongs to another iteration of an open loop if `t` lies between the loop's start and the
/// start of the running iteration.
#[derive(Default)]
pub(crate) struct Clock {
    now: u64,
    /// For each open loop, outermost first: its start, and the start of the running iteration.
    open: Vec<(u64, u64)>,
    /// The running launch.
    pub(crate) threads: Option<Box<Threads>>,
    /// Whether accesses are recorded: in a parallel loop or a launch.
    pub(crate) watching: bool,
}

impl Clock {
    /// Begins a parallel loop.
    pub(crate) fn begin(&mut self) {
        self.now += 1;
        self.open.push((self.now, self.now));
        self.watching = true;
    }

    /// Begins the next iteration of the innermost loop.
    pub(crate) fn iterate(&mut self) {
        self.now += 1;
        if let Some(innermost) = self.open.last_mut() {
            innermost.1 = self.now;
        }
    }

    /// Ends the innermost loop.
    pub(crate) fn end(&mut self) {
        self.close(self.open.len().saturating_sub(1));
    }

    /// Returns the number of open loops.
    pub(crate) fn depth(&self) -> usize {
        self.open.len()
    }

    /// Closes all loops except the outermost `depth`.
    pub(crate) fn close(&mut self, depth: usize) {
        self.open.truncate(depth);
        self.watching = !self.open.is_empty() || self.threads.is_some();
    }

    /// Begins or ends a launch.
    pub(crate) fn launch(&mut self, threads: Option<Box<Threads>>) {
        self.threads = threads;
        self.close(self.open.len());
    }

    #[inline]
    fn is_elsewhere(&self, time: u64) -> bool {
        self.open.iter().any(|&(start, iteration)| start <= time && time < iteration)
    }
}

/// All memory of a run.
pub(crate) struct Memory {
    pub(crate) spaces: Vec<Space>,
    free: Vec<usize>,
    size_bytes: u64,
    limit_bytes: u64,
    pub(crate) with_bounds: bool,
}

impl Memory {
    pub(crate) fn new(limit_bytes: u64, with_bounds: bool) -> Self {
        Self { spaces: Vec::new(), free: Vec::new(), size_bytes: 0, limit_bytes, with_bounds }
    }

    /// Adds initialised memory. The `Err` is the total size that would be needed.
    pub(crate) fn fill(&mut self, bytes: Vec<u8>, unit_bytes: usize) -> Result<usize, u64> {
        self.grow(bytes.len() as u64)?;
        let with_bounds = self.with_bounds;
        self.place(Space::filled(bytes, unit_bytes, with_bounds))
    }

    /// Adds the bytes of a constant, which nothing may write. The `Err` is the total size that
    /// would be needed.
    pub(crate) fn fill_constant(&mut self, bytes: &[u8]) -> Result<usize, u64> {
        let number = self.fill(bytes.to_vec(), 1)?;
        if let Some(space) = self.spaces.get_mut(number) {
            space.is_constant = true;
        }
        Ok(number)
    }

    /// Allocates memory with undefined contents, in the space `old` if given. The `Err` is the
    /// total size that would be needed.
    pub(crate) fn allocate(
        &mut self,
        old: Option<usize>,
        size_bytes: usize,
        unit_bytes: usize,
    ) -> Result<usize, u64> {
        if let Some(space) = old.and_then(|old| self.spaces.get(old)) {
            self.size_bytes -= space.bytes.len() as u64;
        }
        self.grow(size_bytes as u64)?;
        let number = match old.or_else(|| self.free.pop()) {
            Some(number) => number,
            None => self.place(Space::default())?,
        };
        let with_bounds = self.with_bounds;
        if let Some(space) = self.spaces.get_mut(number) {
            space.clear(size_bytes, unit_bytes, with_bounds);
        }
        Ok(number)
    }

    fn grow(&mut self, size_bytes: u64) -> Result<(), u64> {
        let wanted = self.size_bytes.saturating_add(size_bytes);
        if wanted > self.limit_bytes || wanted >= 1 << OFFSET_BITS {
            return Err(wanted);
        }
        self.size_bytes = wanted;
        Ok(())
    }

    fn place(&mut self, space: Space) -> Result<usize, u64> {
        if self.spaces.len() >= SPACES_MAX {
            return Err(u64::MAX);
        }
        self.spaces.push(space);
        Ok(self.spaces.len() - 1)
    }

    /// Releases memory; its number may be reused.
    pub(crate) fn release(&mut self, number: usize) {
        if let Some(space) = self.spaces.get_mut(number) {
            self.size_bytes -= space.bytes.len() as u64;
            *space = Space::default();
            self.free.push(number);
        }
    }

    /// Sets the bounds of all memory to "anything".
    pub(crate) fn poison(&mut self) {
        self.spaces.iter_mut().for_each(Space::poison);
    }
}
