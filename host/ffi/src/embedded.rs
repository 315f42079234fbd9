//! Embedded modules of kind `chipdock`, for TVM-FFI's loader: FFI-6.
//!
//! TVM-FFI wants one of its own module objects, whose layout is C++'s and changes. So the functions
//! of an artifact are registered as symbols of its "system library" under a prefix of their own,
//! and the module is the one that it makes of that prefix. A symbol is a plain C function, which is
//! called without an object: each gets one of a fixed number of entry points, which are alike but
//! for the number that they pass on.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{CString, c_void};
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, OnceLock};

use chipdock_abi::ChipdockAny;
use chipdock_host::artifact::Artifact;
use chipdock_host::library::TvmFfi;
use chipdock_host::{Function, values};
use chipdock_plugin_api::kit::{PerProcess, carried, lock};
use chipdock_plugin_api::{Any, AnyView, Bytes, Error, ErrorKind};
use sha2::{Digest as _, Sha256};

use crate::entry::packed;
use crate::hosts::default_host;
use crate::objects::{arg, raised};
use crate::{functions, side};

/// Number of entry points: of functions of embedded modules that one process can load.
const ENTRY_POINTS: usize = 8192;
/// Size of an entry point in bytes.
const ENTRY_BYTES: usize = 16;

// An entry point puts its number into the first argument, which TVM-FFI passes as null, and goes on
// to `call`.
#[cfg(target_arch = "x86_64")]
std::arch::global_asm!(
    ".pushsection .text.chipdock_embedded,\"ax\",@progbits",
    ".p2align 4",
    ".type chipdock_embedded, @function",
    "chipdock_embedded:",
    ".set chipdock_number, 0",
    ".rept {count}",
    ".p2align 4",
    "mov edi, chipdock_number",
    "jmp {call}",
    ".set chipdock_number, chipdock_number + 1",
    ".endr",
    ".p2align 4",
    ".size chipdock_embedded, .-chipdock_embedded",
    ".popsection",
    count = const ENTRY_POINTS,
    call = sym call,
);

#[cfg(target_arch = "aarch64")]
std::arch::global_asm!(
    ".pushsection .text.chipdock_embedded,\"ax\",%progbits",
    ".p2align 4",
    ".type chipdock_embedded, %function",
    "chipdock_embedded:",
    ".set chipdock_number, 0",
    ".rept {count}",
    ".p2align 4",
    "mov w0, chipdock_number",
    "b {call}",
    ".set chipdock_number, chipdock_number + 1",
    ".endr",
    ".p2align 4",
    ".size chipdock_embedded, .-chipdock_embedded",
    ".popsection",
    count = const ENTRY_POINTS,
    call = sym call,
);

unsafe extern "C" {
    /// The first entry point; the others follow it.
    #[link_name = "chipdock_embedded"]
    safe static FIRST: [[u8; ENTRY_BYTES]; ENTRY_POINTS];
}

/// A function of an embedded module; it is looked up by its first call, as its device may be
/// missing.
struct Embedded {
    module: chipdock_host::Module,
    name: String,
    function: OnceLock<Function>,
}

impl Embedded {
    fn function(&self) -> Result<&Function, Error> {
        if let Some(found) = self.function.get() {
            return Ok(found);
        }
        let found = self.module.function(&self.name).map_err(raised)?;
        Ok(self.function.get_or_init(|| found))
    }
}

/// Functions by the number of their entry point. A module of TVM-FFI's system library lives as long
/// as the process.
static FUNCTIONS: [OnceLock<Embedded>; ENTRY_POINTS] = [const { OnceLock::new() }; ENTRY_POINTS];

/// Modules that were made, by the digest of their bytes, with the number of entry points that are
/// taken.
#[derive(Clone, Default)]
struct Made {
    prefixes: BTreeMap<String, String>,
    taken: usize,
}

static MADE: PerProcess<Mutex<Option<Made>>> = PerProcess::new(carried);

unsafe extern "C" fn call(
    number: *mut c_void,
    args: *const ChipdockAny,
    num_args: i32,
    result: *mut ChipdockAny,
) -> i32 {
    // SAFETY: the parameters of a packed call, passed on.
    unsafe {
        packed(args, num_args, result, |args| {
            let embedded = FUNCTIONS.get(number.addr()).and_then(OnceLock::get).ok_or_else(|| {
                Error::new(ErrorKind::INTERNAL, "an entry point was called that no function has")
            })?;
            let function = embedded.function()?;
            values::carrying(args, side::callers(), function.host().side(), |args| {
                functions::call(function, args)
            })
        })
    }
}

/// Registers the functions of a module as symbols under a prefix.
fn register(
    tvm_ffi: &TvmFfi,
    module: &chipdock_host::Module,
    prefix: &str,
    taken: &mut usize,
) -> Result<(), Error> {
    // The functions of a bundle are those of its modules.
    let modules = match module.artifact().bundled() {
        Some(_) => module.imports(),
        None => std::slice::from_ref(module),
    };
    let names: BTreeSet<&str> = modules.iter().flat_map(chipdock_host::Module::function_names).collect();
    let first = *taken;
    if first + names.len() > ENTRY_POINTS {
        let message = format!(
            "an embedded module has {} functions, and {} of {ENTRY_POINTS} entry points of this process are taken; open the \
             library with a Chipdock host (`chipdock.load`), which has no such bound",
            names.len(),
            first
        );
        return Err(Error::new(ErrorKind::UNSUPPORTED, message));
    }
    // Before the first can fail: an entry point is given once.
    *taken += names.len();
    for (at, name) in names.iter().enumerate() {
        let embedded =
            Embedded { module: module.clone(), name: (*name).to_owned(), function: OnceLock::new() };
        let _ = FUNCTIONS[first + at].set(embedded);
        let symbol = CString::new(format!("__tvm_ffi_{prefix}{name}")).map_err(|_| {
            Error::new(ErrorKind::VALUE_ERROR, format!("function {name:?} has a name with a NUL character"))
        })?;
        let entry_point = (&raw const FIRST[first + at]).cast_mut().cast();
        // SAFETY: the name is only needed for the call; the function lives as long as the process.
        unsafe { tvm_ffi.register_symbol(&symbol, entry_point) }?;
    }
    Ok(())
}

/// Returns TVM-FFI's module of the symbols under a prefix.
fn module_of(tvm_ffi: &TvmFfi, prefix: &str) -> Result<Any, Error> {
    let Some(function) = tvm_ffi.global("ffi.SystemLib") else {
        return Err(Error::new(
            ErrorKind::UNAVAILABLE,
            "this libtvm_ffi has no global function ffi.SystemLib",
        ));
    };
    let prefix = Any::from(prefix);
    function.call(side::callers(), &[prefix.view()])
}

/// Makes TVM-FFI's module of an artifact: what `ffi.Module.load_from_bytes.chipdock` does.
pub(crate) fn load_embedded(args: &[AnyView<'_>]) -> Result<Any, Error> {
    let bytes: Bytes = arg(args[0], "data")?;
    let Some(tvm_ffi) = TvmFfi::present() else {
        return Err(Error::new(
            ErrorKind::UNAVAILABLE,
            "this process has no libtvm_ffi, whose module it would be",
        ));
    };
    let artifact = Arc::new(Artifact::from_bytes(&bytes).map_err(raised)?);
    // The same bytes are the same module, however many libraries have them.
    let identity = Sha256::digest(&*bytes).iter().take(16).fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    });
    let mut made = lock(MADE.of_this());
    let made = made.get_or_insert_default();
    if let Some(prefix) = made.prefixes.get(&identity) {
        return module_of(tvm_ffi, prefix);
    }
    let module = default_host()?.load(&artifact).map_err(raised)?;
    let prefix = format!("chipdock_{identity}_");
    register(tvm_ffi, &module, &prefix, &mut made.taken)?;
    let ffi_module = module_of(tvm_ffi, &prefix)?;
    made.prefixes.insert(identity, prefix);
    Ok(ffi_module)
}
