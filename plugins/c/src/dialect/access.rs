//! Loads and stores. Nothing is assumed of an address but that it is a multiple of its element's size.

use chipdock_codegen_source::{Access, Answer, Code, Infix, Place, Prelude};
use chipdock_ir::DType;

use super::halves;
use super::types::{check_scope, integer, is_half, memory, scalar, short};
use super::vectors::{c_lanes, is_stored_as_held, lane, unaligned_type, vector_type};

/// The base as a pointer to elements of the access' own type.
fn base(access: &Access, prelude: &mut Prelude) -> Answer<Code> {
    let element = memory(access.dtype.scalar())?;
    let declared = access.base_element.map(|element| memory(element.scalar())).transpose()?;
    if declared == Some(element) {
        return Ok(access.base.clone());
    }
    let alias = format!("cd_{}_alias", short(access.dtype.scalar()));
    prelude.define(&alias, |_| format!("typedef {element} {alias} __attribute__((may_alias));\n"));
    Ok(Code::prefix(&format!("({alias}*)"), &access.base))
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
pub(super) fn address(access: &Access, prelude: &mut Prelude) -> Answer<Code> {
    check_scope(&access.scope)?;
    let base = base(access, prelude)?;
    match &access.place {
        Place::Element(index) | Place::Contiguous(index) => Ok(pointer_at(&base, index)),
        Place::Lanes(..) => {
            Err(chipdock_codegen_source::Refusal::new("has no address of scattered elements"))
        }
    }
}

pub(super) fn load(access: &Access, prelude: &mut Prelude) -> Answer<Code> {
    check_scope(&access.scope)?;
    let (dtype, base) = (access.dtype, base(access, prelude)?);
    match (&access.place, &access.predicate) {
        (Place::Element(index), None) => Ok(loaded(&element_at(&base, index), dtype, prelude)),
        (Place::Element(index), Some(predicate)) => {
            let zero = if dtype.is_float() { super::types::float(0.0, dtype)? } else { integer(0, dtype)? };
            let value = loaded(&element_at(&base, index), dtype, prelude);
            Ok(Code::ternary(predicate, &value, &zero))
        }
        (Place::Contiguous(index), None) if is_stored_as_held(dtype) => {
            let vector = unaligned_type(dtype, prelude)?;
            let pointer = Code::prefix(&format!("(const {vector}*)"), &pointer_at(&base, index));
            Ok(Code::prefix("*", &pointer))
        }
        (Place::Contiguous(index), predicate) => {
            let name = helper("load", access, prelude, predicate.is_some(), None)?;
            let mut args = vec![pointer_at(&base, index)];
            args.extend(predicate.clone());
            Ok(Code::call(&name, &args))
        }
        (Place::Lanes(indices, index_type), predicate) => {
            let name = helper("gather", access, prelude, predicate.is_some(), Some(*index_type))?;
            let mut args = vec![base, indices.clone()];
            args.extend(predicate.clone());
            Ok(Code::call(&name, &args))
        }
    }
}

pub(super) fn store(access: &Access, value: &Code, prelude: &mut Prelude) -> Answer<String> {
    check_scope(&access.scope)?;
    let (dtype, base) = (access.dtype, base(access, prelude)?);
    match (&access.place, &access.predicate) {
        (Place::Element(index), predicate) => {
            let target = element_at(&base, index).text;
            let line = format!("{target} = {};", stored(value, dtype, prelude).text);
            Ok(match predicate {
                Some(predicate) => format!("if ({}) {line}", predicate.text),
                None => line,
            })
        }
        (Place::Contiguous(index), None) if is_stored_as_held(dtype) => {
            let vector = unaligned_type(dtype, prelude)?;
            let pointer = Code::prefix(&format!("({vector}*)"), &pointer_at(&base, index));
            Ok(format!("{} = {};", Code::prefix("*", &pointer).text, value.text))
        }
        (Place::Contiguous(index), predicate) => {
            let name = helper("store", access, prelude, predicate.is_some(), None)?;
            let mut args = vec![pointer_at(&base, index)];
            args.extend(predicate.clone());
            args.push(value.clone());
            Ok(format!("{};", Code::call(&name, &args).text))
        }
        (Place::Lanes(indices, index_type), predicate) => {
            let name = helper("scatter", access, prelude, predicate.is_some(), Some(*index_type))?;
            let mut args = vec![base, indices.clone()];
            args.extend(predicate.clone());
            args.push(value.clone());
            Ok(format!("{};", Code::call(&name, &args).text))
        }
    }
}

/// A helper that loads or stores lane by lane, in the order of lanes.
fn helper(
    what: &str,
    access: &Access,
    prelude: &mut Prelude,
    is_masked: bool,
    index_type: Option<DType>,
) -> Answer<String> {
    let dtype = access.dtype;
    let (vector, element) = (vector_type(dtype, prelude)?, memory(dtype.scalar())?);
    let by = index_type.map_or(String::new(), |index| format!("_by_{}", short(index)));
    let masked = if is_masked { "_where" } else { "" };
    // Buffers of another type are reached through an alias type; a char pointer would do, but says less.
    let is_alias = access.base_element.map(|element| memory(element.scalar())).transpose()? != Some(element);
    let (element, alias) = if is_alias {
        (format!("cd_{}_alias", short(dtype.scalar())), "_alias")
    } else {
        (element.to_owned(), "")
    };
    let name = format!("cd_{what}_{}x{}{by}{masked}{alias}", short(dtype), dtype.lanes);
    if prelude.contains(&name) {
        return Ok(name);
    }
    let is_load = matches!(what, "load" | "gather");
    let place = Code::primary(if index_type.is_some() { "p[index[l]]" } else { "p[l]" });
    let body = if is_load {
        let value = loaded(&place, dtype, prelude);
        let value = if dtype.is_bool() { Code::prefix("-", &value) } else { value };
        format!("r[l] = {};", value.text)
    } else {
        let lane = Code::primary("x[l]");
        let lane =
            if dtype.is_bool() { Code::infix(Infix::NotEqual, &lane, &Code::primary("0")) } else { lane };
        format!("{} = {};", place.text, stored(&lane, dtype, prelude).text)
    };
    let body = if is_masked { format!("if (mask[l]) {body}") } else { body };
    let mut params = vec![format!("{}{element}* p", if is_load { "const " } else { "" })];
    if let Some(index) = index_type {
        params.push(format!("{} index", vector_type(index, prelude)?));
    }
    if is_masked {
        params.push(format!("{} mask", vector_type(DType::BOOL.with_lanes(dtype.lanes), prelude)?));
    }
    if !is_load {
        params.push(format!("{vector} x"));
    }
    let (ret, first, last) = if is_load {
        let lane = memory(lane(dtype))?;
        let first = format!("    {lane} r[{}] = {{0}};\n", c_lanes(dtype.lanes));
        let last = format!("    {vector} v;\n    __builtin_memcpy(&v, r, sizeof(v));\n    return v;\n");
        (vector.as_str(), first, last)
    } else {
        ("void", String::new(), String::new())
    };
    let text = format!(
        "static inline {ret} {name}({}) {{\n{first}    for (int l = 0; l < {}; ++l) {{\n        {body}\n    }}\n{last}}}\n",
        params.join(", "),
        dtype.lanes
    );
    prelude.define(&name, |_| text);
    Ok(name)
}

/// The declaration of elements on the stack.
pub(super) fn allocation(name: &str, buffer: &chipdock_ir::Buffer, count: i128) -> Answer<String> {
    check_scope(&buffer.scope)?;
    let element = memory(buffer.dtype.scalar())?;
    let size_bytes = count.saturating_mul(buffer.dtype.lane_size_bytes() as i128);
    if size_bytes > super::STACK_SIZE_BYTES_MAX {
        return Err(chipdock_codegen_source::Refusal::new(format!(
            "buffer {name} takes {size_bytes} bytes of stack, at most {} are supported; lower it to workspace",
            super::STACK_SIZE_BYTES_MAX
        )));
    }
    scalar(buffer.dtype.scalar())?;
    // Aligned for the compiler's sake: no load or store relies on it.
    let alignment = buffer.data_alignment_bytes.clamp(if size_bytes >= 64 { 64 } else { 1 }, 4096);
    let aligned = if alignment > 1 && alignment.is_power_of_two() {
        format!("aligned({alignment}), ")
    } else {
        String::new()
    };
    Ok(format!("{element} {name}[{count}] __attribute__(({aligned}unused));"))
}
