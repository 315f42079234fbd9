//! The calls of the cases by a host of this process that opened the library: Chipdock's own loader.

use std::ffi::CString;
use std::ptr;

use chipdock_abi::{
    CHIPDOCK_NEW_REF_COUNT, CHIPDOCK_TYPE_DLTENSOR_PTR, CHIPDOCK_TYPE_TENSOR, ChipdockAny, ChipdockAnyValue,
    ChipdockDataType, ChipdockDevice, ChipdockObject, ChipdockTensor, ChipdockTensorObject,
};
use chipdock_host::{AnyView, Module};
use chipdock_ir::DType;
use serde_json::{Value, json};

use crate::case::{Case, unhex};

/// The kinds of tensors of a host: borrowed views, and objects.
pub const KINDS: &[&str] = &["views", "objects"];

/// Classes of Python's that kinds of errors are called by; another kind is a `RuntimeError` there.
const CLASSES: &[&str] = &["ValueError", "TypeError", "IndexError", "RuntimeError"];

/// A tensor in memory of its own.
struct Placed {
    memory: Vec<u8>,
    /// Where its first element is, and the steps of its elements in bytes.
    first: usize,
    steps: Vec<i64>,
    extents: Vec<usize>,
    item: usize,
    shape: Vec<i64>,
    strides: Option<Vec<i64>>,
    /// The object; its tensor is what a view points to.
    object: ChipdockTensorObject,
}

fn list(value: &Value) -> Option<Vec<i64>> {
    value.as_array()?.iter().map(Value::as_i64).collect()
}

fn dtype_of(value: &Value) -> Option<(ChipdockDataType, usize)> {
    if let Some(numbers) = list(value) {
        let [code, bits, lanes] = numbers.try_into().ok()?;
        let dtype = ChipdockDataType {
            code: u8::try_from(code).ok()?,
            bits: u8::try_from(bits).ok()?,
            lanes: u16::try_from(lanes).ok()?,
        };
        // Its bytes lie together, whatever its fields say.
        return Some((dtype, 1));
    }
    let dtype: DType = value.as_str()?.parse().ok()?;
    let code = match value.as_str()? {
        name if name.starts_with("bfloat") => 4,
        name if name.starts_with("float") => 2,
        name if name.starts_with("uint") => 1,
        name if name.starts_with("bool") => 6,
        _ => 0,
    };
    let bits = dtype.bits;
    Some((ChipdockDataType { code, bits, lanes: 1 }, usize::from(bits.div_ceil(8))))
}

impl Placed {
    /// Places a tensor as `driver.py` and `foreign.py` do.
    fn of(spec: &Value) -> Option<Box<Self>> {
        if spec["readonly"] == json!(true) {
            // No flag of a packed call says so.
            return None;
        }
        let data = unhex(spec["hex"].as_str().unwrap_or_default())?;
        let (dtype, item) = dtype_of(&spec["dtype"])?;
        let (shape, strides) = (list(&spec["shape"])?, list(&spec["strides"]));
        let is_foreign = spec["dtype"].is_array();
        let extents: Vec<usize> = match is_foreign {
            true => vec![data.len()],
            false => shape.iter().map(|extent| usize::try_from(*extent).ok()).collect::<Option<_>>()?,
        };
        let mut compact = vec![1_i64; extents.len()];
        for axis in (1..extents.len()).rev() {
            compact[axis - 1] = compact[axis] * extents[axis] as i64;
        }
        let steps = strides.clone().filter(|_| !is_foreign).unwrap_or(compact.clone());
        let reach = |sign: i64| -> i64 {
            let each = extents.iter().zip(&steps);
            each.map(|(extent, step)| (*extent as i64 - 1).max(0) * (step * sign).max(0)).sum()
        };
        let size = (reach(1) + reach(-1) + 1) as usize * item + data.len() + 256;
        let memory = vec![0xa5; size];
        let start = memory.as_ptr().align_offset(64);
        let skew = spec["skew"].as_u64().unwrap_or(0) as usize;
        let first = start + skew + reach(-1) as usize * item;
        let strides = match is_foreign {
            true => strides,
            false => Some(strides.unwrap_or(compact)),
        };
        let object = ChipdockTensorObject {
            object: ChipdockObject {
                combined_ref_count: CHIPDOCK_NEW_REF_COUNT,
                type_index: CHIPDOCK_TYPE_TENSOR,
                padding: 0,
                deleter: None,
            },
            tensor: ChipdockTensor {
                data: ptr::null_mut(),
                device: ChipdockDevice { device_type: 1, device_id: 0 },
                ndim: i32::try_from(shape.len()).ok()?,
                dtype,
                shape: ptr::null_mut(),
                strides: ptr::null_mut(),
                byte_offset: spec["byte_offset"].as_u64().unwrap_or(0),
            },
        };
        let steps = steps.iter().map(|step| step * item as i64).collect();
        let mut placed = Box::new(Self { memory, first, steps, extents, item, shape, strides, object });
        placed.each(|memory, at, index, item| {
            memory[at..at + item].copy_from_slice(&data[index * item..(index + 1) * item]);
        });
        let tensor = &mut placed.object.tensor;
        let address = placed.memory.as_mut_ptr().wrapping_add(placed.first);
        tensor.data = address.wrapping_sub(tensor.byte_offset as usize).cast();
        if spec["no_data"] == json!(true) {
            tensor.data = ptr::null_mut();
        }
        tensor.shape = placed.shape.as_mut_ptr();
        tensor.strides = placed.strides.as_mut().map_or(ptr::null_mut(), Vec::as_mut_ptr);
        if let Some([device_type, device_id]) = list(&spec["device"]).as_deref() {
            let number = |number: i64| i32::try_from(number).unwrap_or(0);
            tensor.device =
                ChipdockDevice { device_type: number(*device_type), device_id: number(*device_id) };
        }
        Some(placed)
    }

    /// Calls `body` for each element, in row-major order, with where it is in memory.
    fn each(&mut self, mut body: impl FnMut(&mut [u8], usize, usize, usize)) {
        for index in 0..self.extents.iter().product() {
            let (mut left, mut at) = (index, self.first as i64);
            for (extent, step) in self.extents.iter().zip(&self.steps).rev() {
                at += (left % extent) as i64 * step;
                left /= extent;
            }
            body(&mut self.memory, at as usize, index, self.item);
        }
    }

    /// The elements in row-major order, in hexadecimal.
    fn hex(&mut self) -> String {
        let mut text = String::new();
        self.each(|memory, at, _, item| {
            memory[at..at + item].iter().for_each(|byte| text.push_str(&format!("{byte:02x}")));
        });
        text
    }

    fn view(&mut self, kind: &str) -> ChipdockAny {
        let (type_index, v_ptr) = match kind {
            "objects" => (CHIPDOCK_TYPE_TENSOR, ptr::from_mut(&mut self.object).cast()),
            _ => (CHIPDOCK_TYPE_DLTENSOR_PTR, ptr::from_mut(&mut self.object.tensor).cast()),
        };
        ChipdockAny { type_index, small_length: 0, value: ChipdockAnyValue { v_ptr } }
    }
}

/// Makes the call of a case, and answers as `driver.py` does; `None` for one whose arguments are
/// values of Python alone, or that is about the class of tensors that only have `__dlpack__`.
///
/// # Panics
///
/// If the module lacks the function.
#[must_use]
pub fn call(module: &Module, case: &Case, kind: &str) -> Option<Value> {
    let (mut tensors, mut texts, mut args): (Vec<Box<Placed>>, Vec<CString>, _) =
        (Vec::new(), Vec::new(), Vec::new());
    for given in &case.args {
        let (key, what) = given.json().as_object()?.iter().next()?;
        args.push(match key.as_str() {
            "tensor" | "foreign" => {
                tensors.push(Placed::of(what)?);
                tensors.last_mut()?.view(kind)
            }
            "int" => AnyView::from(what.as_i64()?).into_raw(),
            "bool" => AnyView::from(what.as_bool()?).into_raw(),
            "float" => AnyView::from(what.as_f64()?).into_raw(),
            "none" => AnyView::NONE.into_raw(),
            "str" => {
                texts.push(CString::new(what.as_str()?).ok()?);
                AnyView::from_c_str(texts.last()?).into_raw()
            }
            _ => return None,
        });
    }
    // SAFETY: tensors, in boxes, and texts live until after the call.
    let args: Vec<AnyView<'_>> = args.into_iter().map(|raw| unsafe { AnyView::from_raw(raw) }).collect();
    let function =
        module.function(case.function).unwrap_or_else(|error| panic!("{}: {error}", case.function));
    let mut answer = match function.call(&args) {
        Ok(value) if value.is_none() => json!({"returned": {"NoneType": null}}),
        Ok(value) => json!({"returned": returned(&value)}),
        Err(error) => {
            let kind = error.kind().as_str();
            let class = if CLASSES.contains(&kind) { kind } else { "RuntimeError" };
            json!({"raised": {"class": class, "message": error.message()}})
        }
    };
    answer["tensors"] = tensors.iter_mut().map(|tensor| tensor.hex()).collect();
    Some(answer)
}

fn returned(value: &chipdock_host::Any) -> Value {
    match value.type_index() {
        chipdock_abi::CHIPDOCK_TYPE_BOOL => json!({"bool": value.to::<bool>().ok()}),
        chipdock_abi::CHIPDOCK_TYPE_FLOAT => {
            json!({"float": value.to::<f64>().ok().map(|number| format!("{number:?}"))})
        }
        _ => json!({"int": value.to::<i64>().ok()}),
    }
}
