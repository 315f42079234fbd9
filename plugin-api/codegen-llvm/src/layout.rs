//! C layout and calling convention of data that compiled code shares with its host, by the target's
//! pointer width.

use chipdock_abi::{EnvSlot, EnvType, SAFE_CALL_OFFSET_BYTES, env_slot};
use chipdock_ir::{DType, StructField};

use crate::LlvmTarget;

/// Size in bytes of a packed value, for every pointer width.
pub(crate) const ANY_SIZE_BYTES: i128 = 16;

/// Layout of `DLTensor`, of packed values and of `ChipdockEnv`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    /// Size of a pointer in bytes, 4 or 8.
    pub(crate) pointer_bytes: usize,
    /// Alignment of a 64-bit integer in a struct.
    int64_align: usize,
    /// C's attribute for an `int32_t` argument: ` signext` or nothing.
    int32: &'static str,
}

/// A field: size of an element in bytes, offset of the field within it, type of the field.
pub(crate) type FieldLayout = (i128, i128, DType);

impl Layout {
    pub(crate) fn new(target: &dyn LlvmTarget) -> Self {
        let is_narrow = target.pointer_bits() == 32;
        // LLVM aligns to 4 bytes if a data layout does not specify it.
        let is_int64_aligned =
            !is_narrow || target.data_layout().split('-').any(|part| part.starts_with("i64:64"));
        Self {
            pointer_bytes: if is_narrow { 4 } else { 8 },
            int64_align: if is_int64_aligned { 8 } else { 4 },
            int32: extension(target, DType::INT32),
        }
    }

    /// The place of a field. A packed value is read and written with the type of the value in it.
    pub(crate) fn field(self, field: StructField, any_value: DType) -> FieldLayout {
        let any_value = match any_value {
            dtype if dtype.is_float() => DType::FLOAT64,
            dtype if dtype.is_handle() => DType::HANDLE,
            _ => DType::INT64,
        };
        // data; type and id of the device, ndim, dtype; shape, strides; byte_offset.
        let pointer = self.pointer_bytes as i128;
        let strides = pointer + 16 + pointer;
        let align = self.int64_align as i128;
        let byte_offset = (strides + pointer + align - 1) / align * align;
        let (offset, dtype) = match field {
            StructField::Address => (0, DType::HANDLE),
            StructField::Data => (0, DType::HANDLE),
            StructField::DeviceType => (pointer, DType::INT32),
            StructField::DeviceId => (pointer + 4, DType::INT32),
            StructField::Ndim => (pointer + 8, DType::INT32),
            StructField::TypeCode => (pointer + 12, DType::UINT8),
            StructField::TypeBits => (pointer + 13, DType::UINT8),
            StructField::TypeLanes => (pointer + 14, DType::UINT16),
            StructField::Shape => (pointer + 16, DType::HANDLE),
            StructField::Strides => (strides, DType::HANDLE),
            StructField::ByteOffset => (byte_offset, DType::UINT64),
            StructField::Int64Element => return (8, 0, DType::INT64),
            StructField::AnyTypeIndex => return (ANY_SIZE_BYTES, 0, DType::INT32),
            StructField::AnyPadding => return (ANY_SIZE_BYTES, 4, DType::UINT32),
            StructField::AnyValue => return (ANY_SIZE_BYTES, 8, any_value),
        };
        (byte_offset + 8, offset, dtype)
    }

    /// Minimum alignment of a field of that type.
    pub(crate) fn align(self, dtype: DType) -> usize {
        if dtype.is_handle() { self.pointer_bytes } else { dtype.lane_size_bytes().min(self.int64_align) }
    }

    /// Expands the text of a helper for the target. `$call %result name a, b` is a call of the
    /// function `name` of `%env`, with `-` for no result; `$safe_call` is the offset of the
    /// function in a function object, `$pointer` the alignment of a pointer, `$int32` C's attribute
    /// for an `int32_t` argument, `$size` C's `size_t`, `$larger` the sizes from which on adding
    /// 128 bytes overflows it, `$malloc %r %n` the call for `%n`, of 64 bits.
    pub(crate) fn fill_in(self, text: &str) -> String {
        let is_narrow = self.pointer_bytes == 4;
        let mut filled = String::with_capacity(text.len() + 64);
        for line in text.split_inclusive('\n') {
            let words: Vec<&str> = line.split_whitespace().collect();
            match words[..] {
                ["$malloc", result, size] if is_narrow => filled.push_str(&format!(
                    "  {result}.size = trunc i64 {size} to i32\n  {result} = call ptr @malloc(i32 {result}.size)\n"
                )),
                ["$malloc", result, size] => {
                    filled.push_str(&format!("  {result} = call ptr @malloc(i64 {size})\n"));
                }
                ["$call", result, name, ref args @ ..] => match env_slot(name) {
                    Some(slot) => filled.push_str(&self.env_call(result, slot, args)),
                    // Not a function of the environment: LLVM's parser will report it.
                    None => filled.push_str(line),
                },
                _ => filled.push_str(line),
            }
        }
        filled
            .replace("$pointer", &self.pointer_bytes.to_string())
            .replace("$safe_call", &SAFE_CALL_OFFSET_BYTES.to_string())
            .replace("$int32", self.int32)
            .replace("$size", if is_narrow { "i32" } else { "i64" })
            .replace("$larger", if is_narrow { "4294967167" } else { "-129" })
    }

    fn env_call(self, result: &str, slot: &EnvSlot, args: &[&str]) -> String {
        let (name, offset) = (slot.name, slot.offset_with(self.pointer_bytes));
        let mut params = "ptr %env".to_owned();
        for ((_, kind), arg) in slot.params.iter().zip(args) {
            let value = arg.trim_end_matches(',');
            let (llvm_type, extension) = self.env_type(*kind);
            params.push_str(&format!(", {llvm_type}{extension} {value}"));
        }
        let result = if result == "-" { String::new() } else { format!("{result} = ") };
        let (ret, _) = self.env_type(slot.result);
        format!(
            "  %env.{name} = getelementptr i8, ptr %env, i64 {offset}\n  %do.{name} = load ptr, ptr %env.{name}, align \
             $pointer\n  {result}call {ret} %do.{name}({params})\n"
        )
    }

    /// A type of the environment, and C's attribute for an argument of it.
    fn env_type(self, kind: EnvType) -> (&'static str, &'static str) {
        match kind {
            EnvType::Void => ("void", ""),
            EnvType::Int32 | EnvType::Uint32 => ("i32", self.int32),
            EnvType::Uint64 => ("i64", ""),
            EnvType::Pointer
            | EnvType::Text
            | EnvType::Int32Out
            | EnvType::PointerOut
            | EnvType::FunctionOut
            | EnvType::InterfaceOut
            | EnvType::Body => ("ptr", ""),
        }
    }
}

/// C's attribute for an integer argument narrower than a register: ` signext`, ` zeroext`, or
/// nothing.
pub(crate) fn extension(target: &dyn LlvmTarget, dtype: DType) -> &'static str {
    if !dtype.is_scalar() || !(dtype.is_integer() || dtype.is_bool()) {
        return "";
    }
    let arch = target.triple().split('-').next().unwrap_or("");
    let is_any = |names: &[&str]| names.iter().any(|name| arch.starts_with(name));
    match (dtype.is_int(), dtype.bits) {
        (true, ..=16) => " signext",
        (false, ..=16) => " zeroext",
        // Targets with 64-bit registers on which the upper half is significant.
        (_, 32) if is_any(&["riscv64", "mips64", "loongarch64"]) => " signext",
        (is_int, 32) if is_any(&["powerpc64", "s390x", "sparcv9"]) => {
            if is_int {
                " signext"
            } else {
                " zeroext"
            }
        }
        _ => "",
    }
}
