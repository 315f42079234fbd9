//! Memory: how the elements of a piece of memory are held, loads, stores, allocations.
//!
//! Memory is held in the one form that all its views agree on: as elements of their type; as
//! integers of their width, if views differ in type only; otherwise as words of 32 bits, of which a
//! view of another width reads and writes parts.

use std::collections::{HashMap, HashSet};

use chipdock_ir::{
    Buffer, Callee, Child, DType, Expr, ExprKind, Op as IrOp, PrimFunc, Span, Stmt, StmtKind, StorageRank,
    TypeCode,
};
use rspirv::dr::Operand;
use rspirv::spirv::{Capability, MemoryAccess, Op, Scope, StorageClass, Word};

use super::emitter::{Type, id};
use super::environment::Environment;
use super::value::{Value, register};
use super::writer::Writer;

/// Most bytes of memory of a thread's own; drivers keep it in registers or in memory that they
/// reserve for each thread.
const LOCAL_BYTES_MAX: u64 = 64 * 1024;

/// The uses of a piece of memory in a function.
#[derive(Clone, Debug, Default)]
pub(super) struct Use {
    /// Types of the elements of its views.
    pub(super) types: HashSet<DType>,
    pub(super) is_written: bool,
    /// Whether parts of a word may be written, or halves added to atomically.
    is_atomic_half: bool,
}

/// The uses of memory in a function, by the address of the data variable.
#[derive(Clone, Debug, Default)]
pub(super) struct Uses {
    by_data: HashMap<usize, Use>,
    /// Whether global memory is written.
    pub(super) writes_global: bool,
}

impl Uses {
    pub(super) fn of(function: &PrimFunc) -> Self {
        let mut uses = Self::default();
        let (mut stmts, mut exprs, mut seen) = (vec![&function.body], Vec::new(), HashSet::new());
        while let Some(s) = stmts.pop() {
            if !seen.insert(s.address()) {
                continue;
            }
            if let StmtKind::Store { buffer, .. } = &s.kind {
                uses.touch(buffer, true);
            }
            s.for_each_child(&mut |child| match child {
                Child::Stmt(s) => stmts.push(s),
                Child::Expr(e) => exprs.push(e),
            });
        }
        while let Some(e) = exprs.pop() {
            if !seen.insert(e.address()) {
                continue;
            }
            match &e.kind {
                ExprKind::Load { buffer, .. } => uses.touch(buffer, false),
                ExprKind::Call { callee: Callee::Op(IrOp::AtomicAdd), args } => uses.atomic(args),
                _ => {}
            }
            e.for_each_child(&mut |child| exprs.push(child));
        }
        uses
    }

    fn touch(&mut self, buffer: &Buffer, is_write: bool) {
        self.writes_global |= is_write && buffer.scope.rank == StorageRank::Global;
        let one = self.by_data.entry(buffer.data.address()).or_default();
        one.types.insert(buffer.dtype.scalar());
        one.is_written |= is_write;
    }

    /// Atomic additions of floats exchange the bits of the element, or of the word around it.
    fn atomic(&mut self, args: &[Expr]) {
        let Some(buffer) = args.first().and_then(element_of).map(|(buffer, _)| buffer) else { return };
        self.touch(buffer, true);
        let one = self.by_data.entry(buffer.data.address()).or_default();
        match buffer.dtype.scalar() {
            DType::FLOAT32 => drop(one.types.insert(DType::UINT32)),
            DType::FLOAT64 => drop(one.types.insert(DType::UINT64)),
            dtype => one.is_atomic_half |= dtype.bits < 32,
        }
    }

    pub(super) fn get(&self, address: usize) -> Use {
        self.by_data.get(&address).cloned().unwrap_or_default()
    }
}

/// The buffer and the index of an element whose address is taken.
pub(super) fn element_of(address: &Expr) -> Option<(&Buffer, &Expr)> {
    let ExprKind::Call { callee: Callee::Op(IrOp::AddressOf), args } = &address.kind else { return None };
    match args.first().map(|place| &place.kind) {
        Some(ExprKind::Load { buffer, indices, predicate: None }) => match indices.as_slice() {
            [index] => Some((buffer, index)),
            _ => None,
        },
        _ => None,
    }
}

/// How the elements of a piece of memory are held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// Each in a place of this type.
    Elements(Type),
    /// Packed in words of 32 bits.
    Words,
}

impl Form {
    /// The type of a place.
    pub(super) fn place(self) -> Type {
        match self {
            Self::Elements(of) => of,
            Self::Words => Type::Int(32),
        }
    }
}

/// A piece of memory.
#[derive(Clone, Debug)]
pub(super) struct Memory {
    pub(super) class: StorageClass,
    /// The variable, or the pointer.
    pub(super) base: Word,
    pub(super) form: Form,
    pub(super) is_written: bool,
    /// Whether places may lie beyond the signed numbers of 32 bits, as those of bytes of a
    /// descriptor do.
    pub(super) is_long: bool,
}

impl Memory {
    /// Returns true if other threads may access it.
    fn is_shared(&self) -> bool {
        self.class != StorageClass::Function
    }
}

/// The type in which memory of a class holds elements of a type, if it does.
fn held(environment: &Environment, class: StorageClass, dtype: DType) -> Option<Type> {
    let is_half = dtype == DType::FLOAT16;
    let has_narrow = match (class, dtype.bits) {
        (StorageClass::Function, _) if !is_half => return Some(widest(dtype)),
        (StorageClass::Function, _) => environment.has_float16,
        (StorageClass::Workgroup, 8) => environment.has_int8,
        (StorageClass::Workgroup, 16) if is_half => environment.has_float16,
        (StorageClass::Workgroup, 16) => environment.has_int16,
        // Validators take a pointer to these for a computation with them.
        (StorageClass::PhysicalStorageBuffer, 8) => environment.has_8bit_storage && environment.has_int8,
        (StorageClass::PhysicalStorageBuffer, 16) => {
            environment.has_16bit_storage && (is_half || environment.has_int16)
        }
        (_, 8) => environment.has_8bit_storage,
        (_, 16) => environment.has_16bit_storage,
        _ => true,
    };
    if !has_narrow {
        return None;
    }
    Some(match (dtype.code, dtype.bits) {
        (TypeCode::Float, bits) => Type::Float(bits.into()),
        (_, bits) => Type::Int(bits.into()),
    })
}

/// The type in which a thread's own memory holds elements: a register's, with booleans as words.
fn widest(dtype: DType) -> Type {
    match register(dtype) {
        Type::Bool => Type::Int(32),
        other => other,
    }
}

impl<'a> Writer<'a> {
    /// The form of a piece of memory, from its uses and the type that it is declared with.
    pub(super) fn form(&self, class: StorageClass, used: &Use, declared: DType) -> Form {
        let mut types: Vec<DType> = used.types.iter().copied().collect();
        if types.is_empty() {
            types.push(declared.scalar());
        }
        types.sort_unstable();
        let environment = self.environment;
        let Some(first) = held(environment, class, types[0]) else { return Form::Words };
        if used.is_atomic_half || types.iter().any(|one| held(environment, class, *one).is_none()) {
            return Form::Words;
        }
        if types.iter().all(|one| held(environment, class, *one) == Some(first)) {
            // A boolean is not cut when it is read: it must not share its place with bytes of other
            // values.
            let has_bool = types.contains(&DType::BOOL);
            let is_mixed =
                class == StorageClass::Function && types.iter().any(|one| one.bits != types[0].bits);
            if !is_mixed && (!has_bool || types.len() == 1 || class != StorageClass::Function) {
                return Form::Elements(first);
            }
        }
        let bits = types[0].bits;
        // Halves are read from places of integers by a type of 16 bits.
        let has_half = types.contains(&DType::FLOAT16);
        if has_half && !environment.has_int16 {
            return Form::Words;
        }
        // Registers of a thread's own memory are wider than the elements that they hold.
        let is_one_width = types.iter().all(|one| one.bits == bits);
        let is_plain = class != StorageClass::Function || bits >= 32;
        if is_one_width && is_plain { Form::Elements(Type::Int(bits.into())) } else { Form::Words }
    }

    /// Allocates memory of a block or of a thread.
    pub(super) fn allocate(&mut self, span: Span, buffer: &'a Buffer) {
        let refuse = |w: &mut Self, why: String| w.report(span, buffer.name.to_string(), why);
        if buffer.scope.is_dynamic_shared() {
            return self.allocate_dynamic(buffer);
        }
        let class = match buffer.scope.rank {
            StorageRank::Shared => StorageClass::Workgroup,
            StorageRank::Local => StorageClass::Function,
            _ => {
                let why = format!(
                    "has no allocation of scope \"{}\" in a kernel; it has shared and local",
                    buffer.scope
                );
                return refuse(self, why);
            }
        };
        let Some(count) = buffer.constant_size().and_then(|count| u64::try_from(count).ok()) else {
            return refuse(self, format!("the size of buffer {} is not constant", buffer.name));
        };
        let used = self.uses.get(buffer.data.address());
        let form = self.form(class, &used, buffer.dtype);
        let lanes = count.saturating_mul(buffer.dtype.lanes.into());
        let places = match form {
            Form::Elements(_) => lanes,
            Form::Words => lanes.saturating_mul(buffer.dtype.bits.into()).div_ceil(32),
        };
        let bytes = places.saturating_mul(form.place().size_bytes().into());
        let total =
            if class == StorageClass::Workgroup { &mut self.shared_bytes } else { &mut self.local_bytes };
        *total = total.saturating_add(bytes);
        let (total, is_local) = (*total, class == StorageClass::Function);
        if is_local && total > LOCAL_BYTES_MAX {
            let why = format!(
                "memory of a thread's own takes {total} bytes with buffer {}, at most {LOCAL_BYTES_MAX} are supported; use scope shared, or a parameter",
                buffer.name
            );
            return refuse(self, why);
        }
        let Ok(places) = u32::try_from(places.max(1)) else {
            return refuse(self, format!("buffer {} has {places} elements", buffer.name));
        };
        self.needs_narrow(form);
        let (element, length) = (self.out.type_of(form.place()), self.out.word(places));
        let array = self.out.array(element, length, None);
        let base = if is_local {
            self.out.variable(array, &buffer.name)
        } else {
            self.out.global(class, array, &buffer.name)
        };
        self.describe_memory(buffer, base, places);
        let memory = Memory { class, base, form, is_written: used.is_written, is_long: false };
        self.memories.insert(buffer.data.address(), memory);
    }

    /// Declares the capability for integers of fewer than 32 bits in shared memory.
    pub(super) fn needs_narrow(&mut self, form: Form) {
        match form.place() {
            Type::Int(8) => self.out.needs(Capability::Int8),
            Type::Int(16) => self.out.needs(Capability::Int16),
            _ => {}
        }
    }

    // -- places -----------------------------------------------------------------------------------

    /// The memory of a buffer.
    fn memory_of(&self, buffer: &Buffer) -> Result<Memory, String> {
        match self.memories.get(&buffer.data.address()) {
            Some(memory) => {
                let is_short = buffer.constant_size().is_some_and(|size| size <= i128::from(i32::MAX));
                let is_long = memory.class == StorageClass::StorageBuffer
                    && memory.form == Form::Elements(Type::Int(8))
                    && self.environment.has_int64
                    && !is_short;
                Ok(Memory { is_long, ..memory.clone() })
            }
            None => Err(format!("the memory of buffer {} is not known here", buffer.name)),
        }
    }

    /// The index of each lane that an access reads or writes, in elements of one lane.
    fn places(&mut self, buffer: &'a Buffer, indices: &'a [Expr]) -> Result<Vec<Word>, String> {
        let [index] = indices else {
            return Err(format!(
                "buffer {} has {} axes; flatten it to one before code is generated",
                buffer.name,
                indices.len()
            ));
        };
        if !index.dtype.is_integer() {
            return Err(format!("expected an integer as an index, found {}", index.dtype));
        }
        let is_plain = buffer.strides.iter().all(|stride| stride.as_int() == Some(1))
            && buffer.elem_offset.as_ref().is_none_or(|offset| offset.as_int() == Some(0));
        if !is_plain {
            return Err(format!("buffer {} has a stride or an offset; flatten it", buffer.name));
        }
        let (of, lanes) = (self.index_type(), u32::from(buffer.dtype.lanes));
        let first = match &index.kind {
            ExprKind::Ramp { base, stride, lanes: count } if lanes == 1 && stride.as_int() == Some(1) => {
                let first = self.index(base).first();
                return Ok((0..u32::from(*count)).map(|lane| self.moved(first, lane)).collect());
            }
            _ => self.index(index),
        };
        let mut all = Vec::with_capacity(first.lanes.len() * lanes as usize);
        for first in first.lanes {
            if lanes == 1 {
                all.push(first);
                continue;
            }
            let count = self.index_constant(lanes);
            let start = self.out.op(Op::IMul, of, &[first, count]);
            all.extend((0..lanes).map(|lane| self.moved(start, lane)));
        }
        Ok(all)
    }

    fn moved(&mut self, index: Word, by: u32) -> Word {
        if by == 0 {
            return index;
        }
        let (of, by) = (self.index_type(), self.index_constant(by));
        self.out.op(Op::IAdd, of, &[index, by])
    }

    /// The pointer to a place.
    fn pointer(&mut self, memory: &Memory, index: Word) -> Word {
        let of = self.out.type_of(memory.form.place());
        let pointer = self.out.pointer(memory.class, of);
        let mut operands = vec![id(memory.base)];
        if matches!(memory.class, StorageClass::StorageBuffer | StorageClass::PhysicalStorageBuffer) {
            operands.push(id(self.out.word(0)));
        }
        // An index is signed; modulo 2^32 it is not.
        let index = if memory.is_long { self.out.op(Op::UConvert, Type::Int(64), &[index]) } else { index };
        operands.push(id(index));
        self.out.compute(Op::AccessChain, pointer, operands)
    }

    /// The operands of an access besides the pointer.
    fn access(&self, memory: &Memory) -> Vec<Operand> {
        let mut access = MemoryAccess::NONE;
        let mut operands = Vec::new();
        if memory.class == StorageClass::PhysicalStorageBuffer {
            access |= MemoryAccess::ALIGNED;
            operands.push(super::emitter::literal(memory.form.place().size_bytes()));
        }
        // Barriers order these accesses only.
        if self.environment.uses_vulkan_memory_model && memory.is_shared() && memory.is_written {
            access |= MemoryAccess::NON_PRIVATE_POINTER;
        }
        if access == MemoryAccess::NONE {
            return operands;
        }
        operands.insert(0, Operand::MemoryAccess(access));
        operands
    }

    fn load_place(&mut self, memory: &Memory, index: Word) -> Word {
        let pointer = self.pointer(memory, index);
        let of = self.out.type_of(memory.form.place());
        if memory.form == Form::Words && memory.is_written && memory.is_shared() {
            // Other threads may be writing other parts of the word.
            let operands = self.atomic_operands(memory, pointer, &[]);
            return self.out.compute(Op::AtomicLoad, of, operands);
        }
        let mut operands = vec![id(pointer)];
        operands.extend(self.access(memory));
        self.out.compute(Op::Load, of, operands)
    }

    fn store_place(&mut self, memory: &Memory, index: Word, value: Word) {
        let pointer = self.pointer(memory, index);
        if memory.form == Form::Words && memory.is_shared() {
            let operands = self.atomic_operands(memory, pointer, &[value]);
            return self.out.effect(Op::AtomicStore, operands);
        }
        let mut operands = vec![id(pointer), id(value)];
        operands.extend(self.access(memory));
        self.out.effect(Op::Store, operands);
    }

    /// The operands of an atomic instruction that orders nothing else.
    fn atomic_operands(&mut self, memory: &Memory, pointer: Word, values: &[Word]) -> Vec<Operand> {
        let scope = match memory.class {
            StorageClass::Workgroup => Scope::Workgroup,
            // The device's scope is a feature of its own in the Vulkan memory model; a launch is in
            // one queue.
            _ if self.environment.uses_vulkan_memory_model => Scope::QueueFamily,
            _ => Scope::Device,
        };
        let (scope, relaxed) = (self.out.word(scope as u32), self.out.word(0));
        let mut operands = vec![id(pointer), Operand::IdScope(scope), Operand::IdMemorySemantics(relaxed)];
        operands.extend(values.iter().copied().map(id));
        operands
    }

    // -- lanes ------------------------------------------------------------------------------------

    /// Reads one lane.
    fn load_lane(&mut self, memory: &Memory, index: Word, dtype: DType) -> Word {
        match memory.form {
            Form::Elements(of) => {
                let place = self.load_place(memory, index);
                self.value_of_place(place, of, dtype)
            }
            Form::Words => match dtype.bits {
                64 => {
                    let [low, high] = self.two_words(index);
                    let low = self.load_place(memory, low);
                    let high = self.load_place(memory, high);
                    self.joined_words(register(dtype), [low, high])
                }
                32 => {
                    let word = self.load_place(memory, index);
                    self.as_bits(word, DType::UINT32, dtype)
                }
                bits => {
                    let (word, shift) = self.part_of_word(index, bits.into());
                    let word = self.load_place(memory, word);
                    let width = self.out.word(bits.into());
                    let part = self.out.op(Op::BitFieldUExtract, Type::Int(32), &[word, shift, width]);
                    self.value_of_place(part, Type::Int(32), dtype)
                }
            },
        }
    }

    /// A value from what its place contains.
    fn value_of_place(&mut self, place: Word, of: Type, dtype: DType) -> Word {
        let wide = match of {
            Type::Int(8 | 16) if !dtype.is_float() => {
                let op = if dtype.is_int() { Op::SConvert } else { Op::UConvert };
                self.out.op(op, Type::Int(32), &[place])
            }
            _ => place,
        };
        match (dtype.is_bool(), dtype == DType::FLOAT16) {
            (true, _) => {
                let zero = self.out.word(0);
                self.out.op(Op::INotEqual, Type::Bool, &[wide, zero])
            }
            (_, true) if of == Type::Int(16) => self.out.op(Op::Bitcast, Type::Float(16), &[wide]),
            (_, true) if of == Type::Int(32) => self.as_bits(wide, DType::UINT16, dtype),
            (_, true) => wide,
            _ if of == Type::Int(32) && dtype.bits < 32 => self.wrapped(wide, dtype),
            _ if dtype.bits < 32 || of == register(dtype) => wide,
            _ => self.out.op(Op::Bitcast, register(dtype), &[wide]),
        }
    }

    /// What a place of a type contains for a value.
    fn content_of_place(&mut self, lane: Word, dtype: DType, of: Type) -> Word {
        let plain = if dtype.is_bool() {
            let (one, zero) = (self.out.word(1), self.out.word(0));
            self.out.op(Op::Select, Type::Int(32), &[lane, one, zero])
        } else {
            lane
        };
        match of {
            Type::Int(bits @ (8 | 16)) if !dtype.is_float() => {
                self.out.op(Op::UConvert, Type::Int(bits), &[plain])
            }
            Type::Int(16) => self.out.op(Op::Bitcast, of, &[plain]),
            Type::Int(32) if dtype == DType::FLOAT16 => self.as_bits(plain, dtype, DType::UINT16),
            _ if of == register(dtype) || dtype.is_bool() || dtype.bits < 32 => plain,
            _ => self.out.op(Op::Bitcast, of, &[plain]),
        }
    }

    /// Writes one lane.
    fn store_lane(&mut self, memory: &Memory, index: Word, lane: Word, dtype: DType) {
        match memory.form {
            Form::Elements(of) => {
                let place = self.content_of_place(lane, dtype, of);
                self.store_place(memory, index, place);
            }
            Form::Words => match dtype.bits {
                64 => {
                    let [low, high] = self.two_words(index);
                    let [low_word, high_word] = self.words_of(lane);
                    self.store_place(memory, low, low_word);
                    self.store_place(memory, high, high_word);
                }
                32 => {
                    let word = self.as_bits(lane, dtype, DType::UINT32);
                    self.store_place(memory, index, word);
                }
                bits => self.store_part(memory, index, lane, dtype, bits.into()),
            },
        }
    }

    /// Writes a part of a word. Threads may write its other parts at once, so each step keeps
    /// those.
    fn store_part(&mut self, memory: &Memory, index: Word, lane: Word, dtype: DType, bits: u32) {
        let of = Type::Int(32);
        let (word, shift) = self.part_of_word(index, bits);
        let part = self.content_of_place(lane, dtype, of);
        let width = self.out.word(bits);
        if !memory.is_shared() {
            let old = self.load_place(memory, word);
            let new = self.out.op(Op::BitFieldInsert, of, &[old, part, shift, width]);
            return self.store_place(memory, word, new);
        }
        let (zero, ones) = (self.out.word(0), self.out.word(u32::MAX));
        let placed = self.out.op(Op::BitFieldInsert, of, &[zero, part, shift, width]);
        let kept = self.out.op(Op::BitFieldInsert, of, &[ones, part, shift, width]);
        let pointer = self.pointer(memory, word);
        let type_id = self.out.type_of(of);
        let operands = self.atomic_operands(memory, pointer, &[kept]);
        self.out.compute(Op::AtomicAnd, type_id, operands);
        let operands = self.atomic_operands(memory, pointer, &[placed]);
        self.out.compute(Op::AtomicOr, type_id, operands);
    }

    /// The indices of the two words of an element of 64 bits.
    fn two_words(&mut self, index: Word) -> [Word; 2] {
        let (of, two) = (self.index_type(), self.index_constant(2));
        let low = self.out.op(Op::IMul, of, &[index, two]);
        [low, self.moved(low, 1)]
    }

    /// The index of the word that contains an element of fewer bits, and the position of its lowest
    /// bit.
    pub(super) fn part_of_word(&mut self, index: Word, bits: u32) -> (Word, Word) {
        let (of, in_word) = (self.index_type(), 32 / bits);
        let by = self.index_constant(in_word.trailing_zeros());
        let word = self.out.op(Op::ShiftRightLogical, of, &[index, by]);
        let last = self.index_constant(in_word - 1);
        let number = self.out.op(Op::BitwiseAnd, of, &[index, last]);
        let number =
            if of == Type::Int(64) { self.out.op(Op::UConvert, Type::Int(32), &[number]) } else { number };
        let width = self.out.word(bits);
        (word, self.out.op(Op::IMul, Type::Int(32), &[number, width]))
    }

    // -- accesses ---------------------------------------------------------------------------------

    pub(super) fn load(
        &mut self,
        e: &'a Expr,
        buffer: &'a Buffer,
        indices: &'a [Expr],
        predicate: Option<&'a Expr>,
    ) -> Value {
        let found = self.memory_of(buffer).and_then(|memory| Ok((memory, self.places(buffer, indices)?)));
        let (memory, places) = match found {
            Ok(found) => found,
            Err(why) => return self.refuse(e, why),
        };
        let scalar = e.dtype.scalar();
        if buffer.dtype.scalar() != scalar || places.len() != usize::from(e.dtype.lanes) {
            return self.refuse(e, format!("a load of {} from elements of {}", e.dtype, buffer.dtype));
        }
        let Some(predicate) = predicate else {
            let lanes = places.into_iter().map(|place| self.load_lane(&memory, place, scalar));
            return Value { dtype: e.dtype, lanes: lanes.collect() };
        };
        let predicate = self.value(predicate);
        if !predicate.dtype.is_bool() {
            return self.refuse(e, format!("a predicate of type {}", predicate.dtype));
        }
        let zero = self.zero(scalar);
        if predicate.dtype.is_scalar() {
            let none = Value { dtype: e.dtype, lanes: vec![zero; places.len()] };
            let all = |w: &mut Self| {
                let lanes = places.into_iter().map(|place| w.load_lane(&memory, place, scalar));
                Value { dtype: e.dtype, lanes: lanes.collect() }
            };
            return self.when(predicate.first(), e.dtype, all, |_| none);
        }
        let lanes = places.into_iter().zip(predicate.lanes).map(|(place, predicate)| {
            let load = |w: &mut Self| Value::one(scalar, w.load_lane(&memory, place, scalar));
            self.when(predicate, scalar, load, |_| Value::one(scalar, zero)).first()
        });
        Value { dtype: e.dtype, lanes: lanes.collect() }
    }

    fn zero(&mut self, dtype: DType) -> Word {
        if dtype.is_float() { self.lane_of_float(0.0, dtype) } else { self.lane_of_integer(0, dtype) }
    }

    pub(super) fn store(
        &mut self,
        s: &'a Stmt,
        buffer: &'a Buffer,
        indices: &'a [Expr],
        value: &'a Expr,
        predicate: Option<&'a Expr>,
    ) {
        let value = self.value(value);
        let found = self.memory_of(buffer).and_then(|memory| Ok((memory, self.places(buffer, indices)?)));
        let (memory, places) = match found {
            Ok(found) => found,
            Err(why) => return self.refuse_stmt(s, why),
        };
        let scalar = buffer.dtype.scalar();
        if value.dtype.scalar() != scalar || places.len() != value.lanes.len() {
            let why = format!("a store of {} into elements of {}", value.dtype, buffer.dtype);
            return self.refuse_stmt(s, why);
        }
        let predicate = predicate.map(|predicate| self.value(predicate));
        if predicate.as_ref().is_some_and(|predicate| !predicate.dtype.is_bool()) {
            return self.refuse_stmt(s, "a predicate that is no boolean");
        }
        let pairs: Vec<(Word, Word)> = places.into_iter().zip(value.lanes).collect();
        let all = |w: &mut Self| {
            pairs.iter().for_each(|(place, lane)| w.store_lane(&memory, *place, *lane, scalar));
        };
        match predicate {
            None => all(self),
            Some(predicate) if predicate.dtype.is_scalar() => self.only_when(predicate.first(), all),
            Some(predicate) => {
                for ((place, lane), predicate) in pairs.iter().zip(predicate.lanes) {
                    self.only_when(predicate, |w| w.store_lane(&memory, *place, *lane, scalar));
                }
            }
        }
    }

    // -- atomic addition --------------------------------------------------------------------------

    /// Adds to an element in one step; the result is its previous value.
    pub(super) fn atomic_add(&mut self, e: &'a Expr, args: &'a [Expr]) -> Value {
        let [address, value] = args else { return self.refuse(e, "expected an address and a value") };
        let Some((buffer, index)) = element_of(address) else {
            return self.refuse(e, "adds atomically to an element of a buffer only");
        };
        let found = self
            .memory_of(buffer)
            .and_then(|memory| Ok((memory, self.places(buffer, std::slice::from_ref(index))?)));
        let (memory, place) = match found {
            Ok((memory, places)) => match places.as_slice() {
                [place] => (memory, *place),
                _ => return self.refuse(e, "adds atomically to one element only"),
            },
            Err(why) => return self.refuse(e, why),
        };
        let value = self.value(value);
        let dtype = value.dtype;
        if dtype != buffer.dtype || dtype != e.dtype {
            return self.refuse(e, format!("adds {dtype} to elements of {}", buffer.dtype));
        }
        if let Some(why) = self.no_atomic(&memory, dtype) {
            return self.refuse(e, why);
        }
        let old = if dtype.is_integer() {
            let pointer = self.pointer(&memory, place);
            let of = self.out.type_of(register(dtype));
            let operands = self.atomic_operands(&memory, pointer, &[value.first()]);
            self.out.compute(Op::AtomicIAdd, of, operands)
        } else {
            self.exchange(&memory, place, dtype, value.first())
        };
        Value::one(dtype, old)
    }

    /// The reason why there is no atomic addition, if there is one.
    fn no_atomic(&mut self, memory: &Memory, dtype: DType) -> Option<String> {
        let is_known = match dtype {
            DType::INT32 | DType::UINT32 | DType::FLOAT32 | DType::FLOAT16 => true,
            DType::INT64 | DType::UINT64 | DType::FLOAT64 => {
                let has = match memory.class {
                    StorageClass::Workgroup => self.environment.has_shared_int64_atomics,
                    _ => self.environment.has_int64_atomics,
                };
                if has && self.environment.has_int64 {
                    self.out.needs(Capability::Int64Atomics);
                }
                has && self.environment.has_int64 && memory.form != Form::Words
            }
            _ => false,
        };
        let is_shared = memory.is_shared();
        (!is_known || !is_shared).then(|| {
            let scope = if is_shared { "memory of this kind" } else { "a thread's own memory" };
            format!(
                "has no atomic addition of {dtype} to {scope}; it has int32, uint32, float32 and float16, and with \
                 supports_int64_atomics int64, uint64 and float64, in global and shared memory"
            )
        })
    }

    /// Adds a float by exchanging the place that contains it until no other thread has changed it
    /// in between.
    fn exchange(&mut self, memory: &Memory, place: Word, dtype: DType, value: Word) -> Word {
        let (index, shift) = match dtype.bits {
            16 => {
                let (word, shift) = self.part_of_word(place, 16);
                (word, Some(shift))
            }
            _ => (place, None),
        };
        let of = memory.form.place();
        let pointer = self.pointer(memory, index);
        let type_id = self.out.type_of(of);
        let load = self.atomic_operands(memory, pointer, &[]);
        let first = self.out.compute(Op::AtomicLoad, type_id, load);
        // The state: what the place is thought to contain, and what it contained before that.
        let unlike = self.out.op(Op::Not, of, &[first]);
        let unsigned = if dtype.bits == 64 { DType::UINT64 } else { DType::UINT32 };
        let last = self.repeat(
            of,
            [first, unlike],
            |w, [now, before]| w.out.op(Op::INotEqual, Type::Bool, &[now, before]),
            |w, [now, _]| {
                let old = w.part_as_float(now, shift, unsigned, dtype);
                let (old, added) = (Value::one(dtype, old), Value::one(dtype, value));
                let (old, added) = (w.widened(&old), w.widened(&added));
                let sum = w.exact(Op::FAdd, register(old.dtype), &[old.first(), added.first()]);
                let sum = w.cast(&Value::one(old.dtype, sum), dtype).first();
                let new = match shift {
                    None => w.as_bits(sum, dtype, unsigned),
                    Some(shift) => {
                        let (bits, width) = (w.as_bits(sum, dtype, DType::UINT16), w.out.word(16));
                        w.out.op(Op::BitFieldInsert, of, &[now, bits, shift, width])
                    }
                };
                let mut operands = w.atomic_operands(memory, pointer, &[]);
                let relaxed = operands[2].clone();
                operands.extend([relaxed, id(new), id(now)]);
                let found = w.out.compute(Op::AtomicCompareExchange, type_id, operands);
                [found, now]
            },
        );
        self.part_as_float(last[1], shift, unsigned, dtype)
    }

    /// The float that a place contains, or a half of it.
    fn part_as_float(&mut self, place: Word, shift: Option<Word>, unsigned: DType, dtype: DType) -> Word {
        match shift {
            None => self.as_bits(place, unsigned, dtype),
            Some(shift) => {
                let width = self.out.word(16);
                let part = self.out.op(Op::BitFieldUExtract, Type::Int(32), &[place, shift, width]);
                self.as_bits(part, DType::UINT16, dtype)
            }
        }
    }
}
