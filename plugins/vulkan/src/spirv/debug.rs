//! Debug information (`NonSemantic.Shader.DebugInfo.100`): the source, functions, lines, and
//! variables by their values.

use chipdock_ir::{Buffer, Child, DType, Param, PrimFunc, Span, TypeCode, Var};
use rspirv::spirv::{SourceLanguage, StorageClass, Word};

use super::emitter::{Scope, Type};
use super::environment::BufferAccess;
use super::value::{Value, register};
use super::writer::Writer;

/// The set of instructions.
pub(super) const SET: &str = "NonSemantic.Shader.DebugInfo.100";

/// Instructions of the set, with their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DebugOp {
    CompilationUnit = 1,
    TypeBasic = 2,
    TypePointer = 3,
    TypeArray = 5,
    TypeFunction = 8,
    Function = 20,
    Scope = 23,
    LocalVariable = 26,
    Declare = 28,
    Value = 29,
    Expression = 31,
    Source = 35,
    FunctionDefinition = 101,
    Line = 103,
}

impl DebugOp {
    const ALL: [Self; 14] = [
        Self::CompilationUnit,
        Self::TypeBasic,
        Self::TypePointer,
        Self::TypeArray,
        Self::TypeFunction,
        Self::Function,
        Self::Scope,
        Self::LocalVariable,
        Self::Declare,
        Self::Value,
        Self::Expression,
        Self::Source,
        Self::FunctionDefinition,
        Self::Line,
    ];

    /// The instruction's name, as `spirv-as` reads it.
    pub(super) fn name_of(number: u32) -> Option<String> {
        Self::ALL.into_iter().find(|op| *op as u32 == number).map(|op| format!("Debug{op:?}"))
    }
}

/// Version of the format, and of DWARF, as the compilers of other languages write them.
const VERSIONS: [u32; 2] = [1, 4];
/// `FlagIsPublic` of functions, `FlagIsLocal` of variables.
const IS_PUBLIC: u32 = 3;
const IS_LOCAL: u32 = 4;

/// The description of a module.
#[derive(Clone, Copy, Debug)]
pub(super) struct Described {
    set: Word,
    source: Word,
    unit: Word,
}

/// How a debugger reads the bits of a type (`DebugBaseTypeAttributeEncoding`).
fn encoding(dtype: DType) -> u32 {
    match dtype.code {
        TypeCode::Bool => 2,
        TypeCode::Float => 3,
        TypeCode::Int => 4,
        _ => 6,
    }
}

/// The first line of a function's body: functions have no position of their own.
fn first_line(function: &PrimFunc) -> Span {
    let mut first = function.body.span;
    function.body.walk(&mut |child| {
        if let Child::Stmt(s) = child
            && first == Span::NONE
        {
            first = s.span;
        }
    });
    first
}

impl<'a> Writer<'a> {
    /// Begins to describe the module, which was read from a file.
    pub(super) fn describe_module(&mut self, file: &str) {
        let set = self.out.import(SET);
        let file = self.out.string(file);
        let source = self.out.declare_extended(set, DebugOp::Source as u32, &[file]);
        let [format, dwarf] = VERSIONS.map(|version| self.out.word(version));
        let language = self.out.word(SourceLanguage::Unknown as u32);
        let operands = [format, dwarf, source, language];
        let unit = self.out.declare_extended(set, DebugOp::CompilationUnit as u32, &operands);
        self.described = Some(Described { set, source, unit });
    }

    fn declare_debug(&mut self, op: DebugOp, operands: &[Word]) -> Word {
        let set = self.described.map(|described| described.set).unwrap_or_default();
        self.out.declare_extended(set, op as u32, operands)
    }

    /// The type of one lane as it is held in registers, under its name in the IR.
    fn debug_type(&mut self, dtype: DType) -> Word {
        let scalar = dtype.scalar();
        let bits = match register(scalar) {
            Type::Bool => 32,
            held => held.size_bytes() * 8,
        };
        let name = self.out.string(&scalar.to_string());
        let [bits, encoding, flags] = [bits, encoding(scalar), 0].map(|word| self.out.word(word));
        let basic = self.declare_debug(DebugOp::TypeBasic, &[name, bits, encoding, flags]);
        if dtype.is_scalar() {
            return basic;
        }
        let lanes = self.out.word(dtype.lanes.into());
        self.declare_debug(DebugOp::TypeArray, &[basic, lanes])
    }

    fn debug_type_of_param(&mut self, param: &Param) -> Option<Word> {
        let Param::Var(var) = param else { return None };
        let Some(pointer) = var.pointer.as_ref().filter(|_| var.dtype.is_handle()) else {
            return (!var.dtype.is_handle()).then(|| self.debug_type(var.dtype));
        };
        // Validators take pointers to basic types only: of a vector, its lanes.
        let element = self.debug_type(pointer.element.scalar());
        let class = match self.environment.buffer_access {
            BufferAccess::Descriptor => StorageClass::StorageBuffer,
            BufferAccess::Address => StorageClass::PhysicalStorageBuffer,
        };
        let [class, flags] = [class as u32, 0].map(|word| self.out.word(word));
        Some(self.declare_debug(DebugOp::TypePointer, &[element, class, flags]))
    }

    /// Describes the function that was begun.
    pub(super) fn describe_function(&mut self, function: Word, name: &str) {
        let Some(Described { set, source, unit }) = self.described else { return };
        let declared = self.function;
        let result = match declared.ret {
            None => self.out.type_of(Type::Void),
            Some(ret) => self.debug_type(ret),
        };
        let mut signature = vec![self.out.word(IS_PUBLIC), result];
        signature.extend(declared.params.iter().filter_map(|param| self.debug_type_of_param(param)));
        let of = self.declare_debug(DebugOp::TypeFunction, &signature);
        let place = first_line(declared);
        let [line, column, flags] = [place.line, place.column, IS_PUBLIC].map(|number| self.out.word(number));
        let (name, symbol) = (self.out.string(&declared.name), self.out.string(name));
        let operands = [name, of, source, line, column, unit, symbol, flags, line];
        let scope = self.declare_debug(DebugOp::Function, &operands);
        self.out.scope = Some(Scope { set, source, function: scope });
        let operands = [scope, function];
        self.out.extended_of(set, DebugOp::FunctionDefinition as u32, &operands);
        if let Some(file) = self.file.filter(|_| place != Span::NONE) {
            self.out.set_line(Some((file, place.line, place.column)));
        }
    }

    fn debug_variable(&mut self, name: &str, of: Word) -> Option<(Scope, Word, Word)> {
        let scope = self.out.scope.filter(|_| self.described.is_some() && self.out.is_open())?;
        let name = self.out.string(name);
        let [line, column, flags] =
            [self.place.line, self.place.column, IS_LOCAL].map(|number| self.out.word(number));
        let operands = [name, of, scope.source, line, column, scope.function, flags];
        let variable = self.declare_debug(DebugOp::LocalVariable, &operands);
        let expression = self.declare_debug(DebugOp::Expression, &[]);
        Some((scope, variable, expression))
    }

    /// Describes a variable that has a value from here on.
    pub(super) fn describe_value(&mut self, var: &Var, value: &Value) {
        if self.described.is_none() || !value.dtype.is_scalar() || value.dtype.is_handle() {
            return;
        }
        let of = self.debug_type(value.dtype);
        if let Some((scope, variable, expression)) = self.debug_variable(&var.name, of) {
            let operands = [variable, value.first(), expression];
            self.out.extended_of(scope.set, DebugOp::Value as u32, &operands);
        }
    }

    /// Describes memory of a thread or of a block: an array of that many places.
    pub(super) fn describe_memory(&mut self, buffer: &Buffer, base: Word, places: u32) {
        if self.described.is_none() {
            return;
        }
        let element = self.debug_type(buffer.dtype.scalar());
        let count = self.out.word(places);
        let of = self.declare_debug(DebugOp::TypeArray, &[element, count]);
        if let Some((scope, variable, expression)) = self.debug_variable(&buffer.name, of) {
            let operands = [variable, base, expression];
            self.out.extended_of(scope.set, DebugOp::Declare as u32, &operands);
        }
    }
}
