//! Tests of the packed convention: kernels compiled by the command are made callable in several ways, and called with
//! arguments made by hand, so that every rule of the argument check can be broken on purpose.

use std::alloc::{Layout, alloc, dealloc};
use std::cell::{Cell, RefCell};
use std::ffi::{CStr, c_char, c_void};
use std::{ptr, slice};

use chipdock_abi::{
    CHIPDOCK_TYPE_DLTENSOR_PTR, CHIPDOCK_TYPE_FLOAT, CHIPDOCK_TYPE_FUNCTION, CHIPDOCK_TYPE_INT,
    CHIPDOCK_TYPE_TENSOR, ChipdockAny, ChipdockAnyValue, ChipdockDataType, ChipdockDevice, ChipdockEnv,
    ChipdockFunctionObject, ChipdockInterface, ChipdockObject, ChipdockParallelBody, ChipdockSafeCall,
    ChipdockTensor,
};

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

thread_local! {
    static RAISED: RefCell<Option<Raised>> = const { RefCell::new(None) };
    static LOCATION: RefCell<Option<String>> = const { RefCell::new(None) };
    static LIVE: RefCell<Vec<(usize, Layout)>> = const { RefCell::new(Vec::new()) };
    static ASKED: Cell<usize> = const { Cell::new(0) };
    static LIMIT: RefCell<usize> = const { RefCell::new(usize::MAX) };
}

/// Returns the source location of this thread's last error that was raised through the environment.
#[must_use]
pub fn location() -> Option<String> {
    LOCATION.with_borrow(Clone::clone)
}

/// Returns how often compiled code on this thread has asked for an imported function.
#[must_use]
pub fn asked() -> usize {
    ASKED.get()
}

/// Returns the number of pieces of workspace allocated on this thread.
#[must_use]
pub fn live_workspaces() -> usize {
    LIVE.with_borrow(Vec::len)
}

/// Limits this thread to `pieces` pieces of workspace at once; a further allocation fails.
pub fn limit_workspaces(pieces: usize) {
    LIMIT.with_borrow_mut(|limit| *limit = pieces);
}

fn raise_text(kind: &str, message: &str) {
    RAISED.with_borrow_mut(|raised| {
        *raised = Some(Raised { kind: kind.to_owned(), message: message.to_owned() });
    });
}

unsafe extern "C" fn raise(
    _env: *const ChipdockEnv,
    kind: *const c_char,
    message: *const c_char,
    location: *const c_char,
) {
    // SAFETY: NUL-terminated, by the contract of the environment; the location may be null.
    let (kind, message) = unsafe { (CStr::from_ptr(kind), CStr::from_ptr(message)) };
    raise_text(&kind.to_string_lossy(), &message.to_string_lossy());
    // SAFETY: NUL-terminated, by the contract of the environment; the location may be null.
    let location = (!location.is_null()).then(|| unsafe { CStr::from_ptr(location) });
    LOCATION.with_borrow_mut(|known| *known = location.map(|text| text.to_string_lossy().into_owned()));
}

unsafe extern "C" fn allocate(
    _env: *const ChipdockEnv,
    _device_type: i32,
    _device_id: i32,
    size_bytes: u64,
) -> *mut c_void {
    let limit = LIMIT.with_borrow(|limit| *limit);
    let layout =
        usize::try_from(size_bytes).ok().and_then(|size| Layout::from_size_align(size.max(1), 64).ok());
    let Some(layout) = layout.filter(|_| live_workspaces() < limit) else {
        raise_text("MemoryError", "no workspace left");
        return ptr::null_mut();
    };
    // SAFETY: the size is not 0.
    let data = unsafe { alloc(layout) };
    LIVE.with_borrow_mut(|live| live.push((data as usize, layout)));
    data.cast()
}

unsafe extern "C" fn free(
    _env: *const ChipdockEnv,
    _device_type: i32,
    _device_id: i32,
    data: *mut c_void,
) -> i32 {
    let last = LIVE.with_borrow_mut(Vec::pop);
    match last {
        Some((address, layout)) if address == data as usize => {
            // SAFETY: allocated with this layout by `allocate`, and out of the list now.
            unsafe { dealloc(data.cast(), layout) };
            0
        }
        _ => {
            raise_text("RuntimeError", "workspace freed out of order");
            -1
        }
    }
}

unsafe extern "C" fn current_stream(_: *const ChipdockEnv, _: i32, _: i32, out: *mut *mut c_void) -> i32 {
    // SAFETY: a place to write to.
    unsafe { out.write(ptr::null_mut()) };
    0
}

unsafe extern "C" fn current_device(_: *const ChipdockEnv, _: i32, out: *mut i32) -> i32 {
    // SAFETY: a place to write to.
    unsafe { out.write(0) };
    0
}

unsafe extern "C" fn set_device(_: *const ChipdockEnv, _: i32, _: i32) -> i32 {
    0
}

unsafe extern "C" fn device_type(_: *const ChipdockEnv, _: *const c_char, _: *mut i32) -> i32 {
    -1
}

unsafe extern "C" fn query(
    _: *const ChipdockEnv,
    _: *const c_char,
    _: u32,
    out: *mut ChipdockInterface,
) -> i32 {
    // SAFETY: a place to write to.
    unsafe { out.write(ChipdockInterface::NONE) };
    0
}

unsafe extern "C" fn release(_: *const ChipdockEnv) {}

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

struct Imported(ChipdockFunctionObject);

// SAFETY: never changed; nobody counts references to what is borrowed.
unsafe impl Sync for Imported {}

impl Imported {
    const fn new(call: ChipdockSafeCall) -> Self {
        let object = ChipdockObject {
            combined_ref_count: 1 << 32 | 1,
            type_index: CHIPDOCK_TYPE_FUNCTION,
            padding: 0,
            deleter: None,
        };
        Self(ChipdockFunctionObject { object, safe_call: call, cpp_call: ptr::null_mut() })
    }
}

static SUM: Imported = Imported::new(ChipdockSafeCall(sum));
static HALF: Imported = Imported::new(ChipdockSafeCall(half));

/// `imported.sum` gives the sum of its integers and floats as an integer, `imported.float` a float; others are not there.
unsafe extern "C" fn imported(
    _env: *const ChipdockEnv,
    name: *const c_char,
    out_function: *mut *const ChipdockFunctionObject,
) -> i32 {
    ASKED.set(ASKED.get() + 1);
    // SAFETY: a NUL-terminated name.
    let function = match unsafe { CStr::from_ptr(name) }.to_str() {
        Ok("imported.sum") => &SUM,
        Ok("imported.float") => &HALF,
        _ => {
            raise_text("RuntimeError", "nothing is imported");
            return -1;
        }
    };
    // SAFETY: a place to write to.
    unsafe { out_function.write(&raw const function.0) };
    0
}

struct Data(*mut c_void);

// SAFETY: what is behind it is made for tasks on several threads.
unsafe impl Sync for Data {}

/// Three tasks on three threads, each with its own workspace, of which it leaves nothing; the first error is the caller's.
unsafe extern "C" fn parallel(
    _env: *const ChipdockEnv,
    body: ChipdockParallelBody,
    data: *mut c_void,
    tasks_max: i32,
) -> i32 {
    let (count, data) = (tasks_max.clamp(1, 3), &Data(data));
    let left = LIMIT.with_borrow(|limit| *limit).saturating_sub(live_workspaces());
    let task = |id: i32| {
        limit_workspaces(left);
        // SAFETY: compiled code's body with its own data.
        let status = unsafe { (body.0)(id, count, data.0) };
        if live_workspaces() > 0 {
            raise_text("RuntimeError", "a task leaves workspace behind");
            return RAISED.with_borrow_mut(Option::take);
        }
        (status != 0).then(|| RAISED.with_borrow_mut(Option::take)).flatten()
    };
    let first = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..count).map(|id| scope.spawn(move || task(id))).collect();
        let ended = threads.into_iter().map(|thread| thread.join().unwrap_or_default());
        ended.collect::<Vec<_>>().into_iter().flatten().next()
    });
    match first {
        None => 0,
        first => {
            RAISED.with_borrow_mut(|raised| *raised = first);
            -1
        }
    }
}

static ENV: ChipdockEnv = ChipdockEnv {
    version: 1,
    flags: 0,
    self_: ptr::null_mut(),
    raise,
    allocate_workspace: allocate,
    free_workspace: free,
    current_stream,
    current_device,
    set_device,
    device_type,
    imported,
    parallel_launch: parallel,
    query,
    release,
};

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

/// A tensor over its own bytes, every field of which can be made wrong. It can be passed as a borrowed tensor or as an object.
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
