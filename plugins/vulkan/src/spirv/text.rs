//! Assembly text of a module, in the manner of `spirv-dis`, which `spirv-as` reads.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

use rspirv::binary::Disassemble;
use rspirv::dr::{Instruction, Module, Operand};
use rspirv::spirv::{GlslStd450Op, Op, Word};

use super::debug::{DebugOp, SET};

/// Column in which the names of instructions begin.
const COLUMN: usize = 18;
const INDENT: &str = "                  ";
const _: () = assert!(INDENT.len() == COLUMN);
/// What a line takes, more or less.
const LINE_BYTES: usize = 48;

/// Prints a module.
pub(super) fn text_of(module: &Module) -> String {
    let lines: usize =
        module.functions.iter().flat_map(|one| &one.blocks).map(|one| one.instructions.len()).sum();
    let bound = module.header.as_ref().map_or(0, |header| header.bound);
    let mut by_id = vec![None; bound as usize];
    for (id, name) in names(module) {
        if let Some(place) = by_id.get_mut(id as usize) {
            *place = Some(name);
        }
    }
    let text = String::with_capacity(lines * LINE_BYTES);
    let mut printer = Printer { text, names: by_id, floats: HashMap::new(), debug: 0 };
    let [major, minor] = module.header.as_ref().map_or([1, 0], |header| {
        let (major, minor) = header.version();
        [major, minor]
    });
    let _ = writeln!(
        printer.text,
        "; SPIR-V\n; Version: {major}.{minor}\n; Generator: Chipdock\n; Bound: {bound}\n; Schema: 0"
    );
    module.global_inst_iter().for_each(|instruction| printer.line(instruction));
    for function in &module.functions {
        printer.text.push('\n');
        function.def.iter().chain(&function.parameters).for_each(|instruction| printer.line(instruction));
        for block in &function.blocks {
            block.label.iter().chain(&block.instructions).for_each(|instruction| printer.line(instruction));
        }
        function.end.iter().for_each(|instruction| printer.line(instruction));
    }
    printer.text
}

/// A readable name for each id that has one, unique in the module.
fn names(module: &Module) -> HashMap<Word, String> {
    let mut names: HashMap<Word, String> = HashMap::new();
    let mut taken = HashSet::new();
    let mut take = |id: Word, wanted: String| {
        let is_name = |text: &str| {
            text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
                && text.bytes().any(|byte| !byte.is_ascii_digit())
        };
        let name =
            if is_name(&wanted) && !taken.contains(&wanted) { wanted } else { format!("{wanted}_{id}") };
        if is_name(&name) && taken.insert(name.clone()) {
            names.insert(id, name);
        }
    };
    for instruction in &module.debug_names {
        if let [Operand::IdRef(id), Operand::LiteralString(name)] = instruction.operands.as_slice() {
            take(*id, name.clone());
        }
    }
    let mut types: HashMap<Word, String> = HashMap::new();
    for instruction in &module.types_global_values {
        let Some(id) = instruction.result_id else { continue };
        let name = match (instruction.class.opcode, instruction.operands.as_slice()) {
            (Op::TypeVoid, _) => "void".to_owned(),
            (Op::TypeBool, _) => "bool".to_owned(),
            (Op::TypeInt, [Operand::LiteralBit32(bits), ..]) => format!("u{bits}"),
            (Op::TypeFloat, [Operand::LiteralBit32(bits), ..]) => format!("f{bits}"),
            (Op::TypeVector, [Operand::IdRef(of), Operand::LiteralBit32(count)]) => {
                format!("v{count}{}", types.get(of).map_or("", String::as_str))
            }
            (Op::ConstantTrue, _) => "true".to_owned(),
            (Op::ConstantFalse, _) => "false".to_owned(),
            (Op::Constant, [value]) => {
                let of = instruction.result_type.and_then(|of| types.get(&of));
                match (of, value) {
                    (Some(of), Operand::LiteralBit32(value)) if of.starts_with('u') => {
                        format!("{of}_{value}")
                    }
                    (Some(of), Operand::LiteralBit64(value)) if of.starts_with('u') => {
                        format!("{of}_{value}")
                    }
                    _ => continue,
                }
            }
            _ => continue,
        };
        types.insert(id, name.clone());
        take(id, name);
    }
    names
}

struct Printer {
    text: String,
    /// By id.
    names: Vec<Option<String>>,
    /// The widths of types of floats.
    floats: HashMap<Word, u32>,
    /// The set of debug information.
    debug: Word,
}

impl Printer {
    /// Prints an id. Most of the text is ids, so none is formatted.
    fn id(&mut self, id: Word) {
        self.text.push('%');
        match self.names.get(id as usize) {
            Some(Some(name)) => self.text.push_str(name),
            _ => self.number(id),
        }
    }

    fn number(&mut self, mut number: u32) {
        let (mut digits, mut first) = ([b'0'; 10], 9);
        loop {
            digits[first] += (number % 10) as u8;
            number /= 10;
            if number == 0 {
                break;
            }
            first -= 1;
        }
        self.text.extend(digits[first..].iter().copied().map(char::from));
    }

    fn line(&mut self, instruction: &Instruction) {
        if let (Op::TypeFloat, Some(id), [Operand::LiteralBit32(bits), ..]) =
            (instruction.class.opcode, instruction.result_id, instruction.operands.as_slice())
        {
            self.floats.insert(id, *bits);
        }
        if let (Op::ExtInstImport, Some(id), [Operand::LiteralString(name)]) =
            (instruction.class.opcode, instruction.result_id, instruction.operands.as_slice())
            && name == SET
        {
            self.debug = id;
        }
        let start = self.text.len();
        if let Some(id) = instruction.result_id {
            self.id(id);
            self.text.push_str(" = ");
        }
        let width = self.text.len() - start;
        self.text.insert_str(start, &INDENT[width.min(COLUMN)..]);
        self.text.push_str("Op");
        self.text.push_str(instruction.class.opname);
        if let Some(of) = instruction.result_type {
            self.text.push(' ');
            self.id(of);
        }
        for operand in &instruction.operands {
            self.text.push(' ');
            self.operand(instruction, operand);
        }
        self.text.push('\n');
    }

    fn operand(&mut self, instruction: &Instruction, operand: &Operand) {
        let is_constant = instruction.class.opcode == Op::Constant;
        let is_debug = instruction.operands.first() == Some(&Operand::IdRef(self.debug));
        let float =
            instruction.result_type.filter(|_| is_constant).and_then(|of| self.floats.get(&of)).copied();
        let shown = match (operand, float) {
            (Operand::IdRef(id) | Operand::IdScope(id) | Operand::IdMemorySemantics(id), _) => {
                return self.id(*id);
            }
            (Operand::LiteralBit32(bits), None) => return self.number(*bits),
            (Operand::LiteralBit32(bits), Some(16)) => {
                float_text(half::f16::from_bits(*bits as u16).to_f64(), 16, (*bits).into())
            }
            (Operand::LiteralBit32(bits), Some(_)) => {
                float_text(f32::from_bits(*bits).into(), 32, (*bits).into())
            }
            (Operand::LiteralBit64(bits), Some(_)) => float_text(f64::from_bits(*bits), 64, *bits),
            (Operand::LiteralExtInstInteger(number), _) if is_debug => {
                DebugOp::name_of(*number).unwrap_or_else(|| number.to_string())
            }
            (Operand::LiteralExtInstInteger(number), _) => GlslStd450Op::from_u32(*number)
                .map_or_else(|| number.to_string(), |function| format!("{function:?}")),
            (Operand::LiteralString(text), _) => {
                format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
            }
            _ => operand.disassemble(),
        };
        self.text.push_str(&shown);
    }
}

/// A float that is read back to the same bits: in decimal, or in hexadecimal where that is not
/// enough.
fn float_text(value: f64, width: u32, bits: u64) -> String {
    let digits = match width {
        16 => 10,
        32 => 23,
        _ => 52,
    };
    if value.is_finite() && width > 16 {
        // Rust prints the shortest digits that read back as a float64, and float32 is one; without
        // an exponent.
        let magnitude = value.abs();
        if magnitude == 0.0 || (1e-5..1e16).contains(&magnitude) {
            return if width == 32 { format!("{}", value as f32) } else { format!("{value}") };
        }
    }
    let fraction = bits & ((1 << digits) - 1);
    let exponent = (bits >> digits) & ((1 << (width - 1 - digits)) - 1);
    let bias = (1_i64 << (width - 2 - digits)) - 1;
    let sign = if bits >> (width - 1) == 1 { "-" } else { "" };
    let (first, exponent) = if exponent == 0 { (0, 1 - bias) } else { (1, exponent as i64 - bias) };
    // The digits of the fraction in fours.
    let places = (digits as usize).div_ceil(4);
    let aligned = fraction << (places * 4 - digits as usize);
    let sign_of = if exponent < 0 { "" } else { "+" };
    format!("{sign}0x{first}.{aligned:0places$x}p{sign_of}{exponent}")
}
