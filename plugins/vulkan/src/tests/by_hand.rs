//! A kernel by hand, `y[i] += x[i]` below `n`, in the forms that a launch distinguishes.

use chipdock_plugin_api::Artifact;
use chipdock_plugin_api::abi::{ChipdockArtifact, ChipdockSection};
use chipdock_plugin_api::text::str_out;
use rspirv::binary::Assemble as _;
use rspirv::dr::{Builder, Operand};
use rspirv::spirv::{
    AddressingModel, BuiltIn, Capability, Decoration, ExecutionMode, ExecutionModel, FunctionControl,
    MemoryAccess, MemoryModel, SelectionControl, StorageClass,
};
use serde_json::{Value, json};

/// Threads of a workgroup.
pub(super) const THREADS: u32 = 64;

/// How arguments reach the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// Storage buffers, and `n` as a push constant.
    Push,
    /// Storage buffers, and `n` in a uniform buffer.
    Uniform,
    /// Everything as push constants: the buffers by device address.
    Address,
    /// As `Push`; adds the sum through dynamic shared memory in reverse order of threads, and the
    /// number of its elements.
    Shared,
}

/// An artifact in parts, which tests change.
#[derive(Clone, Debug)]
pub(super) struct Parts {
    pub(super) index: Value,
    pub(super) spv: Vec<u8>,
}

impl Parts {
    /// Writes the digest of the words.
    pub(super) fn sealed(mut self) -> Self {
        self.index["options"]["spv_sha256"] = crate::artifact::digest(&self.spv).into();
        self
    }

    /// Changes the words, and writes their digest.
    pub(super) fn with_words(mut self, change: impl FnOnce(&mut Vec<u32>)) -> Self {
        let (words, _) = self.spv.as_chunks::<4>();
        let mut words = words.iter().map(|word| u32::from_le_bytes(*word)).collect();
        change(&mut words);
        self.spv = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        self.sealed()
    }

    pub(super) fn with<R>(&self, body: impl FnOnce(&Artifact<'_>) -> R) -> R {
        self.with_index(&self.index.to_string(), body)
    }

    /// With that text in place of the index.
    pub(super) fn with_index<R>(&self, index: &str, body: impl FnOnce(&Artifact<'_>) -> R) -> R {
        let section = ChipdockSection {
            name: str_out("spv"),
            kind: str_out("code"),
            alignment_bytes: 4,
            data: self.spv.as_ptr().cast(),
            size_bytes: self.spv.len() as u64,
        };
        let raw = ChipdockArtifact {
            index_json: str_out(index),
            sections: &section,
            sections_count: 1,
            next: std::ptr::null(),
        };
        // SAFETY: M.3, all of it lives until `body` returns.
        body(&unsafe { Artifact::from_raw(&raw) }.unwrap())
    }
}

/// Ids that the parts of the kernel share.
struct Ids {
    form: Form,
    boolean: u32,
    int: u32,
    uint: u32,
    float: u32,
    threes: u32,
    zero: u32,
    one: u32,
    /// Type of a pointer to a buffer, and to an element of one.
    whole: u32,
    element: u32,
}

/// Variables of the kernel's arguments.
struct Arguments {
    block: u32,
    block_class: StorageClass,
    /// The storage buffers; none where they are addresses in the block.
    buffers: Vec<u32>,
}

/// The kernel `add` of that form.
pub(super) fn add(form: Form) -> Parts {
    let mut b = Builder::new();
    b.set_version(1, 3);
    b.capability(Capability::Shader);
    let (addressing, extensions): (_, &[&str]) = match form {
        Form::Address => (AddressingModel::PhysicalStorageBuffer64, &["SPV_KHR_physical_storage_buffer"]),
        _ => (AddressingModel::Logical, &[]),
    };
    if form == Form::Address {
        b.capability(Capability::PhysicalStorageBufferAddresses);
    }
    extensions.iter().for_each(|name| b.extension(*name));
    b.memory_model(addressing, MemoryModel::GLSL450);
    let ids = types(&mut b, form);
    let arguments = arguments(&mut b, &ids);
    let [global, local] = [BuiltIn::GlobalInvocationId, BuiltIn::LocalInvocationId].map(|which| {
        let pointer = b.type_pointer(None, StorageClass::Input, ids.threes);
        let id = b.variable(pointer, None, StorageClass::Input, None);
        b.decorate(id, Decoration::BuiltIn, [Operand::BuiltIn(which)]);
        id
    });
    let shared = (form == Form::Shared).then(|| shared_memory(&mut b, &ids));
    let void = b.type_void();
    let signature = b.type_function(void, []);
    let main = b.begin_function(void, None, FunctionControl::NONE, signature).unwrap();
    b.begin_block(None).unwrap();
    let [i, local_i] = [global, local].map(|variable| component(&mut b, &ids, variable));
    body(&mut b, &ids, &arguments, shared.as_ref(), [i, local_i]);
    b.ret().unwrap();
    b.end_function().unwrap();
    b.entry_point(ExecutionModel::GLCompute, main, "add_kernel", [global, local]);
    b.execution_mode(main, ExecutionMode::LocalSize, [THREADS, 1, 1]);
    let words = b.module().assemble();
    let spv = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    Parts { index: index(form, extensions), spv }.sealed()
}

fn types(b: &mut Builder, form: Form) -> Ids {
    let (uint, float) = (b.type_int(32, 0), b.type_float(32, None));
    let class = match form {
        Form::Address => StorageClass::PhysicalStorageBuffer,
        _ => StorageClass::StorageBuffer,
    };
    let array = b.type_runtime_array(float);
    b.decorate(array, Decoration::ArrayStride, [Operand::LiteralBit32(4)]);
    let buffer = b.type_struct([array]);
    b.decorate(buffer, Decoration::Block, []);
    b.member_decorate(buffer, 0, Decoration::Offset, [Operand::LiteralBit32(0)]);
    Ids {
        form,
        boolean: b.type_bool(),
        int: b.type_int(32, 1),
        threes: b.type_vector(uint, 3),
        zero: b.constant_bit32(uint, 0),
        one: b.constant_bit32(uint, 1),
        whole: b.type_pointer(None, class, buffer),
        element: b.type_pointer(None, class, float),
        uint,
        float,
    }
}

fn arguments(b: &mut Builder, ids: &Ids) -> Arguments {
    let (members, offsets): (_, &[u32]) = match ids.form {
        Form::Address => (vec![ids.whole, ids.whole, ids.int], &[0, 8, 16]),
        _ => (vec![ids.int], &[0]),
    };
    let block_type = b.type_struct(members);
    b.decorate(block_type, Decoration::Block, []);
    for (member, offset) in offsets.iter().enumerate() {
        b.member_decorate(block_type, member as u32, Decoration::Offset, [Operand::LiteralBit32(*offset)]);
    }
    let block_class = match ids.form {
        Form::Uniform => StorageClass::Uniform,
        _ => StorageClass::PushConstant,
    };
    let pointer = b.type_pointer(None, block_class, block_type);
    let block = b.variable(pointer, None, block_class, None);
    let count = if ids.form == Form::Address { 0 } else { 2 };
    let buffers: Vec<u32> =
        (0..count).map(|_| b.variable(ids.whole, None, StorageClass::StorageBuffer, None)).collect();
    let in_set = (ids.form == Form::Uniform).then_some(&block);
    for (binding, variable) in buffers.iter().chain(in_set).enumerate() {
        b.decorate(*variable, Decoration::DescriptorSet, [Operand::LiteralBit32(0)]);
        b.decorate(*variable, Decoration::Binding, [Operand::LiteralBit32(binding as u32)]);
    }
    Arguments { block, block_class, buffers }
}

/// The statements of the kernel: `i` is the thread in the grid, `local_i` that in the block.
fn body(b: &mut Builder, ids: &Ids, arguments: &Arguments, shared: Option<&Shared>, [i, local_i]: [u32; 2]) {
    let member = |b: &mut Builder, sort, member| {
        let pointer = b.type_pointer(None, arguments.block_class, sort);
        let place = b.access_chain(pointer, None, arguments.block, [member]).unwrap();
        b.load(sort, None, place, None, []).unwrap()
    };
    let (x, y, n_member) = match arguments.buffers[..] {
        [x, y] => (x, y, ids.zero),
        _ => {
            let two = b.constant_bit32(ids.uint, 2);
            (member(b, ids.whole, ids.zero), member(b, ids.whole, ids.one), two)
        }
    };
    let n = member(b, ids.int, n_member);
    let mut value = element(b, ids, x, i).1;
    if let Some(shared) = shared {
        value = through(b, ids, shared, local_i, value);
    }
    let is_within = b.s_less_than(ids.boolean, None, i, n).unwrap();
    let (then, end) = (b.id(), b.id());
    b.selection_merge(end, SelectionControl::NONE).unwrap();
    b.branch_conditional(is_within, then, end, []).unwrap();
    b.begin_block(Some(then)).unwrap();
    let (place, before) = element(b, ids, y, i);
    let sum = b.f_add(ids.float, None, before, value).unwrap();
    store(b, ids, place, sum);
    b.branch(end).unwrap();
    b.begin_block(Some(end)).unwrap();
}

/// The x component of a builtin.
fn component(b: &mut Builder, ids: &Ids, variable: u32) -> u32 {
    let all = b.load(ids.threes, None, variable, None, []).unwrap();
    b.composite_extract(ids.uint, None, all, [0]).unwrap()
}

/// Place and value of an element of a buffer.
fn element(b: &mut Builder, ids: &Ids, buffer: u32, i: u32) -> (u32, u32) {
    let place = b.access_chain(ids.element, None, buffer, [ids.zero, i]).unwrap();
    let value = match ids.form {
        Form::Address => {
            b.load(ids.float, None, place, Some(MemoryAccess::ALIGNED), [Operand::LiteralBit32(4)])
        }
        _ => b.load(ids.float, None, place, None, []),
    };
    (place, value.unwrap())
}

fn store(b: &mut Builder, ids: &Ids, place: u32, value: u32) {
    let stored = match ids.form {
        Form::Address => b.store(place, value, Some(MemoryAccess::ALIGNED), [Operand::LiteralBit32(4)]),
        _ => b.store(place, value, None, []),
    };
    stored.unwrap();
}

/// Dynamic shared memory: its length, the array, the type of a pointer to an element.
struct Shared {
    length: u32,
    array: u32,
    pointer: u32,
}

fn shared_memory(b: &mut Builder, ids: &Ids) -> Shared {
    let length = b.spec_constant_bit32(ids.uint, 1);
    b.decorate(length, Decoration::SpecId, [Operand::LiteralBit32(0)]);
    let array = b.type_array(ids.float, length);
    let whole = b.type_pointer(None, StorageClass::Workgroup, array);
    Shared {
        length,
        array: b.variable(whole, None, StorageClass::Workgroup, None),
        pointer: b.type_pointer(None, StorageClass::Workgroup, ids.float),
    }
}

/// The value of the opposite thread, and the length.
fn through(b: &mut Builder, ids: &Ids, shared: &Shared, local: u32, value: u32) -> u32 {
    let own = b.access_chain(shared.pointer, None, shared.array, [local]).unwrap();
    b.store(own, value, None, []).unwrap();
    let (workgroup, semantics) = (b.constant_bit32(ids.uint, 2), b.constant_bit32(ids.uint, 264));
    b.control_barrier(workgroup, workgroup, semantics).unwrap();
    let last = b.constant_bit32(ids.uint, THREADS - 1);
    let opposite = b.i_sub(ids.uint, None, last, local).unwrap();
    let place = b.access_chain(shared.pointer, None, shared.array, [opposite]).unwrap();
    let value = b.load(ids.float, None, place, None, []).unwrap();
    let length = b.convert_u_to_f(ids.float, None, shared.length).unwrap();
    b.f_add(ids.float, None, value, length).unwrap()
}

fn index(form: Form, extensions: &[&str]) -> Value {
    let (buffers, block) = match form {
        Form::Address => (0, json!({ "in": "push_constant", "size_bytes": 20 })),
        Form::Uniform => (2, json!({ "in": "uniform", "size_bytes": 4, "binding": 2 })),
        Form::Push | Form::Shared => (2, json!({ "in": "push_constant", "size_bytes": 4 })),
    };
    let places = match form {
        Form::Address => json!([
            { "address_at": 0, "is_written": false },
            { "address_at": 8, "is_written": true },
            { "offset_bytes": 16, "size_bytes": 4 },
        ]),
        _ => json!([
            { "binding": 0, "is_written": false },
            { "binding": 1, "is_written": true },
            { "offset_bytes": 0, "size_bytes": 4 },
        ]),
    };
    let mut function = json!({
        "name": "add", "symbol": "add_kernel", "args": ["handle", "handle", "int32"],
        "launch_params": ["blockIdx.x", "threadIdx.x"],
        "options": { "workgroup_size": [THREADS, 1, 1], "places": places, "block": block },
    });
    let mut capabilities = vec!["Shader"];
    if form == Form::Shared {
        function["launch_params"] = json!(["blockIdx.x", "threadIdx.x", "tirx.use_dyn_shared_memory"]);
        function["options"]["dynamic_shared"] = json!({ "constant": 0, "element_bytes": 4 });
    }
    if form == Form::Address {
        capabilities.insert(0, "PhysicalStorageBufferAddresses");
    }
    let push_constant_bytes = if block["in"] == "uniform" { json!(0) } else { block["size_bytes"].clone() };
    json!({
        "module_kind": "vulkan", "format": "spv", "functions": [function],
        "options": {
            "needs": {
                "vulkan": [1, 1], "spirv": [1, 3], "capabilities": capabilities, "extensions": extensions,
                "storage_buffers": buffers, "push_constant_bytes": push_constant_bytes, "shared_memory_bytes": 0,
            },
            "spv_sha256": "",
        },
    })
}
