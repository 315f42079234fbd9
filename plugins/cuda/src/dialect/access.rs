//! Loads and stores. Nothing is assumed of an address but that it is a multiple of its element's size: neighbours are
//! accessed 8 or 16 bytes at a time where the address turns out to allow it. The compiler makes nothing of the types that
//! pointers point to, so that memory may be read as another type.

use chipdock_codegen_source::{Access, Allocation, Answer, Code, Infix, Place, Prelude, Refusal};
use chipdock_ir::DType;

use super::halves;
use super::types::{self, HELPER, Space, integer, is_half, memory, short, space};
use super::vectors::vector_type;

/// Bytes of registers and stack that one buffer of a thread may take: the machine's 512 KiB, with room for others.
const LOCAL_SIZE_BYTES_MAX: i128 = 256 * 1024;
/// Bytes of one access at most.
const CHUNK_SIZE_BYTES_MAX: usize = 16;

/// The base as a pointer to elements of the access' own type.
fn base(access: &Access) -> Answer<Code> {
    let element = memory(access.dtype.scalar())?;
    let declared = access.base_element.map(|element| memory(element.scalar())).transpose()?;
    // A constant parameter stays one.
    let constant = if access.uses.is_written || access.uses.is_atomic { "" } else { "const " };
    // Helpers take no volatile pointers; single elements are accessed as the variable says.
    let is_plain = !access.uses.is_volatile || matches!(access.place, Place::Element(_));
    if declared == Some(element) && is_plain {
        return Ok(access.base.clone());
    }
    Ok(Code::prefix(&format!("({constant}{element}*)"), &access.base))
}

fn pointer_at(base: &Code, index: &Code) -> Code {
    if index.text == "0" { base.clone() } else { Code::infix(Infix::Add, base, index) }
}

fn element_at(base: &Code, index: &Code) -> Code {
    Code::primary(format!("{}[{}]", base.operand(), index.text))
}

/// An element in memory as a value.
fn loaded(element: &Code, dtype: DType, prelude: &mut Prelude) -> Code {
    if dtype.is_bool() {
        Code::infix(Infix::NotEqual, element, &Code::primary("0"))
    } else if is_half(dtype) {
        halves::value(element, dtype, prelude)
    } else {
        element.clone()
    }
}

/// A value as an element in memory.
fn stored(value: &Code, dtype: DType, prelude: &mut Prelude) -> Code {
    if is_half(dtype) { halves::bits(value, dtype, prelude) } else { value.clone() }
}

/// The address of the first element.
pub(super) fn address(access: &Access) -> Answer<Code> {
    space(&access.scope)?;
    let base = base(access)?;
    match &access.place {
        Place::Element(index) | Place::Contiguous(index) => Ok(pointer_at(&base, index)),
        Place::Lanes(..) => Err(Refusal::new("has no address of scattered elements")),
    }
}

pub(super) fn load(access: &Access, prelude: &mut Prelude) -> Answer<Code> {
    let (dtype, base, place) = (access.dtype, base(access)?, space(&access.scope)?);
    match (&access.place, &access.predicate) {
        (Place::Element(index), None) => Ok(loaded(&element_at(&base, index), dtype, prelude)),
        (Place::Element(index), Some(predicate)) => {
            let zero = if dtype.is_float() { types::float(0.0, dtype)? } else { integer(0, dtype)? };
            let value = loaded(&element_at(&base, index), dtype, prelude);
            Ok(Code::ternary(predicate, &value, &zero))
        }
        (Place::Contiguous(index), predicate) => {
            let helper =
                Lanes { what: What::Load, dtype, place, index: None, is_masked: predicate.is_some() };
            let mut args = vec![pointer_at(&base, index)];
            args.extend(predicate.clone());
            Ok(Code::call(&helper.define(prelude)?, &args))
        }
        (Place::Lanes(indices, index), predicate) => {
            let index = Some(*index);
            let helper = Lanes { what: What::Load, dtype, place, index, is_masked: predicate.is_some() };
            let mut args = vec![base, indices.clone()];
            args.extend(predicate.clone());
            Ok(Code::call(&helper.define(prelude)?, &args))
        }
    }
}

pub(super) fn store(access: &Access, value: &Code, prelude: &mut Prelude) -> Answer<String> {
    let (dtype, base, place) = (access.dtype, base(access)?, space(&access.scope)?);
    let what = What::Store;
    let (helper, mut args, predicate) = match (&access.place, &access.predicate) {
        (Place::Element(index), predicate) => {
            let target = element_at(&base, index).text;
            let line = format!("{target} = {};", stored(value, dtype, prelude).text);
            return Ok(match predicate {
                Some(predicate) => format!("if ({}) {line}", predicate.text),
                None => line,
            });
        }
        (Place::Contiguous(index), predicate) => {
            let helper = Lanes { what, dtype, place, index: None, is_masked: predicate.is_some() };
            (helper, vec![pointer_at(&base, index)], predicate)
        }
        (Place::Lanes(indices, index), predicate) => {
            let helper = Lanes { what, dtype, place, index: Some(*index), is_masked: predicate.is_some() };
            (helper, vec![base, indices.clone()], predicate)
        }
    };
    args.extend(predicate.clone());
    args.push(value.clone());
    Ok(format!("{};", Code::call(&helper.define(prelude)?, &args).text))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    Load,
    Store,
}

/// A helper that loads or stores lanes, in their order.
struct Lanes {
    what: What,
    dtype: DType,
    place: Space,
    /// The type of the indices, where lanes are scattered.
    index: Option<DType>,
    is_masked: bool,
}

impl Lanes {
    /// Bytes that are accessed at a time where the address allows it; none where that is no more than an element, and for
    /// a thread's own memory, which has no address as long as it is in registers.
    fn chunk_size_bytes(&self) -> Option<usize> {
        if self.index.is_some() || self.is_masked || self.place == Space::Local {
            return None;
        }
        let element = self.dtype.lane_size_bytes();
        let all = element * usize::from(self.dtype.lanes);
        let chunk = (1 << all.trailing_zeros()).min(CHUNK_SIZE_BYTES_MAX);
        (chunk > element).then_some(chunk)
    }

    fn name(&self) -> String {
        let what = match (self.what, self.index) {
            (What::Load, None) => "load",
            (What::Store, None) => "store",
            (What::Load, Some(_)) => "gather",
            (What::Store, Some(_)) => "scatter",
        };
        let by = self.index.map_or(String::new(), |index| format!("_by_{}", short(index)));
        let masked = if self.is_masked { "_where" } else { "" };
        let local =
            if self.index.is_none() && !self.is_masked && self.place == Space::Local { "_local" } else { "" };
        format!("cd_{what}_{}x{}{by}{masked}{local}", short(self.dtype), self.dtype.lanes)
    }

    /// Its name, once it is defined.
    fn define(&self, prelude: &mut Prelude) -> Answer<String> {
        let name = self.name();
        if prelude.contains(&name) {
            return Ok(name);
        }
        let (vector, element) = (vector_type(self.dtype, prelude)?, memory(self.dtype.scalar())?);
        let is_load = self.what == What::Load;
        let mut params = vec![format!("{}{element}* p", if is_load { "const " } else { "" })];
        if let Some(index) = self.index {
            params.push(format!("{} index", vector_type(index, prelude)?));
        }
        if self.is_masked {
            params.push(format!("{} mask", vector_type(DType::BOOL.with_lanes(self.dtype.lanes), prelude)?));
        }
        if !is_load {
            params.push(format!("{vector} x"));
        }
        let ret = if is_load { vector.as_str() } else { "void" };
        let body = match self.chunk_size_bytes() {
            Some(chunk) => self.chunked(&vector, element, chunk, prelude)?,
            None => self.one_by_one(&vector, prelude)?,
        };
        let params = params.join(", ");
        prelude.define(&name, |_| format!("{HELPER} {ret} {name}({params}) {{\n{body}}}\n"));
        Ok(name)
    }

    fn one_by_one(&self, vector: &str, prelude: &mut Prelude) -> Answer<String> {
        let place = Code::primary(if self.index.is_some() { "p[index.v[l]]" } else { "p[l]" });
        let zero = if self.dtype.is_float() {
            types::float(0.0, self.dtype.scalar())?
        } else {
            integer(0, self.dtype.scalar())?
        };
        let line = match (self.what, self.is_masked) {
            (What::Load, false) => format!("r.v[l] = {};", loaded(&place, self.dtype, prelude).text),
            (What::Load, true) => {
                let value = loaded(&place, self.dtype, prelude);
                format!("r.v[l] = {};", Code::ternary(&Code::primary("mask.v[l]"), &value, &zero).text)
            }
            (What::Store, is_masked) => {
                let value = stored(&Code::primary("x.v[l]"), self.dtype, prelude).text;
                format!("{}{} = {value};", if is_masked { "if (mask.v[l]) " } else { "" }, place.text)
            }
        };
        let each = for_lanes(1, self.dtype.lanes, &line);
        Ok(match self.what {
            What::Load => format!("    {vector} r;\n{each}    return r;\n"),
            What::Store => each,
        })
    }

    /// By way of an array of elements, which the compiler keeps in registers.
    fn chunked(&self, vector: &str, element: &str, chunk: usize, prelude: &mut Prelude) -> Answer<String> {
        let lanes = self.dtype.lanes;
        let chunks = self.dtype.lane_size_bytes() * usize::from(lanes) / chunk;
        let wide = match chunk {
            16 => "uint4",
            8 => "uint2",
            4 => "unsigned int",
            _ => "unsigned short",
        };
        let (from, to) = match self.what {
            What::Load => ("p", "e"),
            What::Store => ("e", "p"),
        };
        let constant = if self.what == What::Load { "const " } else { "" };
        let is_aligned = format!("(unsigned long long)p % {chunk} == 0");
        let wide_copy =
            for_lanes(2, chunks as u16, &format!("(({wide}*){to})[l] = (({constant}{wide}*){from})[l];"));
        let narrow_copy = for_lanes(2, lanes, &format!("{to}[l] = {from}[l];"));
        let array = format!("    __align__({chunk}) {element} e[{lanes}];\n");
        let copy = format!("    if ({is_aligned}) {{\n{wide_copy}    }} else {{\n{narrow_copy}    }}\n");
        Ok(match self.what {
            What::Load => {
                let value = loaded(&Code::primary("e[l]"), self.dtype, prelude).text;
                let convert = for_lanes(1, lanes, &format!("r.v[l] = {value};"));
                format!("{array}{copy}    {vector} r;\n{convert}    return r;\n")
            }
            What::Store => {
                let value = stored(&Code::primary("x.v[l]"), self.dtype, prelude).text;
                let convert = for_lanes(1, lanes, &format!("e[l] = {value};"));
                format!("{array}{convert}{copy}")
            }
        })
    }
}

/// A loop over lanes that is written out, at a level of indentation.
pub(super) fn for_lanes(level: usize, lanes: u16, line: &str) -> String {
    let indent = "    ".repeat(level);
    if lanes == 1 {
        return format!("{indent}{}\n", line.replace("[l]", "[0]"));
    }
    format!("#pragma unroll\n{indent}for (int l = 0; l < {lanes}; ++l) {{\n{indent}    {line}\n{indent}}}\n")
}

/// The declaration of a block's or a thread's memory of constant size.
pub(super) fn allocation(allocation: &Allocation<'_>) -> Answer<String> {
    let Allocation { name, buffer, count, uses } = *allocation;
    let element = memory(buffer.dtype.scalar())?;
    let volatile = if uses.is_volatile { "volatile " } else { "" };
    let size_bytes = count.saturating_mul(buffer.dtype.lane_size_bytes() as i128);
    match space(&buffer.scope)? {
        // Aligned for the sake of accesses of several elements, which look at the address.
        Space::Shared => Ok(format!("__shared__ __align__(16) {volatile}{element} {name}[{count}];")),
        Space::Local if size_bytes <= LOCAL_SIZE_BYTES_MAX => {
            Ok(format!("{volatile}{element} {name}[{count}];"))
        }
        Space::Local => Err(Refusal::new(format!(
            "buffer {name} takes {size_bytes} bytes of each thread's own memory, at most {LOCAL_SIZE_BYTES_MAX} are supported"
        ))),
        Space::Global => Err(Refusal::new(format!(
            "has no memory of scope global within a kernel: make buffer {name} a parameter, or local or shared"
        ))),
    }
}
