//! Memory: declarations, loads, stores and atomic additions. Nothing is assumed of an address but that it is a multiple of
//! its element's size.

use chipdock_codegen_source::{Access, Allocation, Answer, Code, Infix, Place, Prelude, Refusal};
use chipdock_ir::{DType, StorageRank, TypeCode};

use super::MslDialect;
use super::types::{float, integer, loaded, memory, one, short, space, stored, value_type};

/// Bytes of memory that a thread may have for one buffer of its own.
const PRIVATE_SIZE_BYTES_MAX: i128 = 16 * 1024;

fn pointer_at(base: &Code, index: &Code) -> Code {
    if index.text == "0" { base.clone() } else { Code::infix(Infix::Add, base, index) }
}

fn element_at(base: &Code, index: &Code) -> Code {
    Code::primary(format!("{}[{}]", base.operand(), index.text))
}

/// True for types whose packed vectors MSL has, held in values as in memory.
fn is_packed(dtype: DType) -> bool {
    matches!(dtype.lanes, 2..=4)
        && (dtype.is_integer() && dtype.bits <= 32 && !dtype.is_bool() || dtype.scalar() == DType::FLOAT32)
}

impl MslDialect {
    /// The base as a pointer to elements of the access' own type.
    fn base(&self, access: &Access) -> Answer<Code> {
        let element = memory(access.dtype.scalar(), self.has_bfloat)?;
        let declared =
            access.base_element.map(|element| memory(element.scalar(), self.has_bfloat)).transpose()?;
        if declared == Some(element) {
            return Ok(access.base.clone());
        }
        Ok(Code::prefix(&format!("({} {element}*)", space(&access.scope)?), &access.base))
    }

    /// The address of the first element.
    pub(super) fn address(&self, access: &Access) -> Answer<Code> {
        match &access.place {
            Place::Element(index) | Place::Contiguous(index) => Ok(pointer_at(&self.base(access)?, index)),
            Place::Lanes(..) => Err(Refusal::new("has no address of scattered elements")),
        }
    }

    pub(super) fn load_text(&self, access: &Access, prelude: &mut Prelude) -> Answer<Code> {
        let (dtype, base) = (access.dtype, self.base(access)?);
        let space = space(&access.scope)?;
        match (&access.place, &access.predicate) {
            (Place::Element(index), None) => Ok(loaded(&element_at(&base, index), dtype, self.has_bfloat)),
            (Place::Element(index), Some(predicate)) => {
                let zero = if dtype.is_float() { float(0.0, dtype)? } else { integer(0, dtype)? };
                let value = loaded(&element_at(&base, index), dtype, self.has_bfloat);
                Ok(Code::ternary(predicate, &value, &zero))
            }
            (Place::Contiguous(index), None) if is_packed(dtype) => {
                let vector = value_type(dtype)?;
                let pointer =
                    Code::prefix(&format!("(const {space} packed_{vector}*)"), &pointer_at(&base, index));
                Ok(one(&vector, &Code::prefix("*", &pointer)))
            }
            (Place::Contiguous(index), predicate) => {
                let name = self.helper("load", access, prelude, None)?;
                Ok(call(&name, [pointer_at(&base, index)].into_iter().chain(predicate.clone())))
            }
            (Place::Lanes(indices, index_type), predicate) => {
                let name = self.helper("gather", access, prelude, Some(*index_type))?;
                Ok(call(&name, [base, indices.clone()].into_iter().chain(predicate.clone())))
            }
        }
    }

    pub(super) fn store_text(&self, access: &Access, value: &Code, prelude: &mut Prelude) -> Answer<String> {
        let (dtype, base) = (access.dtype, self.base(access)?);
        let space = space(&access.scope)?;
        let args =
            |first: Vec<Code>| first.into_iter().chain(access.predicate.clone()).chain([value.clone()]);
        match (&access.place, &access.predicate) {
            (Place::Element(index), predicate) => {
                let target = element_at(&base, index).text;
                let line = format!("{target} = {};", stored(value, dtype, self.has_bfloat, prelude).text);
                Ok(match predicate {
                    Some(predicate) => format!("if ({}) {line}", predicate.text),
                    None => line,
                })
            }
            (Place::Contiguous(index), None) if is_packed(dtype) => {
                let packed = format!("packed_{}", value_type(dtype)?);
                let pointer = Code::prefix(&format!("({space} {packed}*)"), &pointer_at(&base, index));
                Ok(format!("{} = {packed}({});", Code::prefix("*", &pointer).text, value.text))
            }
            (Place::Contiguous(index), _) => {
                let name = self.helper("store", access, prelude, None)?;
                Ok(format!("{};", call(&name, args(vec![pointer_at(&base, index)])).text))
            }
            (Place::Lanes(indices, index_type), _) => {
                let name = self.helper("scatter", access, prelude, Some(*index_type))?;
                Ok(format!("{};", call(&name, args(vec![base, indices.clone()])).text))
            }
        }
    }

    /// A helper that loads or stores lane by lane, in the order of lanes.
    fn helper(
        &self,
        what: &str,
        access: &Access,
        prelude: &mut Prelude,
        index_type: Option<DType>,
    ) -> Answer<String> {
        let (dtype, space) = (access.dtype, space(&access.scope)?);
        let (vector, element) = (value_type(dtype)?, memory(dtype.scalar(), self.has_bfloat)?);
        let by = index_type.map_or(String::new(), |index| format!("_by_{}", short(index)));
        let masked = if access.predicate.is_some() { "_where" } else { "" };
        let name = format!("cd_{what}_{}x{}{by}{masked}_{space}", short(dtype), dtype.lanes);
        if prelude.contains(&name) {
            return Ok(name);
        }
        let is_load = matches!(what, "load" | "gather");
        let (mut lines, zero) = (String::new(), if is_load { "const " } else { "" });
        for lane in 0..dtype.lanes {
            let of = |vector: &str, lanes: u16| {
                if lanes == 1 { vector.to_owned() } else { format!("{vector}[{lane}]") }
            };
            let place = match index_type {
                Some(index) => format!("p[{}]", of("i", index.lanes)),
                None => format!("p[{lane}]"),
            };
            let (place, value) = (Code::primary(place), Code::primary(of("v", dtype.lanes)));
            let line = if is_load {
                format!("{} = {};", value.text, loaded(&place, dtype.scalar(), self.has_bfloat).text)
            } else {
                format!("{} = {};", place.text, stored(&value, dtype.scalar(), self.has_bfloat, prelude).text)
            };
            let mask = of("m", dtype.lanes);
            lines.push_str(&if masked.is_empty() {
                format!("    {line}\n")
            } else {
                format!("    if ({mask}) {line}\n")
            });
        }
        let mut params = vec![format!("{zero}{space} {element}* p")];
        if let Some(index) = index_type {
            params.push(format!("{} i", value_type(index)?));
        }
        if access.predicate.is_some() {
            params.push(format!("{} m", value_type(DType::BOOL.with_lanes(dtype.lanes))?));
        }
        let (ret, first, last) = if is_load {
            (vector.as_str(), format!("    {vector} v = {vector}(0);\n"), "    return v;\n")
        } else {
            params.push(format!("{vector} v"));
            ("void", String::new(), "")
        };
        let params = params.join(", ");
        prelude
            .define(&name, |_| format!("static inline {ret} {name}({params}) {{\n{first}{lines}{last}}}\n"));
        Ok(name)
    }

    pub(super) fn allocation_text(&self, allocation: &Allocation<'_>) -> Answer<String> {
        let (name, buffer) = (allocation.name, allocation.buffer);
        let element = memory(buffer.dtype.scalar(), self.has_bfloat)?;
        match (buffer.scope.rank, space(&buffer.scope)?) {
            (StorageRank::Local, _) => {
                let size_bytes = allocation.count.saturating_mul(buffer.dtype.lane_size_bytes() as i128);
                if size_bytes > PRIVATE_SIZE_BYTES_MAX {
                    return Err(Refusal::new(format!(
                        "buffer {name} takes {size_bytes} bytes of a thread's own memory, at most \
                         {PRIVATE_SIZE_BYTES_MAX} are supported"
                    )));
                }
                Ok(format!("{element} {name}[{}];", allocation.count))
            }
            (StorageRank::Shared, space) => Ok(format!("{space} {element} {name}[{}];", allocation.count)),
            _ => Err(Refusal::new(format!(
                "has no allocation of scope \"{}\" in a kernel; it has shared and local",
                buffer.scope
            ))),
        }
    }

    /// An atomic addition, which gives what was there.
    pub(super) fn atomic_add(
        &self,
        access: &Access,
        value: &Code,
        dtype: DType,
        prelude: &mut Prelude,
    ) -> Answer<Code> {
        let (space, address) = (space(&access.scope)?, self.address(access)?);
        let Place::Element(_) = &access.place else {
            return Err(Refusal::new("adds atomically to one element only"));
        };
        if access.predicate.is_some() || access.dtype != dtype {
            return Err(Refusal::new(format!(
                "has no atomic addition of {dtype} to elements of {}",
                access.dtype
            )));
        }
        let native = |atomic: &str| {
            let pointer = Code::prefix(&format!("({space} {atomic}*)"), &address);
            call("atomic_fetch_add_explicit", [pointer, value.clone(), Code::primary("memory_order_relaxed")])
        };
        let is_own = access.scope.rank == StorageRank::Local;
        match (dtype, dtype.code) {
            (DType::INT32, _) if !is_own => Ok(native("atomic_int")),
            (DType::UINT32, _) if !is_own => Ok(native("atomic_uint")),
            (DType::FLOAT32, _) if self.has_atomic_float && space == "device" => Ok(native("atomic_float")),
            (DType::FLOAT32, TypeCode::Float) if !is_own => {
                let name = format!("cd_atomic_add_f32_{space}");
                prelude.define(&name, |_| {
                    format!(
                        "static inline float {name}({space} float* p, float v) {{\n    \
                         {space} atomic_uint* a = ({space} atomic_uint*)p;\n    \
                         uint old = atomic_load_explicit(a, memory_order_relaxed);\n    \
                         while (!atomic_compare_exchange_weak_explicit(a, &old, as_type<uint>(as_type<float>(old) + v), \
                         memory_order_relaxed, memory_order_relaxed)) {{\n    }}\n    \
                         return as_type<float>(old);\n}}\n"
                    )
                });
                Ok(call(&name, [address, value.clone()]))
            }
            _ => Err(Refusal::new(format!(
                "has no atomic addition of {dtype} in scope \"{}\"; it has int32, uint32 and float32 in global and \
                 shared memory",
                access.scope
            ))),
        }
    }
}

fn call(name: &str, args: impl IntoIterator<Item = Code>) -> Code {
    let args: Vec<Code> = args.into_iter().collect();
    Code::call(name, &args)
}
