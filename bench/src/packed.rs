//! The addition of 16 elements, and packed calls of it.

use std::ffi::c_void;
use std::fs;
use std::process::Command;

use chipdock_abi::{ChipdockAny, ChipdockSafeCall};
use chipdock_host::{AnyView, Function, Tensor};
use chipdock_ir::DType;
use chipdock_test_backends::backends::Backend;

use super::Result;
use super::contest::ns_per_call;

/// A module of two additions: `add` of 16 elements, and `add_n` of any number.
pub const ADD_16: &str = "@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def add(A: T.Buffer((16,), \"float32\"), B: T.Buffer((16,), \"float32\"), C: T.Buffer((16,), \"float32\")):
        T.func_attr({\"tirx.noalias\": True})
        for i in range(16):
            with T.sblock(\"C\"):
                vi = T.axis.spatial(16, i)
                C[vi] = A[vi] + B[vi]

    @T.prim_func(s_tir=True)
    def add_n(A: T.Buffer((\"n\",), \"float32\"), B: T.Buffer((n,), \"float32\"), C: T.Buffer((n,), \"float32\")):
        n = T.int32()
        T.func_attr({\"tirx.noalias\": True})
        for i in range(n):
            with T.sblock(\"C\"):
                vi = T.axis.spatial(n, i)
                C[vi] = A[vi] + B[vi]
";

const BARE: &str = "
void add(const float *restrict a, const float *restrict b, float *restrict c, int n) {
    (void)n;
    for (int i = 0; i < 16; ++i) c[i] = a[i] + b[i];
}
void add_n(const float *restrict a, const float *restrict b, float *restrict c, int n) {
    for (int i = 0; i < n; ++i) c[i] = a[i] + b[i];
}
";

/// Number of elements of each tensor.
pub const ELEMENTS: i64 = 16;

/// Makes the tensors of a call.
///
/// # Errors
///
/// The device has no memory.
pub fn tensors(backend: &Backend) -> Result<Vec<Tensor>> {
    let tensor = |_| Tensor::zeros(&backend.device, &[ELEMENTS], DType::FLOAT32);
    (0..3).map(tensor).collect::<std::result::Result<_, _>>().map_err(|error| error.to_string())
}

/// A packed function of three tensors, which is called without anything in between.
pub struct Packed<'a> {
    call: ChipdockSafeCall,
    object: *mut c_void,
    arguments: Vec<ChipdockAny>,
    _tensors: &'a [Tensor],
}

impl<'a> Packed<'a> {
    /// A function of a module that the host has loaded; it stays loaded as long as `function`.
    #[must_use]
    pub fn new(function: &'a Function, tensors: &'a [Tensor]) -> Self {
        let value = function.value();
        Self::raw(value.safe_call(), value.object().as_ptr().cast(), tensors)
    }

    /// The function of a symbol, which gets `object` as its first argument.
    #[must_use]
    pub fn raw(call: ChipdockSafeCall, object: *mut c_void, tensors: &'a [Tensor]) -> Self {
        let arguments = tensors.iter().map(|tensor| AnyView::from(tensor).into_raw()).collect();
        Self { call, object, arguments, _tensors: tensors }
    }

    /// Returns the time of a call in nanoseconds, averaged over 20,000.
    ///
    /// # Panics
    ///
    /// If a call fails.
    ///
    /// # Safety
    ///
    /// The function has the packed convention, takes this first argument, and is loaded.
    #[must_use]
    pub unsafe fn ns(&self) -> f64 {
        ns_per_call(20_000, || {
            let mut result = chipdock_host::Any::NONE.into_raw();
            // SAFETY: of the caller; the arguments are live, and the result is None.
            let status = unsafe { (self.call.0)(self.object, self.arguments.as_ptr(), 3, &raw mut result) };
            assert_eq!(std::hint::black_box(status), 0);
        })
    }
}

/// Compiles the loops of both additions by the system's compiler: a library with the functions
/// `add` and `add_n`, which take three pointers to floats and the number of elements.
///
/// # Errors
///
/// There is no compiler.
pub fn compile_bare() -> Result<libloading::Library> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let (source, library) = (folder.path().join("bare.c"), folder.path().join("bare.so"));
    fs::write(&source, BARE).map_err(|error| error.to_string())?;
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".to_owned());
    let flags = ["-std=gnu11", "-O3", "-march=native", "-fPIC", "-shared"];
    let status = Command::new(compiler).args(flags).arg(&source).arg("-o").arg(&library).status();
    if !status.map_err(|error| error.to_string())?.success() {
        return Err("the bare loop does not compile".to_owned());
    }
    // SAFETY: the library has no constructors.
    unsafe { libloading::Library::new(&library) }.map_err(|error| error.to_string())
}
