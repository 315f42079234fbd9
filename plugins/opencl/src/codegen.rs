//! `target.build.opencl`: a module at stage `device` to one file of OpenCL C.
//!
//! The artifact has one section `source` (OpenCL C 1.2) and this index:
//!
//! ```json
//! {
//!   "module_kind": "opencl",
//!   "format": "cl",
//!   "functions": [{"name": "f_kernel", "symbol": "f_kernel", "args": ["handle", "int64"],
//!                  "launch_params": ["blockIdx.x", "threadIdx.x", "tirx.use_dyn_shared_memory"]}],
//!   "build_options": ["-cl-std=CL1.2", "-cl-fp32-correctly-rounded-divide-sqrt"],
//!   "extensions": ["cl_khr_fp64"]
//! }
//! ```
//!
//! * `functions`: as `chipdock_plugin_api::kernel::describe` writes it. A kernel's arguments are the IR's in order, each a
//!   buffer or a scalar of the size that its type says (a boolean is one byte). Where its launch tells the bytes of
//!   dynamic shared memory there is one argument more, the last: local memory of that many bytes (at least 1: drivers take
//!   no 0).
//! * `build_options`: what `clBuildProgram` is given, in order, joined by spaces.
//! * `extensions`: what the device has to have, sorted; a driver without one refuses the source, and the loader may say so
//!   before.
