//! Loads and stores. Nothing is assumed of an address but that it is a multiple of its element's size.

use chipdock_codegen_source::{Access, Allocation, Answer, Code, Infix, Place, Prelude, Refusal};
use chipdock_ir::{DType, StorageRank};

use super::types::{address_space, check, float, integer, is_half, memory, short};
use super::vectors::{Lanes, is_native, lane_of, lane_value, vector_type};
use super::{Features, define_alias, halves};

/// The type that elements are accessed as, and the base as a pointer to it.
fn base(access: &Access, prelude: &mut Prelude) -> Answer<(String, Code)> {
    let dtype = access.dtype.scalar();
    let element = memory(dtype)?;
    let declared = access.base_element.map(|element| memory(element.scalar())).transpose()?;
    if declared == Some(element) {
        return Ok((element.to_owned(), access.base.clone()));
    }
    let alias = format!("cd_{}_alias", short(dtype));
    prelude.define(&alias, |prelude| {
        define_alias(prelude);
        format!("typedef {element} CD_MAY_ALIAS {alias};\n")
    });
    let is_const = if access.uses.is_written { "" } else { "const " };
    let pointer = format!("({} {is_const}{alias}*)", address_space(&access.scope)?);
    Ok((alias, Code::prefix(&pointer, &access.base)))
}

fn pointer_at(base: &Code, index: &Code) -> Code {
    if index.text == "0" { base.clone() } else { Code::infix(Infix::Add, base, index) }
}

fn element_at(base: &Code, index: &str) -> Code {
    Code::primary(format!("{}[{index}]", base.operand()))
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
    let (_, base) = base(access, prelude)?;
    match &access.place {
        Place::Element(index) | Place::Contiguous(index) => Ok(pointer_at(&base, index)),
        Place::Lanes(..) => Err(Refusal::new("has no address of scattered elements")),
    }
}

/// True where a vector is accessed as it is held.
fn is_stored_as_held(dtype: DType) -> bool {
    is_native(dtype.lanes) && !dtype.is_bool() && !is_half(dtype)
}

pub(super) fn load(access: &Access, features: &Features, prelude: &mut Prelude) -> Answer<Code> {
    let dtype = access.dtype;
    check(dtype, features, prelude)?;
    let (_, pointer) = base(access, prelude)?;
    match (&access.place, &access.predicate) {
        (Place::Element(index), predicate) => {
            let value = loaded(&element_at(&pointer, &index.text), dtype, prelude);
            let Some(predicate) = predicate else { return Ok(value) };
            let zero = if dtype.is_float() { float(0.0, dtype)? } else { integer(0, dtype)? };
            Ok(Code::ternary(predicate, &value, &zero))
        }
        (Place::Contiguous(index), None) if is_stored_as_held(dtype) => {
            let args = [Code::primary("0"), pointer_at(&pointer, index)];
            Ok(Code::call(&format!("vload{}", dtype.lanes), &args))
        }
        (Place::Contiguous(index), predicate) => {
            let name = helper("load", access, None, prelude)?;
            let mut args = vec![pointer_at(&pointer, index)];
            args.extend(predicate.clone());
            Ok(Code::call(&name, &args))
        }
        (Place::Lanes(indices, index_type), predicate) => {
            let name = helper("gather", access, Some(*index_type), prelude)?;
            let mut args = vec![pointer, indices.clone()];
            args.extend(predicate.clone());
            Ok(Code::call(&name, &args))
        }
    }
}

pub(super) fn store(
    access: &Access,
    value: &Code,
    features: &Features,
    prelude: &mut Prelude,
) -> Answer<String> {
    let dtype = access.dtype;
    check(dtype, features, prelude)?;
    let (_, pointer) = base(access, prelude)?;
    match (&access.place, &access.predicate) {
        (Place::Element(index), predicate) => {
            let target = element_at(&pointer, &index.text).text;
            let line = format!("{target} = {};", stored(value, dtype, prelude).text);
            Ok(match predicate {
                Some(predicate) => format!("if ({}) {line}", predicate.text),
                None => line,
            })
        }
        (Place::Contiguous(index), None) if is_stored_as_held(dtype) => {
            let args = [value.clone(), Code::primary("0"), pointer_at(&pointer, index)];
            Ok(format!("{};", Code::call(&format!("vstore{}", dtype.lanes), &args).text))
        }
        (Place::Contiguous(index), predicate) => {
            let name = helper("store", access, None, prelude)?;
            let mut args = vec![pointer_at(&pointer, index)];
            args.extend(predicate.clone());
            args.push(value.clone());
            Ok(format!("{};", Code::call(&name, &args).text))
        }
        (Place::Lanes(indices, index_type), predicate) => {
            let name = helper("scatter", access, Some(*index_type), prelude)?;
            let mut args = vec![pointer, indices.clone()];
            args.extend(predicate.clone());
            args.push(value.clone());
            Ok(format!("{};", Code::call(&name, &args).text))
        }
    }
}

/// A helper that loads or stores lane by lane, in the order of lanes.
fn helper(what: &str, access: &Access, index_type: Option<DType>, prelude: &mut Prelude) -> Answer<String> {
    let (dtype, is_masked) = (access.dtype, access.predicate.is_some());
    let (vector, space) = (vector_type(dtype, prelude)?, address_space(&access.scope)?);
    let (element, _) = base(access, prelude)?;
    let by = index_type.map_or(String::new(), |index| format!("_by_{}", short(index)));
    let masked = if is_masked { "_where" } else { "" };
    let alias = if element.ends_with("_alias") { "_alias" } else { "" };
    let name = format!(
        "cd_{what}_{}x{}{by}{masked}{alias}_{}",
        short(dtype),
        dtype.lanes,
        space.trim_start_matches('_')
    );
    if prelude.contains(&name) {
        return Ok(name);
    }
    let is_load = matches!(what, "load" | "gather");
    let mut params = vec![format!("{space} {}{element}* p", if is_load { "const " } else { "" })];
    if let Some(index) = index_type {
        params.push(format!("{} index", vector_type(index, prelude)?));
    }
    if is_masked {
        params.push(format!("{} mask", vector_type(DType::BOOL.with_lanes(dtype.lanes), prelude)?));
    }
    if !is_load {
        params.push(format!("{vector} x"));
    }
    let lanes = Lanes(dtype.lanes);
    let place = |lane: &str| match index_type {
        Some(_) => Code::primary(format!("p[{}]", lanes.of("index", lane))),
        None => Code::primary(format!("p[{lane}]")),
    };
    let body = if is_load {
        let zero = if dtype.is_float() { float(0.0, dtype)? } else { integer(0, dtype)? };
        let mut lane_text = |lane: &str| {
            let value = loaded(&place(lane), dtype, prelude);
            let value = if is_masked {
                Code::ternary(&Code::primary(lanes.of("mask", lane)), &value, &zero)
            } else {
                value
            };
            Ok(lane_of(value, dtype))
        };
        lanes.returned(&vector, &mut lane_text)?
    } else {
        lanes.each(&mut |lane: &str| {
            let value = lane_value(Code::primary(lanes.of("x", lane)), dtype);
            let line = format!("{} = {};", place(lane).text, stored(&value, dtype, prelude).text);
            Ok(if is_masked { format!("if ({}) {line}", lanes.of("mask", lane)) } else { line })
        })?
    };
    let ret = if is_load { vector.as_str() } else { "void" };
    prelude.define(&name, |_| format!("static inline {ret} {name}({}) {{\n{body}}}\n", params.join(", ")));
    Ok(name)
}

/// The declaration of elements in local or private memory.
pub(super) fn allocation(
    allocation: &Allocation<'_>,
    features: &Features,
    prelude: &mut Prelude,
) -> Answer<String> {
    let (name, buffer) = (allocation.name, allocation.buffer);
    let dtype = buffer.dtype.scalar();
    check(dtype, features, prelude)?;
    let element = memory(dtype)?;
    let space = match buffer.scope.rank {
        StorageRank::Global => {
            return Err(Refusal::new(format!(
                "buffer {name} is allocated in global memory; a kernel is given that by its caller"
            )));
        }
        _ if buffer.scope.is_dynamic_shared() => {
            return Err(Refusal::new(format!(
                "buffer {name} has dynamic shared memory outside of a kernel; only a launch tells its size"
            )));
        }
        _ => address_space(&buffer.scope)?,
    };
    // Halves are added to atomically by the word that they lie in.
    let (count, aligned) = if allocation.uses.is_atomic && dtype.bits < 32 {
        (allocation.count.saturating_add(3) / 4 * 4, " __attribute__((aligned(4)))")
    } else {
        (allocation.count, "")
    };
    let space = if space == "__private" { String::new() } else { format!("{space} ") };
    Ok(format!("{space}{element} {name}[{count}]{aligned};"))
}
