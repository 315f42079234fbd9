//! Instructions of one module: ids, types, constants, blocks. It knows nothing of the IR.

use std::collections::{BTreeSet, HashMap};

use rspirv::dr::{Block, Function, Instruction, Module, ModuleHeader, Operand};
use rspirv::spirv::{
    AddressingModel, BuiltIn, Capability, Decoration, ExecutionMode, ExecutionModel, FunctionControl,
    GlslStd450Op, MemoryModel, Op, StorageClass, Word,
};

use super::debug::DebugOp;

/// A type that is not a pointer, an array or a struct of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Type {
    Void,
    Bool,
    /// Integers have no sign: instructions say how they read them.
    Int(u32),
    Float(u32),
    /// A vector of uint32.
    Words(u32),
    /// A pair of float16.
    Halves,
}

impl Type {
    /// Size of a scalar in bytes.
    pub(super) const fn size_bytes(self) -> u32 {
        match self {
            Self::Int(bits) | Self::Float(bits) => bits / 8,
            _ => 4,
        }
    }
}

/// A type that is declared once.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Known {
    Plain(Type),
    Pointer(StorageClass, Word),
    /// An array of a length: an id of a constant. With a stride if its layout is explicit.
    Array(Word, Word, Option<u32>),
    /// A block that contains one array of unknown length.
    Unbounded(Type),
    Function(Word, Vec<Word>),
    Constant(Word, u64),
    ConstantBool(bool),
    Undefined(Word),
    Input(BuiltIn),
    Text(String),
    /// An instruction of an extended set without a value: the set, its number, its operands.
    Extended(Word, u32, Vec<Word>),
}

/// What lines of debug information are relative to: the set of the instructions, the source, and
/// the function.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scope {
    pub(super) set: Word,
    pub(super) source: Word,
    pub(super) function: Word,
}

/// The parts of a module while it is written.
pub(super) struct Emitter {
    module: Module,
    next: Word,
    known: HashMap<Known, Word>,
    /// Constants that are a zero of a type of floats, and whether it is negative.
    zeros: HashMap<Word, bool>,
    /// Integers of 64 bits with the 32-bit ones that they are, extended by their sign.
    narrow: HashMap<Word, Word>,
    /// Constants of 64 bits that are int32 extended by their sign.
    narrow_constants: HashMap<Word, i32>,
    pub(super) capabilities: BTreeSet<Capability>,
    extended: Word,
    // Of the current function:
    function: Function,
    /// Variables of the function; they stand first in its first block.
    variables: Vec<Instruction>,
    /// The block that instructions are added to; none after a branch.
    is_open: bool,
    /// Variables outside the function that it uses, in order of their first use.
    pub(super) used: Vec<Word>,
    /// The line that following instructions come from: file, line, column.
    line: Option<(Word, u32, u32)>,
    is_line_written: bool,
    /// The scope of the lines, where debug information has them.
    pub(super) scope: Option<Scope>,
    is_scope_written: bool,
}

pub(super) fn id(word: Word) -> Operand {
    Operand::IdRef(word)
}

/// The operands of an instruction of an extended set.
fn of_set(set: Word, number: u32, operands: &[Word]) -> Vec<Operand> {
    let instruction = [id(set), Operand::LiteralExtInstInteger(number)];
    instruction.into_iter().chain(operands.iter().copied().map(id)).collect()
}

pub(super) fn literal(value: u32) -> Operand {
    Operand::LiteralBit32(value)
}

impl Emitter {
    pub(super) fn new() -> Self {
        let mut emitter = Self {
            module: Module::new(),
            next: 1,
            known: HashMap::new(),
            zeros: HashMap::new(),
            narrow: HashMap::new(),
            narrow_constants: HashMap::new(),
            capabilities: BTreeSet::from([Capability::Shader]),
            extended: 0,
            function: Function::default(),
            variables: Vec::new(),
            is_open: false,
            used: Vec::new(),
            line: None,
            is_line_written: false,
            scope: None,
            is_scope_written: false,
        };
        emitter.extended = emitter.import("GLSL.std.450");
        emitter
    }

    /// Imports a set of instructions.
    pub(super) fn import(&mut self, name: &str) -> Word {
        let set = self.id();
        let name = Operand::LiteralString(name.to_owned());
        let import = Instruction::new(Op::ExtInstImport, None, Some(set), vec![name]);
        self.module.ext_inst_imports.push(import);
        set
    }

    pub(super) fn id(&mut self) -> Word {
        self.next += 1;
        self.next - 1
    }

    pub(super) fn needs(&mut self, capability: Capability) {
        self.capabilities.insert(capability);
    }

    // -- declarations -----------------------------------------------------------------------------

    fn declare(&mut self, known: Known, op: Op, result_type: Option<Word>, operands: Vec<Operand>) -> Word {
        if let Some(id) = self.known.get(&known) {
            return *id;
        }
        let id = self.id();
        self.module.types_global_values.push(Instruction::new(op, result_type, Some(id), operands));
        self.known.insert(known, id);
        id
    }

    pub(super) fn type_of(&mut self, plain: Type) -> Word {
        if let Some(id) = self.known.get(&Known::Plain(plain)) {
            return *id;
        }
        let known = Known::Plain(plain);
        match plain {
            Type::Int(64) => self.needs(Capability::Int64),
            Type::Float(64) => self.needs(Capability::Float64),
            Type::Float(16) => self.needs(Capability::Float16),
            _ => {}
        }
        match plain {
            Type::Void => self.declare(known, Op::TypeVoid, None, vec![]),
            Type::Bool => self.declare(known, Op::TypeBool, None, vec![]),
            Type::Int(bits) => self.declare(known, Op::TypeInt, None, vec![literal(bits), literal(0)]),
            Type::Float(bits) => self.declare(known, Op::TypeFloat, None, vec![literal(bits)]),
            Type::Words(count) => {
                let word = self.type_of(Type::Int(32));
                self.declare(known, Op::TypeVector, None, vec![id(word), literal(count)])
            }
            Type::Halves => {
                let half = self.type_of(Type::Float(16));
                self.declare(known, Op::TypeVector, None, vec![id(half), literal(2)])
            }
        }
    }

    /// Returns true if a type was declared.
    pub(super) fn has_type(&self, plain: Type) -> bool {
        self.known.contains_key(&Known::Plain(plain))
    }

    pub(super) fn pointer(&mut self, class: StorageClass, to: Word) -> Word {
        let operands = vec![Operand::StorageClass(class), id(to)];
        self.declare(Known::Pointer(class, to), Op::TypePointer, None, operands)
    }

    /// An array whose length is a constant's id. `stride` is given where its layout must be
    /// explicit.
    pub(super) fn array(&mut self, element: Word, length: Word, stride: Option<u32>) -> Word {
        let known = Known::Array(element, length, stride);
        if let Some(id) = self.known.get(&known) {
            return *id;
        }
        let array = self.declare(known, Op::TypeArray, None, vec![id(element), id(length)]);
        if let Some(stride) = stride {
            self.decorate(array, Decoration::ArrayStride, &[stride]);
        }
        array
    }

    /// A block that contains nothing but an array of unknown length.
    pub(super) fn unbounded(&mut self, element: Type) -> Word {
        let known = Known::Unbounded(element);
        if let Some(id) = self.known.get(&known) {
            return *id;
        }
        let of = self.type_of(element);
        let array = self.id();
        let instruction = Instruction::new(Op::TypeRuntimeArray, None, Some(array), vec![id(of)]);
        self.module.types_global_values.push(instruction);
        self.decorate(array, Decoration::ArrayStride, &[element.size_bytes()]);
        self.declare(known.clone(), Op::TypeStruct, None, vec![id(array)]);
        let block = self.known.get(&known).copied().unwrap_or_default();
        self.decorate(block, Decoration::Block, &[]);
        self.decorate_member(block, 0, Decoration::Offset, &[0]);
        block
    }

    /// A block with these members at these offsets; each call makes a new one.
    pub(super) fn block(&mut self, members: &[(Word, u32)]) -> Word {
        let block = self.id();
        let operands = members.iter().map(|(member, _)| id(*member)).collect();
        let instruction = Instruction::new(Op::TypeStruct, None, Some(block), operands);
        self.module.types_global_values.push(instruction);
        self.decorate(block, Decoration::Block, &[]);
        for (number, (_, offset)) in (0_u32..).zip(members) {
            self.decorate_member(block, number, Decoration::Offset, &[*offset]);
        }
        block
    }

    /// A struct with these members, without a layout.
    pub(super) fn tuple(&mut self, members: &[Word]) -> Word {
        let tuple = self.id();
        let operands = members.iter().copied().map(id).collect();
        self.module.types_global_values.push(Instruction::new(Op::TypeStruct, None, Some(tuple), operands));
        tuple
    }

    pub(super) fn function_type(&mut self, result: Word, params: &[Word]) -> Word {
        let operands = std::iter::once(result).chain(params.iter().copied()).map(id).collect();
        self.declare(Known::Function(result, params.to_vec()), Op::TypeFunction, None, operands)
    }

    /// A constant of an integer or a float, by its bits.
    pub(super) fn constant(&mut self, plain: Type, bits: u64) -> Word {
        let of = self.type_of(plain);
        let is_wide = matches!(plain, Type::Int(64) | Type::Float(64));
        let value = if is_wide { Operand::LiteralBit64(bits) } else { literal(bits as u32) };
        let constant = self.declare(Known::Constant(of, bits), Op::Constant, Some(of), vec![value]);
        if let Type::Float(width) = plain
            && bits & !(1 << (width - 1)) == 0
        {
            self.zeros.insert(constant, bits != 0);
        }
        if plain == Type::Int(64)
            && let Ok(narrow) = i32::try_from(bits.cast_signed())
        {
            self.narrow_constants.insert(constant, narrow);
        }
        constant
    }

    /// Whether a float constant is a zero, and then whether it is negative.
    pub(super) fn zero_constant(&self, constant: Word) -> Option<bool> {
        self.zeros.get(&constant).copied()
    }

    /// A 32-bit integer in 64 bits, extended by its sign.
    pub(super) fn sign_extended(&mut self, lane: Word) -> Word {
        let long = self.op(Op::SConvert, Type::Int(64), &[lane]);
        self.narrow.insert(long, lane);
        long
    }

    /// The 32-bit integer that a 64-bit one is known to be, extended by its sign.
    pub(super) fn narrow(&mut self, long: Word) -> Option<Word> {
        match self.narrow_constants.get(&long) {
            Some(value) => Some(self.word(value.cast_unsigned())),
            None => self.narrow.get(&long).copied(),
        }
    }

    pub(super) fn word(&mut self, value: u32) -> Word {
        self.constant(Type::Int(32), value.into())
    }

    pub(super) fn constant_bool(&mut self, value: bool) -> Word {
        let of = self.type_of(Type::Bool);
        let op = if value { Op::ConstantTrue } else { Op::ConstantFalse };
        self.declare(Known::ConstantBool(value), op, Some(of), vec![])
    }

    /// A uint32 that is given when a pipeline is made.
    pub(super) fn specialised(&mut self, number: u32, default: u32) -> Word {
        let of = self.type_of(Type::Int(32));
        let constant = self.id();
        let instruction =
            Instruction::new(Op::SpecConstant, Some(of), Some(constant), vec![literal(default)]);
        self.module.types_global_values.push(instruction);
        self.decorate(constant, Decoration::SpecId, &[number]);
        constant
    }

    pub(super) fn undefined(&mut self, of: Word) -> Word {
        self.declare(Known::Undefined(of), Op::Undef, Some(of), vec![])
    }

    /// A variable outside of functions, of a type; the current function uses it.
    pub(super) fn global(&mut self, class: StorageClass, of: Word, name: &str) -> Word {
        let pointer = self.pointer(class, of);
        let variable = self.id();
        let operands = vec![Operand::StorageClass(class)];
        let instruction = Instruction::new(Op::Variable, Some(pointer), Some(variable), operands);
        self.module.types_global_values.push(instruction);
        self.name(variable, name);
        self.used.push(variable);
        variable
    }

    /// The variable of a built-in input; the current function uses it.
    pub(super) fn input(&mut self, built_in: BuiltIn, of: Type, name: &str) -> Word {
        let known = Known::Input(built_in);
        if let Some(variable) = self.known.get(&known).copied() {
            if !self.used.contains(&variable) {
                self.used.push(variable);
            }
            return variable;
        }
        let of = self.type_of(of);
        let variable = self.global(StorageClass::Input, of, name);
        let operands =
            vec![id(variable), Operand::Decoration(Decoration::BuiltIn), Operand::BuiltIn(built_in)];
        self.module.annotations.push(Instruction::new(Op::Decorate, None, None, operands));
        self.known.insert(known, variable);
        variable
    }

    pub(super) fn decorate(&mut self, target: Word, decoration: Decoration, values: &[u32]) {
        let mut operands = vec![id(target), Operand::Decoration(decoration)];
        operands.extend(values.iter().copied().map(literal));
        self.module.annotations.push(Instruction::new(Op::Decorate, None, None, operands));
    }

    fn decorate_member(&mut self, target: Word, member: u32, decoration: Decoration, values: &[u32]) {
        let mut operands = vec![id(target), literal(member), Operand::Decoration(decoration)];
        operands.extend(values.iter().copied().map(literal));
        self.module.annotations.push(Instruction::new(Op::MemberDecorate, None, None, operands));
    }

    pub(super) fn name(&mut self, target: Word, name: &str) {
        let operands = vec![id(target), Operand::LiteralString(name.replace('\0', ""))];
        self.module.debug_names.push(Instruction::new(Op::Name, None, None, operands));
    }

    pub(super) fn string(&mut self, text: &str) -> Word {
        let known = Known::Text(text.replace('\0', ""));
        if let Some(id) = self.known.get(&known) {
            return *id;
        }
        let string = self.id();
        let operands = vec![Operand::LiteralString(text.replace('\0', ""))];
        self.module.debug_string_source.push(Instruction::new(Op::String, None, Some(string), operands));
        self.known.insert(known, string);
        string
    }

    /// Declares an instruction of an extended set outside of functions, once.
    pub(super) fn declare_extended(&mut self, set: Word, number: u32, operands: &[Word]) -> Word {
        let of = self.type_of(Type::Void);
        let known = Known::Extended(set, number, operands.to_vec());
        self.declare(known, Op::ExtInst, Some(of), of_set(set, number, operands))
    }

    // -- functions --------------------------------------------------------------------------------

    /// Begins a function: its parameters' ids in order.
    pub(super) fn begin(&mut self, function: Word, result: Word, params: &[Word]) -> Vec<Word> {
        let of = self.function_type(result, params);
        let operands = vec![Operand::FunctionControl(FunctionControl::NONE), id(of)];
        let def = Instruction::new(Op::Function, Some(result), Some(function), operands);
        self.function = Function { def: Some(def), ..Function::default() };
        self.variables = Vec::new();
        self.used = Vec::new();
        (self.line, self.scope) = (None, None);
        let ids: Vec<Word> = params.iter().map(|_| self.id()).collect();
        for (of, param) in params.iter().zip(&ids) {
            let instruction = Instruction::new(Op::FunctionParameter, Some(*of), Some(*param), vec![]);
            self.function.parameters.push(instruction);
        }
        let entry = self.id();
        self.start(entry);
        ids
    }

    /// Ends the current function.
    pub(super) fn end(&mut self) {
        let mut function = std::mem::take(&mut self.function);
        function.end = Some(Instruction::new(Op::FunctionEnd, None, None, vec![]));
        if let Some(first) = function.blocks.first_mut() {
            first.instructions.splice(0..0, self.variables.drain(..));
        }
        self.module.functions.push(function);
        self.is_open = false;
    }

    /// A variable of the current function.
    pub(super) fn variable(&mut self, of: Word, name: &str) -> Word {
        let pointer = self.pointer(StorageClass::Function, of);
        let variable = self.id();
        let operands = vec![Operand::StorageClass(StorageClass::Function)];
        self.variables.push(Instruction::new(Op::Variable, Some(pointer), Some(variable), operands));
        self.name(variable, name);
        variable
    }

    pub(super) fn entry_point(&mut self, function: Word, name: &str, size: [u32; 3], spirv: [u32; 2]) {
        let mut operands = vec![
            Operand::ExecutionModel(ExecutionModel::GLCompute),
            id(function),
            Operand::LiteralString(name.to_owned()),
        ];
        let lists_all = spirv >= [1, 4];
        let is_input = |variable: &Word| {
            self.known.iter().any(|(known, id)| matches!(known, Known::Input(_)) && id == variable)
        };
        let interface = self.used.iter().filter(|variable| lists_all || is_input(variable));
        operands.extend(interface.copied().map(id));
        self.module.entry_points.push(Instruction::new(Op::EntryPoint, None, None, operands));
        self.execution_mode(function, ExecutionMode::LocalSize, &size);
    }

    pub(super) fn execution_mode(&mut self, function: Word, mode: ExecutionMode, values: &[u32]) {
        let mut operands = vec![id(function), Operand::ExecutionMode(mode)];
        operands.extend(values.iter().copied().map(literal));
        self.module.execution_modes.push(Instruction::new(Op::ExecutionMode, None, None, operands));
    }

    // -- blocks -----------------------------------------------------------------------------------

    /// Returns true if instructions can be added: no branch has ended the block.
    pub(super) fn is_open(&self) -> bool {
        self.is_open
    }

    /// Begins a block with a label that was made by [`Self::id`].
    pub(super) fn start(&mut self, label: Word) {
        let label = Some(Instruction::new(Op::Label, None, Some(label), vec![]));
        self.function.blocks.push(Block { label, instructions: Vec::new() });
        self.is_open = true;
        (self.is_line_written, self.is_scope_written) = (false, false);
    }

    /// The label of the current block.
    pub(super) fn block_label(&self) -> Word {
        let label = self.function.blocks.last().and_then(|block| block.label.as_ref());
        label.and_then(|label| label.result_id).unwrap_or_default()
    }

    pub(super) fn set_line(&mut self, line: Option<(Word, u32, u32)>) {
        self.is_line_written &= self.line == line;
        self.line = line;
    }

    fn push(&mut self, instruction: Instruction) {
        if !self.is_open {
            return;
        }
        // A phi stands at the start of its block, before any line.
        if let Some(line) = self.line.filter(|_| !self.is_line_written)
            && instruction.class.opcode != Op::Phi
        {
            // Nothing may stand between a merge instruction and its branch.
            let last = self.function.blocks.last().and_then(|block| block.instructions.last());
            let is_after_merge =
                last.is_some_and(|last| matches!(last.class.opcode, Op::SelectionMerge | Op::LoopMerge));
            if !is_after_merge {
                self.is_line_written = true;
                self.push_line(line);
            }
        }
        if let Some(block) = self.function.blocks.last_mut() {
            block.instructions.push(instruction);
        }
    }

    fn push_line(&mut self, (file, line, column): (Word, u32, u32)) {
        let Some(scope) = self.scope else {
            let operands = vec![id(file), literal(line), literal(column)];
            return self.push(Instruction::new(Op::Line, None, None, operands));
        };
        // A block begins without a scope.
        if !std::mem::replace(&mut self.is_scope_written, true) {
            self.extended_of(scope.set, DebugOp::Scope as u32, &[scope.function]);
        }
        let [line, column] = [line, column].map(|number| self.word(number));
        self.extended_of(scope.set, DebugOp::Line as u32, &[scope.source, line, line, column, column]);
    }

    /// Adds an instruction with a result whose id was made by [`Self::id`].
    pub(super) fn compute_as(&mut self, result: Word, op: Op, of: Word, operands: Vec<Operand>) {
        self.push(Instruction::new(op, Some(of), Some(result), operands));
    }

    pub(super) fn op_as(&mut self, result: Word, op: Op, of: Word, values: &[Word]) {
        self.compute_as(result, op, of, values.iter().copied().map(id).collect());
    }

    pub(super) fn phi_as(&mut self, result: Word, of: Word, from: &[(Word, Word)]) {
        let operands = from.iter().flat_map(|(value, block)| [id(*value), id(*block)]).collect();
        self.compute_as(result, Op::Phi, of, operands);
    }

    /// Adds an instruction with a result.
    pub(super) fn compute(&mut self, op: Op, of: Word, operands: Vec<Operand>) -> Word {
        let result = self.id();
        self.push(Instruction::new(op, Some(of), Some(result), operands));
        result
    }

    /// Adds an instruction whose operands are values.
    pub(super) fn op(&mut self, op: Op, of: Type, values: &[Word]) -> Word {
        let of = self.type_of(of);
        self.compute(op, of, values.iter().copied().map(id).collect())
    }

    /// Adds an instruction of an extended set that has no value.
    pub(super) fn extended_of(&mut self, set: Word, number: u32, operands: &[Word]) {
        let of = self.type_of(Type::Void);
        self.compute(Op::ExtInst, of, of_set(set, number, operands));
    }

    /// Adds an instruction of GLSL's extended set.
    pub(super) fn extended(&mut self, op: GlslStd450Op, of: Type, values: &[Word]) -> Word {
        let of = self.type_of(of);
        self.compute(Op::ExtInst, of, of_set(self.extended, op as u32, values))
    }

    /// Adds an instruction without a result.
    pub(super) fn effect(&mut self, op: Op, operands: Vec<Operand>) {
        self.push(Instruction::new(op, None, None, operands));
    }

    /// Ends the block.
    pub(super) fn terminate(&mut self, op: Op, operands: Vec<Operand>) {
        self.effect(op, operands);
        self.is_open = false;
    }

    pub(super) fn jump(&mut self, to: Word) {
        self.terminate(Op::Branch, vec![id(to)]);
    }

    pub(super) fn branch(&mut self, condition: Word, yes: Word, no: Word) {
        self.terminate(Op::BranchConditional, vec![id(condition), id(yes), id(no)]);
    }

    pub(super) fn phi(&mut self, of: Word, from: &[(Word, Word)]) -> Word {
        let result = self.id();
        self.phi_as(result, of, from);
        result
    }

    // -- the module -------------------------------------------------------------------------------

    /// Assembles the module. Extensions are those that the capabilities need.
    pub(super) fn finish(
        mut self,
        spirv: [u32; 2],
        addressing: AddressingModel,
        memory: MemoryModel,
        extensions: &BTreeSet<&'static str>,
    ) -> Module {
        let of = |op, operand| Instruction::new(op, None, None, vec![operand]);
        self.module.capabilities =
            self.capabilities.iter().map(|one| of(Op::Capability, Operand::Capability(*one))).collect();
        let named = |name: &&str| of(Op::Extension, Operand::LiteralString((*name).to_owned()));
        self.module.extensions = extensions.iter().map(named).collect();
        let operands = vec![Operand::AddressingModel(addressing), Operand::MemoryModel(memory)];
        self.module.memory_model = Some(Instruction::new(Op::MemoryModel, None, None, operands));
        let mut header = ModuleHeader::new(self.next);
        header.set_version(spirv[0] as u8, spirv[1] as u8);
        header.generator = 0;
        self.module.header = Some(header);
        self.module
    }
}
