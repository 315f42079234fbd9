//! Memory: declarations of buffers, loads, stores and atomic additions.
//!
//! All memory is declared at module scope, so that helpers access it by name: WGSL does not pass
//! pointers into storage. Elements that are not 32 bits wide are packed in words of 32 bits, as on
//! the host; a store into a part of a word is atomic, so that threads which write adjacent elements
//! do not lose each other's writes.

use chipdock_codegen_source::{Access, Allocation, Answer, Code, Infix, Place, Prelude, Refusal, Uses};
use chipdock_ir::{DType, StorageRank, StorageScope};

use super::types::{call, cast, is_half, one, scalar, short, value_type};
use super::{WgslDialect, halves, types};

/// Maximum size in bytes of a thread's own memory: the least that WGSL guarantees.
const PRIVATE_SIZE_BYTES_MAX: i128 = 8192;

/// Declared form of a buffer's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// One value for each element of this type.
    Elements(DType),
    /// One atomic for each element, of i32 or u32.
    Atomics(DType),
    /// Words of 32 bits.
    Words {
        /// Whether the words are atomics.
        is_atomic: bool,
    },
    /// Native float16.
    Halves,
}

impl Form {
    /// The type of the array's elements.
    pub(super) fn element(self) -> Answer<String> {
        Ok(match self {
            Self::Elements(dtype) => scalar(dtype)?.to_owned(),
            Self::Atomics(dtype) => format!("atomic<{}>", scalar(dtype)?),
            Self::Words { is_atomic: true } => "atomic<u32>".to_owned(),
            Self::Words { is_atomic: false } => "u32".to_owned(),
            Self::Halves => "f16".to_owned(),
        })
    }
}

/// Bits of an element in memory.
fn bits(dtype: DType) -> u8 {
    if dtype.is_bool() { 8 } else { dtype.bits }
}

fn atomic_type(dtype: DType) -> DType {
    if dtype.is_int() { DType::INT32 } else { DType::UINT32 }
}

impl WgslDialect {
    /// The form of memory in a scope that was declared with these elements.
    pub(super) fn form(&self, scope: &StorageScope, element: DType, uses: Uses) -> Answer<Form> {
        let element = element.scalar();
        scalar(element)?;
        if scope.is_dynamic_shared() {
            return Ok(Form::Words { is_atomic: uses.is_atomic || uses.is_written_narrow });
        }
        match (scope.rank, scope.tag.as_str()) {
            (StorageRank::Global, "") if element == DType::FLOAT16 && self.has_float16 => {
                self.uses_float16.set(true);
                Ok(Form::Halves)
            }
            (StorageRank::Global, "") if bits(element) < 32 => Ok(Form::Words { is_atomic: uses.is_written }),
            (StorageRank::Global | StorageRank::Shared, "") if uses.is_atomic => {
                Ok(Form::Atomics(atomic_type(element)))
            }
            (StorageRank::Global | StorageRank::Shared | StorageRank::Local, "") => {
                Ok(Form::Elements(element))
            }
            _ => Err(Refusal::new(format!(
                "has no memory of scope \"{scope}\"; it has global, shared, shared.dyn and local"
            ))),
        }
    }

    fn form_of(&self, access: &Access) -> Answer<Form> {
        let Some(element) = access.base_element else {
            return Err(Refusal::new("has no untyped pointers; declare the buffer with its element type"));
        };
        let form = self.form(&access.scope, element, access.uses)?;
        let (own, element) = (access.dtype.scalar(), element.scalar());
        let is_view = own != element && !matches!(form, Form::Words { .. });
        if is_view && (bits(own) != 32 || bits(element) != 32) {
            return Err(Refusal::new(format!(
                "has no view of {element} memory as {own}: WGSL has no pointers to convert; keep one element type a buffer"
            )));
        }
        Ok(form)
    }

    pub(super) fn load_text(&self, access: &Access, prelude: &mut Prelude) -> Answer<Code> {
        let form = self.form_of(access)?;
        let vector = value_type(access.dtype)?;
        let own = access.dtype.scalar();
        if let (Place::Element(index), None) = (&access.place, &access.predicate) {
            return element(&access.base, index, form, own, prelude);
        }
        let (what, index, index_type) = place(access);
        let name = helper_name(if index_type.is_some() { "gather" } else { "load" }, access);
        if !prelude.contains(&name) {
            let (mut lines, mut lanes) = (Vec::new(), Vec::new());
            for lane in 0..access.dtype.lanes {
                let value = element(&access.base, &lane_index(what, lane), form, own, prelude)?;
                let Some(_) = &access.predicate else {
                    lanes.push(value.text);
                    continue;
                };
                let mask = lane_of("cd_where", access.dtype.lanes, lane);
                let zero =
                    if own.is_float() { types::float(0.0, own, prelude)? } else { types::integer(0, own)? };
                lines.push(format!("    var cd_{lane} = {};\n", typed_zero(&zero, own)?));
                lines.push(format!("    if ({mask}) {{\n        cd_{lane} = {};\n    }}\n", value.text));
                lanes.push(format!("cd_{lane}"));
            }
            let value = if access.dtype.lanes == 1 {
                lanes.concat()
            } else {
                format!("{vector}({})", lanes.join(", "))
            };
            let params = params(access, index_type, None)?;
            prelude.define(&name, |_| {
                format!("fn {name}({params}) -> {vector} {{\n{}    return {value};\n}}\n", lines.concat())
            });
        }
        let args: Vec<Code> = [index.clone()].into_iter().chain(access.predicate.clone()).collect();
        Ok(call(&name, &args))
    }

    pub(super) fn store_text(&self, access: &Access, value: &Code, prelude: &mut Prelude) -> Answer<String> {
        let form = self.form_of(access)?;
        let (vector, own) = (value_type(access.dtype)?, access.dtype.scalar());
        if let Place::Element(index) = &access.place {
            let line = store_element(&access.base, index, value, form, own, prelude)?;
            return Ok(match &access.predicate {
                Some(predicate) => format!("if ({}) {{\n    {line}\n}}", predicate.text),
                None => line,
            });
        }
        let (what, index, index_type) = place(access);
        let name = helper_name(if index_type.is_some() { "scatter" } else { "store" }, access);
        if !prelude.contains(&name) {
            let mut lines = String::new();
            for lane in 0..access.dtype.lanes {
                let value = Code::primary(lane_of("cd_v", access.dtype.lanes, lane));
                let line = store_element(&access.base, &lane_index(what, lane), &value, form, own, prelude)?;
                lines.push_str(&match &access.predicate {
                    Some(_) => {
                        let mask = lane_of("cd_where", access.dtype.lanes, lane);
                        format!("    if ({mask}) {{\n        {line}\n    }}\n")
                    }
                    None => format!("    {line}\n"),
                });
            }
            let params = params(access, index_type, Some(&vector))?;
            prelude.define(&name, |_| format!("fn {name}({params}) {{\n{lines}}}\n"));
        }
        let args: Vec<Code> =
            [index.clone()].into_iter().chain(access.predicate.clone()).chain([value.clone()]).collect();
        Ok(format!("{};", call(&name, &args).text))
    }

    /// An atomic addition that returns the previous value.
    pub(super) fn atomic_add(
        &self,
        access: &Access,
        value: &Code,
        dtype: DType,
        prelude: &mut Prelude,
    ) -> Answer<Code> {
        let form = self.form_of(access)?;
        let Place::Element(index) = &access.place else {
            return Err(Refusal::new("adds atomically to one element only"));
        };
        if access.predicate.is_some() || access.dtype != dtype {
            return Err(Refusal::new(format!(
                "has no atomic addition of {dtype} to elements of {}",
                access.dtype
            )));
        }
        let is_known = matches!(dtype, DType::INT32 | DType::UINT32 | DType::FLOAT32);
        if !is_known || access.scope.rank == StorageRank::Local {
            return Err(Refusal::new(format!(
                "has no atomic addition of {dtype} in scope \"{}\"; it has int32, uint32 and, by compare and exchange, \
                 float32, in global and shared memory",
                access.scope
            )));
        }
        let place = format!("&{}[{}]", access.base.text, index.text);
        match form {
            Form::Atomics(element) if element == dtype => {
                Ok(Code::primary(format!("atomicAdd({place}, {})", value.text)))
            }
            // Sums of 32-bit integers have the same bits, signed or not.
            Form::Words { is_atomic: true } | Form::Atomics(_) if dtype.is_integer() => {
                let sum = format!("atomicAdd({place}, bitcast<u32>({}))", value.text);
                cast(&Code::primary(sum), DType::UINT32, dtype, prelude)
            }
            Form::Atomics(_) | Form::Words { is_atomic: true } => {
                let name = format!("cd_atomic_add_f32_{}", access.base.text);
                let base = access.base.text.clone();
                prelude.define(&name, |_| {
                    format!(
                        "fn {name}(cd_i: i32, cd_v: f32) -> f32 {{\n    var old = atomicLoad(&{base}[cd_i]);\n    \
                         loop {{\n        let sum = bitcast<u32>(bitcast<f32>(old) + cd_v);\n        \
                         let found = atomicCompareExchangeWeak(&{base}[cd_i], old, sum);\n        \
                         if (found.exchanged) {{\n            break;\n        }}\n        \
                         old = found.old_value;\n    }}\n    return bitcast<f32>(old);\n}}\n"
                    )
                });
                Ok(call(&name, &[index.clone(), value.clone()]))
            }
            _ => Err(Refusal::new(format!("has no atomic addition to the memory of {}", access.base.text))),
        }
    }

    pub(super) fn allocation_text(&self, allocation: &Allocation<'_>) -> Answer<String> {
        let (name, buffer) = (allocation.name, allocation.buffer);
        let form = self.form(&buffer.scope, buffer.dtype, allocation.uses)?;
        let space = match buffer.scope.rank {
            StorageRank::Shared if !buffer.scope.is_dynamic_shared() => "workgroup",
            StorageRank::Local => "private",
            _ => {
                return Err(Refusal::new(format!(
                    "has no allocation of scope \"{}\" in a kernel; it has shared and local",
                    buffer.scope
                )));
            }
        };
        let size_bytes = allocation.count.saturating_mul(4);
        if space == "private" && size_bytes > PRIVATE_SIZE_BYTES_MAX {
            return Err(Refusal::new(format!(
                "buffer {name} takes {size_bytes} bytes of a thread's own memory, at most {PRIVATE_SIZE_BYTES_MAX} are supported; use scope shared, or a parameter"
            )));
        }
        Ok(format!("var<{space}> {name}: array<{}, {}>;", form.element()?, allocation.count))
    }
}

/// The zero of a type, converted explicitly: a bare `0` would make any variable an i32.
fn typed_zero(zero: &Code, dtype: DType) -> Answer<String> {
    Ok(format!("{}({})", scalar(dtype)?, zero.text))
}

/// The index type in an access' helper (`None` for a scalar), the index, and the index's own type
/// if it is a vector.
fn place(access: &Access) -> (Option<DType>, &Code, Option<DType>) {
    match &access.place {
        Place::Element(index) | Place::Contiguous(index) => (None, index, None),
        Place::Lanes(index, dtype) => (Some(*dtype), index, Some(*dtype)),
    }
}

/// The index of a lane within a helper.
fn lane_index(indices: Option<DType>, lane: u16) -> Code {
    match (indices, lane) {
        (Some(dtype), _) => Code::primary(lane_of("cd_i", dtype.lanes, lane)),
        (None, 0) => Code::primary("cd_i"),
        (None, _) => Code::infix(Infix::Add, &Code::primary("cd_i"), &Code::primary(lane.to_string())),
    }
}

fn lane_of(vector: &str, lanes: u16, lane: u16) -> String {
    if lanes == 1 { vector.to_owned() } else { format!("{vector}[{lane}]") }
}

fn helper_name(what: &str, access: &Access) -> String {
    let masked = if access.predicate.is_some() { "_where" } else { "" };
    let by = match &access.place {
        Place::Lanes(_, index) => format!("_by_{}", short(*index)),
        _ => String::new(),
    };
    format!("cd_{what}_{}x{}{by}{masked}_{}", short(access.dtype), access.dtype.lanes, access.base.text)
}

fn params(access: &Access, index_type: Option<DType>, value: Option<&str>) -> Answer<String> {
    let index = index_type.map_or(Ok("i32".to_owned()), value_type)?;
    let mut params = vec![format!("cd_i: {index}")];
    if access.predicate.is_some() {
        params.push(format!("cd_where: {}", value_type(DType::BOOL.with_lanes(access.dtype.lanes))?));
    }
    params.extend(value.map(|value| format!("cd_v: {value}")));
    Ok(params.join(", "))
}

/// Reinterprets 32 bits of type `held` as a value of the type.
fn from_word(word: Code, held: DType, dtype: DType) -> Answer<Code> {
    Ok(if held == dtype { word } else { one(&format!("bitcast<{}>", scalar(dtype)?), &word) })
}

fn at(base: &Code, index: &Code) -> String {
    format!("{}[{}]", base.text, index.text)
}

/// The value of one element.
fn element(base: &Code, index: &Code, form: Form, dtype: DType, prelude: &mut Prelude) -> Answer<Code> {
    let place = at(base, index);
    match form {
        Form::Elements(held) if held == dtype => Ok(Code::primary(place)),
        Form::Elements(held) => from_word(Code::primary(place), held, dtype),
        Form::Atomics(held) => from_word(Code::primary(format!("atomicLoad(&{place})")), held, dtype),
        Form::Halves => Ok(Code::primary(format!("f32({place})"))),
        Form::Words { is_atomic } if bits(dtype) == 32 => {
            let word = if is_atomic { format!("atomicLoad(&{place})") } else { place };
            from_word(Code::primary(word), DType::UINT32, dtype)
        }
        Form::Words { is_atomic } => {
            let name = format!("cd_load_{}_{}", short(dtype), base.text);
            if !prelude.contains(&name) {
                let width = bits(dtype);
                let (by, last) = if width == 8 { (2, 3) } else { (1, 1) };
                let word = format!("{}[cd_i >> {by}u]", base.text);
                let word = if is_atomic { format!("atomicLoad(&{word})") } else { word };
                let part =
                    format!("extractBits({word}, {width}u * (bitcast<u32>(cd_i) & {last}u), {width}u)");
                let part = Code::primary(part);
                let value = if is_half(dtype) {
                    halves::value(&part, dtype, prelude)
                } else {
                    cast(&part, DType::UINT32, dtype, prelude)?
                };
                let held = scalar(dtype)?;
                prelude.define(&name, |_| {
                    format!("fn {name}(cd_i: i32) -> {held} {{\n    return {};\n}}\n", value.text)
                });
            }
            Ok(one(&name, index))
        }
    }
}

/// The statement that stores one element.
fn store_element(
    base: &Code,
    index: &Code,
    value: &Code,
    form: Form,
    dtype: DType,
    prelude: &mut Prelude,
) -> Answer<String> {
    let place = at(base, index);
    let word = |held: DType| from_word(value.clone(), dtype, held);
    match form {
        Form::Elements(held) => Ok(format!("{place} = {};", word(held)?.text)),
        Form::Atomics(held) => Ok(format!("atomicStore(&{place}, {});", word(held)?.text)),
        Form::Halves => Ok(format!("{place} = f16({});", value.text)),
        Form::Words { is_atomic } if bits(dtype) == 32 => {
            let word = word(DType::UINT32)?.text;
            Ok(if is_atomic {
                format!("atomicStore(&{place}, {word});")
            } else {
                format!("{place} = {word};")
            })
        }
        Form::Words { .. } => {
            let name = format!("cd_store_{}_{}", short(dtype), base.text);
            if !prelude.contains(&name) {
                let held = scalar(dtype)?;
                let cd_v = Code::primary("cd_v");
                let bits_text = if is_half(dtype) {
                    halves::bits(&cd_v, dtype, prelude)
                } else if dtype.is_uint() {
                    cd_v
                } else if dtype.is_bool() {
                    one("u32", &cd_v)
                } else {
                    one("bitcast<u32>", &cd_v)
                };
                let width = bits(dtype);
                let (by, last, mask) = if width == 8 { (2, 3, "0xffu") } else { (1, 1, "0xffffu") };
                let base = &base.text;
                // Two atomic steps, each of which leaves the other parts of the word unchanged.
                let text = format!(
                    "fn {name}(cd_i: i32, cd_v: {held}) {{\n    \
                     let by = {width}u * (bitcast<u32>(cd_i) & {last}u);\n    \
                     let bits = ({} & {mask}) << by;\n    \
                     atomicAnd(&{base}[cd_i >> {by}u], ~({mask} << by) | bits);\n    \
                     atomicOr(&{base}[cd_i >> {by}u], bits);\n}}\n",
                    bits_text.operand()
                );
                prelude.define(&name, |_| text);
            }
            Ok(format!("{};", call(&name, &[index.clone(), value.clone()]).text))
        }
    }
}
