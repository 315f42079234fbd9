//! Memory: addresses of elements of a buffer, loads, stores, allocation (rules LLVM-V4 and
//! LLVM-V6).

use chipdock_ir::{Buffer, DType, Expr, ExprKind, Stmt, attr};

use crate::types;
use crate::value::Value;
use crate::writer::Writer;
use crate::{Answer, Refusal};

/// Maximum size in bytes of one buffer on the stack.
const STACK_SIZE_BYTES_MAX: i128 = 64 * 1024;
/// Alignment of the function's own memory, in bytes.
pub(crate) const OWN_ALIGNMENT_BYTES: usize = 64;

/// The elements that an access touches. Pointers are operands.
#[derive(Clone, Debug)]
enum Place {
    /// One element, or one for every lane.
    Element(String),
    /// As many adjacent elements as there are lanes.
    Contiguous(String),
    /// Adjacent elements in reverse order; the pointer is to the one with the lowest address.
    Reversed(String),
    /// One element per lane, given by a vector of pointers.
    Lanes(String),
}

impl<'a> Writer<'a> {
    // -- places -----------------------------------------------------------------------------------

    /// The place of an access. `is_sure` says that all of it is accessed, and so lies within the
    /// buffer.
    fn place(
        &mut self,
        buffer: &'a Buffer,
        indices: &'a [Expr],
        dtype: DType,
        is_sure: bool,
    ) -> Answer<Place> {
        let [index] = indices else {
            return Err(Refusal::new(format!(
                "buffer {} has {} axes; flatten it to one before code is generated",
                buffer.name,
                indices.len()
            )));
        };
        self.target.address_space(&buffer.scope)?;
        let Some(base) = self.vars.get(&buffer.data.address()).cloned() else {
            return Err(Refusal::new(format!("the memory of buffer {} is not known here", buffer.name)));
        };
        let lanes = buffer.dtype.lanes;
        let element = types::memory(dtype.scalar());
        let is_plain = lanes == 1 && buffer.strides.iter().all(|stride| stride.as_int() == Some(1));
        let inbounds = if is_sure { "inbounds " } else { "" };
        match &index.kind {
            ExprKind::Ramp { base: start, stride, lanes } if is_plain => {
                let start = self.position(start);
                let start = self.offset(buffer, start, 1);
                let at = self.pointer(&base, &start, &element, inbounds);
                Ok(match stride.as_int() {
                    Some(1) => Place::Contiguous(at),
                    Some(-1) => {
                        let back = Value::new((1 - i64::from(*lanes)).to_string(), DType::INT64);
                        let low = self.pointer(&Value::new(at, DType::HANDLE), &back, &element, inbounds);
                        Place::Reversed(low)
                    }
                    _ => Place::Lanes(self.strided(&at, stride, *lanes, &element)),
                })
            }
            ExprKind::Broadcast { value, .. } if is_plain => {
                let index = self.position(value);
                let index = self.offset(buffer, index, 1);
                Ok(Place::Element(self.pointer(&base, &index, &element, inbounds)))
            }
            _ if !index.dtype.is_scalar() => {
                if !is_plain || buffer.elem_offset.is_some() {
                    return Err(Refusal::new(format!(
                        "a vector index into buffer {}, which has a stride, an offset or vector elements",
                        buffer.name
                    )));
                }
                let mut index = self.value(index);
                if index.dtype.is_uint() {
                    let wide = DType::INT64.with_lanes(index.dtype.lanes);
                    let text = format!("zext {} to {}", index.typed(), types::register(wide));
                    index = self.compute(wide, text);
                }
                Ok(Place::Lanes(self.pointer(&base, &index, &element, "")))
            }
            _ => {
                let index = self.position(index);
                let index = self.offset(buffer, index, lanes);
                let at = self.pointer(&base, &index, &element, inbounds);
                Ok(if lanes == 1 { Place::Element(at) } else { Place::Contiguous(at) })
            }
        }
    }

    /// An index in units of `lanes` with the buffer's stride and offset applied, in 64 bits.
    fn offset(&mut self, buffer: &'a Buffer, index: Value, lanes: u16) -> Value {
        let mut index = index;
        for stride in buffer.strides.iter().filter(|stride| stride.as_int() != Some(1)) {
            let stride = self.position(stride);
            index = self.compute(DType::INT64, format_args!("mul nsw {}, {}", index.typed(), stride.text));
        }
        if lanes > 1 {
            index = self.compute(DType::INT64, format_args!("mul nsw {}, {lanes}", index.typed()));
        }
        if let Some(offset) = buffer.elem_offset.as_ref().filter(|offset| offset.as_int() != Some(0)) {
            let offset = self.position(offset);
            index = self.compute(DType::INT64, format_args!("add nsw {}, {}", offset.typed(), index.text));
        }
        index
    }

    /// A pointer moved on by a number of elements; a vector of pointers for a vector of indices.
    fn pointer(&mut self, base: &Value, index: &Value, element: &str, inbounds: &str) -> String {
        if index.text == "0" {
            return base.text.clone();
        }
        self.instruction(format_args!(
            "getelementptr {inbounds}{element}, ptr {}, {}",
            base.text,
            index.typed()
        ))
    }

    /// Pointers from one on in steps. Constant steps are 32-bit numbers if they fit, which gathers
    /// support best.
    fn strided(&mut self, first: &str, stride: &'a Expr, lanes: u16, element: &str) -> String {
        let last = i128::from(lanes) - 1;
        let constant = stride.as_int().and_then(|stride| Some((stride, stride.checked_mul(last)?)));
        let (text, dtype) = match constant {
            Some((stride, reach)) => {
                let dtype = if i32::try_from(reach).is_ok() { DType::INT32 } else { DType::INT64 };
                let lane = types::register(dtype);
                let all: Vec<String> =
                    (0..i128::from(lanes)).map(|number| format!("{lane} {}", number * stride)).collect();
                (format!("<{}>", all.join(", ")), dtype.with_lanes(lanes))
            }
            None => {
                let stride = self.position(stride);
                let dtype = DType::INT64.with_lanes(lanes);
                let vector = types::register(dtype);
                let all = self.in_every_lane(&stride, dtype).text;
                let numbers: Vec<String> = (0..lanes).map(|number| format!("i64 {number}")).collect();
                (self.instruction(format_args!("mul {vector} {all}, <{}>", numbers.join(", "))), dtype)
            }
        };
        let first = Value::new(first, DType::HANDLE);
        self.pointer(&first, &Value::new(text, dtype), element, "")
    }

    // -- loads ------------------------------------------------------------------------------------

    /// Writes a load and returns its value.
    pub(crate) fn load(
        &mut self,
        e: &'a Expr,
        buffer: &'a Buffer,
        indices: &'a [Expr],
        predicate: Option<&'a Expr>,
    ) -> Value {
        let place = match self.place(buffer, indices, e.dtype, predicate.is_none()) {
            Ok(place) => place,
            Err(refusal) => return self.refuse(e, refusal.0),
        };
        let predicate = predicate.map(|predicate| self.value(predicate));
        let notes = self.access_notes(buffer);
        let bytes = in_memory(e.dtype);
        let loaded = match predicate {
            Some(predicate) if predicate.dtype.is_scalar() => {
                self.guarded_load(&place, bytes, &predicate, &notes)
            }
            Some(predicate) => self.masked_load(place, bytes, predicate, &notes),
            None => self.whole_load(&place, bytes, &notes),
        };
        if e.dtype.is_bool() { self.bool_from_byte(loaded) } else { loaded }
    }

    fn whole_load(&mut self, place: &Place, dtype: DType, notes: &str) -> Value {
        let align = dtype.lane_size_bytes();
        match place {
            Place::Element(at) if !dtype.is_scalar() => {
                let lane = types::register(dtype.scalar());
                let one =
                    self.compute(dtype.scalar(), format_args!("load {lane}, ptr {at}, align {align}{notes}"));
                self.in_every_lane(&one, dtype)
            }
            Place::Element(at) | Place::Contiguous(at) => {
                let llvm_type = types::register(dtype);
                self.compute(dtype, format_args!("load {llvm_type}, ptr {at}, align {align}{notes}"))
            }
            Place::Reversed(at) => {
                let llvm_type = types::register(dtype);
                let forwards =
                    self.compute(dtype, format_args!("load {llvm_type}, ptr {at}, align {align}{notes}"));
                self.reversed(&forwards)
            }
            Place::Lanes(_) => {
                let all = Value::new(all_true(dtype.lanes), DType::BOOL.with_lanes(dtype.lanes));
                self.masked_load(place.clone(), dtype, all, notes)
            }
        }
    }

    /// A load of either all elements or none.
    fn guarded_load(&mut self, place: &Place, dtype: DType, predicate: &Value, notes: &str) -> Value {
        let (yes, done) = (self.label("load"), self.label("loaded"));
        let before = self.block();
        self.branch(predicate, &yes, &done);
        self.start(&yes);
        let loaded = self.whole_load(place, dtype, notes);
        let after = self.block();
        self.jump(&done);
        self.start(&done);
        self.compute(
            dtype,
            format_args!(
                "phi {} [ {}, {} ], [ {}, {} ]",
                types::register(dtype),
                loaded.text,
                after.name(),
                zero(dtype),
                before.name()
            ),
        )
    }

    fn masked_load(&mut self, place: Place, dtype: DType, mask: Value, notes: &str) -> Value {
        let (llvm_type, mangled) = (types::register(dtype), types::mangled(dtype));
        let (align, lanes) = (dtype.lane_size_bytes(), dtype.lanes);
        let masks = types::register(mask.dtype);
        let pointers = match place {
            Place::Contiguous(at) => {
                let name = format!("llvm.masked.load.{mangled}.p0");
                let params = format!("ptr, i32, {masks}, {llvm_type}");
                let callee = self.declare(&llvm_type, &name, &params);
                let zero = zero(dtype);
                return self.compute(
                    dtype,
                    format_args!(
                        "call {llvm_type} {callee}(ptr {at}, i32 {align}, {}, {llvm_type} {zero}){notes}",
                        mask.typed()
                    ),
                );
            }
            Place::Reversed(at) => {
                let mask = self.reversed(&mask);
                let forwards = self.masked_load(Place::Contiguous(at), dtype, mask, notes);
                return self.reversed(&forwards);
            }
            Place::Lanes(pointers) => pointers,
            Place::Element(at) => {
                let dtype = DType::HANDLE.with_lanes(lanes);
                self.in_every_lane(&Value::new(at, DType::HANDLE), dtype).text
            }
        };
        let name = format!("llvm.masked.gather.{mangled}.v{lanes}p0");
        let params = format!("<{lanes} x ptr>, i32, {masks}, {llvm_type}");
        let callee = self.declare(&llvm_type, &name, &params);
        self.compute(
            dtype,
            format_args!(
                "call {llvm_type} {callee}(<{lanes} x ptr> {pointers}, i32 {align}, {}, {llvm_type} {}){notes}",
                mask.typed(),
                zero(dtype)
            ),
        )
    }

    // -- stores -----------------------------------------------------------------------------------

    pub(crate) fn store(
        &mut self,
        s: &'a Stmt,
        buffer: &'a Buffer,
        indices: &'a [Expr],
        value: &'a Expr,
        predicate: Option<&'a Expr>,
    ) {
        let dtype = value.dtype;
        let mut value = self.value(value);
        let place = match self.place(buffer, indices, dtype, predicate.is_none()) {
            Ok(place) => place,
            Err(refusal) => return self.refuse_stmt(s, refusal.0),
        };
        let predicate = predicate.map(|predicate| self.value(predicate));
        if dtype.is_bool() {
            value = self.byte_from_bool(value);
        }
        value.dtype = in_memory(dtype);
        let notes = self.access_notes(buffer);
        match predicate {
            Some(predicate) if predicate.dtype.is_scalar() => {
                let (yes, done) = (self.label("store"), self.label("stored"));
                self.branch(&predicate, &yes, &done);
                self.start(&yes);
                self.whole_store(place, &value, &notes);
                self.jump(&done);
                self.start(&done);
            }
            Some(predicate) => self.masked_store(place, &value, predicate, &notes),
            None => match place {
                Place::Contiguous(at) if self.is_streamed(buffer) => self.streamed_store(&at, &value, &notes),
                _ => self.whole_store(place, &value, &notes),
            },
        }
    }

    /// Returns true if stores to the buffer bypass the caches here (rule LLVM-V12).
    fn is_streamed(&self, buffer: &Buffer) -> bool {
        self.streams.iter().any(|data| data.is_none_or(|data| data == buffer.data.address()))
    }

    /// A store that bypasses the caches if it turns out to be aligned, as most processors require.
    fn streamed_store(&mut self, at: &str, value: &Value, notes: &str) {
        let size_bytes = usize::from(value.dtype.lanes) * value.dtype.lane_size_bytes();
        if !size_bytes.is_power_of_two() || size_bytes < 16 {
            return self.whole_store(Place::Contiguous(at.to_owned()), value, notes);
        }
        let align = size_bytes.min(OWN_ALIGNMENT_BYTES);
        let (aligned, other, done) = (self.label("stream"), self.label("cached"), self.label("stored"));
        let number = self.instruction(format_args!("ptrtoint ptr {at} to i64"));
        let rest = self.instruction(format_args!("and i64 {number}, {}", align - 1));
        let is_aligned = self.compute(DType::BOOL, format_args!("icmp eq i64 {rest}, 0"));
        self.branch(&is_aligned, &aligned, &other);
        self.start(&aligned);
        let one = self.around.metadata("!{i32 1}".to_owned());
        self.effect(format_args!(
            "store {}, ptr {at}, align {align}, !nontemporal !{one}{notes}",
            value.typed()
        ));
        self.jump(&done);
        self.start(&other);
        self.whole_store(Place::Contiguous(at.to_owned()), value, notes);
        self.jump(&done);
        self.start(&done);
    }

    fn whole_store(&mut self, place: Place, value: &Value, notes: &str) {
        let align = value.dtype.lane_size_bytes();
        match place {
            Place::Element(at) if !value.dtype.is_scalar() => {
                // All lanes store to one element, which keeps the last.
                let last = value.dtype.lanes - 1;
                let lane = types::register(value.dtype.scalar());
                let one = self.instruction(format_args!("extractelement {}, i64 {last}", value.typed()));
                self.effect(format_args!("store {lane} {one}, ptr {at}, align {align}{notes}"));
            }
            Place::Element(at) | Place::Contiguous(at) => {
                self.effect(format_args!("store {}, ptr {at}, align {align}{notes}", value.typed()));
            }
            Place::Reversed(at) => {
                let backwards = self.reversed(value);
                self.effect(format_args!("store {}, ptr {at}, align {align}{notes}", backwards.typed()));
            }
            Place::Lanes(_) => {
                let lanes = value.dtype.lanes;
                let all = Value::new(all_true(lanes), DType::BOOL.with_lanes(lanes));
                self.masked_store(place, value, all, notes);
            }
        }
    }

    fn masked_store(&mut self, place: Place, value: &Value, mask: Value, notes: &str) {
        let (llvm_type, mangled) = (types::register(value.dtype), types::mangled(value.dtype));
        let (align, lanes) = (value.dtype.lane_size_bytes(), value.dtype.lanes);
        let masks = types::register(mask.dtype);
        let pointers = match place {
            Place::Contiguous(at) => {
                let name = format!("llvm.masked.store.{mangled}.p0");
                let callee = self.declare("void", &name, &format!("{llvm_type}, ptr, i32, {masks}"));
                return self.effect(format_args!(
                    "call void {callee}({}, ptr {at}, i32 {align}, {}){notes}",
                    value.typed(),
                    mask.typed()
                ));
            }
            Place::Reversed(at) => {
                let (value, mask) = (self.reversed(value), self.reversed(&mask));
                return self.masked_store(Place::Contiguous(at), &value, mask, notes);
            }
            Place::Lanes(pointers) => pointers,
            Place::Element(at) => {
                let dtype = DType::HANDLE.with_lanes(lanes);
                self.in_every_lane(&Value::new(at, DType::HANDLE), dtype).text
            }
        };
        let name = format!("llvm.masked.scatter.{mangled}.v{lanes}p0");
        let callee = self.declare("void", &name, &format!("{llvm_type}, <{lanes} x ptr>, i32, {masks}"));
        self.effect(format_args!(
            "call void {callee}({}, <{lanes} x ptr> {pointers}, i32 {align}, {}){notes}",
            value.typed(),
            mask.typed()
        ));
    }

    // -- addresses, allocation --------------------------------------------------------------------

    /// The address of the first element that a load would touch, as a `ptr`.
    pub(crate) fn address(
        &mut self,
        e: &'a Expr,
        buffer: &'a Buffer,
        indices: &'a [Expr],
        predicate: Option<&'a Expr>,
    ) -> Value {
        let _ = predicate;
        // `e` is the call that takes the address: its type is that of a pointer.
        match self.place(buffer, indices, buffer.dtype, false) {
            Ok(Place::Element(at) | Place::Contiguous(at)) => Value::new(at, DType::HANDLE),
            Ok(_) => self.refuse(e, "has no address of scattered elements"),
            Err(refusal) => self.refuse(e, refusal.0),
        }
    }

    /// The address of the first of adjacent elements, at indices whose last is a vector.
    pub(crate) fn first_address(&mut self, buffer: &'a Buffer, indices: &'a [Expr]) -> Value {
        match self.place(buffer, indices, buffer.dtype, true) {
            Ok(Place::Element(at) | Place::Contiguous(at)) => Value::new(at, DType::HANDLE),
            Ok(_) => Value::new("poison", DType::HANDLE),
            Err(refusal) => {
                self.report(chipdock_ir::Span::NONE, buffer.name.to_string(), refusal.0);
                Value::new("poison", DType::HANDLE)
            }
        }
    }

    pub(crate) fn allocate(&mut self, s: &'a Stmt, buffer: &'a Buffer) {
        if !self.usage.uses(buffer.data.address()) {
            return;
        }
        if let Err(refusal) = self.allocation(buffer) {
            self.refuse_stmt(s, refusal.0);
            self.know(&buffer.data, Value::new("null", DType::HANDLE));
        }
    }

    /// Allocates a buffer in the function's own memory.
    pub(crate) fn allocation(&mut self, buffer: &'a Buffer) -> Answer<()> {
        let space = self.target.address_space(&buffer.scope)?;
        let Some(count) = buffer.constant_size() else {
            return Err(Refusal::new(format!(
                "buffer {} is allocated with a size that is not constant; lower it to workspace",
                buffer.name
            )));
        };
        let count = count.max(0).saturating_mul(buffer.dtype.lanes.into()).max(1);
        let element = types::memory(buffer.dtype.scalar());
        let size_bytes = count.saturating_mul(buffer.dtype.lane_size_bytes() as i128);
        if size_bytes > STACK_SIZE_BYTES_MAX {
            return Err(Refusal::new(format!(
                "buffer {} takes {size_bytes} bytes of stack, at most {STACK_SIZE_BYTES_MAX} are supported; lower it to workspace",
                buffer.name
            )));
        }
        let llvm_type = format!("[{count} x {element}]");
        let pointer = if space == 0 {
            self.alloca(&llvm_type, OWN_ALIGNMENT_BYTES)
        } else {
            let name = format!("@cd.memory.{}", self.around.globals.len());
            let definition = format!(
                "{name} = internal addrspace({space}) global {llvm_type} undef, align {OWN_ALIGNMENT_BYTES}"
            );
            self.around.globals.insert(name.clone(), definition);
            self.instruction(format_args!("addrspacecast ptr addrspace({space}) {name} to ptr"))
        };
        self.know(&buffer.data, Value::new(pointer, DType::HANDLE));
        Ok(())
    }

    // -- lanes ------------------------------------------------------------------------------------

    fn reversed(&mut self, value: &Value) -> Value {
        let vector = types::register(value.dtype);
        let order: Vec<String> = (0..value.dtype.lanes).rev().map(|lane| format!("i32 {lane}")).collect();
        self.compute(
            value.dtype,
            format_args!(
                "shufflevector {vector} {}, {vector} poison, <{} x i32> <{}>",
                value.text,
                value.dtype.lanes,
                order.join(", ")
            ),
        )
    }

    /// LLVM metadata of an access through a buffer: `, !alias.scope !5, !noalias !6`.
    fn access_notes(&self, buffer: &Buffer) -> String {
        self.scopes.get(&buffer.data.address()).cloned().unwrap_or_default()
    }

    /// Records which pointers from packed values overlap no other one, if the function declares so.
    /// For parameters the signature declares it.
    pub(crate) fn separate(&mut self) {
        let unpacked = std::mem::take(&mut self.facts.unpacked);
        if unpacked.len() < 2 || !self.is_set(attr::NOALIAS) {
            return;
        }
        let own = |writer: &mut Self, parts: &str, name: &str| {
            let number = writer.around.metadata.len();
            writer.around.metadata(format!("distinct !{{!{number}{parts}, !\"{name}\"}}"))
        };
        let domain = own(self, "", "buffers");
        let scopes: Vec<usize> =
            unpacked.iter().map(|_| own(self, &format!(", !{domain}"), "buffer")).collect();
        for (index, (_, address)) in unpacked.iter().enumerate() {
            let others: Vec<String> = (0..scopes.len())
                .filter(|other| *other != index)
                .map(|other| format!("!{}", scopes[other]))
                .collect();
            let this = self.around.metadata(format!("!{{!{}}}", scopes[index]));
            let others = self.around.metadata(format!("!{{{}}}", others.join(", ")));
            self.scopes.insert(*address, format!(", !alias.scope !{this}, !noalias !{others}"));
        }
    }
}

/// The type of a value in memory: bytes for booleans.
fn in_memory(dtype: DType) -> DType {
    if dtype.is_bool() { DType::UINT8.with_lanes(dtype.lanes) } else { dtype }
}

fn zero(dtype: DType) -> &'static str {
    if !dtype.is_scalar() {
        "zeroinitializer"
    } else if dtype.is_handle() {
        "null"
    } else if dtype.is_float() && dtype.bits > 16 {
        "0.0"
    } else {
        "0"
    }
}

/// The mask of an access by all lanes.
fn all_true(lanes: u16) -> String {
    format!("<{}>", vec!["i1 true"; usize::from(lanes)].join(", "))
}
