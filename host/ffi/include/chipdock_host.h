/*
 * The host of Chipdock for programs in C99 and C++11 and newer: libchipdock.so. SPDX-License-Identifier: Apache-2.0
 *
 * Link with -lchipdock, or open the library at run time. Each function of the library is a packed function,
 * `__tvm_ffi_<name>`; the guide's page "The host as a library" lists them with their arguments, and each answers the same by
 * `__tvm_ffi__doc_<name>`. In C++ the classes below wrap them:
 *
 *     chipdock::Host host;
 *     chipdock::Module module = host.compile(text, "llvm");
 *     module["vector_add"](chipdock::view(a), chipdock::view(b), chipdock::view(c));
 *
 * - Arguments are borrowed for the call, the result is the caller's: release it with `chipdock_release`.
 * - A function that fails returns -1, and its error is this thread's: take it with `chipdock_take_error` before the next call.
 *   In C++ it is thrown as chipdock::Error.
 * - Every function may be called from any thread at once.
 */

#ifndef CHIPDOCK_HOST_H
#define CHIPDOCK_HOST_H

#include "chipdock.h"

#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Calls F with the name of each function of the library. */
#define CHIPDOCK_HOST_FUNCTIONS(F)                                                                          \
  F(version) F(register) F(host) F(plugins) F(open_plugin) F(function) F(devices) F(targets) F(device) F(device_name)   \
  F(device_attribute) F(device_sync) F(target) F(target_json) F(compile) F(lower) F(load) F(load_bytes)     \
  F(module_function) F(module_functions) F(module_describe) F(module_source) F(module_lowered)              \
  F(module_target) F(module_bytes) F(module_export) F(run) F(empty) F(zeros) F(to_device) F(copy)           \
  F(to_bytes) F(from_bytes) F(stream) F(set_stream) F(stream_sync) F(stream_wait_for) F(stream_native)      \
  F(stream_device) F(load_embedded) F(target_tags) F(tensor_place) F(as_strided)                \
  F(register_function) F(unregister_function) F(import_module) F(device_capabilities) F(empty_in)            \
  F(memory_kind) F(scope) F(map) F(timeline) F(timeline_value) F(timeline_set) F(timeline_wait)             \
  F(timeline_device) F(stream_signal) F(stream_wait) F(copy_on) F(run_with)             \
  F(record_begin) F(record_keep) F(record_end) F(record_give_up) F(graph_replay) F(graph_device)           \
  F(graph_size)

#define CHIPDOCK_HOST_DECLARE(name)                                                                         \
  int32_t __tvm_ffi_##name(void *self_, const ChipdockAny *args, int32_t num_args, ChipdockAny *result);
CHIPDOCK_HOST_FUNCTIONS(CHIPDOCK_HOST_DECLARE)
#undef CHIPDOCK_HOST_DECLARE

/* Writes a string, or bytes, as a value that the caller owns: what a function of the program's own answers. */
void chipdock_str(ChipdockStr text, ChipdockAny *out_value);
void chipdock_bytes(ChipdockStr bytes, ChipdockAny *out_value);
/* Moves this thread's error of the library to `out_error`: a value of type CHIPDOCK_TYPE_ERROR, or None. */
void chipdock_take_error(ChipdockAny *out_error);
/* Raises an error for the caller of a function of the program's own, which then returns -1. */
void chipdock_raise(ChipdockStr kind, ChipdockStr message);
/* Adds a reference to the object of a value; for other values it does nothing. */
void chipdock_retain(const ChipdockAny *value);
/* Releases a value, and writes None in its place. */
void chipdock_release(ChipdockAny *value);
/* Makes a function object of a function of the program's own. `deleter` gets `self_` when the last reference is gone. */
void chipdock_function(void *self_, ChipdockSafeCall call, ChipdockDeleter deleter, ChipdockAny *out_function);

#ifdef __cplusplus
} /* extern "C" */
#endif

/* ---- Values, for C and C++ ---- */

static inline ChipdockAny chipdock_value(int32_t type_index) {
  ChipdockAny value;
  memset(&value, 0, sizeof(value));
  value.type_index = type_index;
  return value;
}

static inline ChipdockAny chipdock_int(int64_t number) {
  ChipdockAny value = chipdock_value(CHIPDOCK_TYPE_INT);
  value.value.v_int64 = number;
  return value;
}

static inline ChipdockAny chipdock_float(double number) {
  ChipdockAny value = chipdock_value(CHIPDOCK_TYPE_FLOAT);
  value.value.v_float64 = number;
  return value;
}

/* Borrows a NUL-terminated text. */
static inline ChipdockAny chipdock_text(const char *text) {
  ChipdockAny value = chipdock_value(CHIPDOCK_TYPE_RAW_STR);
  value.value.v_c_str = text;
  return value;
}

/* Borrows a tensor. */
static inline ChipdockAny chipdock_tensor(ChipdockTensor *tensor) {
  ChipdockAny value = chipdock_value(CHIPDOCK_TYPE_DLTENSOR_PTR);
  value.value.v_ptr = tensor;
  return value;
}

static inline ChipdockAny chipdock_device_value(ChipdockDevice device) {
  ChipdockAny value = chipdock_value(CHIPDOCK_TYPE_DEVICE);
  value.value.v_device = device;
  return value;
}

/* Returns the text or the bytes of a value, which live as long as it does; an empty text for another value. */
static inline ChipdockStr chipdock_str_of(const ChipdockAny *value) {
  ChipdockStr text = {"", 0};
  if (value->type_index == CHIPDOCK_TYPE_SMALL_STR || value->type_index == CHIPDOCK_TYPE_SMALL_BYTES) {
    text.data = (const char *)value->value.v_bytes;
    text.size = value->small_length;
  } else if (value->type_index == CHIPDOCK_TYPE_STR || value->type_index == CHIPDOCK_TYPE_BYTES) {
    text = ((const ChipdockByteArrayObject *)value->value.v_object)->bytes;
  } else if (value->type_index == CHIPDOCK_TYPE_RAW_STR) {
    text.data = value->value.v_c_str;
    text.size = strlen(text.data);
  }
  return text;
}

/* Calls the function object that `function` holds. */
static inline int32_t chipdock_call(const ChipdockAny *function, const ChipdockAny *args, int32_t num_args,
                                    ChipdockAny *result) {
  ChipdockFunctionObject *object;
  if (function->type_index != CHIPDOCK_TYPE_FUNCTION) {
    const ChipdockStr kind = {"TypeError", 9}, message = {"expected a Function", 19};
    chipdock_raise(kind, message);
    return -1;
  }
  object = (ChipdockFunctionObject *)(void *)function->value.v_object;
  return object->safe_call(object, args, num_args, result);
}

#ifdef __cplusplus

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace chipdock {

/* An error of the library, with its kind, such as "ValueError", and its traceback, if it has one. */
class Error : public std::runtime_error {
 public:
  Error(std::string kind, const std::string &message, std::string traceback = std::string())
      : std::runtime_error(message), kind_(std::move(kind)), traceback_(std::move(traceback)) {}

  const std::string &kind() const noexcept { return kind_; }
  const std::string &traceback() const noexcept { return traceback_; }

  /* Takes this thread's error. */
  static Error taken() {
    ChipdockAny raw = chipdock_value(CHIPDOCK_TYPE_NONE);
    chipdock_take_error(&raw);
    if (raw.type_index != CHIPDOCK_TYPE_ERROR) return Error("InternalError", "a call failed and raised no error");
    const ChipdockErrorObject *object = reinterpret_cast<const ChipdockErrorObject *>(raw.value.v_object);
    const auto text = [](ChipdockStr part) { return std::string(part.data, part.size); };
    Error error(text(object->kind), text(object->message), text(object->backtrace));
    chipdock_release(&raw);
    return error;
  }

 private:
  std::string kind_, traceback_;
};

/* An owned value. Copies share its object. */
class Value {
 public:
  Value() noexcept : raw_(chipdock_value(CHIPDOCK_TYPE_NONE)) {}
  /* Takes over a value that the caller owns. */
  explicit Value(ChipdockAny owned) noexcept : raw_(owned) {}
  Value(const Value &other) noexcept : raw_(other.raw_) { chipdock_retain(&raw_); }
  Value(Value &&other) noexcept : raw_(other.raw_) { other.raw_ = chipdock_value(CHIPDOCK_TYPE_NONE); }
  Value &operator=(Value other) noexcept {
    std::swap(raw_, other.raw_);
    return *this;
  }
  ~Value() { chipdock_release(&raw_); }

  /* Makes a string. */
  static Value str(const std::string &text) {
    const ChipdockStr borrowed = {text.data(), text.size()};
    ChipdockAny raw = chipdock_value(CHIPDOCK_TYPE_NONE);
    chipdock_str(borrowed, &raw);
    return Value(raw);
  }
  /* Makes bytes. */
  static Value bytes(const std::string &bytes) {
    const ChipdockStr borrowed = {bytes.data(), bytes.size()};
    ChipdockAny raw = chipdock_value(CHIPDOCK_TYPE_NONE);
    chipdock_bytes(borrowed, &raw);
    return Value(raw);
  }

  const ChipdockAny &raw() const noexcept { return raw_; }
  bool is_none() const noexcept { return raw_.type_index == CHIPDOCK_TYPE_NONE; }

  /* Returns the text or the bytes. Throws TypeError for another value. */
  std::string text() const {
    switch (raw_.type_index) {
      case CHIPDOCK_TYPE_SMALL_STR:
      case CHIPDOCK_TYPE_SMALL_BYTES:
      case CHIPDOCK_TYPE_STR:
      case CHIPDOCK_TYPE_BYTES: {
        const ChipdockStr found = chipdock_str_of(&raw_);
        return std::string(found.data, found.size);
      }
      default:
        throw Error("TypeError", "expected a text, found a value of type index " + std::to_string(raw_.type_index));
    }
  }

  /* Returns the number. Throws TypeError for another value. */
  int64_t integer() const {
    if (raw_.type_index == CHIPDOCK_TYPE_INT || raw_.type_index == CHIPDOCK_TYPE_BOOL) return raw_.value.v_int64;
    throw Error("TypeError", "expected an integer, found a value of type index " + std::to_string(raw_.type_index));
  }
  double number() const {
    return raw_.type_index == CHIPDOCK_TYPE_FLOAT ? raw_.value.v_float64 : static_cast<double>(integer());
  }

 private:
  ChipdockAny raw_;
};

/* Element types by their C++ types. */
template <typename T>
ChipdockDataType dtype_of() {
  static_assert(std::is_arithmetic<T>::value, "the element type of a tensor is a number");
  ChipdockDataType dtype = {CHIPDOCK_DTYPE_INT, static_cast<uint8_t>(sizeof(T) * 8), 1};
  if (std::is_same<T, bool>::value) {
    dtype.code = CHIPDOCK_DTYPE_BOOL;
  } else if (std::is_floating_point<T>::value) {
    dtype.code = CHIPDOCK_DTYPE_FLOAT;
  } else if (std::is_unsigned<T>::value) {
    dtype.code = CHIPDOCK_DTYPE_UINT;
  }
  return dtype;
}

/* A borrowed tensor over memory of the program's, compact and row-major. The memory outlives it. */
class View {
 public:
  View(void *data, ChipdockDataType dtype, std::vector<int64_t> shape)
      : shape_(std::move(shape)), strides_(shape_.size()), tensor_() {
    int64_t stride = 1;
    for (size_t axis = shape_.size(); axis-- > 0;) {
      strides_[axis] = stride;
      stride *= shape_[axis];
    }
    tensor_.data = data;
    tensor_.device.device_type = CHIPDOCK_DEVICE_CPU;
    tensor_.ndim = static_cast<int32_t>(shape_.size());
    tensor_.dtype = dtype;
  }
  View(const View &other) : shape_(other.shape_), strides_(other.strides_), tensor_(other.tensor_) {}
  View &operator=(const View &) = delete;

  /* Returns the tensor, valid as long as this is. */
  ChipdockTensor *tensor() const {
    tensor_.shape = const_cast<int64_t *>(shape_.data());
    tensor_.strides = const_cast<int64_t *>(strides_.data());
    return &tensor_;
  }

 private:
  std::vector<int64_t> shape_, strides_;
  mutable ChipdockTensor tensor_;
};

template <typename T>
View view(T *data, std::vector<int64_t> shape) {
  return View(const_cast<typename std::remove_const<T>::type *>(data),
              dtype_of<typename std::remove_const<T>::type>(), std::move(shape));
}

/* A view of one axis. */
template <typename T>
View view(std::vector<T> &elements) {
  return view(elements.data(), std::vector<int64_t>(1, static_cast<int64_t>(elements.size())));
}

/* A borrowed argument; what it is made of outlives the call. */
class Argument {
 public:
  Argument(std::nullptr_t) : raw_(chipdock_value(CHIPDOCK_TYPE_NONE)) {}
  Argument(bool value) : raw_(chipdock_value(CHIPDOCK_TYPE_BOOL)) { raw_.value.v_int64 = value; }
  template <typename T, typename = typename std::enable_if<std::is_integral<T>::value>::type>
  Argument(T value) : raw_(chipdock_int(static_cast<int64_t>(value))) {}
  Argument(float value) : raw_(chipdock_float(static_cast<double>(value))) {}
  Argument(double value) : raw_(chipdock_float(value)) {}
  Argument(const char *text) : raw_(chipdock_text(text)) {}
  Argument(const std::string &text) : raw_(chipdock_text(text.c_str())) {}
  Argument(ChipdockDevice device) : raw_(chipdock_device_value(device)) {}
  Argument(ChipdockDataType dtype) : raw_(chipdock_value(CHIPDOCK_TYPE_DATA_TYPE)) { raw_.value.v_dtype = dtype; }
  Argument(const View &view) : raw_(chipdock_tensor(view.tensor())) {}
  Argument(const ChipdockStr *bytes) : raw_(chipdock_value(CHIPDOCK_TYPE_BYTE_ARRAY_PTR)) {
    raw_.value.v_ptr = const_cast<ChipdockStr *>(bytes);
  }
  Argument(const Value &value) : raw_(value.raw()) {}

  const ChipdockAny &raw() const noexcept { return raw_; }

 private:
  ChipdockAny raw_;
};

static_assert(sizeof(Argument) == sizeof(ChipdockAny), "arguments are passed as values");

namespace detail {
/* Numbers as a shape on the stack, which a callee only reads. They outlive it. */
class Extents {
 public:
  explicit Extents(const std::vector<int64_t> &numbers) : laid_out_() {
    laid_out_.shape.object.combined_ref_count = 1 | (static_cast<uint64_t>(1) << 32);
    laid_out_.shape.object.type_index = CHIPDOCK_TYPE_SHAPE;
    laid_out_.shape.data = numbers.data();
    laid_out_.shape.size = numbers.size();
  }
  Extents(const Extents &) = delete;
  Extents &operator=(const Extents &) = delete;

  Argument argument() const {
    ChipdockAny raw = chipdock_value(CHIPDOCK_TYPE_SHAPE);
    raw.value.v_object = const_cast<ChipdockObject *>(&laid_out_.shape.object);
    Argument argument(nullptr);
    memcpy(static_cast<void *>(&argument), &raw, sizeof(raw));
    return argument;
  }

 private:
  // An object with the zeros that lie before each one.
  struct {
    uint64_t before[2];
    ChipdockShapeObject shape;
  } laid_out_;
};
}  // namespace detail

namespace detail {

/* Calls a function of the library. Throws its error. */
inline Value called(ChipdockSafeCall call, void *self, const Argument *args, size_t count) {
  ChipdockAny result = chipdock_value(CHIPDOCK_TYPE_NONE);
  if (call(self, reinterpret_cast<const ChipdockAny *>(args), static_cast<int32_t>(count), &result) != 0)
    throw Error::taken();
  return Value(result);
}

template <typename... Args>
Value call(ChipdockSafeCall function, const Args &...args) {
  const Argument list[] = {Argument(args)...};
  return called(function, nullptr, list, sizeof...(Args));
}

inline Value call(ChipdockSafeCall function) { return called(function, nullptr, nullptr, 0); }

}  // namespace detail

/* A function: of a module, or a C++ function that Chipdock may call. */
class Function {
 public:
  explicit Function(Value value) : value_(std::move(value)) {}

  /* Makes a function of a C++ one; what it throws reaches the caller as an error of the same kind and message. */
  static Function of(std::function<Value(const std::vector<ChipdockAny> &)> body) {
    using Body = std::function<Value(const std::vector<ChipdockAny> &)>;
    ChipdockAny raw = chipdock_value(CHIPDOCK_TYPE_NONE);
    chipdock_function(new Body(std::move(body)), run<Body>, [](void *self) { delete static_cast<Body *>(self); }, &raw);
    return Function(Value(raw));
  }

  template <typename... Args>
  Value operator()(const Args &...args) const {
    const Argument list[sizeof...(Args) + 1] = {Argument(args)..., Argument(nullptr)};
    ChipdockFunctionObject *object = reinterpret_cast<ChipdockFunctionObject *>(value_.raw().value.v_object);
    return detail::called(object->safe_call, object, list, sizeof...(Args));
  }

  const Value &value() const noexcept { return value_; }

 private:
  static void raise(const std::string &kind, const std::string &message) {
    const ChipdockStr kind_text = {kind.data(), kind.size()}, text = {message.data(), message.size()};
    chipdock_raise(kind_text, text);
  }

  template <typename Body>
  static int32_t run(void *self, const ChipdockAny *args, int32_t num_args, ChipdockAny *result) {
    try {
      Value value = (*static_cast<Body *>(self))(std::vector<ChipdockAny>(args, args + num_args));
      chipdock_retain(&value.raw());
      *result = value.raw();
      return 0;
    } catch (const Error &error) {
      raise(error.kind(), error.what());
    } catch (const std::exception &error) {
      raise("RuntimeError", error.what());
    } catch (...) {
      raise("RuntimeError", "an exception of an unknown type");
    }
    return -1;
  }

  Value value_;
};

/* A tensor object on some device. */
class Tensor {
 public:
  explicit Tensor(Value value) : value_(std::move(value)) {
    if (value_.raw().type_index != CHIPDOCK_TYPE_TENSOR) throw Error("TypeError", "expected a Tensor");
  }

  const ChipdockTensor &tensor() const noexcept {
    return reinterpret_cast<const ChipdockTensorObject *>(value_.raw().value.v_object)->tensor;
  }

  /* The accessors have the names of TVM-FFI's `Tensor`. */

  /* Returns the data space: an address on the CPU, an opaque handle elsewhere. */
  void *data_ptr() const noexcept { return tensor().data; }
  /* Returns the start of the first element, in bytes from `data_ptr()`. */
  uint64_t byte_offset() const noexcept { return tensor().byte_offset; }
  ChipdockDevice device() const noexcept { return tensor().device; }
  ChipdockDataType dtype() const noexcept { return tensor().dtype; }
  int32_t ndim() const noexcept { return tensor().ndim; }
  int32_t dim() const noexcept { return ndim(); }
  std::vector<int64_t> shape() const {
    return std::vector<int64_t>(tensor().shape, tensor().shape + tensor().ndim);
  }
  std::vector<int64_t> sizes() const { return shape(); }
  /* Returns the strides, in elements. */
  std::vector<int64_t> strides() const {
    // A tensor of the library has them wherever it has axes.
    return std::vector<int64_t>(tensor().strides, tensor().strides + tensor().ndim);
  }
  /* Returns the extent of an axis; a negative axis counts from the last. Throws IndexError where there is none. */
  int64_t size(int64_t axis) const { return of_axis(tensor().shape, axis); }
  /* Returns the stride of an axis, in elements, as `size`. */
  int64_t stride(int64_t axis) const { return of_axis(tensor().strides, axis); }
  /* Returns the number of elements. */
  int64_t numel() const noexcept {
    int64_t count = 1;
    for (int32_t axis = 0; axis < ndim(); axis++) count *= tensor().shape[axis];
    return count;
  }
  /* Returns whether the elements are compact and row-major. */
  bool is_contiguous() const noexcept {
    int64_t expected = 1;
    for (int32_t axis = ndim(); axis-- > 0;) {
      if (tensor().shape[axis] != 1 && tensor().strides[axis] != expected) return numel() == 0;
      expected *= tensor().shape[axis];
    }
    return true;
  }
  bool IsContiguous() const noexcept { return is_contiguous(); }
  /* Returns whether the first element lies at a multiple of so many bytes: of addresses, or counted from the handle of a
   * device whose memory has none. */
  bool is_aligned(size_t alignment) const noexcept {
    const int32_t type = device().device_type;
    const bool has_addresses = (type >= 1 && type <= 3) || type == 10 || type == 11 || type == 13;
    const uint64_t base = has_addresses ? static_cast<uint64_t>(reinterpret_cast<uintptr_t>(data_ptr())) : 0;
    return alignment != 0 && (base + byte_offset()) % alignment == 0;
  }
  bool IsAligned(size_t alignment) const noexcept { return is_aligned(alignment); }
  /* Returns another view of the elements, which shares and keeps the memory: extents and strides in elements, and the first
   * element, counted from that of this tensor. */
  Tensor as_strided(const std::vector<int64_t> &shape, const std::vector<int64_t> &strides,
                    int64_t element_offset = 0) const {
    const detail::Extents extents(shape), steps(strides);
    Argument list[] = {value_, extents.argument(), steps.argument(), element_offset};
    return Tensor(detail::called(__tvm_ffi_as_strided, nullptr, list, 4));
  }
  const Value &value() const noexcept { return value_; }

 private:
  int64_t of_axis(const int64_t *values, int64_t axis) const {
    const int64_t index = axis < 0 ? axis + ndim() : axis;
    if (index < 0 || index >= ndim()) throw Error("IndexError", "there is no axis " + std::to_string(axis));
    return values[index];
  }

  Value value_;
};

/* The memory that a tensor is made in. */
struct MemoryOptions {
  /* `device`, `pinned`, `host-visible` or `unified`. */
  std::string kind;
  /* The empty text means `global`. */
  std::string scope;
  /* The alignment in bytes, a power of two. */
  int64_t alignment_bytes;

  explicit MemoryOptions(const std::string &of_kind = "device", const std::string &in_scope = "global",
                         int64_t aligned_to_bytes = 64)
      : kind(of_kind), scope(in_scope), alignment_bytes(aligned_to_bytes) {}
};

/* A value of a device that only rises, as streams and the host signal it. */
class Timeline {
 public:
  explicit Timeline(Value value) : value_(std::move(value)) {}
  /* Returns the value that is reached. */
  int64_t reached() const { return detail::call(__tvm_ffi_timeline_value, value_).integer(); }
  /* Makes it reach a value, after the signals that are queued. */
  void set(int64_t to) const { detail::call(__tvm_ffi_timeline_set, value_, to); }
  /* Waits until it has reached a value. It may be called before the signal. */
  void wait(int64_t for_value) const { detail::call(__tvm_ffi_timeline_wait, value_, for_value, nullptr); }
  /* Waits as the other, at most so many nanoseconds; returns whether the value is reached. */
  bool wait(int64_t for_value, int64_t timeout_ns) const {
    return detail::call(__tvm_ffi_timeline_wait, value_, for_value, timeout_ns).integer() != 0;
  }
  const Value &value() const noexcept { return value_; }

 private:
  Value value_;
};

/* An ordered queue of a device. */
class Stream {
 public:
  explicit Stream(Value value) : value_(std::move(value)) {}
  void sync() const { detail::call(__tvm_ffi_stream_sync, value_); }
  void wait_for(const Stream &other) const { detail::call(__tvm_ffi_stream_wait_for, value_, other.value_); }
  /* Makes a timeline reach a value when the work that the stream has is done. */
  void signal(const Timeline &timeline, int64_t value) const {
    detail::call(__tvm_ffi_stream_signal, value_, timeline.value(), value);
  }
  /* Makes later work wait until a timeline has reached a value, for which a signal is queued. */
  void wait(const Timeline &timeline, int64_t value) const {
    detail::call(__tvm_ffi_stream_wait, value_, timeline.value(), value);
  }
  const Value &value() const noexcept { return value_; }

 private:
  Value value_;
};

/* Launches and copies that were recorded once, to be replayed with other tensors. */
class Graph {
 public:
  explicit Graph(Value value) : value_(std::move(value)) {}
  /* Queues all of it on a stream, with these tensors in place of the parameters, and does not wait. Each has the type,
   * shape and kind of memory of its parameter; the caller orders other work on them. */
  template <typename... Tensors>
  void replay(const Stream &stream, const Tensors &...arguments) const {
    detail::call(__tvm_ffi_graph_replay, value_, stream.value(), arguments.value()...);
  }
  /* The number of launches and copies. */
  int64_t size() const { return detail::call(__tvm_ffi_graph_size, value_).integer(); }
  const Value &value() const noexcept { return value_; }

 private:
  Value value_;
};

/* A recording of this thread, given up where it is not finished: meanwhile launches and copies on its device do not run. */
class Recording {
 public:
  explicit Recording(Value host) : host_(std::move(host)) {}
  Recording(Recording &&from) noexcept : host_(std::move(from.host_)), is_open_(from.is_open_) { from.is_open_ = false; }
  Recording(const Recording &) = delete;
  Recording &operator=(const Recording &) = delete;
  Recording &operator=(Recording &&) = delete;
  ~Recording() {
    if (!is_open_) return;
    try {
      detail::call(__tvm_ffi_record_give_up);
    } catch (...) {
    }
  }
  /* Keeps a tensor that is no parameter as long as the graph, whose kernels may then use it. */
  void keep(const Tensor &tensor) const { detail::call(__tvm_ffi_record_keep, host_, tensor.value()); }
  /* Ends it, and returns the graph. Throws the first error of what was recorded. */
  Graph finish() {
    is_open_ = false;
    return Graph(detail::call(__tvm_ffi_record_end));
  }

 private:
  Value host_;
  bool is_open_ = true;
};

/* Compiled or loaded code. */
class Module {
 public:
  explicit Module(Value value) : value_(std::move(value)) {}

  /* Returns the function of that name. Throws NotFound, and Unavailable where something that it needs is missing. */
  Function operator[](const std::string &name) const {
    return Function(detail::call(__tvm_ffi_module_function, value_, name));
  }
  /* Calls a function on a device; tensors that are elsewhere are copied there, and back. */
  template <typename... Args>
  Value run(const std::string &name, const std::string &device, const Args &...args) const {
    return detail::call(__tvm_ffi_run, value_, name, device, args...);
  }
  /* As `run`; throws TimeoutError after so many seconds. */
  template <typename... Args>
  Value run_for(double seconds, const std::string &name, const std::string &device, const Args &...args) const {
    const std::string options = "{\"timeout_s\":" + std::to_string(static_cast<long long>(seconds * 1e3)) + "e-3}";
    return detail::call(__tvm_ffi_run_with, value_, name, device, options, nullptr, args...);
  }
  /* Adds a module to those that this one imports: its functions are found here by name, also by compiled code. */
  void import_module(const Module &module) const { detail::call(__tvm_ffi_import_module, value_, module.value_); }
  /* Returns a description, a JSON object. */
  std::string describe() const { return detail::call(__tvm_ffi_module_describe, value_).text(); }
  /* Returns the source, or an empty text. */
  std::string source() const {
    const Value found = detail::call(__tvm_ffi_module_source, value_);
    return found.is_none() ? std::string() : found.text();
  }
  /* Writes a library (.so), an archive (.tar) or the artifact (.chipdock). */
  void save(const std::string &path) const { detail::call(__tvm_ffi_module_export, value_, path); }
  const Value &value() const noexcept { return value_; }

 private:
  Value value_;
};

/* A target, complete. */
class Target {
 public:
  explicit Target(Value value) : value_(std::move(value)) {}
  std::string json() const { return detail::call(__tvm_ffi_target_json, value_).text(); }
  const Value &value() const noexcept { return value_; }

 private:
  Value value_;
};

/* A host: plugins, devices, targets, compilation. */
class Host {
 public:
  /* Returns the host of the process. */
  Host() : value_(detail::called(__tvm_ffi_host, nullptr, nullptr, 0)) {}
  /* Makes a host with options, a JSON object as of the function `host`. */
  explicit Host(const std::string &options_json) : value_(detail::call(__tvm_ffi_host, options_json)) {}

  std::string plugins() const { return detail::call(__tvm_ffi_plugins, value_).text(); }
  std::string devices() const { return detail::call(__tvm_ffi_devices, value_).text(); }
  std::string targets() const { return detail::call(__tvm_ffi_targets, value_).text(); }
  std::string target_tags() const { return detail::call(__tvm_ffi_target_tags, value_).text(); }
  ChipdockDevice device(const std::string &name) const {
    return detail::call(__tvm_ffi_device, value_, name).raw().value.v_device;
  }
  /* Returns what a device can do, a JSON object. */
  std::string capabilities(const std::string &device) const {
    return detail::call(__tvm_ffi_device_capabilities, value_, device).text();
  }
  /* Returns the target of the name of a kind or a tag, or of a JSON object. */
  Target target(const std::string &source) const { return Target(detail::call(__tvm_ffi_target, value_, source)); }

  /* Registers a function of the program under a name, for plugins, for compiled code that calls it by name, and as a hook of
   * code generators. The fingerprint identifies it: what is built with a hook that has none is not cached. */
  void register_function(const std::string &name, const Function &function) const {
    detail::call(__tvm_ffi_register_function, value_, name, function.value(), nullptr, false);
  }
  void register_function(const std::string &name, const Function &function, const std::string &fingerprint,
                         bool replace = false) const {
    detail::call(__tvm_ffi_register_function, value_, name, function.value(), fingerprint, replace);
  }
  /* Takes back a function that the program registered; returns whether there was one. */
  bool unregister_function(const std::string &name) const {
    return detail::call(__tvm_ffi_unregister_function, value_, name).integer() != 0;
  }
  /* Returns the function that the program or a plugin registered under a name. Throws NotFound where there is none. */
  Function function(const std::string &name) const {
    Value found = detail::call(__tvm_ffi_function, value_, name);
    if (found.is_none()) throw Error("NotFound", "nobody registered a function " + name);
    return Function(std::move(found));
  }

  /* Compiles TVMScript for a target and loads it; options are a JSON object as of the function `compile`. */
  Module compile(const std::string &source, const Target &target, const std::string &options_json = "{}") const {
    return Module(detail::call(__tvm_ffi_compile, value_, source, target.value(), options_json));
  }
  Module compile(const std::string &source, const std::string &target,
                 const std::string &options_json = "{}") const {
    return compile(source, this->target(target), options_json);
  }
  /* Loads a built file. */
  Module load(const std::string &path) const { return Module(detail::call(__tvm_ffi_load, value_, path)); }

  /* Makes a tensor of elements on a device, row-major. */
  template <typename T>
  Tensor tensor(const std::vector<T> &elements, const std::vector<int64_t> &shape, const std::string &device) const {
    const ChipdockStr bytes = {reinterpret_cast<const char *>(elements.data()), elements.size() * sizeof(T)};
    const detail::Extents extents(shape);
    Argument list[] = {value_, &bytes, extents.argument(), dtype_of<T>(), device};
    return Tensor(detail::called(__tvm_ffi_from_bytes, nullptr, list, 5));
  }
  /* Returns the elements of a tensor, row-major. Throws TypeError for elements of another type. */
  template <typename T>
  std::vector<T> elements(const Tensor &tensor) const {
    const ChipdockDataType found = tensor.tensor().dtype, wanted = dtype_of<T>();
    if (found.code != wanted.code || found.bits != wanted.bits || found.lanes != 1)
      throw Error("TypeError", "the elements of the tensor are of another type");
    const std::string bytes = detail::call(__tvm_ffi_to_bytes, value_, tensor.value()).text();
    std::vector<T> elements(bytes.size() / sizeof(T));
    if (!elements.empty()) memcpy(elements.data(), bytes.data(), elements.size() * sizeof(T));
    return elements;
  }
  /* Makes a tensor whose elements are not initialised in memory of a kind. A pinned one is of `cpu:0`. Throws Unsupported where
   * the device does not have such memory. */
  Tensor empty_in(const std::vector<int64_t> &shape, ChipdockDataType dtype, const std::string &device,
                  const MemoryOptions &options) const {
    const detail::Extents extents(shape);
    Argument list[] = {value_,       extents.argument(), dtype, device, options.kind, options.scope,
                       options.alignment_bytes};
    return Tensor(detail::called(__tvm_ffi_empty_in, nullptr, list, 7));
  }
  /* Returns the kind of a tensor's memory; an empty text where the host did not make it. */
  std::string memory_kind(const Tensor &tensor) const {
    const Value found = detail::call(__tvm_ffi_memory_kind, value_, tensor.value());
    return found.is_none() ? std::string() : found.text();
  }
  /* Returns the scope of a tensor's memory; an empty text where the host did not make it. */
  std::string scope(const Tensor &tensor) const {
    const Value found = detail::call(__tvm_ffi_scope, value_, tensor.value());
    return found.is_none() ? std::string() : found.text();
  }
  /* Waits for the work of the current stream, and returns the address of the elements in place, valid as long as the tensor. What
   * uses the tensor meanwhile is the caller's to order. Throws Unsupported where the memory has no such address. */
  void *map(const Tensor &tensor) const {
    return reinterpret_cast<void *>(
        static_cast<uintptr_t>(detail::call(__tvm_ffi_map, value_, tensor.value()).integer()));
  }
  Tensor to_device(const Tensor &tensor, const std::string &device) const {
    return Tensor(detail::call(__tvm_ffi_to_device, value_, tensor.value(), device));
  }

  /* Queues a copy on a stream, and does not wait: the caller orders other work on both tensors. */
  void copy_on(const Tensor &source, const Tensor &destination, const Stream &stream) const {
    detail::call(__tvm_ffi_copy_on, value_, source.value(), destination.value(), stream.value());
  }
  /* Makes a timeline of a device. */
  Timeline timeline(const std::string &device, int64_t initial = 0) const {
    return Timeline(detail::call(__tvm_ffi_timeline, value_, device, initial));
  }
  /* Begins to record what this thread launches and copies on a device, with these tensors as parameters. */
  template <typename... Tensors>
  Recording record(const std::string &device, const Tensors &...parameters) const {
    detail::call(__tvm_ffi_record_begin, value_, device, parameters.value()...);
    return Recording(value_);
  }
  Stream stream(const std::string &device) const { return Stream(detail::call(__tvm_ffi_stream, value_, device)); }
  /* Makes a stream current for its device on this thread; nullptr for the default one. */
  void set_stream(const std::string &device, const Stream *stream) const {
    if (stream) {
      detail::call(__tvm_ffi_set_stream, value_, device, stream->value());
    } else {
      detail::call(__tvm_ffi_set_stream, value_, device, nullptr);
    }
  }
  const Value &value() const noexcept { return value_; }

 private:
  Value value_;
};

}  // namespace chipdock

#endif /* __cplusplus */

#endif /* CHIPDOCK_HOST_H */
