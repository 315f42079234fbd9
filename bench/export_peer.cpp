// The addition of `packed::ADD_16` as a user of TVM-FFI's C++ headers writes it: it checks type, rank and shape.
#include <tvm/ffi/container/tensor.h>
#include <tvm/ffi/error.h>
#include <tvm/ffi/function.h>

namespace ffi = tvm::ffi;

static void check(const ffi::TensorView &tensor, const char *name, int64_t n) {
  DLDataType dtype = tensor.dtype();
  if (dtype.code != kDLFloat || dtype.bits != 32 || dtype.lanes != 1) {
    TVM_FFI_THROW(TypeError) << name << ": expected elements of float32";
  }
  if (tensor.ndim() != 1) TVM_FFI_THROW(ValueError) << name << ": expected rank 1, found " << tensor.ndim();
  if (tensor.size(0) != n) TVM_FFI_THROW(ValueError) << name << ": expected " << n << ", found " << tensor.size(0);
}

static void add_checked(const ffi::TensorView &a, const ffi::TensorView &b, const ffi::TensorView &c, int64_t n) {
  check(a, "A", n);
  check(b, "B", n);
  check(c, "C", n);
  const float *__restrict x = static_cast<const float *>(a.data_ptr());
  const float *__restrict y = static_cast<const float *>(b.data_ptr());
  float *__restrict z = static_cast<float *>(c.data_ptr());
  for (int64_t i = 0; i < n; ++i) z[i] = x[i] + y[i];
}

static void add(ffi::TensorView a, ffi::TensorView b, ffi::TensorView c) { add_checked(a, b, c, 16); }

static void add_n(ffi::TensorView a, ffi::TensorView b, ffi::TensorView c) {
  if (a.ndim() != 1) TVM_FFI_THROW(ValueError) << "A: expected rank 1, found " << a.ndim();
  add_checked(a, b, c, a.size(0));
}

TVM_FFI_DLL_EXPORT_TYPED_FUNC(add, add);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(add_n, add_n);
