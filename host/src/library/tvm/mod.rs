//! TVM-FFI: its library in this process, its modules, streams and the context of kernels that TVM
//! compiled.

pub(super) mod caller;
pub(super) mod context;
pub(super) mod ffi;
pub(super) mod module;
pub(super) mod side;
pub(super) mod stream;
