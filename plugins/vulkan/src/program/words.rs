//! The words of a SPIR-V module: their structure, and what they declare (VKMOD-M2, VKMOD-M3).
//!
//! This is no validator. It guarantees that a driver can walk the words without leaving them, that
//! every id is defined once, and that entry points use only resources that a launch binds.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use rspirv::binary::{Consumer, ParseAction, parse_words};
use rspirv::dr::{Instruction, ModuleHeader, Operand};
use rspirv::grammar::{INSTRUCTION_TABLE, OperandKind, reflect};
use rspirv::spirv::{self, Decoration, ExecutionMode, ExecutionModel, Op, StorageClass};

/// Number of words of the header.
const HEADER_WORDS: usize = 5;
/// SPIR-V's limit of the bound of ids, which drivers may rely on.
const BOUND_MAX: u32 = 0x3F_FFFF;
/// Greatest nesting of the types of a block.
const TYPE_DEPTH_MAX: u32 = 8;

/// What a module declares.
#[derive(Debug)]
pub(crate) struct Shader {
    /// The words, header included.
    pub(crate) words: Vec<u32>,
    /// Major and minor version.
    pub(crate) version: [u32; 2],
    pub(crate) capabilities: BTreeSet<spirv::Capability>,
    pub(crate) extensions: BTreeSet<String>,
    /// Entry points, in their order.
    pub(crate) entries: Vec<Entry>,
    /// Numbers of the specialisation constants of 32 bits.
    pub(crate) constants: BTreeSet<u32>,
    /// Float controls: the execution mode, and the width in bits of the floats that it is for.
    pub(crate) float_controls: BTreeSet<(ExecutionMode, u32)>,
}

/// An entry point.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) name: String,
    /// Threads of a workgroup: x, y, z.
    pub(crate) local_size: [u32; 3],
    /// Resources that its functions use.
    pub(crate) resources: Vec<Resource>,
    /// Bytes of shared memory whose size no specialisation constant sets.
    pub(crate) shared_bytes: u64,
    /// Arrays in shared memory whose length is a specialisation constant: its number, and the size
    /// of an element in bytes.
    pub(crate) dynamic_shared: Vec<(u32, u64)>,
}

/// A variable that a launch must bind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Resource {
    /// A storage buffer of set 0.
    Storage { binding: u32 },
    /// A uniform buffer of set 0, of at least that size.
    Uniform { binding: u32, size_bytes: u64 },
    /// Push constants, of at least that size.
    PushConstant { size_bytes: u64 },
}

impl Shader {
    /// Reads and checks the bytes of a module; the error says what is wrong, for a message.
    pub(crate) fn read(bytes: &[u8]) -> Result<Self, String> {
        let words = words_of(bytes)?;
        let version = header(&words)?;
        walk(&words)?;
        let mut parsed = Instructions::default();
        parse_words(&words, &mut parsed).map_err(|state| format!("its words are no SPIR-V: {state}"))?;
        let list = &parsed.0;
        check_ids(list, words[3])?;
        check_layout(list)?;
        let globals = Globals::of(list);
        let (mut capabilities, mut extensions) = (BTreeSet::new(), BTreeSet::new());
        for instruction in list {
            match (instruction.class.opcode, instruction.operands.first()) {
                (Op::Capability, Some(Operand::Capability(capability))) => {
                    capabilities.insert(*capability);
                }
                (Op::Extension, Some(Operand::LiteralString(name))) => {
                    extensions.insert(name.clone());
                }
                _ => {}
            }
        }
        let entries = entries(list, &globals)?;
        let constants = globals.constants(list);
        let float_controls = float_controls(list);
        Ok(Self { words, version, capabilities, extensions, entries, constants, float_controls })
    }
}

fn words_of(bytes: &[u8]) -> Result<Vec<u32>, String> {
    let (words, rest) = bytes.as_chunks::<4>();
    if !rest.is_empty() {
        return Err(format!("expected whole words of SPIR-V, found {} bytes", bytes.len()));
    }
    Ok(words.iter().map(|word| u32::from_le_bytes(*word)).collect())
}

/// Checks the header and returns the version.
fn header(words: &[u32]) -> Result<[u32; 2], String> {
    let [magic, version, _, bound, schema, ..] = *words else {
        return Err(format!("expected a header of {HEADER_WORDS} words, found {}", words.len()));
    };
    if magic != spirv::MAGIC_NUMBER {
        let number = spirv::MAGIC_NUMBER;
        return Err(format!(
            "expected the number {number:#010x} of SPIR-V in little-endian, found {magic:#010x}"
        ));
    }
    if version & 0xFF00_00FF != 0 {
        return Err(format!("expected a version of SPIR-V, found {version:#010x}"));
    }
    if bound == 0 || bound >= BOUND_MAX {
        return Err(format!("expected a bound of ids from 1 to {BOUND_MAX}, found {bound}"));
    }
    if schema != 0 {
        return Err(format!("expected the reserved word of the header to be 0, found {schema}"));
    }
    Ok([version >> 16 & 0xFF, version >> 8 & 0xFF])
}

/// Checks that instructions fill the words exactly, and that rspirv's parser can be given each: it
/// panics at a string that leaves the words, and at some operations of `OpSpecConstantOp`.
fn walk(words: &[u32]) -> Result<(), String> {
    let mut at = HEADER_WORDS;
    while let Some(first) = words.get(at) {
        let (count, opcode) = ((first >> 16) as usize, first & 0xFFFF);
        let instruction = words.get(at..at.saturating_add(count)).filter(|words| !words.is_empty());
        let Some(instruction) = instruction else {
            let left = words.len() - at;
            return Err(format!("the instruction at word {at} has {count} words, and {left} are left"));
        };
        if opcode == Op::SpecConstantOp as u32
            && !instruction.get(3).is_some_and(|op| is_constant_operation(*op))
        {
            return Err(format!("OpSpecConstantOp at word {at} has an operation that it cannot have"));
        }
        at += count;
    }
    Ok(())
}

fn is_constant_operation(opcode: u32) -> bool {
    INSTRUCTION_TABLE.lookup_opcode(opcode).is_some_and(|operation| {
        operation.operands.iter().any(|operand| operand.kind == OperandKind::IdResult)
            && operation.operands.iter().all(|operand| {
                !matches!(
                    operand.kind,
                    OperandKind::LiteralContextDependentNumber
                        | OperandKind::LiteralSpecConstantOpInteger
                        | OperandKind::PairLiteralIntegerIdRef
                )
            })
    })
}

/// All instructions, in order: rspirv's own loader refuses debug information outside of functions.
#[derive(Default)]
struct Instructions(Vec<Instruction>);

impl Consumer for Instructions {
    fn initialize(&mut self) -> ParseAction {
        ParseAction::Continue
    }

    fn finalize(&mut self) -> ParseAction {
        ParseAction::Continue
    }

    fn consume_header(&mut self, _: ModuleHeader) -> ParseAction {
        ParseAction::Continue
    }

    fn consume_instruction(&mut self, instruction: Instruction) -> ParseAction {
        self.0.push(instruction);
        ParseAction::Continue
    }
}

/// Every id is below the bound, defined once, and defined somewhere if it is used.
fn check_ids(list: &[Instruction], bound: u32) -> Result<(), String> {
    let mut defined = HashSet::new();
    for id in list.iter().filter_map(|instruction| instruction.result_id) {
        if id == 0 || id >= bound {
            return Err(format!("expected ids from 1 to {}, found {id}", bound - 1));
        }
        if !defined.insert(id) {
            return Err(format!("the id {id} is defined twice"));
        }
    }
    for instruction in list {
        let operands = instruction.operands.iter().filter_map(Operand::id_ref_any);
        if let Some(id) = operands.chain(instruction.result_type).find(|id| !defined.contains(id)) {
            return Err(format!("Op{:?} uses the id {id}, which is not defined", instruction.class.opcode));
        }
    }
    Ok(())
}

/// Section of a module at whose place an instruction outside of functions stands; `None` for one
/// that may stand in several.
fn section(opcode: Op) -> Option<u8> {
    Some(match opcode {
        Op::Capability => 0,
        Op::Extension => 1,
        Op::ExtInstImport => 2,
        Op::MemoryModel => 3,
        Op::EntryPoint => 4,
        Op::ExecutionMode | Op::ExecutionModeId => 5,
        Op::String | Op::SourceExtension | Op::Source | Op::SourceContinued => 6,
        Op::Name | Op::MemberName => 7,
        Op::ModuleProcessed => 8,
        Op::Line | Op::NoLine | Op::ExtInst => return None,
        opcode if opcode.is_annotation() => 9,
        Op::Function => 11,
        _ => 10,
    })
}

/// Sections are in order, functions consist of whole blocks, and there is one memory model.
fn check_layout(list: &[Instruction]) -> Result<(), String> {
    let (mut last, mut models_count) = (0, 0);
    let (mut is_in_function, mut is_in_block) = (false, false);
    for instruction in list {
        let opcode = instruction.class.opcode;
        let misplaced = || Err(format!("Op{opcode:?} stands where it must not"));
        models_count += usize::from(opcode == Op::MemoryModel);
        if !is_in_function {
            let Some(section) = section(opcode) else { continue };
            let is_global =
                opcode.is_type() || opcode.is_constant() || matches!(opcode, Op::Variable | Op::Undef);
            if section < last || section == 10 && !is_global {
                return misplaced();
            }
            last = section;
            is_in_function = opcode == Op::Function;
            continue;
        }
        match opcode {
            Op::Line | Op::NoLine => {}
            Op::FunctionEnd if !is_in_block => is_in_function = false,
            Op::Label if !is_in_block => is_in_block = true,
            Op::FunctionParameter if !is_in_block => {}
            _ if !is_in_block || section(opcode).is_some_and(|section| section != 10) => return misplaced(),
            Op::Label | Op::FunctionEnd | Op::FunctionParameter => return misplaced(),
            _ if reflect::is_block_terminator(opcode) => is_in_block = false,
            _ => {}
        }
    }
    if is_in_function {
        return Err("its last function does not end".to_owned());
    }
    if models_count != 1 {
        return Err(format!("expected one OpMemoryModel, found {models_count}"));
    }
    Ok(())
}

/// Types, variables and decorations, by id.
struct Globals<'a> {
    by_id: HashMap<u32, &'a Instruction>,
    /// Decorations with a number: (id, decoration) to the number.
    numbers: HashMap<(u32, Decoration), u32>,
    /// Offsets of a struct's members.
    offsets: BTreeMap<(u32, u32), u32>,
}

impl<'a> Globals<'a> {
    fn of(list: &'a [Instruction]) -> Self {
        let mut globals = Self { by_id: HashMap::new(), numbers: HashMap::new(), offsets: BTreeMap::new() };
        for instruction in list {
            use Operand::{Decoration as D, IdRef, LiteralBit32 as Number};
            match (instruction.class.opcode, &instruction.operands[..]) {
                (Op::Decorate, [IdRef(id), D(decoration), Number(number)]) => {
                    globals.numbers.insert((*id, *decoration), *number);
                }
                (Op::MemberDecorate, [IdRef(id), Number(member), D(Decoration::Offset), Number(offset)]) => {
                    globals.offsets.insert((*id, *member), *offset);
                }
                _ => {}
            }
            if let Some(id) = instruction.result_id {
                globals.by_id.insert(id, instruction);
            }
        }
        globals
    }

    fn number(&self, id: u32, decoration: Decoration) -> Option<u32> {
        self.numbers.get(&(id, decoration)).copied()
    }

    /// Numbers of the specialisation constants whose type has 32 bits.
    fn constants(&self, list: &[Instruction]) -> BTreeSet<u32> {
        let constants = list.iter().filter(|instruction| instruction.class.opcode == Op::SpecConstant);
        let constants = constants
            .filter(|instruction| instruction.result_type.is_some_and(|id| self.size_bytes(id, 0) == Ok(4)));
        let ids = constants.filter_map(|instruction| instruction.result_id);
        ids.filter_map(|id| self.number(id, Decoration::SpecId)).collect()
    }

    /// The resource that a variable is; `None` for one that no launch binds.
    fn resource(&self, variable: &Instruction) -> Result<Option<Resource>, String> {
        let (Some(id), Some(Operand::StorageClass(class))) = (variable.result_id, variable.operands.first())
        else {
            return Err("expected an OpVariable with a storage class".to_owned());
        };
        match class {
            StorageClass::Input | StorageClass::Private => return Ok(None),
            StorageClass::StorageBuffer | StorageClass::Uniform | StorageClass::PushConstant => {}
            other => {
                return Err(format!(
                    "the variable {id} is of storage class {other:?}, which no launch binds"
                ));
            }
        }
        let is_struct =
            |id: &u32| self.by_id.get(id).is_some_and(|block| block.class.opcode == Op::TypeStruct);
        let block = self.pointee(variable).filter(is_struct);
        let block = block.ok_or_else(|| format!("expected a struct as the type of the variable {id}"))?;
        if *class == StorageClass::PushConstant {
            return Ok(Some(Resource::PushConstant { size_bytes: self.size_bytes(block, 0)? }));
        }
        let (set, binding) =
            (self.number(id, Decoration::DescriptorSet), self.number(id, Decoration::Binding));
        let (Some(0), Some(binding)) = (set, binding) else {
            return Err(format!(
                "expected set 0 and a binding for the variable {id}, found {set:?} and {binding:?}"
            ));
        };
        Ok(Some(match class {
            StorageClass::Uniform => Resource::Uniform { binding, size_bytes: self.size_bytes(block, 0)? },
            _ => Resource::Storage { binding },
        }))
    }

    /// If a type is an array whose length is a specialisation constant: its number, and the size of
    /// an element.
    fn specialised_array(&self, id: u32) -> Option<(u32, u64)> {
        let array = self.by_id.get(&id).filter(|one| one.class.opcode == Op::TypeArray)?;
        let [Operand::IdRef(element), Operand::IdRef(length)] = array.operands[..] else { return None };
        self.by_id.get(&length).filter(|one| one.class.opcode == Op::SpecConstant)?;
        let number = self.number(length, Decoration::SpecId)?;
        Some((number, self.size_bytes(element, 0).ok()?))
    }

    /// The type that a variable contains.
    fn pointee(&self, variable: &Instruction) -> Option<u32> {
        let pointer = self.by_id.get(&variable.result_type?)?;
        pointer.operands.get(1)?.id_ref_any()
    }

    /// Size of a type in a block, in which members have offsets, or in shared memory.
    fn size_bytes(&self, id: u32, depth: u32) -> Result<u64, String> {
        let unknown = || format!("the type {id} lies in a block, and has no size there");
        let definition = self.by_id.get(&id).filter(|_| depth < TYPE_DEPTH_MAX).ok_or_else(unknown)?;
        let number = |at: usize| match definition.operands.get(at) {
            Some(Operand::LiteralBit32(number)) => Ok(u64::from(*number)),
            _ => Err(unknown()),
        };
        let inner = |at: usize| match definition.operands.get(at) {
            Some(Operand::IdRef(inner)) => self.size_bytes(*inner, depth + 1),
            _ => Err(unknown()),
        };
        match definition.class.opcode {
            Op::TypeBool => Ok(4),
            Op::TypeInt | Op::TypeFloat => Ok(number(0)?.div_ceil(8)),
            Op::TypeVector => Ok(inner(0)?.saturating_mul(number(1)?)),
            Op::TypeArray => {
                let length = definition.operands.get(1).and_then(Operand::id_ref_any);
                let length = length.and_then(|id| self.by_id.get(&id));
                let length = length.filter(|length| length.class.opcode == Op::Constant);
                match length.and_then(|length| length.operands.first()) {
                    Some(Operand::LiteralBit32(length)) => Ok(inner(0)?.saturating_mul(u64::from(*length))),
                    _ => Err(unknown()),
                }
            }
            // Only addresses are pointers in a block.
            Op::TypePointer => Ok(8),
            Op::TypeStruct => {
                let mut end = 0;
                for member in 0..definition.operands.len() {
                    let offset =
                        u32::try_from(member).ok().and_then(|member| self.offsets.get(&(id, member)));
                    end = end.max(u64::from(*offset.ok_or_else(unknown)?).saturating_add(inner(member)?));
                }
                Ok(end)
            }
            _ => Err(unknown()),
        }
    }
}

/// The entry points, in their order.
fn entries(list: &[Instruction], globals: &Globals<'_>) -> Result<Vec<Entry>, String> {
    let uses = uses(list);
    let mut entries = Vec::new();
    for instruction in list.iter().filter(|instruction| instruction.class.opcode == Op::EntryPoint) {
        let [Operand::ExecutionModel(model), Operand::IdRef(function), Operand::LiteralString(name), ..] =
            &instruction.operands[..]
        else {
            return Err("expected a model, a function and a name in OpEntryPoint".to_owned());
        };
        if *model != ExecutionModel::GLCompute {
            return Err(format!("expected entry points of compute shaders, found {name} as {model:?}"));
        }
        let is_function = uses.contains_key(function);
        if !is_function {
            return Err(format!("the entry point {name} is no function"));
        }
        let mut entry = Entry {
            name: name.clone(),
            local_size: local_size(list, *function, name)?,
            resources: Vec::new(),
            shared_bytes: 0,
            dynamic_shared: Vec::new(),
        };
        find_memory(globals, &uses, *function, &mut entry)?;
        entries.push(entry);
    }
    Ok(entries)
}

fn local_size(list: &[Instruction], function: u32, name: &str) -> Result<[u32; 3], String> {
    let mut sizes = list.iter().filter_map(|instruction| match &instruction.operands[..] {
        [
            Operand::IdRef(id),
            Operand::ExecutionMode(ExecutionMode::LocalSize),
            Operand::LiteralBit32(x),
            Operand::LiteralBit32(y),
            Operand::LiteralBit32(z),
        ] if *id == function => Some([*x, *y, *z]),
        _ => None,
    });
    match (sizes.next(), sizes.next()) {
        (Some(size), None) => Ok(size),
        _ => Err(format!("expected the execution mode LocalSize of the entry point {name} once")),
    }
}

/// The execution modes that are float controls, each with its width.
fn float_controls(list: &[Instruction]) -> BTreeSet<(ExecutionMode, u32)> {
    let of = |instruction: &Instruction| match &instruction.operands[..] {
        [_, Operand::ExecutionMode(mode), Operand::LiteralBit32(width)] => Some((*mode, *width)),
        _ => None,
    };
    let is_control = |mode: ExecutionMode| {
        matches!(
            mode,
            ExecutionMode::DenormPreserve
                | ExecutionMode::DenormFlushToZero
                | ExecutionMode::SignedZeroInfNanPreserve
                | ExecutionMode::RoundingModeRTE
                | ExecutionMode::RoundingModeRTZ
        )
    };
    let modes = list.iter().filter(|one| one.class.opcode == Op::ExecutionMode).filter_map(of);
    modes.filter(|(mode, _)| is_control(*mode)).collect()
}

/// Ids that each function uses.
fn uses(list: &[Instruction]) -> HashMap<u32, HashSet<u32>> {
    let (mut uses, mut current) = (HashMap::<u32, HashSet<u32>>::new(), None);
    for instruction in list {
        match instruction.class.opcode {
            Op::Function => current = instruction.result_id,
            Op::FunctionEnd => current = None,
            _ => {}
        }
        if let Some(function) = current {
            let ids = instruction.operands.iter().filter_map(Operand::id_ref_any);
            uses.entry(function).or_default().extend(ids);
        }
    }
    uses
}

/// Finds the resources and the shared memory of an entry point's function and of those that it
/// calls.
fn find_memory(
    globals: &Globals<'_>,
    uses: &HashMap<u32, HashSet<u32>>,
    function: u32,
    entry: &mut Entry,
) -> Result<(), String> {
    let (mut seen, mut open) = (BTreeSet::from([function]), vec![function]);
    while let Some(ids) = open.pop().and_then(|function| uses.get(&function)) {
        for id in ids.iter().filter(|id| seen.insert(**id)) {
            if uses.contains_key(id) {
                open.push(*id);
            }
            let variable = globals.by_id.get(id).filter(|one| one.class.opcode == Op::Variable);
            match variable.and_then(|variable| Some((variable, variable.operands.first()?))) {
                None | Some((_, Operand::StorageClass(StorageClass::Function))) => {}
                Some((variable, Operand::StorageClass(StorageClass::Workgroup))) => {
                    let Some(of) = globals.pointee(variable) else { continue };
                    if let Some(dynamic) = globals.specialised_array(of) {
                        entry.dynamic_shared.push(dynamic);
                    } else {
                        let size_bytes = globals.size_bytes(of, 0).unwrap_or(0);
                        entry.shared_bytes = entry.shared_bytes.saturating_add(size_bytes);
                    }
                }
                Some((variable, _)) => entry.resources.extend(globals.resource(variable)?),
            }
        }
    }
    Ok(())
}
