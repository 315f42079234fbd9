//! Tests of the packed convention: kernels compiled by the command are made callable in several
//! ways, and called with arguments made by hand, so that every rule of the argument check can be
//! broken on purpose.

use std::ffi::c_void;
use std::sync::OnceLock;
use std::{ptr, slice};

use chipdock_abi::{
    CHIPDOCK_TYPE_DLTENSOR_PTR, CHIPDOCK_TYPE_FLOAT, CHIPDOCK_TYPE_INT, CHIPDOCK_TYPE_TENSOR, ChipdockAny,
    ChipdockAnyValue, ChipdockDataType, ChipdockDevice, ChipdockSafeCall, ChipdockTensor,
};
use chipdock_plugin_api::Function;
use chipdock_raw_host::{Lent, RawHost, Service};

mod kernels;

pub use kernels::{IMPORTS, Kernels, Surroundings, raise_by_tvm_ffi};

/// An error that compiled code raised: kind and message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Raised {
    /// Kind of the error.
    pub kind: String,
    /// Message of the error.
    pub message: String,
}

/// The host of the environment alone: what a plugin raises with its own host is no error of
/// compiled code.
fn env_host() -> &'static RawHost {
    static HOST: OnceLock<&'static RawHost> = OnceLock::new();
    HOST.get_or_init(RawHost::leak)
}

/// Environment of these tests: three threads, ordered workspace (RAW-8, RAW-9), and two imports:
/// `imported.sum` gives the sum of its integers and floats as an integer, `imported.float` a float.
fn env() -> &'static Lent {
    static ENV: OnceLock<&'static Lent> = OnceLock::new();
    ENV.get_or_init(|| {
        // SAFETY: the functions ignore `self_` and keep nothing.
        let import = |call| unsafe { Function::from_safe_call(ChipdockSafeCall(call), ()) };
        let imports = vec![("imported.sum", import(sum)), ("imported.float", import(half))];
        Lent::with(env_host(), Service { n_threads: 3, is_ordered: true, imports, interrupts: true })
    })
}

/// Takes the error that compiled code raised on this thread.
fn take_raised() -> Option<Raised> {
    let error = env_host().take_error()?;
    Some(Raised { kind: error.kind().as_str().to_owned(), message: error.message().into_owned() })
}

/// Returns the source location of this thread's last error that was raised through the environment.
#[must_use]
pub fn location() -> Option<String> {
    env().location()
}

/// Returns how often compiled code on this thread has asked for an imported function.
#[must_use]
pub fn asked() -> usize {
    env().n_asked()
}

/// Lets compiled code on this thread go on for so many questions.
pub fn go_on_for(questions: usize) {
    env().go_on_for(questions);
}

/// Returns how often compiled code on this thread has asked for the interface `interrupt`, and
/// whether to go on, since the last call.
#[must_use]
pub fn take_questions() -> (usize, usize) {
    env().take_questions()
}

/// Returns the number of pieces of workspace allocated on this thread.
#[must_use]
pub fn live_workspaces() -> usize {
    env().live_workspaces()
}

/// Limits this thread to `pieces` pieces of workspace at once; a further allocation fails.
pub fn limit_workspaces(pieces: usize) {
    env().limit_workspaces(pieces);
}

/// Returns the sum of integers and floats as an integer.
unsafe extern "C" fn sum(
    _self: *mut c_void,
    args: *const ChipdockAny,
    num_args: i32,
    result: *mut ChipdockAny,
) -> i32 {
    let number = |arg: &ChipdockAny| match arg.type_index {
        // SAFETY: the type index says which it is.
        CHIPDOCK_TYPE_FLOAT => unsafe { arg.value.v_float64 as i64 },
        // SAFETY: the type index says which it is.
        _ => unsafe { arg.value.v_int64 },
    };
    // SAFETY: so many values, and room for the result.
    unsafe { result.write(int(slice::from_raw_parts(args, num_args as usize).iter().map(number).sum())) };
    0
}

unsafe extern "C" fn half(
    _self: *mut c_void,
    _args: *const ChipdockAny,
    _num_args: i32,
    result: *mut ChipdockAny,
) -> i32 {
    // SAFETY: room for the result.
    unsafe { result.write(float(0.5)) };
    0
}

/// Returns a value of that type index with an integer payload.
#[must_use]
pub fn any(type_index: i32, value: i64) -> ChipdockAny {
    ChipdockAny { type_index, small_length: 0, value: ChipdockAnyValue { v_int64: value } }
}

/// Returns an integer argument.
#[must_use]
pub fn int(value: i64) -> ChipdockAny {
    any(CHIPDOCK_TYPE_INT, value)
}

/// Returns a float argument.
#[must_use]
pub fn float(value: f64) -> ChipdockAny {
    ChipdockAny {
        type_index: CHIPDOCK_TYPE_FLOAT,
        small_length: 0,
        value: ChipdockAnyValue { v_float64: value },
    }
}

/// A tensor over its own bytes, every field of which can be made wrong. It can be passed as a
/// borrowed tensor or as an object.
#[derive(Debug)]
pub struct Tensor {
    /// Elements, and unused space after them.
    pub data: Vec<u64>,
    /// Extents.
    pub shape: Vec<i64>,
    /// Strides; empty for a null pointer.
    pub strides: Vec<i64>,
    /// Header of an object, then the tensor.
    object: Box<(u64, u64, u64, ChipdockTensor)>,
}

/// DLPack's int32.
pub const INT32: ChipdockDataType = ChipdockDataType { code: 0, bits: 32, lanes: 1 };
/// DLPack's float32.
pub const FLOAT32: ChipdockDataType = ChipdockDataType { code: 2, bits: 32, lanes: 1 };

impl Tensor {
    /// Creates a compact tensor with explicit strides.
    #[must_use]
    pub fn new(dtype: ChipdockDataType, shape: &[i64]) -> Self {
        let mut strides = vec![1; shape.len()];
        for axis in (1..shape.len()).rev() {
            strides[axis - 1] = strides[axis] * shape[axis];
        }
        let elements = shape.iter().product::<i64>().max(0) as usize;
        let tensor = ChipdockTensor {
            data: ptr::null_mut(),
            device: ChipdockDevice { device_type: 1, device_id: 0 },
            ndim: shape.len() as i32,
            dtype,
            shape: ptr::null_mut(),
            strides: ptr::null_mut(),
            byte_offset: 0,
        };
        let mut new = Self {
            data: vec![0; elements + 8],
            shape: shape.to_vec(),
            strides,
            object: Box::new((0, 0, 0, tensor)),
        };
        new.object.3.data = new.data.as_mut_ptr().cast();
        new
    }

    /// Creates a tensor of float32 with values.
    #[must_use]
    pub fn f32(shape: &[i64], values: &[f32]) -> Self {
        let mut new = Self::new(FLOAT32, shape);
        for (index, value) in values.iter().enumerate() {
            new.set(index, *value);
        }
        new
    }

    /// Sets a float32 element by its position in memory.
    pub fn set(&mut self, index: usize, value: f32) {
        let shift = 32 * (index % 2);
        let word = &mut self.data[index / 2];
        *word = (*word & !(0xffff_ffff << shift)) | u64::from(value.to_bits()) << shift;
    }

    /// Returns a float32 element by its position in memory.
    #[must_use]
    pub fn at(&self, index: usize) -> f32 {
        f32::from_bits((self.data[index / 2] >> (32 * (index % 2))) as u32)
    }

    /// Returns the tensor's fields for changes.
    pub fn fields(&mut self) -> &mut ChipdockTensor {
        &mut self.object.3
    }

    fn point(&mut self) {
        let strides = if self.strides.is_empty() { ptr::null_mut() } else { self.strides.as_mut_ptr() };
        let shape = self.shape.as_mut_ptr();
        let tensor = &mut self.object.3;
        (tensor.shape, tensor.strides) = (shape, strides);
    }

    /// Returns the tensor as a borrowed tensor argument.
    pub fn borrowed(&mut self) -> ChipdockAny {
        self.point();
        let tensor = &raw mut self.object.3;
        ChipdockAny {
            type_index: CHIPDOCK_TYPE_DLTENSOR_PTR,
            small_length: 0,
            value: ChipdockAnyValue { v_tensor: tensor },
        }
    }

    /// Returns the tensor as a tensor object argument.
    pub fn object(&mut self) -> ChipdockAny {
        let tensor = self.borrowed();
        // SAFETY: the borrowed form holds this pointer.
        let address = unsafe { tensor.value.v_tensor } as i64;
        any(CHIPDOCK_TYPE_TENSOR, address - 24)
    }
}
