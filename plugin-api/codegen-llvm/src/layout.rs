//! How C lays out what compiled code shares with its host, and passes it: by the width of the target's pointers.

use chipdock_ir::{DType, StructField};

use crate::LlvmTarget;
use crate::target::StructPassing;

/// Bytes of a packed value, of any pointers.
pub(crate) const ANY_SIZE_BYTES: i128 = 16;

/// Where the fields of `DLTensor`, of packed values and of `ChipdockEnv` lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    /// 4 or 8.
    pub(crate) pointer_bytes: usize,
    /// What a 64-bit integer in a struct is aligned to.
    int64_align: usize,
    device: StructPassing,
}

/// A field: bytes of each element, of the field within it, and the field's type.
pub(crate) type Place = (i128, i128, DType);

impl Layout {
    pub(crate) fn of(target: &dyn LlvmTarget) -> Self {
        let is_narrow = target.pointer_bits() == 32;
        // Where a data layout does not say, LLVM aligns to 4 bytes.
        let is_int64_aligned =
            !is_narrow || target.data_layout().split('-').any(|part| part.starts_with("i64:64"));
        Self {
            pointer_bytes: if is_narrow { 4 } else { 8 },
            int64_align: if is_int64_aligned { 8 } else { 4 },
            device: target.passes_small_structs(),
        }
    }

    /// Where a field lies. A packed value is read and written as what is put there or taken from there.
    pub(crate) fn field(self, field: StructField, any_value: DType) -> Place {
        let any_value = match any_value {
            dtype if dtype.is_float() => DType::FLOAT64,
            dtype if dtype.is_handle() => DType::HANDLE,
            _ => DType::INT64,
        };
        // data; type and number of the device, ndim, dtype; shape, strides; byte_offset.
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

    /// What a field of that type is aligned to at least.
    pub(crate) fn align(self, dtype: DType) -> usize {
        if dtype.is_handle() { self.pointer_bytes } else { dtype.lane_size_bytes().min(self.int64_align) }
    }

    /// The text of a helper for the target. `$slot.N` is the offset of the environment's N-th pointer, `$pointer` the
    /// alignment of one, `$size` C's `size_t`, `$larger` the sizes from which one with 128 bytes more does not fit it,
    /// `$malloc %r %n` the call for `%n`, of 64 bits; `$split` stands before a call that `$device` is an argument of.
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
                ["$split"] => filled.push_str(self.split_device()),
                _ => filled.push_str(line),
            }
        }
        let pointer = self.pointer_bytes;
        for slot in 1..8 {
            filled = filled.replace(&format!("$slot.{slot}"), &(8 + slot * pointer).to_string());
        }
        filled
            .replace("$pointer", &pointer.to_string())
            .replace("$size", if is_narrow { "i32" } else { "i64" })
            .replace("$larger", if is_narrow { "4294967167" } else { "-129" })
            .replace("$device", self.device_argument())
    }

    fn split_device(self) -> &'static str {
        match self.device {
            StructPassing::Integer => "",
            StructPassing::Parts => {
                "  %device.type = trunc i64 %device to i32\n  %device.high = lshr i64 %device, 32\n  %device.id = trunc i64 %device.high to i32\n"
            }
            StructPassing::Memory => {
                "  %device.at = alloca i64, align 8\n  store i64 %device, ptr %device.at, align 8\n"
            }
        }
    }

    fn device_argument(self) -> &'static str {
        match self.device {
            StructPassing::Integer => "i64 %device",
            StructPassing::Parts => "i32 %device.type, i32 %device.id",
            StructPassing::Memory => "ptr %device.at",
        }
    }
}
