//! The environment of compiled code, and its description, from which code generators produce their
//! text and calls.

use core::ffi::{c_char, c_void};
use core::mem::offset_of;

use crate::interface::ChipdockInterface;
use crate::value::ChipdockFunctionObject;

/// Runs one part of a parallel region; returns 0, or -1 with an error raised.
#[repr(transparent)]
#[derive(Clone, Copy)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
pub struct ChipdockParallelBody(
    pub unsafe extern "C" fn(task_id: i32, tasks_count: i32, data: *mut c_void) -> i32,
);

/// The version of [`ChipdockEnv`] that this crate describes; an artifact's index may ask for a
/// greater one (X.12).
pub const CHIPDOCK_ENV_VERSION: u32 = 1;

/// The environment, through which compiled code reaches the host: the loader sets the variable
/// `__chipdock_env` to point to one.
///
/// The first argument of each function is the environment itself; a function that returns an
/// `int32_t` returns 0, or -1 with an error raised. If the variable is null, compiled code looks
/// for TVM-FFI's functions, then uses small built-in fallbacks. Compiled code relies only on the
/// fields of version 1; anything newer is available by `query`.
#[repr(C)]
#[derive(Clone, Copy)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
pub struct ChipdockEnv {
    /// The version of this struct, [`CHIPDOCK_ENV_VERSION`] or greater.
    pub version: u32,
    /// Flags; unknown bits are ignored; 0 now.
    pub flags: u32,
    /// The host's own pointer.
    pub self_: *mut c_void,
    /// Sets this thread's error. The strings are NUL-terminated; `location` is
    /// `function: file:line:column` as far as it is known, and may be null.
    pub raise: unsafe extern "C" fn(
        env: *const ChipdockEnv,
        kind: *const c_char,
        message: *const c_char,
        location: *const c_char,
    ),
    /// Allocates workspace, 64-byte aligned, ordered on the thread's current stream; returns null
    /// with an error raised if there is none left.
    pub allocate_workspace: unsafe extern "C" fn(
        env: *const ChipdockEnv,
        device_type: i32,
        device_id: i32,
        size_bytes: u64,
    ) -> *mut c_void,
    /// Frees workspace; the one allocated last is freed first.
    pub free_workspace: unsafe extern "C" fn(
        env: *const ChipdockEnv,
        device_type: i32,
        device_id: i32,
        data: *mut c_void,
    ) -> i32,
    /// Writes the stream that is active on this thread for a device; null is the default stream.
    pub current_stream: unsafe extern "C" fn(
        env: *const ChipdockEnv,
        device_type: i32,
        device_id: i32,
        out_stream: *mut *mut c_void,
    ) -> i32,
    /// Writes the id of the device of that type that is active on this thread; 0 if none was made
    /// active.
    pub current_device:
        unsafe extern "C" fn(env: *const ChipdockEnv, device_type: i32, out_device_id: *mut i32) -> i32,
    /// Makes a device the active one of its type on this thread.
    pub set_device: unsafe extern "C" fn(env: *const ChipdockEnv, device_type: i32, device_id: i32) -> i32,
    /// Writes the number of the device type of that NUL-terminated name, as in `device_api.<name>`.
    pub device_type:
        unsafe extern "C" fn(env: *const ChipdockEnv, name: *const c_char, out_device_type: *mut i32) -> i32,
    /// Writes the function of that NUL-terminated name: one of an imported module, else one that is
    /// registered in the host. It is borrowed, and lives as long as the environment: compiled code
    /// asks once, keeps it, and calls its `safe_call`.
    pub imported: unsafe extern "C" fn(
        env: *const ChipdockEnv,
        name: *const c_char,
        out_function: *mut *const ChipdockFunctionObject,
    ) -> i32,
    /// Runs `body` for each task id from 0 below the number of tasks that `body` receives, at most
    /// `tasks_max` (0: as many as there are threads), and returns when all are done; returns the
    /// first failure.
    pub parallel_launch: unsafe extern "C" fn(
        env: *const ChipdockEnv,
        body: ChipdockParallelBody,
        data: *mut c_void,
        tasks_max: i32,
    ) -> i32,
    /// Writes the interface of that NUL-terminated name and version; its `table` is null if the
    /// host does not have it, which is no error. The interface lives as long as the environment.
    pub query: unsafe extern "C" fn(
        env: *const ChipdockEnv,
        name: *const c_char,
        version: u32,
        out_interface: *mut ChipdockInterface,
    ) -> i32,
    /// Releases the environment: called by the loader, once, when no module and no function can use
    /// it any more.
    pub release: unsafe extern "C" fn(env: *const ChipdockEnv),
}

// SAFETY: every function of the table may be called from any thread; `self_` is the host's and made
// for that.
unsafe impl Sync for ChipdockEnv {}
// SAFETY: every function of the table may be called from any thread; `self_` is the host's and made
// for that.
unsafe impl Send for ChipdockEnv {}

/// The type of a field of the environment, or of a parameter of its functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EnvType {
    /// No result.
    Void,
    /// `int32_t`.
    Int32,
    /// `uint32_t`.
    Uint32,
    /// `uint64_t`.
    Uint64,
    /// `void *`.
    Pointer,
    /// `const char *`, NUL-terminated.
    Text,
    /// `int32_t *`, an output.
    Int32Out,
    /// `void **`, an output.
    PointerOut,
    /// A borrowed function object, an output.
    FunctionOut,
    /// A `ChipdockInterface`, an output.
    InterfaceOut,
    /// A function that runs a task.
    Body,
}

/// A function of the environment; its first parameter, the environment, is not listed.
#[derive(Clone, Copy, Debug)]
pub struct EnvSlot {
    /// The field's name.
    pub name: &'static str,
    /// Offset of the field on machines with pointers of 64 bits.
    pub offset_bytes: usize,
    /// Type of the result.
    pub result: EnvType,
    /// Names and types of the parameters after the environment.
    pub params: &'static [(&'static str, EnvType)],
}

/// The fields before the functions, by name and type.
pub const ENV_HEAD: &[(&str, EnvType)] =
    &[("version", EnvType::Uint32), ("flags", EnvType::Uint32), ("self_", EnvType::Pointer)];

impl EnvSlot {
    /// Returns the offset of the field for pointers of so many bytes: the functions are a row of
    /// pointers.
    #[must_use]
    pub const fn offset_with(&self, pointer_bytes: usize) -> usize {
        const FIRST: usize = offset_of!(ChipdockEnv, self_);
        FIRST + (self.offset_bytes - FIRST) / size_of::<usize>() * pointer_bytes
    }
}

/// Offset of the function in a function object; the header before it has the same size for pointers
/// of any size.
pub const SAFE_CALL_OFFSET_BYTES: usize = offset_of!(ChipdockFunctionObject, safe_call);

macro_rules! rust_type {
    (Void) => { () };
    (Int32) => { i32 };
    (Uint32) => { u32 };
    (Uint64) => { u64 };
    (Pointer) => { *mut c_void };
    (Text) => { *const c_char };
    (Int32Out) => { *mut i32 };
    (PointerOut) => { *mut *mut c_void };
    (FunctionOut) => { *mut *const ChipdockFunctionObject };
    (InterfaceOut) => { *mut ChipdockInterface };
    (Body) => { ChipdockParallelBody };
}

// One row per function. A row that differs from the struct does not compile.
macro_rules! slots {
    ($($name:ident($($param:ident: $kind:ident),*) -> $result:ident;)*) => {
        /// The functions of the environment, in the order of the struct; every code generator
        /// produces its text and calls from this table.
        pub const ENV_SLOTS: &[EnvSlot] = &[$(EnvSlot {
            name: stringify!($name),
            offset_bytes: offset_of!(ChipdockEnv, $name),
            result: EnvType::$result,
            params: &[$((stringify!($param), EnvType::$kind)),*],
        }),*];

        $(const _: fn(&ChipdockEnv) -> unsafe extern "C" fn(*const ChipdockEnv $(, rust_type!($kind))*) -> rust_type!($result) =
            |env| env.$name;)*
    };
}

slots! {
    raise(kind: Text, message: Text, location: Text) -> Void;
    allocate_workspace(device_type: Int32, device_id: Int32, size_bytes: Uint64) -> Pointer;
    free_workspace(device_type: Int32, device_id: Int32, data: Pointer) -> Int32;
    current_stream(device_type: Int32, device_id: Int32, out_stream: PointerOut) -> Int32;
    current_device(device_type: Int32, out_device_id: Int32Out) -> Int32;
    set_device(device_type: Int32, device_id: Int32) -> Int32;
    device_type(name: Text, out_device_type: Int32Out) -> Int32;
    imported(name: Text, out_function: FunctionOut) -> Int32;
    parallel_launch(body: Body, data: Pointer, tasks_max: Int32) -> Int32;
    query(name: Text, version: Uint32, out_interface: InterfaceOut) -> Int32;
    release() -> Void;
}

// The rows match the struct: none is missing, and each lies after the one before it.
const _: () = {
    let mut index = 0;
    let mut offset = offset_of!(ChipdockEnv, self_) + size_of::<usize>();
    while index < ENV_SLOTS.len() {
        assert!(ENV_SLOTS[index].offset_bytes == offset, "the rows are not in the order of the struct");
        offset += size_of::<usize>();
        index += 1;
    }
    assert!(offset == size_of::<ChipdockEnv>(), "a function of the struct has no row");
};

/// Returns the row of a function of the environment, by its name.
#[must_use]
pub fn env_slot(name: &str) -> Option<&'static EnvSlot> {
    ENV_SLOTS.iter().find(|slot| slot.name == name)
}
