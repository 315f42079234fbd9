//! Whole modules: functions in order, the interface of kernels, what the module needs.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use chipdock_ir::analysis::Usage;
use chipdock_ir::{AttrValue, Buffer, Diagnostic, IrModule, Param, PrimFunc, Span, StorageRank, Var, attr};
use chipdock_plugin_api::kernel;
use rspirv::binary::Assemble;
use rspirv::spirv::{
    AddressingModel, Capability, Decoration, ExecutionMode, MemoryModel, Op, StorageClass, Word,
};

use super::Spirv;
use super::emitter::{Type, id};
use super::environment::{BufferAccess, Environment};
use super::memory::{Form, Memory};
use super::value::{Value, register};
use super::writer::{Callable, Writer};
use crate::artifact::{Block, DynamicShared, Interface, Needs, Place};

/// Value of `calling_conv` for a kernel.
const KERNEL: i64 = 2;

/// Writes a module; the diagnostics are everything that is not supported.
pub(super) fn write(
    module: &IrModule,
    environment: &Environment,
    file: Option<&str>,
) -> (Spirv, Vec<Diagnostic>) {
    let mut written = Spirv::default();
    let Some(first) = module.functions.first() else { return (written, Vec::new()) };
    let mut writer = Writer::new(environment, first);
    writer.file = file.map(|file| writer.out.string(file));
    if let Some(file) = file.filter(|_| environment.has_debug_info) {
        writer.describe_module(file);
    }
    if environment.uses_vulkan_memory_model {
        writer.out.needs(Capability::VulkanMemoryModel);
    }
    let mut symbols = HashSet::new();
    for function in callees_first(module) {
        writer.begin(function);
        match function.attrs.get(attr::CALLING_CONV) {
            Some(AttrValue::Int(KERNEL)) => {
                let number = written.kernels.len() as u32;
                let (symbol, interface) = writer.kernel(number, &mut written.needs);
                if !symbols.insert(symbol.clone()) {
                    writer.report(Span::NONE, symbol.clone(), "two kernels have this name".to_owned());
                }
                written.kernels.insert(Arc::clone(&function.name), (symbol, interface));
            }
            None | Some(AttrValue::Int(0)) => writer.callee(),
            Some(other) => writer.report(
                Span::NONE,
                String::new(),
                format!("has no functions of calling convention {other:?}; expected 2 (kernel) or 0"),
            ),
        }
    }
    writer.finish(&mut written);
    let diagnostics = writer.diagnostics;
    (written, diagnostics)
}

/// The functions of a module, callees before their callers; the validator refuses cycles.
fn callees_first(module: &IrModule) -> Vec<&PrimFunc> {
    let by_name: HashMap<&str, &PrimFunc> = module.by_name();
    let (mut order, mut done) = (Vec::new(), HashSet::new());
    for function in &module.functions {
        let mut stack = vec![(function, false)];
        while let Some((function, is_ready)) = stack.pop() {
            if is_ready {
                order.push(function);
            } else if done.insert(std::ptr::from_ref(function)) {
                stack.push((function, true));
                let mut called: Vec<Arc<str>> = Usage::of(&function.body).called.into_iter().collect();
                called.sort_unstable();
                stack.extend(called.iter().filter_map(|name| Some((*by_name.get(&**name)?, false))));
            }
        }
    }
    order
}

/// A scalar of the block: its type in SPIR-V, and whether it is a boolean or narrower than its
/// place.
struct Member {
    param: usize,
    of: Word,
    offset: u32,
    size: u32,
}

impl<'a> Writer<'a> {
    // -- callees ----------------------------------------------------------------------------------

    /// Writes a function that kernels call.
    fn callee(&mut self) {
        let function = self.function;
        let mut params = Vec::with_capacity(function.params.len());
        for param in &function.params {
            match param {
                Param::Var(var) if !var.dtype.is_handle() && self.no_type(var.dtype).is_none() => {
                    params.push(var);
                }
                other => self.report(
                    Span::NONE,
                    other.name().to_string(),
                    "passes no buffers to functions; inline the function".to_owned(),
                ),
            }
        }
        let result = match function.ret {
            None => self.out.type_of(Type::Void),
            Some(ret) if ret.is_scalar() => self.out.type_of(register(ret)),
            Some(ret) => {
                let lane = self.out.type_of(register(ret));
                self.out.tuple(&vec![lane; ret.lanes.into()])
            }
        };
        let lanes: Vec<Word> = params
            .iter()
            .flat_map(|var| std::iter::repeat_n(register(var.dtype), var.dtype.lanes.into()))
            .map(|of| self.out.type_of(of))
            .collect();
        let callable = Callable {
            id: self.out.id(),
            params: params.iter().map(|var| var.dtype).collect(),
            ret: function.ret,
            result,
        };
        self.out.name(callable.id, &function.name);
        let mut ids = self.out.begin(callable.id, result, &lanes).into_iter();
        self.describe_function(callable.id, &function.name);
        for var in params {
            let lanes = ids.by_ref().take(var.dtype.lanes.into()).collect();
            self.know(var, Value { dtype: var.dtype, lanes });
            self.positions.bind(var);
        }
        self.callable.insert(Arc::clone(&function.name), callable);
        self.body();
    }

    /// Writes the body of the current function, and ends it.
    fn body(&mut self) {
        let function = self.function;
        for buffer in &function.alloc_buffers {
            self.allocate(Span::NONE, buffer);
        }
        self.stmt(&function.body);
        if self.out.is_open() {
            let op = if function.ret.is_some() { Op::Unreachable } else { Op::Return };
            self.out.terminate(op, vec![]);
        }
        self.out.end();
    }

    // -- kernels ----------------------------------------------------------------------------------

    /// Writes a kernel; `number` is its place among the kernels.
    fn kernel(&mut self, number: u32, needs: &mut Needs) -> (String, Interface) {
        let function = self.function;
        let refuse = |w: &mut Self, why: String| w.report(Span::NONE, String::new(), why);
        let symbol = match function.attrs.get(attr::GLOBAL_SYMBOL) {
            Some(AttrValue::Str(symbol)) => symbol.to_string(),
            _ => function.name.to_string(),
        };
        if symbol.is_empty() || symbol.contains('\0') {
            refuse(self, format!("\"{symbol}\" cannot name a kernel"));
        }
        let params = launch_params(function);
        if params.iter().any(|param| param == kernel::COOPERATIVE) {
            refuse(self, "has no blocks that wait for each other (cooperative launch)".to_owned());
        }
        if function.ret.is_some() {
            refuse(self, "has no kernels that return a value".to_owned());
        }
        let mut workgroup_size = [1; 3];
        for (axis, extent) in kernel::block_extents(function).iter().enumerate() {
            match extent.map(|extent| u32::try_from(extent.max(1))) {
                Some(Ok(extent)) => workgroup_size[axis] = extent,
                _ => refuse(
                    self,
                    format!(
                        "has blocks of constant size only: the extent of threadIdx.{} is not constant",
                        ["x", "y", "z"][axis]
                    ),
                ),
            }
        }
        let (main, void) = (self.out.id(), self.out.type_of(Type::Void));
        self.out.name(main, &symbol);
        self.out.begin(main, void, &[]);
        self.describe_function(main, &symbol);
        let mut interface = self.parameters(function, needs);
        interface.workgroup_size = workgroup_size;
        self.dynamic = params.iter().any(|param| param == kernel::DYNAMIC_SHARED).then_some((number, 0));
        self.body();
        interface.dynamic_shared = self
            .dynamic
            .filter(|(_, element_bytes)| *element_bytes > 0)
            .map(|(constant, element_bytes)| DynamicShared { constant, element_bytes });
        needs.shared_memory_bytes =
            needs.shared_memory_bytes.max(u32::try_from(self.shared_bytes).unwrap_or(u32::MAX));
        self.out.entry_point(main, &symbol, workgroup_size, self.environment.spirv);
        self.float_controls(main);
        (symbol, interface)
    }

    /// Demands what the IR's arithmetic needs of the device's, where the target has it.
    fn float_controls(&mut self, main: Word) {
        let environment = self.environment;
        let controls = [
            (&environment.denorm_preserve, ExecutionMode::DenormPreserve, Capability::DenormPreserve),
            (&environment.rounding_rte, ExecutionMode::RoundingModeRTE, Capability::RoundingModeRTE),
            (
                &environment.signed_zero_inf_nan_preserve,
                ExecutionMode::SignedZeroInfNanPreserve,
                Capability::SignedZeroInfNanPreserve,
            ),
        ];
        for (widths, mode, capability) in controls {
            for width in widths {
                // Only for the types that the module computes with.
                if self.out.has_type(Type::Float(*width)) {
                    self.out.needs(capability);
                    self.out.execution_mode(main, mode, &[*width]);
                }
            }
        }
    }

    /// Declares the parameters of a kernel: storage buffers or addresses, and the block of scalars.
    fn parameters(&mut self, function: &'a PrimFunc, needs: &mut Needs) -> Interface {
        let mut places = Vec::with_capacity(function.params.len());
        let (mut members, mut binding, mut end) = (Vec::new(), 0, 0_u32);
        for (position, param) in function.params.iter().enumerate() {
            let Param::Var(var) = param else {
                self.report(Span::NONE, param.name().to_string(), "a buffer that was not lowered".to_owned());
                continue;
            };
            if !var.dtype.is_handle() {
                let size = if var.dtype.bits == 64 { 8 } else { 4 };
                let of = self.member_type(var);
                let offset = end.next_multiple_of(size);
                end = offset + size;
                members.push(Member { param: position, of, offset, size });
                places.push(Place::Scalar { offset_bytes: offset, size_bytes: size });
                continue;
            }
            let Some(form) = self.pointer_form(var) else { continue };
            let is_written = self.uses.get(var.address()).is_written;
            if self.environment.buffer_access == BufferAccess::Descriptor {
                let base = self.storage_buffer(function, var, form, binding, is_written);
                let class = StorageClass::StorageBuffer;
                self.memories.insert(var.address(), Memory { class, base, form, is_written, is_long: false });
                places.push(Place::Buffer { binding, is_written });
                binding += 1;
                continue;
            }
            self.needs_storage(form);
            self.needs_narrow(form);
            // Two words in place of a pointer: validators look for what a block's pointers point to
            // in the block.
            let of = self.out.type_of(Type::Words(2));
            let offset = end.next_multiple_of(8);
            end = offset + 8;
            members.push(Member { param: position, of, offset, size: 8 });
            places.push(Place::Address { address_at: offset, is_written });
        }
        needs.storage_buffers = needs.storage_buffers.max(binding);
        let block = self.block(function, &members, end, binding, needs);
        Interface { workgroup_size: [1; 3], places, block, dynamic_shared: None }
    }

    /// The type of a scalar in the block.
    fn member_type(&mut self, var: &Var) -> Word {
        if let Some(why) = self.no_type(var.dtype).or_else(|| {
            let is_fine = var.dtype.is_scalar() && (!var.dtype.is_float() || var.dtype.bits >= 32);
            (!is_fine).then(|| format!("has no parameters of type {}", var.dtype))
        }) {
            self.report(Span::NONE, var.name.to_string(), why);
        }
        let of = match register(var.dtype) {
            Type::Bool => Type::Int(32),
            other => other,
        };
        self.out.type_of(of)
    }

    /// The form of the memory that a parameter points to.
    fn pointer_form(&mut self, var: &Var) -> Option<Form> {
        let pointer = var.pointer.as_ref().filter(|pointer| pointer.scope.rank == StorageRank::Global);
        let Some(pointer) = pointer else {
            let why = "has no untyped pointers; state the element type and scope global".to_owned();
            self.report(Span::NONE, var.name.to_string(), why);
            return None;
        };
        let used = self.uses.get(var.address());
        let class = match self.environment.buffer_access {
            BufferAccess::Descriptor => StorageClass::StorageBuffer,
            BufferAccess::Address => StorageClass::PhysicalStorageBuffer,
        };
        Some(self.form(class, &used, pointer.element))
    }

    /// Declares the capability for elements of a buffer of fewer than 32 bits.
    fn needs_storage(&mut self, form: Form) {
        match form.place() {
            Type::Int(8) => self.out.needs(Capability::StorageBuffer8BitAccess),
            Type::Int(16) | Type::Float(16) => self.out.needs(Capability::StorageBuffer16BitAccess),
            _ => {}
        }
    }

    /// Declares a storage buffer of set 0.
    fn storage_buffer(
        &mut self,
        function: &PrimFunc,
        var: &Var,
        form: Form,
        binding: u32,
        is_written: bool,
    ) -> Word {
        self.needs_storage(form);
        let block = self.out.unbounded(form.place());
        let base = self.out.global(StorageClass::StorageBuffer, block, &var.name);
        self.out.decorate(base, Decoration::DescriptorSet, &[0]);
        self.out.decorate(base, Decoration::Binding, &[binding]);
        if !is_written {
            self.out.decorate(base, Decoration::NonWritable, &[]);
        }
        let is_noalias = matches!(
            function.attrs.get(attr::NOALIAS),
            Some(AttrValue::Bool(true)) | Some(AttrValue::Int(1..))
        );
        let aliasing = if is_noalias { Decoration::Restrict } else { Decoration::Aliased };
        self.out.decorate(base, aliasing, &[]);
        base
    }

    /// Declares the block of scalars and addresses, and reads all of it.
    fn block(
        &mut self,
        function: &'a PrimFunc,
        members: &[Member],
        size_bytes: u32,
        binding: u32,
        needs: &mut Needs,
    ) -> Option<Block> {
        if members.is_empty() {
            return None;
        }
        let layout: Vec<(Word, u32)> = members.iter().map(|member| (member.of, member.offset)).collect();
        let of = self.out.block(&layout);
        let is_pushed = size_bytes <= self.environment.push_constants_bytes_max;
        let class = if is_pushed { StorageClass::PushConstant } else { StorageClass::Uniform };
        let base = self.out.global(class, of, "scalars");
        let block = if is_pushed {
            needs.push_constant_bytes = needs.push_constant_bytes.max(size_bytes);
            Block::PushConstant { size_bytes }
        } else {
            let most = self.environment.uniform_bytes_max;
            if size_bytes > most {
                let why = format!(
                    "expected at most {most} bytes of arguments, as the option max_uniform_buffer_range says, found {size_bytes}"
                );
                self.report(Span::NONE, String::new(), why);
            }
            self.out.decorate(base, Decoration::DescriptorSet, &[0]);
            self.out.decorate(base, Decoration::Binding, &[binding]);
            Block::Uniform { size_bytes, binding }
        };
        for (number, member) in (0_u32..).zip(members) {
            let Some(Param::Var(var)) = function.params.get(member.param) else { continue };
            if !self.usage.uses(var.address()) {
                continue;
            }
            let pointer = self.out.pointer(class, member.of);
            let place = self.out.word(number);
            let place = self.out.compute(Op::AccessChain, pointer, vec![id(base), id(place)]);
            let loaded = self.out.compute(Op::Load, member.of, vec![id(place)]);
            if var.dtype.is_handle() {
                let Some(form) = self.pointer_form(var) else { continue };
                let class = StorageClass::PhysicalStorageBuffer;
                let pointed = self.out.unbounded(form.place());
                let pointer = self.out.pointer(class, pointed);
                let base = self.out.compute(Op::Bitcast, pointer, vec![id(loaded)]);
                let is_written = self.uses.get(var.address()).is_written;
                self.memories.insert(var.address(), Memory { class, base, form, is_written, is_long: false });
                continue;
            }
            let value = if var.dtype.is_bool() {
                let zero = self.out.word(0);
                self.out.op(Op::INotEqual, Type::Bool, &[loaded, zero])
            } else {
                loaded
            };
            debug_assert!(member.size >= 4, "members are words");
            self.know(var, Value::one(var.dtype, value));
            self.positions.bind(var);
        }
        Some(block)
    }

    /// Declares dynamic shared memory: an array whose length is given when the pipeline is made.
    pub(super) fn allocate_dynamic(&mut self, buffer: &'a Buffer) {
        let used = self.uses.get(buffer.data.address());
        let form = self.form(StorageClass::Workgroup, &used, buffer.dtype);
        let Some((constant, _)) = self.dynamic else {
            let why = "dynamic shared memory without its launch parameter".to_owned();
            return self.report(Span::NONE, buffer.name.to_string(), why);
        };
        self.dynamic = Some((constant, form.place().size_bytes()));
        self.needs_narrow(form);
        let length = self.out.specialised(constant, 1);
        let element = self.out.type_of(form.place());
        let array = self.out.array(element, length, None);
        let base = self.out.global(StorageClass::Workgroup, array, &buffer.name);
        let class = StorageClass::Workgroup;
        self.memories.insert(
            buffer.data.address(),
            Memory { class, base, form, is_written: used.is_written, is_long: false },
        );
    }

    // -- the module -------------------------------------------------------------------------------

    fn finish(&mut self, written: &mut Spirv) {
        let environment = self.environment;
        let out = std::mem::replace(&mut self.out, super::emitter::Emitter::new());
        let (mut addressing, mut memory) = (AddressingModel::Logical, MemoryModel::GLSL450);
        let mut capabilities = out.capabilities.clone();
        if environment.buffer_access == BufferAccess::Address {
            addressing = AddressingModel::PhysicalStorageBuffer64;
            capabilities.insert(Capability::PhysicalStorageBufferAddresses);
        }
        if environment.uses_vulkan_memory_model {
            memory = MemoryModel::Vulkan;
        }
        let mut extensions: BTreeSet<&'static str> =
            capabilities.iter().filter_map(|one| environment.extension(*one)).collect();
        if self.described.is_some() {
            extensions.insert("SPV_KHR_non_semantic_info");
        }
        let mut out = out;
        out.capabilities = capabilities;
        let needs = &mut written.needs;
        needs.vulkan = environment.vulkan;
        needs.spirv = environment.spirv;
        needs.capabilities = out.capabilities.iter().map(|one| format!("{one:?}")).collect();
        needs.capabilities.sort_unstable();
        needs.extensions = extensions.iter().map(|name| (*name).to_owned()).collect();
        let is_of_warp = |one: &Capability| {
            matches!(one, Capability::GroupNonUniformBallot | Capability::GroupNonUniformShuffle)
        };
        needs.subgroup_size = environment.subgroup_size.filter(|_| out.capabilities.iter().any(is_of_warp));
        let module = out.finish(environment.spirv, addressing, memory, &extensions);
        written.words = module.assemble();
        written.text = super::text::text_of(&module);
    }
}

fn launch_params(function: &PrimFunc) -> Vec<String> {
    match function.attrs.get(attr::KERNEL_LAUNCH_PARAMS) {
        Some(AttrValue::List(list)) => list
            .iter()
            .filter_map(|value| if let AttrValue::Str(text) = value { Some(text.to_string()) } else { None })
            .collect(),
        _ => Vec::new(),
    }
}
