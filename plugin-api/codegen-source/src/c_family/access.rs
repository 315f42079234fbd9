//! Loads and stores (CF6).

use chipdock_ir::{DType, StorageScope};

use super::casts::zero;
use super::vectors::{lane_of, lane_value};
use super::{CFamily, full, is_half, scalar, short};
use crate::{Access, Answer, Code, Infix, Place, Prelude, Refusal};

/// The pointer `base` moved on by `index` elements.
#[must_use]
pub fn pointer_at(base: &Code, index: &Code) -> Code {
    if index.text == "0" { base.clone() } else { Code::infix(Infix::Add, base, index) }
}

/// The element at `index` of a pointer or array.
#[must_use]
pub fn element_at(base: &Code, index: &str) -> Code {
    Code::primary(format!("{}[{index}]", base.operand()))
}

/// The word followed by a space, or an empty string for an empty word.
fn spaced(word: &str) -> String {
    if word.is_empty() { String::new() } else { format!("{word} ") }
}

/// The type through which elements are accessed, and the base converted to a pointer to that type.
fn base<L: CFamily>(language: &L, access: &Access, prelude: &mut Prelude) -> Answer<(String, Code)> {
    let dtype = access.dtype.scalar();
    let (space, element) = (language.space(&access.scope)?, language.memory_type(dtype)?);
    let declared = access.base_element.map(|element| language.memory_type(element.scalar())).transpose()?;
    // Helpers take no volatile pointers; a single element is accessed with the variable's own
    // qualifiers.
    let is_plain = !access.uses.is_volatile || matches!(access.place, Place::Element(_));
    if declared == Some(element) && is_plain {
        return Ok((element.to_owned(), access.base.clone()));
    }
    let is_other = declared != Some(element);
    let name = format!("cd_{}_alias", short(dtype));
    let element = match language.alias(element, &name).filter(|_| is_other) {
        Some(text) => {
            language.define_alias(prelude);
            prelude.define(&name, |_| text);
            name
        }
        None => element.to_owned(),
    };
    let is_const =
        language.spellings().has_const_pointers && !access.uses.is_written && !access.uses.is_atomic;
    let pointer = format!("({}{}{element}*)", spaced(space), if is_const { "const " } else { "" });
    Ok((element, Code::prefix(&pointer, &access.base)))
}

/// Returns the address of the first accessed element.
///
/// # Errors
///
/// An unsupported scope or element type, or scattered elements.
pub fn address<L: CFamily>(language: &L, access: &Access, prelude: &mut Prelude) -> Answer<Code> {
    let (_, base) = base(language, access, prelude)?;
    match &access.place {
        Place::Element(index) | Place::Contiguous(index) => Ok(pointer_at(&base, index)),
        Place::Lanes(..) => Err(Refusal::new("has no address of scattered elements")),
    }
}

/// Converts an element in memory to a value: the default of [`CFamily::loaded`].
pub(super) fn loaded<L: CFamily>(language: &L, element: &Code, dtype: DType, prelude: &mut Prelude) -> Code {
    if dtype.is_bool() {
        Code::infix(Infix::NotEqual, element, &Code::primary("0"))
    } else if is_half(dtype) {
        language.half_value(element, dtype, prelude)
    } else {
        element.clone()
    }
}

/// Converts a value to an element in memory: the default of [`CFamily::stored`].
pub(super) fn stored<L: CFamily>(language: &L, value: &Code, dtype: DType, prelude: &mut Prelude) -> Code {
    if is_half(dtype) { language.half_bits(value, dtype, prelude) } else { value.clone() }
}

/// The value of a load.
pub(super) fn load<L: CFamily>(language: &L, access: &Access, prelude: &mut Prelude) -> Answer<Code> {
    let dtype = access.dtype;
    language.check(dtype, prelude)?;
    scalar(language, dtype)?;
    let (_, pointer) = base(language, access, prelude)?;
    match (&access.place, &access.predicate) {
        (Place::Element(index), predicate) => {
            let value = language.loaded(&element_at(&pointer, &index.text), dtype, prelude);
            let Some(predicate) = predicate else { return Ok(value) };
            Ok(Code::ternary(predicate, &value, &zero(language, dtype, prelude)?))
        }
        (Place::Contiguous(index), predicate) => {
            let pointer = pointer_at(&pointer, index);
            if predicate.is_none()
                && let Some(answer) = language.vector_load(&pointer, dtype, &access.scope, prelude)
            {
                return answer;
            }
            let args = [Some(pointer), predicate.clone()];
            call(language, true, access, None, args, prelude)
        }
        (Place::Lanes(indices, index), predicate) => {
            let args = [Some(pointer), Some(indices.clone()), predicate.clone()];
            call(language, true, access, Some(*index), args, prelude)
        }
    }
}

/// The statement of a store.
pub(super) fn store<L: CFamily>(
    language: &L,
    access: &Access,
    value: &Code,
    prelude: &mut Prelude,
) -> Answer<String> {
    let dtype = access.dtype;
    language.check(dtype, prelude)?;
    scalar(language, dtype)?;
    let (_, pointer) = base(language, access, prelude)?;
    let statement = match (&access.place, &access.predicate) {
        (Place::Element(index), predicate) => {
            let target = element_at(&pointer, &index.text).text;
            let line = format!("{target} = {};", language.stored(value, dtype, prelude).text);
            return Ok(match predicate {
                Some(predicate) => format!("if ({}) {line}", predicate.text),
                None => line,
            });
        }
        (Place::Contiguous(index), predicate) => {
            let pointer = pointer_at(&pointer, index);
            if predicate.is_none()
                && access.is_streamed
                && let Some(answer) = language.streamed_store(&pointer, value, dtype, prelude)
            {
                return answer;
            }
            if predicate.is_none()
                && let Some(answer) = language.vector_store(&pointer, value, dtype, &access.scope, prelude)
            {
                return answer;
            }
            let args = [Some(pointer), predicate.clone(), Some(value.clone())];
            call(language, false, access, None, args, prelude)?
        }
        (Place::Lanes(indices, index), predicate) => {
            let args = [Some(pointer), Some(indices.clone()), predicate.clone(), Some(value.clone())];
            call(language, false, access, Some(*index), args, prelude)?
        }
    };
    Ok(format!("{};", statement.text))
}

/// A helper's load or store of the lanes of a vector, in lane order.
#[derive(Clone, Copy, Debug)]
pub struct LaneAccess<'a> {
    /// Whether the access is a load; otherwise it is a store.
    pub is_load: bool,
    /// The type of the loaded or stored vector.
    pub dtype: DType,
    /// Storage scope of the memory.
    pub scope: &'a StorageScope,
    /// The type of the index vector if lanes are scattered.
    pub index: Option<DType>,
    /// Whether a predicate masks lanes.
    pub is_masked: bool,
    /// The element type that the parameter `p` points to.
    pub element: &'a str,
    /// The vector type in the text: the return type of a load, the type of the parameter `x` of a
    /// store.
    pub vector: &'a str,
}

impl LaneAccess<'_> {
    /// The element that a lane accesses; `lane` is a lane number or the counter of a loop.
    pub fn place<L: CFamily>(&self, language: &L, lane: &str) -> Code {
        match self.index {
            Some(index) => Code::primary(format!("p[{}]", language.lane("index", lane, index.lanes))),
            None => Code::primary(format!("p[{lane}]")),
        }
    }

    /// The lane of the mask as a condition, if there is a mask.
    pub fn mask<L: CFamily>(&self, language: &L, lane: &str) -> Option<Code> {
        self.is_masked.then(|| Code::primary(language.lane("mask", lane, self.dtype.lanes)))
    }

    /// The loaded value of a lane, for a lane that the mask includes.
    pub fn lane_loaded<L: CFamily>(&self, language: &L, lane: &str, prelude: &mut Prelude) -> Code {
        language.loaded(&self.place(language, lane), self.dtype.scalar(), prelude)
    }

    /// The statement that stores a lane of the argument `x`, if its lane of the mask is set.
    pub fn lane_stored<L: CFamily>(&self, language: &L, lane: &str, prelude: &mut Prelude) -> String {
        let x = Code::primary(language.lane("x", lane, self.dtype.lanes));
        let value = lane_value(language, x, self.dtype);
        let value = language.stored(&value, self.dtype.scalar(), prelude).text;
        let line = format!("{} = {value};", self.place(language, lane).text);
        match self.mask(language, lane) {
            Some(mask) => format!("if ({}) {line}", mask.text),
            None => line,
        }
    }

    fn body<L: CFamily>(&self, language: &L, prelude: &mut Prelude) -> Answer<String> {
        if let Some(answer) = language.lanes_body(self, prelude) {
            return answer;
        }
        if !self.is_load {
            let mut each = |lane: &str, prelude: &mut Prelude| Ok(self.lane_stored(language, lane, prelude));
            return language.each_lane(self.dtype.lanes, prelude, &mut each);
        }
        let zero = zero(language, self.dtype, prelude)?;
        language.lanes_returned(self.dtype, self.vector, prelude, &mut |lane, prelude| {
            let value = self.lane_loaded(language, lane, prelude);
            let value = match self.mask(language, lane) {
                Some(mask) => Code::ternary(&mask, &value, &zero),
                None => value,
            };
            Ok(lane_of(language, value, self.dtype))
        })
    }
}

/// Defines the helper that loads or stores lane by lane, and returns a call of it.
fn call<L: CFamily>(
    language: &L,
    is_load: bool,
    access: &Access,
    index: Option<DType>,
    args: impl IntoIterator<Item = Option<Code>>,
    prelude: &mut Prelude,
) -> Answer<Code> {
    let (dtype, is_masked) = (access.dtype, access.predicate.is_some());
    let vector = language.vector_type(dtype, prelude)?;
    let (element, _) = base(language, access, prelude)?;
    let scope = &access.scope;
    let (element, vector) = (element.as_str(), vector.as_str());
    let helper = LaneAccess { is_load, dtype, scope, index, is_masked, element, vector };
    let what = match (is_load, index) {
        (true, None) => "load",
        (false, None) => "store",
        (true, Some(_)) => "gather",
        (false, Some(_)) => "scatter",
    };
    let by = index.map_or(String::new(), |index| format!("_by_{}", short(index)));
    let masked = if is_masked { "_where" } else { "" };
    let alias = if element.ends_with("_alias") { "_alias" } else { "" };
    let place = language.access_suffix(&helper)?;
    let name = format!("cd_{what}_{}{by}{masked}{alias}{place}", full(dtype));
    if !prelude.contains(&name) {
        let constant = if is_load { "const " } else { "" };
        let mut params = vec![format!("{}{constant}{element}* p", spaced(language.space(scope)?))];
        if let Some(index) = index {
            params.push(format!("{} index", language.vector_type(index, prelude)?));
        }
        if is_masked {
            let mask = DType::BOOL.with_lanes(dtype.lanes);
            params.push(format!("{} mask", language.vector_type(mask, prelude)?));
        }
        if !is_load {
            params.push(format!("{vector} x"));
        }
        let (ret, params) = (if is_load { vector } else { "void" }, params.join(", "));
        let body = helper.body(language, prelude)?;
        let start = language.spellings().helper;
        prelude.define(&name, |_| format!("{start} {ret} {name}({params}) {{\n{body}}}\n"));
    }
    let args: Vec<Code> = args.into_iter().flatten().collect();
    Ok(Code::call(&name, &args))
}
