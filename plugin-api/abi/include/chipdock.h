/*
 * The plugin boundary of Chipdock, for C99 and C++11 and newer. SPDX-License-Identifier: Apache-2.0
 *
 * Printed from the crate chipdock-abi: do not edit. The numbered rules (P1.1, D.4, ...) are on the front page of the
 * crate chipdock-plugin-api; in short:
 *
 * - Export one function, `chipdock_plugin_v1`, which returns a static descriptor: see CHIPDOCK_PLUGIN at the end.
 *   Hide every other symbol (-fvisibility=hidden).
 * - Fill in every slot of a table: none may be null. Tables and their texts live as long as the process.
 * - Return 0, or raise an error with the host that called (`host->raise`, same thread) and return a status. A failure
 *   without an error is reported as a broken plugin.
 * - No C++ exception, no longjmp and no exit may leave any of your functions: catch everything (`catch (...)`), raise
 *   it as kind "Panic" and return CHIPDOCK_PANIC.
 * - Every function may be called from any thread at once. `init` runs once for each host, starts no thread, calls no
 *   vendor's driver, and keeps nothing of the host in a global: the instance that it writes to `out_instance` is passed
 *   to `shutdown` and `release`, and each `self_` leads to it.
 * - Arguments and texts are borrowed for the call. What you hand out carries its deleter. Texts are UTF-8 and not
 *   NUL-terminated.
 * - ChipdockDevice, ChipdockDataType, ChipdockTensor and the managed tensors are laid out as DLPack's types, under names of
 *   their own: dlpack.h may be included too, before or after, and a cast from its types is right.
 * - Set reserved fields (`padding`) and the unused bytes of a value to zero. Sixteen zero bytes lie before an object that
 *   you make (V.13). Elements of less than a byte are packed, low bits first (V.6).
 * - Names without a dot are Chipdock's, in interfaces, extensions, attributes, error kinds, scopes, section kinds and
 *   fields of documents. Yours begin with your plugin's name and a dot: `npu.watchdog` (P5.17).
 */

#ifndef CHIPDOCK_H
#define CHIPDOCK_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Names of error kinds, for `raise`; the status that goes with each. */
#define CHIPDOCK_KIND_VALUE_ERROR "ValueError" /* 1 */
#define CHIPDOCK_KIND_TYPE_ERROR "TypeError" /* 2 */
#define CHIPDOCK_KIND_INDEX_ERROR "IndexError" /* 3 */
#define CHIPDOCK_KIND_NOT_FOUND "NotFound" /* 4 */
#define CHIPDOCK_KIND_UNSUPPORTED "Unsupported" /* 5 */
#define CHIPDOCK_KIND_WRONG_STATE "WrongState" /* 6 */
#define CHIPDOCK_KIND_UNAVAILABLE "Unavailable" /* 16 */
#define CHIPDOCK_KIND_OUT_OF_MEMORY "OutOfMemory" /* 17 */
#define CHIPDOCK_KIND_DEVICE_LOST "DeviceLost" /* 18 */
#define CHIPDOCK_KIND_IO_ERROR "IoError" /* 19 */
#define CHIPDOCK_KIND_CANCELLED "Cancelled" /* 20 */
#define CHIPDOCK_KIND_TIMEOUT_ERROR "TimeoutError" /* 20 */
#define CHIPDOCK_KIND_INTERNAL_ERROR "InternalError" /* 32 */
#define CHIPDOCK_KIND_PANIC "Panic" /* 33 */
#define CHIPDOCK_KIND_BROKEN_PLUGIN "BrokenPlugin" /* 34 */
#define CHIPDOCK_KIND_KEY_ERROR "KeyError" /* 4 */
#define CHIPDOCK_KIND_ATTRIBUTE_ERROR "AttributeError" /* 4 */
#define CHIPDOCK_KIND_NOT_IMPLEMENTED_ERROR "NotImplementedError" /* 5 */
#define CHIPDOCK_KIND_MEMORY_ERROR "MemoryError" /* 17 */
#define CHIPDOCK_KIND_OS_ERROR "OSError" /* 19 */
#define CHIPDOCK_KIND_RUNTIME_ERROR "RuntimeError" /* -1 */

/* Keys of device attributes (D.11). */
/* bool: whether there is a device of that id; never an error */
#define CHIPDOCK_ATTRIBUTE_EXIST "exist"
/* str: the maker's name */
#define CHIPDOCK_ATTRIBUTE_DEVICE_NAME "device_name"
/* str: the maker */
#define CHIPDOCK_ATTRIBUTE_VENDOR_NAME "vendor_name"
/* int: threads of a block at most; None on a device without blocks of threads, such as a CPU */
#define CHIPDOCK_ATTRIBUTE_MAX_THREADS_PER_BLOCK "max_threads_per_block"
/* int: threads that run in step; None where each runs by itself */
#define CHIPDOCK_ATTRIBUTE_WARP_SIZE "warp_size"
/* int: shared memory of a block at most, in bytes */
#define CHIPDOCK_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_BYTES "max_shared_memory_per_block_bytes"
/* str: major.minor, such as 9.0 */
#define CHIPDOCK_ATTRIBUTE_COMPUTE_VERSION "compute_version"
/* int: the highest clock rate, in kHz */
#define CHIPDOCK_ATTRIBUTE_MAX_CLOCK_RATE_KHZ "max_clock_rate_khz"
/* int: multiprocessors; on a CPU the logical cores that this process may use */
#define CHIPDOCK_ATTRIBUTE_MULTI_PROCESSOR_COUNT "multi_processor_count"
/* Shape: threads of a block at most by axis: x, y, z */
#define CHIPDOCK_ATTRIBUTE_MAX_THREAD_DIMENSIONS "max_thread_dimensions"
/* Shape: blocks of a grid at most by axis: x, y, z */
#define CHIPDOCK_ATTRIBUTE_MAX_GRID_DIMENSIONS "max_grid_dimensions"
/* int: registers of a block at most */
#define CHIPDOCK_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK "max_registers_per_block"
/* str: the architecture as compilers name it */
#define CHIPDOCK_ATTRIBUTE_ARCH "arch"
/* int: the version of the vendor's interface, as the vendor counts */
#define CHIPDOCK_ATTRIBUTE_API_VERSION "api_version"
/* str: the version of the driver */
#define CHIPDOCK_ATTRIBUTE_DRIVER_VERSION "driver_version"
/* int: level-1 data cache of one core, in bytes */
#define CHIPDOCK_ATTRIBUTE_L1_CACHE_SIZE_BYTES "l1_cache_size_bytes"
/* int: level-2 cache, in bytes; on a CPU that of one core */
#define CHIPDOCK_ATTRIBUTE_L2_CACHE_SIZE_BYTES "l2_cache_size_bytes"
/* int: level-3 cache, in bytes; that of one cluster of cores */
#define CHIPDOCK_ATTRIBUTE_L3_CACHE_SIZE_BYTES "l3_cache_size_bytes"
/* int: a line of the level-1 data cache, in bytes */
#define CHIPDOCK_ATTRIBUTE_CACHE_LINE_SIZE_BYTES "cache_line_size_bytes"
/* int: memory of the device that this process may use at most, in bytes */
#define CHIPDOCK_ATTRIBUTE_TOTAL_GLOBAL_MEMORY_BYTES "total_global_memory_bytes"
/* int: what is free of it now, in bytes */
#define CHIPDOCK_ATTRIBUTE_AVAILABLE_GLOBAL_MEMORY_BYTES "available_global_memory_bytes"
/* int: alignment of an image's rows, in pixels */
#define CHIPDOCK_ATTRIBUTE_IMAGE_PITCH_ALIGNMENT "image_pitch_alignment"
/* int: cores without their second threads */
#define CHIPDOCK_ATTRIBUTE_PHYSICAL_CORE_COUNT "physical_core_count"
/* bool: whether wrong handles and ranges are answered with typed errors (D.19) */
#define CHIPDOCK_ATTRIBUTE_CHECKED_HANDLES "checked_handles"

/* Kinds of sections (C.26). */
#define CHIPDOCK_SECTION_CODE "code"
#define CHIPDOCK_SECTION_CONSTANTS "constants"
#define CHIPDOCK_SECTION_DEBUG "debug"
#define CHIPDOCK_SECTION_SOURCE "source"

/*
 * Named interfaces (P3.11), by the object that has them: asked for with `query`, or offered with `extend`.
 *
 * device API     reset       1  ChipdockReset1        open a lost device again (D.40)
 * device API     timer       1  ChipdockTimer1        marks in a stream, and the time between them (N.1 to N.8)
 * device API     timeline    1  ChipdockTimeline1     values that rise with the work, and waits for them (N.18 to N.30)
 * device API     external    1  ChipdockExternal1     exchange streams and memory with the vendor's own calls (N.9 to N.15)
 * device API     map         1  ChipdockMap1          the address of memory that the host reaches (N.16, N.17)
 * device API     memory.async 1  ChipdockMemory.async1  memory in the order of a stream (N.31 to N.35)
 * device API     workspace   1  ChipdockWorkspace1    the device's own workspace (N.36 to N.39)
 * device API     graph       1  ChipdockGraph1        copies and launches that are recorded once, and replayed (N.40 to N.49)
 * module loader  object      1  ChipdockObject1       the code of an artifact as an object file (M.15 to M.19)
 * module         launch      1  ChipdockLaunch1       launch a kernel on a given stream (K.5 to K.8)
 * build session  progress    1  ChipdockProgress1     what a long build is at (C.42)
 * environment    interrupt   1  ChipdockInterrupt1    whether a long loop goes on (X.13 to X.16)
 * host           config      1  ChipdockConfig1       settings of the plugin (S)
 * host           memory      1  ChipdockMemory1       tensors on any device (H.9)
 * host           needs       1  ChipdockNeeds1        interfaces of other plugins that this one needs (H.11)
 * host           conformance 1  ChipdockConformance1  whether hooks are wanted (I.4)
 */


// Severity of a diagnostic: the build fails.
#define CHIPDOCK_DIAGNOSTIC_ERROR 1

// Severity of a diagnostic: the build goes on.
#define CHIPDOCK_DIAGNOSTIC_WARNING 2

// Severity of a diagnostic: for information.
#define CHIPDOCK_DIAGNOSTIC_NOTE 3

// Data space of the device itself.
#define CHIPDOCK_DATA_SPACE_DEVICE 0

// Page-locked host memory that the device copies from and to at full speed.
#define CHIPDOCK_DATA_SPACE_PINNED 1

// Device memory that the host may read and write in place.
#define CHIPDOCK_DATA_SPACE_HOST_VISIBLE 2

// Memory that both sides address alike.
#define CHIPDOCK_DATA_SPACE_UNIFIED 3

// Device type of host memory.
#define CHIPDOCK_DEVICE_CPU 1

// The first device type that a host assigns to a device without a DLPack number: the assigned
// number is this plus the first 30 bits of the SHA-256 of the device's name, big-endian (P5.14).
// DLPack's own numbers are far smaller.
#define CHIPDOCK_DEVICE_FIRST_ASSIGNED 4096

// Type code: signed integer.
#define CHIPDOCK_DTYPE_INT 0

// Type code: unsigned integer.
#define CHIPDOCK_DTYPE_UINT 1

// Type code: IEEE float.
#define CHIPDOCK_DTYPE_FLOAT 2

// Type code: opaque handle.
#define CHIPDOCK_DTYPE_HANDLE 3

// Type code: bfloat.
#define CHIPDOCK_DTYPE_BFLOAT 4

// Type code: complex, two floats of half the bits.
#define CHIPDOCK_DTYPE_COMPLEX 5

// Type code: boolean, one byte of 0 or 1.
#define CHIPDOCK_DTYPE_BOOL 6

// Type code: the 8-bit float float8_e3m4.
#define CHIPDOCK_DTYPE_FLOAT8_E3M4 7

// Type code: the 8-bit float float8_e4m3.
#define CHIPDOCK_DTYPE_FLOAT8_E4M3 8

// Type code: the 8-bit float float8_e4m3b11fnuz.
#define CHIPDOCK_DTYPE_FLOAT8_E4M3B11FNUZ 9

// Type code: the 8-bit float float8_e4m3fn.
#define CHIPDOCK_DTYPE_FLOAT8_E4M3FN 10

// Type code: the 8-bit float float8_e4m3fnuz.
#define CHIPDOCK_DTYPE_FLOAT8_E4M3FNUZ 11

// Type code: the 8-bit float float8_e5m2.
#define CHIPDOCK_DTYPE_FLOAT8_E5M2 12

// Type code: the 8-bit float float8_e5m2fnuz.
#define CHIPDOCK_DTYPE_FLOAT8_E5M2FNUZ 13

// Type code: the 8-bit float float8_e8m0fnu.
#define CHIPDOCK_DTYPE_FLOAT8_E8M0FNU 14

// Type code: the 6-bit float float6_e2m3fn.
#define CHIPDOCK_DTYPE_FLOAT6_E2M3FN 15

// Type code: the 6-bit float float6_e3m2fn.
#define CHIPDOCK_DTYPE_FLOAT6_E3M2FN 16

// Type code: the 4-bit float float4_e2m1fn.
#define CHIPDOCK_DTYPE_FLOAT4_E2M1FN 17

// Flag of `ChipdockManagedTensorVersioned`: the data may not be written.
#define CHIPDOCK_DLPACK_READ_ONLY 1

// Flag of `ChipdockManagedTensorVersioned`: the data is a copy made for this export.
#define CHIPDOCK_DLPACK_IS_COPIED 2

// Flag of `ChipdockManagedTensorVersioned`: elements of less than a byte are padded to a byte
// each. Such a tensor is refused: here they are packed, low bits first (V.6).
#define CHIPDOCK_DLPACK_SUBBYTE_PADDED 4

// DLPack's major version that this ABI carries.
#define CHIPDOCK_DLPACK_MAJOR 1

// DLPack's minor version that this ABI carries.
#define CHIPDOCK_DLPACK_MINOR 3

// The version of `ChipdockEnv` that this crate describes; an artifact's index may ask for a
// greater one (X.12).
#define CHIPDOCK_ENV_VERSION 1

// Flag of an extension: a callee that does not know its name returns `Unsupported` instead of
// ignoring it.
#define CHIPDOCK_EXTENSION_MUST_BE_UNDERSTOOD 1

// The greatest number of entries of a chain; a longer one is `ValueError`, because it may be a
// cycle.
#define CHIPDOCK_EXTENSIONS_MAX 64

// Verdict of `ChipdockModuleLoader::verdict`: the artifact runs on the device.
#define CHIPDOCK_ARTIFACT_OK 0

// Verdict of `ChipdockModuleLoader::verdict`: the artifact runs after it is compiled again.
#define CHIPDOCK_ARTIFACT_RECOMPILE 1

// Verdict of `ChipdockModuleLoader::verdict`: the artifact cannot run on the device.
#define CHIPDOCK_ARTIFACT_UNSUPPORTED 2

// The ABI major. A plugin exports `chipdock_plugin_v1` for it.
#define CHIPDOCK_ABI_MAJOR 1

// The ABI minor: named interfaces that were added since the major.
#define CHIPDOCK_ABI_MINOR 0

// `CHIPDOCK` as little-endian bytes.
#define CHIPDOCK_MAGIC 5423265531107559491

// A hash of the declarations of the frozen structs: types and order, sizes and offsets, no names
// of fields or parameters.
#define CHIPDOCK_LAYOUT_HASH 8403442988799945948

// Success.
#define CHIPDOCK_OK 0

// A failure whose kind and message are in the error slot; packed functions return only this one.
// Of other statuses, 1 to 15 are the caller's mistake, 16 to 31 the environment's fault and 32 to
// 47 a bug, including unknown ones (P7.11).
#define CHIPDOCK_ERROR (-1)

// The caller's mistake: a value that is not allowed. Error kind `ValueError`.
#define CHIPDOCK_INVALID_ARGUMENT 1

// The caller's mistake: a value of the wrong type. Error kind `TypeError`.
#define CHIPDOCK_WRONG_TYPE 2

// The caller's mistake: an index or a range out of bounds. Error kind `IndexError`.
#define CHIPDOCK_OUT_OF_RANGE 3

// The caller's mistake: a name that does not exist. Error kind `NotFound`.
#define CHIPDOCK_NOT_FOUND 4

// The caller's mistake: a feature that is not supported, and never will be without another plugin.
// Error kind `Unsupported`.
#define CHIPDOCK_UNSUPPORTED 5

// The caller's mistake: a call in the wrong state (freed, shut down, already present). Error kind
// `WrongState`.
#define CHIPDOCK_WRONG_STATE 6

// The environment's fault: a library, a driver or a device is missing. Error kind `Unavailable`.
#define CHIPDOCK_UNAVAILABLE 16

// The environment's fault: no memory left; the state is as before the call. Error kind
// `OutOfMemory`.
#define CHIPDOCK_OUT_OF_MEMORY 17

// The environment's fault: the device is gone until it is opened again. Error kind `DeviceLost`.
#define CHIPDOCK_DEVICE_LOST 18

// The environment's fault: a file or a process failed. Error kind `IoError`.
#define CHIPDOCK_IO 19

// The work was cancelled by the caller. Error kind `Cancelled`.
#define CHIPDOCK_CANCELLED 20

// A bug of the code that raised it. Error kind `InternalError`.
#define CHIPDOCK_INTERNAL 32

// A panic or an exception, caught at the boundary. Error kind `Panic`.
#define CHIPDOCK_PANIC 33

// A bug of a plugin: the host found that it broke a rule of the boundary. Error kind
// `BrokenPlugin`.
#define CHIPDOCK_BROKEN_PLUGIN 34

// Log level: something failed.
#define CHIPDOCK_LOG_ERROR 1

// Log level: something works differently than expected.
#define CHIPDOCK_LOG_WARNING 2

// Log level: progress, for users.
#define CHIPDOCK_LOG_INFO 3

// Log level: details, for debugging.
#define CHIPDOCK_LOG_DEBUG 4

// Type index: None.
#define CHIPDOCK_TYPE_NONE 0

// Type index: a 64-bit signed integer.
#define CHIPDOCK_TYPE_INT 1

// Type index: a boolean, stored as the integer 0 or 1.
#define CHIPDOCK_TYPE_BOOL 2

// Type index: a 64-bit float.
#define CHIPDOCK_TYPE_FLOAT 3

// Type index: a pointer without an owner.
#define CHIPDOCK_TYPE_OPAQUE_PTR 4

// Type index: an element type.
#define CHIPDOCK_TYPE_DATA_TYPE 5

// Type index: a device.
#define CHIPDOCK_TYPE_DEVICE 6

// Type index: a borrowed `ChipdockTensor`; only in views, never in an owned value.
#define CHIPDOCK_TYPE_DLTENSOR_PTR 7

// Type index: a borrowed NUL-terminated string; only in views.
#define CHIPDOCK_TYPE_RAW_STR 8

// Type index: a borrowed byte array; only in views.
#define CHIPDOCK_TYPE_BYTE_ARRAY_PTR 9

// Type index: an object that the callee may take.
#define CHIPDOCK_TYPE_OBJECT_RVALUE_REF 10

// Type index: a string of at most 7 bytes, stored in the value.
#define CHIPDOCK_TYPE_SMALL_STR 11

// Type index: at most 7 bytes, stored in the value.
#define CHIPDOCK_TYPE_SMALL_BYTES 12

// The first type index of an object.
#define CHIPDOCK_TYPE_OBJECT_BEGIN 64

// Type index: a string object of 8 bytes or more.
#define CHIPDOCK_TYPE_STR 65

// Type index: a bytes object of 8 bytes or more.
#define CHIPDOCK_TYPE_BYTES 66

// Type index: an error object.
#define CHIPDOCK_TYPE_ERROR 67

// Type index: a function object.
#define CHIPDOCK_TYPE_FUNCTION 68

// Type index: a shape object.
#define CHIPDOCK_TYPE_SHAPE 69

// Type index: a tensor object; its `ChipdockTensor` lies 24 bytes in.
#define CHIPDOCK_TYPE_TENSOR 70

// Type index: an array object.
#define CHIPDOCK_TYPE_ARRAY 71

// Deleter flag: no strong reference is left, run the destructor.
#define CHIPDOCK_DELETE_STRONG 1

// Deleter flag: no weak reference is left, free the memory.
#define CHIPDOCK_DELETE_WEAK 2

// A new object's reference count: one strong in the low half, one weak in the high half.
#define CHIPDOCK_NEW_REF_COUNT 4294967297

// The header of every object, 24 bytes.
typedef struct ChipdockObject {
  // Strong count in the low 32 bits, weak count in the high 32. Changed only by atomic
  // operations.
  uint64_t combined_ref_count;
  // One of `CHIPDOCK_TYPE_*`, 64 or more.
  int32_t type_index;
  // Zero.
  uint32_t padding;
  // Called with `CHIPDOCK_DELETE_*` flags when a count reaches zero; may be null.
  void (*deleter)(void *self_, int32_t flags);
} ChipdockObject;

// A device: DLPack's type number and an index among the devices of that type.
typedef struct ChipdockDevice {
  // DLPack's number, or one that the host assigned.
  int32_t device_type;
  // Index among the devices of this type, from 0.
  int32_t device_id;
} ChipdockDevice;

// The type of an element: code, bits of one lane, number of lanes.
typedef struct ChipdockDataType {
  // One of `CHIPDOCK_DTYPE_*`.
  uint8_t code;
  // Bits of one lane.
  uint8_t bits;
  // Lanes of a vector; 1 for a scalar.
  uint16_t lanes;
} ChipdockDataType;

// A borrowed tensor: it owns nothing.
typedef struct ChipdockTensor {
  // The data space: an address on the CPU, an opaque handle elsewhere.
  void *data;
  // The device of the data.
  struct ChipdockDevice device;
  // Number of axes.
  int32_t ndim;
  // Type of an element.
  struct ChipdockDataType dtype;
  // `ndim` extents, in elements.
  int64_t *shape;
  // `ndim` strides, in elements; null from producers older than DLPack 1.2 when compact and
  // row-major.
  int64_t *strides;
  // Start of the first element, in bytes from `data`.
  uint64_t byte_offset;
} ChipdockTensor;

// The payload of a `ChipdockAny`.
typedef union ChipdockAnyValue {
  // Integers and booleans.
  int64_t v_int64;
  // Floats.
  double v_float64;
  // Opaque pointers.
  void *v_ptr;
  // Raw strings.
  const char *v_c_str;
  // Objects.
  struct ChipdockObject *v_object;
  // Borrowed tensors.
  struct ChipdockTensor *v_tensor;
  // Element types; the other four bytes are zero.
  struct ChipdockDataType v_dtype;
  // Devices.
  struct ChipdockDevice v_device;
  // Small strings and small bytes; unused bytes are zero.
  uint8_t v_bytes[8];
} ChipdockAnyValue;

// A value, 16 bytes: borrowed as an argument, owned as a result. Unused bytes are zero (values are
// hashed bytewise).
typedef struct ChipdockAny {
  // One of `CHIPDOCK_TYPE_*`.
  int32_t type_index;
  // Length of a small string or small bytes; zero for everything else.
  uint32_t small_length;
  // The payload.
  union ChipdockAnyValue value;
} ChipdockAny;

// Borrowed bytes: UTF-8 wherever this is a string. `data` may be null if `size` is 0.
typedef struct ChipdockStr {
  // The first byte; not NUL-terminated.
  const char *data;
  // Length in bytes.
  size_t size;
} ChipdockStr;

// A string or bytes object. The bytes are followed by a NUL.
typedef struct ChipdockByteArrayObject {
  // Header.
  struct ChipdockObject object;
  // The bytes.
  struct ChipdockStr bytes;
} ChipdockByteArrayObject;

// A shape object.
typedef struct ChipdockShapeObject {
  // Header.
  struct ChipdockObject object;
  // Extents.
  const int64_t *data;
  // Number of extents.
  size_t size;
} ChipdockShapeObject;

// A tensor object. `strides` is never null if there are axes.
typedef struct ChipdockTensorObject {
  // Header.
  struct ChipdockObject object;
  // The tensor.
  struct ChipdockTensor tensor;
} ChipdockTensorObject;

// A packed function: borrowed arguments, an owned result. `result` is None before the call and is
// written only on success. Returns 0, or -1 with an error raised.
typedef int32_t (*ChipdockSafeCall)(void *self_,
                                    const struct ChipdockAny *args,
                                    int32_t num_args,
                                    struct ChipdockAny *result);

// A function object; a closure's own data follows.
typedef struct ChipdockFunctionObject {
  // Header.
  struct ChipdockObject object;
  // The C function, called with the object as `self`.
  ChipdockSafeCall safe_call;
  // Reserved for C++; null.
  void *cpp_call;
} ChipdockFunctionObject;

// An error object.
typedef struct ChipdockErrorObject {
  // Header.
  struct ChipdockObject object;
  // The kind, an open string such as `ValueError`.
  struct ChipdockStr kind;
  // Message for users: what was expected, what was found, what to do.
  struct ChipdockStr message;
  // Lines `File "f", line 1, in g`, most recent last.
  struct ChipdockStr backtrace;
  // Replaces (0) or appends to (1) the backtrace; never null.
  void (*update_backtrace)(void *self_, const struct ChipdockStr *backtrace, int32_t update_mode);
  // An owned error object that caused this one, or null.
  struct ChipdockObject *cause_chain;
  // An owned object with more context, or null.
  struct ChipdockObject *extra_context;
} ChipdockErrorObject;

// An array object.
typedef struct ChipdockArrayObject {
  // Header.
  struct ChipdockObject object;
  // The first element; elements are owned.
  struct ChipdockAny *data;
  // Number of elements.
  int64_t size;
  // Capacity, in elements.
  int64_t capacity;
  // Frees `data`; null if it is owned with the object.
  void (*data_deleter)(void *data);
} ChipdockArrayObject;

// DLPack's managed tensor before 1.0.
typedef struct ChipdockManagedTensor {
  // The tensor.
  struct ChipdockTensor dl_tensor;
  // The producer's own pointer.
  void *manager_ctx;
  // Frees the tensor and this struct; null if there is nothing to free.
  void (*deleter)(struct ChipdockManagedTensor *self_);
} ChipdockManagedTensor;

// DLPack's version.
typedef struct ChipdockDLPackVersion {
  // Major version: breaking changes.
  uint32_t major;
  // Minor version: additions.
  uint32_t minor;
} ChipdockDLPackVersion;

// DLPack's managed tensor since 1.0.
typedef struct ChipdockManagedTensorVersioned {
  // The version that the producer wrote; another major may only be deleted.
  struct ChipdockDLPackVersion version;
  // The producer's own pointer.
  void *manager_ctx;
  // Frees the tensor and this struct; null if there is nothing to free.
  void (*deleter)(struct ChipdockManagedTensorVersioned *self_);
  // `CHIPDOCK_DLPACK_*` flags.
  uint64_t flags;
  // The tensor.
  struct ChipdockTensor dl_tensor;
} ChipdockManagedTensorVersioned;

// A table of functions, whose type belongs to a name and version, and the object that they are
// called on.
//
// The table holds only function pointers and none is null; `table_size_bytes` is its size. The
// contents of `x` 1 never change: its successor is `x` 2.
typedef struct ChipdockInterface {
  // First argument of each function.
  void *self_;
  // The functions; null for a requested interface that does not exist. Static.
  const void *table;
  // Size of the table.
  uint64_t table_size_bytes;
  // Bits for harmless behaviours that the interface's description names; unknown ones are
  // ignored.
  uint64_t features;
} ChipdockInterface;

// The host's services. Valid as long as the process lives. There may be several hosts in a
// process.
typedef struct ChipdockHost {
  // The ABI major that this host uses with this plugin.
  uint32_t abi_major;
  // The newest minor of that major that the host knows; may be older or newer than the plugin's.
  uint32_t abi_minor;
  // The host's version, semver.
  struct ChipdockStr version;
  // The host's own pointer; the first argument of each function below.
  void *self_;
  // Sets this thread's error. The last one raised before a non-zero return is the one reported.
  void (*raise)(void *self_, struct ChipdockStr kind, struct ChipdockStr message);
  // Sets this thread's error to an error object; borrows it.
  void (*raise_object)(void *self_, const struct ChipdockAny *error);
  // Moves this thread's error out, for a plugin that called another library's function; None if
  // there is none.
  void (*take_error)(void *self_, struct ChipdockAny *out_error);
  // Writes a line to the host's log. `level` is one of `CHIPDOCK_LOG_*`.
  void (*log)(void *self_, int32_t level, struct ChipdockStr message);
  // Writes the registered function of that name as an owned function object, or None if there is
  // none. May load another plugin; not to be called during `init`.
  int32_t (*function)(void *self_, struct ChipdockStr name, struct ChipdockAny *out_function);
  // Writes the stream that is active on this thread for `device`; null is the default stream. A
  // device that the host does not know is an error.
  int32_t (*current_stream)(void *self_, struct ChipdockDevice device, void **out_stream);
  // Writes the interface of the host of that name and version; its `table` is null if the host
  // does not have it, which is no error. May be called during `init`. The interface lives as
  // long as the host's table.
  int32_t (*query)(void *self_,
                   struct ChipdockStr name,
                   uint32_t version,
                   struct ChipdockInterface *out_interface);
} ChipdockHost;

// The header of an entry; the data that belongs to its name follows. Borrowed for the call, as the
// struct that it extends.
typedef struct ChipdockExtension {
  // The next entry, or null.
  const struct ChipdockExtension *next;
  // Name of the extension; an unknown one is ignored, except as the flag states.
  struct ChipdockStr name;
  // `CHIPDOCK_EXTENSION_*`; unknown bits are ignored.
  uint32_t flags;
  // Size of the whole entry in bytes, including this header.
  uint32_t size_bytes;
} ChipdockExtension;

// The request of `ChipdockDeviceApi::allocate_data_space`.
typedef struct ChipdockDataSpaceRequest {
  // Size in bytes; 0 is allowed and gives a data space that may be freed and copied with size 0.
  uint64_t size_bytes;
  // Alignment in bytes, a power of two.
  uint64_t alignment_bytes;
  // Type of the elements, a hint; lanes 0 means unknown.
  struct ChipdockDataType dtype_hint;
  // One of `CHIPDOCK_DATA_SPACE_*`; an unknown or unsupported one is `Unsupported`.
  int32_t kind;
  // Memory scope; empty means `global`. An unknown or unsupported one is `Unsupported`.
  struct ChipdockStr scope;
  // Extensions of the request, or null.
  const struct ChipdockExtension *next;
} ChipdockDataSpaceRequest;

// One end of a copy.
typedef struct ChipdockCopyEnd {
  // The device that `data` belongs to: one of this device API, or the CPU.
  struct ChipdockDevice device;
  // The data space.
  void *data;
  // Start of the range, in bytes from `data`.
  uint64_t offset_bytes;
} ChipdockCopyEnd;

// The request of `ChipdockDeviceApi::copy_data`. The two ranges do not overlap.
typedef struct ChipdockCopy {
  // The source.
  struct ChipdockCopyEnd from;
  // The destination.
  struct ChipdockCopyEnd to;
  // Size in bytes; 0 touches no memory.
  uint64_t size_bytes;
  // Type of the elements, a hint; lanes 0 means unknown.
  struct ChipdockDataType dtype_hint;
  // 0; unknown bits are ignored.
  uint32_t flags;
  // Extensions of the copy, or null.
  const struct ChipdockExtension *next;
} ChipdockCopy;

// The functions of a device API. `self_` is the registered one; `device_id` counts from 0.
//
// A stream is an opaque handle; null is the device's default stream and always allowed.
typedef struct ChipdockDeviceApi {
  // Releases `self_`: called once, last, after `shutdown` (P10.18 says when a host skips it).
  void (*destroy)(void *self_);
  // Writes the number of devices; 0 is no error. `Unavailable` means that there can be none,
  // with the reason.
  int32_t (*device_count)(void *self_, int32_t *out_count);
  // Writes the attribute `key`, or None if the key is unknown. The caller owns the result.
  int32_t (*attribute)(void *self_, int32_t device_id, struct ChipdockStr key, struct ChipdockAny *out_value);
  // Allocates a data space. On `OutOfMemory` nothing has changed.
  int32_t (*allocate_data_space)(void *self_,
                                 int32_t device_id,
                                 const struct ChipdockDataSpaceRequest *request,
                                 void **out_data);
  // Frees a data space; null is allowed. The host has waited for the work that uses it.
  int32_t (*free_data_space)(void *self_, int32_t device_id, void *data);
  // Queues a copy on `stream`. Both ends stay valid until the stream is synchronised.
  // `device_id` is that of an end, either one where both are of this API (D.6); `stream` is of
  // that device.
  int32_t (*copy_data)(void *self_, int32_t device_id, const struct ChipdockCopy *copy, void *stream);
  // Creates a stream. A device without streams of its own writes null.
  int32_t (*create_stream)(void *self_, int32_t device_id, void **out_stream);
  // Frees a stream after its work is done, and reports a failure that it kept (D.17); null is
  // allowed.
  int32_t (*free_stream)(void *self_, int32_t device_id, void *stream);
  // Waits until all work queued on `stream` is done; reports the first failure since the last
  // report.
  int32_t (*sync_stream)(void *self_, int32_t device_id, void *stream);
  // Makes work queued later on `to` wait for the work that is queued on `from` now, without
  // blocking the caller.
  int32_t (*sync_stream_from_to)(void *self_, int32_t device_id, void *from, void *to);
} ChipdockDeviceApi;

// The functions of a target kind. The schema itself is the JSON text given at registration.
typedef struct ChipdockTargetKind {
  // Releases `self_`: called once, last.
  void (*destroy)(void *self_);
  // Fills in and checks a target's options, after the schema has been applied. `target_json` and
  // the result (an owned string) are canonical target JSON. A kind without a canonicalizer
  // returns the text that it received, whatever it is (T.8).
  int32_t (*canonicalize)(void *self_, struct ChipdockStr target_json, struct ChipdockAny *out_target_json);
} ChipdockTargetKind;

// One section of an artifact, or of a build request.
typedef struct ChipdockSection {
  // Name, unique within the artifact or the request.
  struct ChipdockStr name;
  // `code`, `constants`, `debug` or `source`.
  struct ChipdockStr kind;
  // Alignment of `data` in bytes.
  uint64_t alignment_bytes;
  // The bytes.
  const void *data;
  // Size of `data` in bytes.
  uint64_t size_bytes;
} ChipdockSection;

// A request to build a module. Borrowed for the call.
typedef struct ChipdockBuildRequest {
  // The module, in the canonical JSON wire format, at the stage that the target kind declares.
  struct ChipdockStr ir;
  // The target, canonical JSON.
  struct ChipdockStr target_json;
  // Build options, a JSON object, or empty for none; unknown keys are ignored.
  struct ChipdockStr options_json;
  // Sections that accompany the document: the bytes of its constants, by the names that its
  // nodes refer to (C.43). One that no node refers to is ignored.
  const struct ChipdockSection *sections;
  // The number of sections.
  uint64_t sections_count;
  // The greatest number of threads for the build; at least 1.
  uint32_t threads_max;
  // Flags; unknown bits are ignored, and none is defined yet.
  uint32_t flags;
  // Extensions of the request, or null.
  const struct ChipdockExtension *next;
} ChipdockBuildRequest;

// A diagnostic of a code generator about a node of a module. Borrowed for the call.
typedef struct ChipdockDiagnostic {
  // One of `CHIPDOCK_DIAGNOSTIC_*`; an unknown one counts as the nearest known one that is more
  // severe.
  int32_t severity;
  // The line that the document gives for the node, from 1; 0 if it is unknown.
  uint32_t line;
  // The column, from 1; 0 if it is unknown.
  uint32_t column;
  // Flags; unknown bits are ignored, and none is defined yet.
  uint32_t flags;
  // The function that the diagnostic is about; empty if it is unknown, or for the module.
  struct ChipdockStr function;
  // The node in one line; may be empty.
  struct ChipdockStr node;
  // The message: what was expected and what was found, without the position.
  struct ChipdockStr message;
  // Advice for the user; may be empty.
  struct ChipdockStr hint;
  // Extensions of the diagnostic, or null.
  const struct ChipdockExtension *next;
} ChipdockDiagnostic;

// The receiver of a build's results. The host owns it; it lives for the call, during which its
// functions may be called from any thread; the host copies all arguments.
typedef struct ChipdockBuildSession {
  // The host's own pointer; the first argument of each function below.
  void *self_;
  // Sets the artifact's index: JSON with `module_kind`, `format` and `functions`. A successful
  // build sets it exactly once.
  int32_t (*index)(void *self_, struct ChipdockStr index_json);
  // Adds a section. Names are unique within an artifact; `kind` is `code`, `constants`, `debug`
  // or `source`.
  int32_t (*section)(void *self_,
                     struct ChipdockStr name,
                     struct ChipdockStr kind,
                     uint64_t alignment_bytes,
                     const void *data,
                     uint64_t size_bytes);
  // Reports a diagnostic.
  int32_t (*diagnostic)(void *self_, const struct ChipdockDiagnostic *diagnostic);
  // Returns non-zero if the caller has cancelled the build; a long build checks this now and
  // then and returns `Cancelled`.
  int32_t (*is_cancelled)(void *self_);
  // Writes the interface of this session of that name and version; its `table` is null if the
  // host does not have it, which is no error. The interface lives as long as the session.
  int32_t (*query)(void *self_,
                   struct ChipdockStr name,
                   uint32_t version,
                   struct ChipdockInterface *out_interface);
} ChipdockBuildSession;

// The functions of a code generator. It is a pure function of the request and of the text of
// `fingerprint`: it queries no device.
typedef struct ChipdockCodegen {
  // Releases `self_`: called once, last.
  void (*destroy)(void *self_);
  // Reports every node that cannot be built, each as one error diagnostic; returns success if it
  // could check them.
  int32_t (*unsupported)(void *self_,
                         const struct ChipdockBuildRequest *request,
                         const struct ChipdockBuildSession *session);
  // Builds the module into `session`. The host drops the data that was delivered before a
  // failure. A build that returns `Unsupported` has reported every node that cannot be built.
  int32_t (*build)(void *self_,
                   const struct ChipdockBuildRequest *request,
                   const struct ChipdockBuildSession *session);
  // Writes an owned string that differs whenever this build of the plugin might give other bytes
  // for the same request: the compiler that is found and its version, active hooks; or None, if
  // the artifact may not be kept for later. It opens at most the vendor's library, and queries
  // no device.
  int32_t (*fingerprint)(void *self_,
                         const struct ChipdockBuildRequest *request,
                         struct ChipdockAny *out_fingerprint);
} ChipdockCodegen;

// An artifact, borrowed for the call.
typedef struct ChipdockArtifact {
  // JSON with `module_kind`, `format` and `functions`.
  struct ChipdockStr index_json;
  // The sections.
  const struct ChipdockSection *sections;
  // The number of sections.
  uint64_t sections_count;
  // Extensions of the artifact, or null.
  const struct ChipdockExtension *next;
} ChipdockArtifact;

// Runs one part of a parallel region; returns 0, or -1 with an error raised.
typedef int32_t (*ChipdockParallelBody)(int32_t task_id, int32_t tasks_count, void *data);

// The environment, through which compiled code reaches the host: the loader sets the variable
// `__chipdock_env` to point to one.
//
// The first argument of each function is the environment itself; a function that returns an
// `int32_t` returns 0, or -1 with an error raised. If the variable is null, compiled code looks
// for TVM-FFI's functions, then uses small built-in fallbacks. Compiled code relies only on the
// fields of version 1; anything newer is available by `query`.
typedef struct ChipdockEnv {
  // The version of this struct, `CHIPDOCK_ENV_VERSION` or greater.
  uint32_t version;
  // Flags; unknown bits are ignored; 0 now.
  uint32_t flags;
  // The host's own pointer.
  void *self_;
  // Sets this thread's error. The strings are NUL-terminated; `location` is
  // `function: file:line:column` as far as it is known, and may be null.
  void (*raise)(const struct ChipdockEnv *env, const char *kind, const char *message, const char *location);
  // Allocates workspace, 64-byte aligned, ordered on the thread's current stream; returns null
  // with an error raised if there is none left.
  void *(*allocate_workspace)(const struct ChipdockEnv *env,
                              int32_t device_type,
                              int32_t device_id,
                              uint64_t size_bytes);
  // Frees workspace; the one allocated last is freed first.
  int32_t (*free_workspace)(const struct ChipdockEnv *env, int32_t device_type, int32_t device_id, void *data);
  // Writes the stream that is active on this thread for a device; null is the default stream.
  int32_t (*current_stream)(const struct ChipdockEnv *env,
                            int32_t device_type,
                            int32_t device_id,
                            void **out_stream);
  // Writes the id of the device of that type that is active on this thread; 0 if none was made
  // active.
  int32_t (*current_device)(const struct ChipdockEnv *env, int32_t device_type, int32_t *out_device_id);
  // Makes a device the active one of its type on this thread.
  int32_t (*set_device)(const struct ChipdockEnv *env, int32_t device_type, int32_t device_id);
  // Writes the number of the device type of that NUL-terminated name, as in `device_api.<name>`.
  int32_t (*device_type)(const struct ChipdockEnv *env, const char *name, int32_t *out_device_type);
  // Writes the function of that NUL-terminated name: one of an imported module, else one that is
  // registered in the host. It is borrowed, and lives as long as the environment: compiled code
  // asks once, keeps it, and calls its `safe_call`.
  int32_t (*imported)(const struct ChipdockEnv *env,
                      const char *name,
                      const struct ChipdockFunctionObject **out_function);
  // Runs `body` for each task id from 0 below the number of tasks that `body` receives, at most
  // `tasks_max` (0: as many as there are threads), and returns when all are done; returns the
  // first failure.
  int32_t (*parallel_launch)(const struct ChipdockEnv *env,
                             ChipdockParallelBody body,
                             void *data,
                             int32_t tasks_max);
  // Writes the interface of that NUL-terminated name and version; its `table` is null if the
  // host does not have it, which is no error. The interface lives as long as the environment.
  int32_t (*query)(const struct ChipdockEnv *env,
                   const char *name,
                   uint32_t version,
                   struct ChipdockInterface *out_interface);
  // Releases the environment: called by the loader, once, when no module and no function can use
  // it any more.
  void (*release)(const struct ChipdockEnv *env);
} ChipdockEnv;

// The functions of a loaded module.
typedef struct ChipdockModule {
  // Releases the module. Its functions keep what they need.
  void (*destroy)(void *self_);
  // Writes the function of that name as an owned function object, or None if there is none.
  int32_t (*function)(void *self_, struct ChipdockStr name, struct ChipdockAny *out_function);
  // Writes the interface of this module of that name and version; its `table` is null if the
  // module does not have it, which is no error. The interface lives as long as the module.
  int32_t (*query)(void *self_,
                   struct ChipdockStr name,
                   uint32_t version,
                   struct ChipdockInterface *out_interface);
} ChipdockModule;

// A loaded module: its functions, and the object that they are called on.
typedef struct ChipdockModuleHandle {
  // The loader's own pointer; the first argument of each function.
  void *self_;
  // Its functions; static.
  const struct ChipdockModule *table;
} ChipdockModuleHandle;

// The functions of a module loader.
typedef struct ChipdockModuleLoader {
  // Releases `self_`: called once, last.
  void (*destroy)(void *self_);
  // Checks whether the artifact would run on `device`, one of its target kind's (M.24); writes
  // one of `CHIPDOCK_ARTIFACT_*` and, if it is not OK, the reason as an owned string.
  int32_t (*verdict)(void *self_,
                     const struct ChipdockArtifact *artifact,
                     struct ChipdockDevice device,
                     int32_t *out_verdict,
                     struct ChipdockAny *out_reason);
  // Makes the artifact runnable. Compiled code reaches the host only through `env`. The loader
  // owns `env`, whatever this returns: it releases it, once, when no module and no function can
  // use it any more. It may be null.
  int32_t (*load)(void *self_,
                  const struct ChipdockArtifact *artifact,
                  const struct ChipdockEnv *env,
                  struct ChipdockModuleHandle *out_module);
} ChipdockModuleLoader;

// Releases the data that a registered function owns; never null.
typedef void (*ChipdockDeleter)(void *self_);

// The registrar, with which a plugin's `init` registers what the plugin offers. Valid only during
// `init`.
//
// Each function copies names and texts, borrows tables for the life of the process (make them
// static), and takes over `self_`, which is released by the table's `destroy`; also when
// registration fails later. A non-zero return has raised an error; `init` then returns it.
typedef struct ChipdockRegistrar {
  // The host's own pointer.
  void *self_;
  // Registers `device_api.<name>`. `device_type` is DLPack's number, or 0 to have the host
  // assign one; the number that is used is written to `out_device_type`. `info_json` here and
  // below is a JSON object, or empty for none; unknown keys are ignored.
  int32_t (*device_api)(void *self_,
                        struct ChipdockStr name,
                        int32_t device_type,
                        struct ChipdockStr info_json,
                        void *api_self,
                        const struct ChipdockDeviceApi *api,
                        int32_t *out_device_type);
  // Registers `target.kind.<name>`; `schema_json` is the kind as data.
  int32_t (*target_kind)(void *self_,
                         struct ChipdockStr name,
                         struct ChipdockStr schema_json,
                         void *kind_self,
                         const struct ChipdockTargetKind *kind);
  // Registers `target.build.<kind>`. `info_json` has `ir_min` and `ir_max`: the oldest and the
  // newest version of the IR's wire format that the generator reads, semver.
  int32_t (*codegen)(void *self_,
                     struct ChipdockStr kind,
                     struct ChipdockStr info_json,
                     void *codegen_self,
                     const struct ChipdockCodegen *codegen);
  // Registers `module.load.<kind>`.
  int32_t (*module_loader)(void *self_,
                           struct ChipdockStr kind,
                           struct ChipdockStr info_json,
                           void *loader_self,
                           const struct ChipdockModuleLoader *loader);
  // Registers `function.<name>`, a plain function; `deleter` releases `function_self` (an empty
  // one is allowed, null is not).
  int32_t (*function)(void *self_,
                      struct ChipdockStr name,
                      void *function_self,
                      ChipdockSafeCall call,
                      ChipdockDeleter deleter);
  // Extends the registration of this plugin under `key` (or the plugin itself, by its own name)
  // by the interface `name` in a version, for instance `device_api.x` by `reset` 1. `deleter`
  // releases the interface's `self_`, whatever this returns. A host that does not know the
  // interface returns success and keeps it unused; unknown feature bits are ignored.
  int32_t (*extend)(void *self_,
                    struct ChipdockStr key,
                    struct ChipdockStr name,
                    uint32_t version,
                    const struct ChipdockInterface *what,
                    ChipdockDeleter deleter);
} ChipdockRegistrar;

// Sizes of the frozen tables, in bytes, as the plugin was compiled.
typedef struct ChipdockTableSizes {
  // `sizeof(ChipdockHost)`.
  uint32_t host;
  // `sizeof(ChipdockRegistrar)`.
  uint32_t registrar;
  // `sizeof(ChipdockEnv)`.
  uint32_t env;
  // `sizeof(ChipdockDeviceApi)`.
  uint32_t device_api;
  // `sizeof(ChipdockTargetKind)`.
  uint32_t target_kind;
  // `sizeof(ChipdockCodegen)`.
  uint32_t codegen;
  // `sizeof(ChipdockModuleLoader)`.
  uint32_t module_loader;
  // `sizeof(ChipdockModule)`.
  uint32_t module;
  // `sizeof(ChipdockAny)`.
  uint32_t any;
  // `sizeof(ChipdockTensor)`.
  uint32_t tensor;
} ChipdockTableSizes;

// The descriptor of a plugin: static, returned by its one symbol, frozen for the major.
typedef struct ChipdockPlugin {
  // `CHIPDOCK_MAGIC`.
  uint64_t magic;
  // `CHIPDOCK_ABI_MAJOR` of the header that the plugin was built with.
  uint32_t abi_major;
  // `CHIPDOCK_ABI_MINOR` of the header that the plugin was built with.
  uint32_t abi_minor;
  // `CHIPDOCK_LAYOUT_HASH` of the header that the plugin was built with.
  uint64_t layout_hash;
  // Sizes of the frozen tables as the plugin was compiled.
  struct ChipdockTableSizes table_sizes;
  // Name: lower-case letters, digits, `-` and `_`; the same as in the manifest.
  struct ChipdockStr name;
  // Version, semver.
  struct ChipdockStr version;
  // A text that distinguishes builds of one version; may be empty. A host then shows what the
  // linker wrote (`NT_GNU_BUILD_ID`), or the beginning of the library's SHA-256.
  struct ChipdockStr build_id;
  // A JSON object, or empty for none; unknown keys are ignored. `settings` in it declares the
  // settings that interface `config` 1 of a host answers.
  struct ChipdockStr info_json;
  // Registers what the plugin offers, and writes the plugin's instance for this host (which may
  // be null) only on success. Runs once for each host, with no other call of that host during
  // it. Starts no thread and calls no vendor driver. On failure nothing stays registered, and
  // neither function below is called.
  int32_t (*init)(const struct ChipdockHost *host,
                  const struct ChipdockRegistrar *registrar,
                  void **out_instance);
  // Drains the work for that host. Called once, after each `init` that succeeded, before
  // anything that was registered is destroyed. Later calls return `Unavailable`.
  int32_t (*shutdown)(void *instance);
  // Releases the instance: called once, after every `destroy` and deleter of registered objects
  // and of loaded modules, whatever `shutdown` returned.
  void (*release)(void *instance);
} ChipdockPlugin;

// Interface `reset` 1 of a device API.
typedef struct ChipdockReset1 {
  // Opens a lost device again. Failures that nobody took are forgotten; on a device that is not
  // lost nothing else changes. Objects made on a lost device before (data spaces, streams,
  // modules) may be freed, and are unusable otherwise.
  int32_t (*reset)(void *self_, int32_t device_id);
} ChipdockReset1;

// Interface `timer` 1 of a device API: times work between two marks of a device's streams.
//
// Handles of marks belong to the plugin. Clauses N.1 to N.8 state what each function promises.
typedef struct ChipdockTimer1 {
  // Queues a mark after the work that the stream has; it is reached when that work is done. Null
  // is the default stream.
  int32_t (*mark)(void *self_, int32_t device_id, void *stream, void **out);
  // Waits until both marks are reached, and writes the time of the device from one to the other
  // in nanoseconds: negative if `from` was reached after `to`.
  int32_t (*elapsed)(void *self_, int32_t device_id, void *from, void *to, double *out_nanoseconds);
  // Frees a mark, reached or not; null is allowed.
  int32_t (*free_mark)(void *self_, int32_t device_id, void *mark);
} ChipdockTimer1;

// Interface `timeline` 1 of a device API: values that rise as work is done, for which streams and
// the host wait.
//
// Handles of timelines belong to the plugin. Clauses N.18 to N.30 state what each function
// promises.
typedef struct ChipdockTimeline1 {
  // Makes a timeline whose value is `initial`.
  int32_t (*create)(void *self_, int32_t device_id, uint64_t initial, void **out_timeline);
  // Frees a timeline; null is allowed. Queued signals and waits take effect nevertheless.
  int32_t (*free)(void *self_, int32_t device_id, void *timeline);
  // Makes the timeline reach `value` when the work that the stream has is done. Null is the
  // default stream.
  int32_t (*signal)(void *self_, int32_t device_id, void *stream, void *timeline, uint64_t value);
  // Makes work queued later on the stream wait until the timeline has reached `value`, for which
  // a signal is queued already.
  int32_t (*wait)(void *self_, int32_t device_id, void *stream, void *timeline, uint64_t value);
  // Writes the value that is reached; waits for nothing.
  int32_t (*query)(void *self_, int32_t device_id, void *timeline, uint64_t *out_value);
  // Waits until the timeline has reached `value`, and writes 1; or until so many nanoseconds
  // have passed, and writes 0. `UINT64_MAX` nanoseconds never pass.
  int32_t (*host_wait)(void *self_,
                       int32_t device_id,
                       void *timeline,
                       uint64_t value,
                       uint64_t timeout_ns,
                       int32_t *out_reached);
  // Makes the timeline reach `value` now, or after the signals that are queued.
  int32_t (*host_signal)(void *self_, int32_t device_id, void *timeline, uint64_t value);
} ChipdockTimeline1;

// Extension `timeline.wait` or `timeline.signal` of a copy or a launch: a timeline of its device,
// and the value that it waits for or signals (N.28).
typedef struct ChipdockTimelinePoint {
  // Its name, its size, and the flag that it must be understood.
  struct ChipdockExtension extension;
  // The timeline.
  void *timeline;
  // The value.
  uint64_t value;
} ChipdockTimelinePoint;

// One replay of a graph. It and all that it points to are borrowed for the call.
typedef struct ChipdockReplay {
  // The device of the graph.
  int32_t device_id;
  // Flags; unknown bits are ignored, and none is defined yet.
  uint32_t flags;
  // The stream on which the recorded work is queued; null for the default stream.
  void *stream;
  // A data space for each parameter of the graph, in their order.
  void *const *arguments;
  // The number of arguments.
  uint64_t arguments_count;
  // A chain of extensions, or null.
  const struct ChipdockExtension *next;
} ChipdockReplay;

// Interface `graph` 1 of a device API: copies and launches that are recorded once, and replayed
// with other data spaces.
//
// Handles of graphs belong to the plugin. Clauses N.40 to N.49 state what each function promises.
typedef struct ChipdockGraph1 {
  // Makes an empty graph. The parameters are data spaces of the device, in whose place each
  // replay uses its arguments.
  int32_t (*create)(void *self_,
                    int32_t device_id,
                    void *const *parameters,
                    uint64_t parameters_count,
                    void **out_graph);
  // Frees a graph; null is allowed. Queued replays take effect nevertheless.
  int32_t (*free)(void *self_, int32_t device_id, void *graph);
  // Ends the recording, and makes all that replays have in common.
  int32_t (*finish)(void *self_, int32_t device_id, void *graph);
  // Queues all that was recorded, in its order, and returns.
  int32_t (*replay)(void *self_, void *graph, const struct ChipdockReplay *request);
} ChipdockGraph1;

// Extension `graph.record` of a copy or a launch: the graph to which it is added instead of being
// queued (N.41).
typedef struct ChipdockGraphRecord {
  // Its name, its size, and the flag that it must be understood.
  struct ChipdockExtension extension;
  // The graph.
  void *graph;
} ChipdockGraphRecord;

// Interface `external` 1 of a device API: streams and memory that a program shares with the
// driver's own interface.
//
// The plugin's documentation states what a native handle is: `CUstream` and `CUdeviceptr`,
// `cl_command_queue` and `cl_mem`. It is passed by value in a pointer. Clauses N.9 to N.15 state
// what each function promises.
typedef struct ChipdockExternal1 {
  // Makes a stream from a native one, which the caller keeps and which outlives it.
  // `free_stream` frees it.
  int32_t (*adopt_stream)(void *self_, int32_t device_id, void *native, void **out);
  // Writes the native handle of a stream, borrowed from it. Null is the default stream.
  int32_t (*native_stream)(void *self_, int32_t device_id, void *stream, void **out_native);
  // Writes the native handle of a data space's memory, borrowed from it, and the offset at which
  // the data space begins in it.
  int32_t (*native_data)(void *self_,
                         int32_t device_id,
                         void *data,
                         void **out_native,
                         uint64_t *out_offset_bytes);
  // Makes a data space from host memory, which the caller keeps and which outlives it.
  // `free_data_space` frees it.
  int32_t (*adopt_host_memory)(void *self_, int32_t device_id, void *address, uint64_t size_bytes, void **out);
} ChipdockExternal1;

// Interface `map` 1 of a device API: host addresses of memory whose handle is no address.
//
// Clauses D.32 and N.16 to N.17 state what it promises.
typedef struct ChipdockMap1 {
  // Writes the address of a data space that the host reads and writes in place.
  int32_t (*address)(void *self_, int32_t device_id, void *data, void **out_address);
} ChipdockMap1;

// Interface `memory.async` 1 of a device API: memory in the order of a stream.
//
// Clauses N.31 to N.35 state what each function promises.
typedef struct ChipdockMemoryAsync1 {
  // Allocates a data space for work that is queued later on `stream`, or on a stream that waits
  // for it; waits for nothing. On `OutOfMemory` nothing has changed.
  int32_t (*allocate)(void *self_,
                      int32_t device_id,
                      const struct ChipdockDataSpaceRequest *request,
                      void *stream,
                      void **out_data);
  // Frees a data space of `allocate` when the work is done that `stream` has now; waits for
  // nothing. Null is allowed.
  int32_t (*free)(void *self_, int32_t device_id, void *data, void *stream);
} ChipdockMemoryAsync1;

// Interface `workspace` 1 of a device API: the device's own workspace, in place of the host's.
//
// Clauses N.36 to N.39 state what each function promises.
typedef struct ChipdockWorkspace1 {
  // Allocates memory for work that is queued later on `stream`, for this thread alone.
  int32_t (*allocate)(void *self_, int32_t device_id, uint64_t size_bytes, void *stream, void **out_data);
  // Frees workspace on the stream and the thread that allocated it, the last first, while work
  // that uses it may still be queued there.
  int32_t (*free)(void *self_, int32_t device_id, void *data, void *stream);
} ChipdockWorkspace1;

// Interface `object` 1 of a module loader: the code of an artifact as an object file.
//
// Clauses M.15 to M.19 state what it promises.
typedef struct ChipdockObject1 {
  // Writes the artifact's code as owned bytes: one relocatable object for the machine that the
  // artifact was built for.
  int32_t (*object)(void *self_, const struct ChipdockArtifact *artifact, struct ChipdockAny *out_object);
} ChipdockObject1;

// Interface `conformance` 1 of a host that runs the conformance suite. Test hooks are registered
// only with such a host.
typedef struct ChipdockConformance1 {
  // Returns non-zero if test hooks are to be registered.
  int32_t (*wants_hooks)(void *self_);
} ChipdockConformance1;

// Interface `config` 1 of a host.
typedef struct ChipdockConfig1 {
  // Writes the value of a setting of the plugin whose table of the host was asked for this
  // interface: a bool, an int, a float or an owned string, as declared, or None if nobody set it
  // and it has no default. A key that the plugin does not declare is `KeyError`, a value of the
  // wrong type `ValueError`. May be called during `init`.
  int32_t (*get)(void *self_, struct ChipdockStr key, struct ChipdockAny *out_value);
} ChipdockConfig1;

// Interface `progress` 1 of a build session: tells the user what a long build is at.
typedef struct ChipdockProgress1 {
  // Says what begins now, one line without a full stop: `optimise`, `ptxas for sm_90`. Steps
  // change nothing about the build, and a host may leave them out.
  int32_t (*step)(void *self_, struct ChipdockStr text);
} ChipdockProgress1;

// Interface `interrupt` 1 of the environment: lets whoever called end a long computation.
typedef struct ChipdockInterrupt1 {
  // Returns 0 to go on, or -1 with an error raised: the function that asks fails with it. Cheap,
  // from any thread, and never waits for other work of the call (X.13).
  int32_t (*go_on)(void *self_);
} ChipdockInterrupt1;

// Interface `needs` 1 of a host.
typedef struct ChipdockNeeds1 {
  // Writes the interface that another plugin registered under a key such as
  // `device_api.cuda/external/1`, which `needs.keys` of the asking plugin's manifest has. It may
  // be used until the asking plugin's `shutdown` has returned. A key that the manifest does not
  // name is `KeyError`. Not called during `init`.
  int32_t (*find)(void *self_, struct ChipdockStr key, struct ChipdockInterface *out_interface);
} ChipdockNeeds1;

// A kernel of a loaded module, as interface `launch` 1 returns it. It lives as long as the module.
typedef struct ChipdockEntry {
  // The module's own pointer; null if there is no kernel of that name.
  void *entry;
  // Type of the devices that the kernel runs on.
  int32_t device_type;
  // Flags; unknown bits are ignored, and none is defined yet.
  uint32_t flags;
} ChipdockEntry;

// One launch. It and all that it points to are borrowed for the call.
typedef struct ChipdockLaunchRequest {
  // The device that runs the kernel.
  int32_t device_id;
  // Flags; unknown bits are ignored, and none is defined yet.
  uint32_t flags;
  // The stream on which the launch is queued; null for the default stream.
  void *stream;
  // Blocks along x, y and z; 1 along an axis that the kernel does not name.
  uint64_t grid[3];
  // Threads of a block along x, y and z; 1 along an axis that the kernel does not name.
  uint64_t block[3];
  // Bytes of dynamic shared memory of a block; 0 if the kernel does not take any.
  uint64_t dynamic_shared_bytes;
  // The address of each argument's value: of a handle, or of a scalar of the type that the index
  // states.
  const void *const *args;
  // The number of arguments.
  uint64_t args_count;
  // A chain of extensions, or null.
  const struct ChipdockExtension *next;
} ChipdockLaunchRequest;

// Interface `launch` 1 of a module.
typedef struct ChipdockLaunch1 {
  // Writes the kernel of that name, with a null `entry` if there is none, which is no error.
  int32_t (*entry)(void *self_, struct ChipdockStr name, struct ChipdockEntry *out_entry);
  // Queues a launch and returns.
  int32_t (*launch)(void *self_, void *entry, const struct ChipdockLaunchRequest *request);
} ChipdockLaunch1;

// Interface `memory` 1 of a host.
typedef struct ChipdockMemory1 {
  // Writes a compact tensor in global memory of that device as an owned object. Its elements are
  // uninitialised. It may outlive the plugin, and its memory returns to the host's pool.
  int32_t (*allocate_tensor)(void *self_,
                             struct ChipdockDevice device,
                             struct ChipdockDataType dtype,
                             const int64_t *shape,
                             int32_t ndim,
                             struct ChipdockAny *out_tensor);
} ChipdockMemory1;

/* A text from a string literal, as an initialiser. */
#define CHIPDOCK_STR(literal) { (literal), sizeof(literal) - 1 }

/* The sizes of the tables as this translation unit sees them, as an initialiser of ChipdockTableSizes. */
#define CHIPDOCK_TABLE_SIZES                                                                                  \
  { (uint32_t)sizeof(ChipdockHost),       (uint32_t)sizeof(ChipdockRegistrar),                                \
    (uint32_t)sizeof(ChipdockEnv),        (uint32_t)sizeof(ChipdockDeviceApi),                                \
    (uint32_t)sizeof(ChipdockTargetKind), (uint32_t)sizeof(ChipdockCodegen),                                  \
    (uint32_t)sizeof(ChipdockModuleLoader), (uint32_t)sizeof(ChipdockModule),                                 \
    (uint32_t)sizeof(ChipdockAny),        (uint32_t)sizeof(ChipdockTensor) }

/*
 * The descriptor, as an initialiser; names are string literals. The whole entry of a plugin:
 *
 *   static const ChipdockPlugin plugin = CHIPDOCK_PLUGIN("npu", "1.0.0", "", npu_init, npu_shutdown, npu_release);
 *   const ChipdockPlugin *chipdock_plugin_v1(void) { return &plugin; }
 */
#define CHIPDOCK_PLUGIN(name, version, build_id, init, shutdown, release)                                     \
  CHIPDOCK_PLUGIN_WITH_INFO(name, version, build_id, "", init, shutdown, release)

/* As CHIPDOCK_PLUGIN, with further information, for instance the settings: `info_json` is a JSON object. */
#define CHIPDOCK_PLUGIN_WITH_INFO(name, version, build_id, info_json, init, shutdown, release)                \
  { CHIPDOCK_MAGIC, CHIPDOCK_ABI_MAJOR, CHIPDOCK_ABI_MINOR, CHIPDOCK_LAYOUT_HASH, CHIPDOCK_TABLE_SIZES,       \
    CHIPDOCK_STR(name), CHIPDOCK_STR(version), CHIPDOCK_STR(build_id), CHIPDOCK_STR(info_json), (init),       \
    (shutdown), (release) }

#if defined(_WIN32)
#define CHIPDOCK_EXPORT __declspec(dllexport)
#elif defined(__GNUC__)
#define CHIPDOCK_EXPORT __attribute__((visibility("default")))
#else
#define CHIPDOCK_EXPORT
#endif

/* The entry symbol of a plugin, which a host looks up; returns the same at every call, never null. */
CHIPDOCK_EXPORT const ChipdockPlugin *chipdock_plugin_v1(void);

#ifdef __cplusplus
} /* extern "C" */
#endif

/* The layouts, checked by the compiler that reads this: an array of a negative size does not compile. */
#define CHIPDOCK_ASSERT(name, condition) typedef char chipdock_assert_##name[(condition) ? 1 : -1]
#define CHIPDOCK_ASSERT_SIZE(type, bytes) CHIPDOCK_ASSERT(size_of_##type, sizeof(type) == (bytes))
#define CHIPDOCK_ASSERT_OFFSET(type, field, bytes) \
  CHIPDOCK_ASSERT(offset_of_##type##_##field, offsetof(type, field) == (bytes))

CHIPDOCK_ASSERT(pointers_are_64_bits, sizeof(void *) == 8);
CHIPDOCK_ASSERT_SIZE(ChipdockAny, 16);
CHIPDOCK_ASSERT_OFFSET(ChipdockAny, type_index, 0);
CHIPDOCK_ASSERT_OFFSET(ChipdockAny, small_length, 4);
CHIPDOCK_ASSERT_OFFSET(ChipdockAny, value, 8);
CHIPDOCK_ASSERT_SIZE(ChipdockObject, 24);
CHIPDOCK_ASSERT_OFFSET(ChipdockObject, combined_ref_count, 0);
CHIPDOCK_ASSERT_OFFSET(ChipdockObject, type_index, 8);
CHIPDOCK_ASSERT_OFFSET(ChipdockObject, padding, 12);
CHIPDOCK_ASSERT_OFFSET(ChipdockObject, deleter, 16);
CHIPDOCK_ASSERT_SIZE(ChipdockStr, 16);
CHIPDOCK_ASSERT_OFFSET(ChipdockStr, data, 0);
CHIPDOCK_ASSERT_OFFSET(ChipdockStr, size, 8);
CHIPDOCK_ASSERT_SIZE(ChipdockByteArrayObject, 40);
CHIPDOCK_ASSERT_OFFSET(ChipdockByteArrayObject, bytes, 24);
CHIPDOCK_ASSERT_SIZE(ChipdockShapeObject, 40);
CHIPDOCK_ASSERT_OFFSET(ChipdockShapeObject, data, 24);
CHIPDOCK_ASSERT_OFFSET(ChipdockShapeObject, size, 32);
CHIPDOCK_ASSERT_SIZE(ChipdockTensorObject, 72);
CHIPDOCK_ASSERT_OFFSET(ChipdockTensorObject, tensor, 24);
CHIPDOCK_ASSERT_SIZE(ChipdockFunctionObject, 40);
CHIPDOCK_ASSERT_OFFSET(ChipdockFunctionObject, safe_call, 24);
CHIPDOCK_ASSERT_OFFSET(ChipdockFunctionObject, cpp_call, 32);
CHIPDOCK_ASSERT_SIZE(ChipdockErrorObject, 96);
CHIPDOCK_ASSERT_OFFSET(ChipdockErrorObject, kind, 24);
CHIPDOCK_ASSERT_OFFSET(ChipdockErrorObject, message, 40);
CHIPDOCK_ASSERT_OFFSET(ChipdockErrorObject, backtrace, 56);
CHIPDOCK_ASSERT_OFFSET(ChipdockErrorObject, update_backtrace, 72);
CHIPDOCK_ASSERT_OFFSET(ChipdockErrorObject, cause_chain, 80);
CHIPDOCK_ASSERT_OFFSET(ChipdockErrorObject, extra_context, 88);
CHIPDOCK_ASSERT_SIZE(ChipdockArrayObject, 56);
CHIPDOCK_ASSERT_OFFSET(ChipdockArrayObject, data, 24);
CHIPDOCK_ASSERT_OFFSET(ChipdockArrayObject, size, 32);
CHIPDOCK_ASSERT_OFFSET(ChipdockArrayObject, capacity, 40);
CHIPDOCK_ASSERT_OFFSET(ChipdockArrayObject, data_deleter, 48);
CHIPDOCK_ASSERT_SIZE(ChipdockDevice, 8);
CHIPDOCK_ASSERT_OFFSET(ChipdockDevice, device_type, 0);
CHIPDOCK_ASSERT_OFFSET(ChipdockDevice, device_id, 4);
CHIPDOCK_ASSERT_SIZE(ChipdockDataType, 4);
CHIPDOCK_ASSERT_OFFSET(ChipdockDataType, code, 0);
CHIPDOCK_ASSERT_OFFSET(ChipdockDataType, bits, 1);
CHIPDOCK_ASSERT_OFFSET(ChipdockDataType, lanes, 2);
CHIPDOCK_ASSERT_SIZE(ChipdockTensor, 48);
CHIPDOCK_ASSERT_OFFSET(ChipdockTensor, data, 0);
CHIPDOCK_ASSERT_OFFSET(ChipdockTensor, device, 8);
CHIPDOCK_ASSERT_OFFSET(ChipdockTensor, ndim, 16);
CHIPDOCK_ASSERT_OFFSET(ChipdockTensor, dtype, 20);
CHIPDOCK_ASSERT_OFFSET(ChipdockTensor, shape, 24);
CHIPDOCK_ASSERT_OFFSET(ChipdockTensor, strides, 32);
CHIPDOCK_ASSERT_OFFSET(ChipdockTensor, byte_offset, 40);
CHIPDOCK_ASSERT_SIZE(ChipdockManagedTensor, 64);
CHIPDOCK_ASSERT_OFFSET(ChipdockManagedTensor, dl_tensor, 0);
CHIPDOCK_ASSERT_OFFSET(ChipdockManagedTensor, manager_ctx, 48);
CHIPDOCK_ASSERT_OFFSET(ChipdockManagedTensor, deleter, 56);
CHIPDOCK_ASSERT_SIZE(ChipdockManagedTensorVersioned, 80);
CHIPDOCK_ASSERT_OFFSET(ChipdockManagedTensorVersioned, version, 0);
CHIPDOCK_ASSERT_OFFSET(ChipdockManagedTensorVersioned, manager_ctx, 8);
CHIPDOCK_ASSERT_OFFSET(ChipdockManagedTensorVersioned, deleter, 16);
CHIPDOCK_ASSERT_OFFSET(ChipdockManagedTensorVersioned, flags, 24);
CHIPDOCK_ASSERT_OFFSET(ChipdockManagedTensorVersioned, dl_tensor, 32);
CHIPDOCK_ASSERT_SIZE(ChipdockHost, 88);
CHIPDOCK_ASSERT_OFFSET(ChipdockHost, abi_major, 0);
CHIPDOCK_ASSERT_OFFSET(ChipdockHost, abi_minor, 4);
CHIPDOCK_ASSERT_OFFSET(ChipdockHost, version, 8);
CHIPDOCK_ASSERT_OFFSET(ChipdockHost, self_, 24);
CHIPDOCK_ASSERT_OFFSET(ChipdockHost, raise, 32);
CHIPDOCK_ASSERT_OFFSET(ChipdockHost, raise_object, 40);
CHIPDOCK_ASSERT_OFFSET(ChipdockHost, take_error, 48);
CHIPDOCK_ASSERT_OFFSET(ChipdockHost, log, 56);
CHIPDOCK_ASSERT_OFFSET(ChipdockHost, function, 64);
CHIPDOCK_ASSERT_OFFSET(ChipdockHost, current_stream, 72);
CHIPDOCK_ASSERT_OFFSET(ChipdockHost, query, 80);
CHIPDOCK_ASSERT_SIZE(ChipdockRegistrar, 56);
CHIPDOCK_ASSERT_OFFSET(ChipdockRegistrar, self_, 0);
CHIPDOCK_ASSERT_OFFSET(ChipdockRegistrar, device_api, 8);
CHIPDOCK_ASSERT_OFFSET(ChipdockRegistrar, target_kind, 16);
CHIPDOCK_ASSERT_OFFSET(ChipdockRegistrar, codegen, 24);
CHIPDOCK_ASSERT_OFFSET(ChipdockRegistrar, module_loader, 32);
CHIPDOCK_ASSERT_OFFSET(ChipdockRegistrar, function, 40);
CHIPDOCK_ASSERT_OFFSET(ChipdockRegistrar, extend, 48);
CHIPDOCK_ASSERT_SIZE(ChipdockEnv, 104);
CHIPDOCK_ASSERT_OFFSET(ChipdockEnv, version, 0);
CHIPDOCK_ASSERT_OFFSET(ChipdockEnv, flags, 4);
CHIPDOCK_ASSERT_OFFSET(ChipdockEnv, self_, 8);
CHIPDOCK_ASSERT_OFFSET(ChipdockEnv, raise, 16);
CHIPDOCK_ASSERT_OFFSET(ChipdockEnv, allocate_workspace, 24);
CHIPDOCK_ASSERT_OFFSET(ChipdockEnv, free_workspace, 32);
CHIPDOCK_ASSERT_OFFSET(ChipdockEnv, current_stream, 40);
CHIPDOCK_ASSERT_OFFSET(ChipdockEnv, current_device, 48);
CHIPDOCK_ASSERT_OFFSET(ChipdockEnv, set_device, 56);
CHIPDOCK_ASSERT_OFFSET(ChipdockEnv, device_type, 64);
CHIPDOCK_ASSERT_OFFSET(ChipdockEnv, imported, 72);
CHIPDOCK_ASSERT_OFFSET(ChipdockEnv, parallel_launch, 80);
CHIPDOCK_ASSERT_OFFSET(ChipdockEnv, query, 88);
CHIPDOCK_ASSERT_OFFSET(ChipdockEnv, release, 96);
CHIPDOCK_ASSERT_SIZE(ChipdockDeviceApi, 80);
CHIPDOCK_ASSERT_OFFSET(ChipdockDeviceApi, destroy, 0);
CHIPDOCK_ASSERT_OFFSET(ChipdockDeviceApi, device_count, 8);
CHIPDOCK_ASSERT_OFFSET(ChipdockDeviceApi, attribute, 16);
CHIPDOCK_ASSERT_OFFSET(ChipdockDeviceApi, allocate_data_space, 24);
CHIPDOCK_ASSERT_OFFSET(ChipdockDeviceApi, free_data_space, 32);
CHIPDOCK_ASSERT_OFFSET(ChipdockDeviceApi, copy_data, 40);
CHIPDOCK_ASSERT_OFFSET(ChipdockDeviceApi, create_stream, 48);
CHIPDOCK_ASSERT_OFFSET(ChipdockDeviceApi, free_stream, 56);
CHIPDOCK_ASSERT_OFFSET(ChipdockDeviceApi, sync_stream, 64);
CHIPDOCK_ASSERT_OFFSET(ChipdockDeviceApi, sync_stream_from_to, 72);
CHIPDOCK_ASSERT_SIZE(ChipdockExtension, 32);
CHIPDOCK_ASSERT_OFFSET(ChipdockExtension, next, 0);
CHIPDOCK_ASSERT_OFFSET(ChipdockExtension, name, 8);
CHIPDOCK_ASSERT_OFFSET(ChipdockExtension, flags, 24);
CHIPDOCK_ASSERT_OFFSET(ChipdockExtension, size_bytes, 28);
CHIPDOCK_ASSERT_SIZE(ChipdockDataSpaceRequest, 48);
CHIPDOCK_ASSERT_OFFSET(ChipdockDataSpaceRequest, size_bytes, 0);
CHIPDOCK_ASSERT_OFFSET(ChipdockDataSpaceRequest, alignment_bytes, 8);
CHIPDOCK_ASSERT_OFFSET(ChipdockDataSpaceRequest, dtype_hint, 16);
CHIPDOCK_ASSERT_OFFSET(ChipdockDataSpaceRequest, kind, 20);
CHIPDOCK_ASSERT_OFFSET(ChipdockDataSpaceRequest, scope, 24);
CHIPDOCK_ASSERT_OFFSET(ChipdockDataSpaceRequest, next, 40);
CHIPDOCK_ASSERT_SIZE(ChipdockCopyEnd, 24);
CHIPDOCK_ASSERT_OFFSET(ChipdockCopyEnd, device, 0);
CHIPDOCK_ASSERT_OFFSET(ChipdockCopyEnd, data, 8);
CHIPDOCK_ASSERT_OFFSET(ChipdockCopyEnd, offset_bytes, 16);
CHIPDOCK_ASSERT_SIZE(ChipdockCopy, 72);
CHIPDOCK_ASSERT_OFFSET(ChipdockCopy, from, 0);
CHIPDOCK_ASSERT_OFFSET(ChipdockCopy, to, 24);
CHIPDOCK_ASSERT_OFFSET(ChipdockCopy, size_bytes, 48);
CHIPDOCK_ASSERT_OFFSET(ChipdockCopy, dtype_hint, 56);
CHIPDOCK_ASSERT_OFFSET(ChipdockCopy, flags, 60);
CHIPDOCK_ASSERT_OFFSET(ChipdockCopy, next, 64);
CHIPDOCK_ASSERT_SIZE(ChipdockTargetKind, 16);
CHIPDOCK_ASSERT_OFFSET(ChipdockTargetKind, destroy, 0);
CHIPDOCK_ASSERT_OFFSET(ChipdockTargetKind, canonicalize, 8);
CHIPDOCK_ASSERT_SIZE(ChipdockBuildRequest, 80);
CHIPDOCK_ASSERT_OFFSET(ChipdockBuildRequest, ir, 0);
CHIPDOCK_ASSERT_OFFSET(ChipdockBuildRequest, target_json, 16);
CHIPDOCK_ASSERT_OFFSET(ChipdockBuildRequest, options_json, 32);
CHIPDOCK_ASSERT_OFFSET(ChipdockBuildRequest, sections, 48);
CHIPDOCK_ASSERT_OFFSET(ChipdockBuildRequest, sections_count, 56);
CHIPDOCK_ASSERT_OFFSET(ChipdockBuildRequest, threads_max, 64);
CHIPDOCK_ASSERT_OFFSET(ChipdockBuildRequest, flags, 68);
CHIPDOCK_ASSERT_OFFSET(ChipdockBuildRequest, next, 72);
CHIPDOCK_ASSERT_SIZE(ChipdockDiagnostic, 88);
CHIPDOCK_ASSERT_OFFSET(ChipdockDiagnostic, severity, 0);
CHIPDOCK_ASSERT_OFFSET(ChipdockDiagnostic, line, 4);
CHIPDOCK_ASSERT_OFFSET(ChipdockDiagnostic, column, 8);
CHIPDOCK_ASSERT_OFFSET(ChipdockDiagnostic, flags, 12);
CHIPDOCK_ASSERT_OFFSET(ChipdockDiagnostic, function, 16);
CHIPDOCK_ASSERT_OFFSET(ChipdockDiagnostic, node, 32);
CHIPDOCK_ASSERT_OFFSET(ChipdockDiagnostic, message, 48);
CHIPDOCK_ASSERT_OFFSET(ChipdockDiagnostic, hint, 64);
CHIPDOCK_ASSERT_OFFSET(ChipdockDiagnostic, next, 80);
CHIPDOCK_ASSERT_SIZE(ChipdockBuildSession, 48);
CHIPDOCK_ASSERT_OFFSET(ChipdockBuildSession, self_, 0);
CHIPDOCK_ASSERT_OFFSET(ChipdockBuildSession, index, 8);
CHIPDOCK_ASSERT_OFFSET(ChipdockBuildSession, section, 16);
CHIPDOCK_ASSERT_OFFSET(ChipdockBuildSession, diagnostic, 24);
CHIPDOCK_ASSERT_OFFSET(ChipdockBuildSession, is_cancelled, 32);
CHIPDOCK_ASSERT_OFFSET(ChipdockBuildSession, query, 40);
CHIPDOCK_ASSERT_SIZE(ChipdockCodegen, 32);
CHIPDOCK_ASSERT_OFFSET(ChipdockCodegen, destroy, 0);
CHIPDOCK_ASSERT_OFFSET(ChipdockCodegen, unsupported, 8);
CHIPDOCK_ASSERT_OFFSET(ChipdockCodegen, build, 16);
CHIPDOCK_ASSERT_OFFSET(ChipdockCodegen, fingerprint, 24);
CHIPDOCK_ASSERT_SIZE(ChipdockSection, 56);
CHIPDOCK_ASSERT_OFFSET(ChipdockSection, name, 0);
CHIPDOCK_ASSERT_OFFSET(ChipdockSection, kind, 16);
CHIPDOCK_ASSERT_OFFSET(ChipdockSection, alignment_bytes, 32);
CHIPDOCK_ASSERT_OFFSET(ChipdockSection, data, 40);
CHIPDOCK_ASSERT_OFFSET(ChipdockSection, size_bytes, 48);
CHIPDOCK_ASSERT_SIZE(ChipdockArtifact, 40);
CHIPDOCK_ASSERT_OFFSET(ChipdockArtifact, index_json, 0);
CHIPDOCK_ASSERT_OFFSET(ChipdockArtifact, sections, 16);
CHIPDOCK_ASSERT_OFFSET(ChipdockArtifact, sections_count, 24);
CHIPDOCK_ASSERT_OFFSET(ChipdockArtifact, next, 32);
CHIPDOCK_ASSERT_SIZE(ChipdockModule, 24);
CHIPDOCK_ASSERT_OFFSET(ChipdockModule, destroy, 0);
CHIPDOCK_ASSERT_OFFSET(ChipdockModule, function, 8);
CHIPDOCK_ASSERT_OFFSET(ChipdockModule, query, 16);
CHIPDOCK_ASSERT_SIZE(ChipdockModuleHandle, 16);
CHIPDOCK_ASSERT_OFFSET(ChipdockModuleHandle, self_, 0);
CHIPDOCK_ASSERT_OFFSET(ChipdockModuleHandle, table, 8);
CHIPDOCK_ASSERT_SIZE(ChipdockModuleLoader, 24);
CHIPDOCK_ASSERT_OFFSET(ChipdockModuleLoader, destroy, 0);
CHIPDOCK_ASSERT_OFFSET(ChipdockModuleLoader, verdict, 8);
CHIPDOCK_ASSERT_OFFSET(ChipdockModuleLoader, load, 16);
CHIPDOCK_ASSERT_SIZE(ChipdockTableSizes, 40);
CHIPDOCK_ASSERT_OFFSET(ChipdockTableSizes, host, 0);
CHIPDOCK_ASSERT_OFFSET(ChipdockTableSizes, registrar, 4);
CHIPDOCK_ASSERT_OFFSET(ChipdockTableSizes, env, 8);
CHIPDOCK_ASSERT_OFFSET(ChipdockTableSizes, device_api, 12);
CHIPDOCK_ASSERT_OFFSET(ChipdockTableSizes, target_kind, 16);
CHIPDOCK_ASSERT_OFFSET(ChipdockTableSizes, codegen, 20);
CHIPDOCK_ASSERT_OFFSET(ChipdockTableSizes, module_loader, 24);
CHIPDOCK_ASSERT_OFFSET(ChipdockTableSizes, module, 28);
CHIPDOCK_ASSERT_OFFSET(ChipdockTableSizes, any, 32);
CHIPDOCK_ASSERT_OFFSET(ChipdockTableSizes, tensor, 36);
CHIPDOCK_ASSERT_SIZE(ChipdockInterface, 32);
CHIPDOCK_ASSERT_OFFSET(ChipdockInterface, self_, 0);
CHIPDOCK_ASSERT_OFFSET(ChipdockInterface, table, 8);
CHIPDOCK_ASSERT_OFFSET(ChipdockInterface, table_size_bytes, 16);
CHIPDOCK_ASSERT_OFFSET(ChipdockInterface, features, 24);
CHIPDOCK_ASSERT_SIZE(ChipdockPlugin, 152);
CHIPDOCK_ASSERT_OFFSET(ChipdockPlugin, magic, 0);
CHIPDOCK_ASSERT_OFFSET(ChipdockPlugin, abi_major, 8);
CHIPDOCK_ASSERT_OFFSET(ChipdockPlugin, abi_minor, 12);
CHIPDOCK_ASSERT_OFFSET(ChipdockPlugin, layout_hash, 16);
CHIPDOCK_ASSERT_OFFSET(ChipdockPlugin, table_sizes, 24);
CHIPDOCK_ASSERT_OFFSET(ChipdockPlugin, name, 64);
CHIPDOCK_ASSERT_OFFSET(ChipdockPlugin, version, 80);
CHIPDOCK_ASSERT_OFFSET(ChipdockPlugin, build_id, 96);
CHIPDOCK_ASSERT_OFFSET(ChipdockPlugin, info_json, 112);
CHIPDOCK_ASSERT_OFFSET(ChipdockPlugin, init, 128);
CHIPDOCK_ASSERT_OFFSET(ChipdockPlugin, shutdown, 136);
CHIPDOCK_ASSERT_OFFSET(ChipdockPlugin, release, 144);
CHIPDOCK_ASSERT_SIZE(ChipdockReset1, 8);
CHIPDOCK_ASSERT_OFFSET(ChipdockReset1, reset, 0);
CHIPDOCK_ASSERT_SIZE(ChipdockTimer1, 24);
CHIPDOCK_ASSERT_OFFSET(ChipdockTimer1, mark, 0);
CHIPDOCK_ASSERT_OFFSET(ChipdockTimer1, elapsed, 8);
CHIPDOCK_ASSERT_OFFSET(ChipdockTimer1, free_mark, 16);
CHIPDOCK_ASSERT_SIZE(ChipdockTimeline1, 56);
CHIPDOCK_ASSERT_OFFSET(ChipdockTimeline1, create, 0);
CHIPDOCK_ASSERT_OFFSET(ChipdockTimeline1, free, 8);
CHIPDOCK_ASSERT_OFFSET(ChipdockTimeline1, signal, 16);
CHIPDOCK_ASSERT_OFFSET(ChipdockTimeline1, wait, 24);
CHIPDOCK_ASSERT_OFFSET(ChipdockTimeline1, query, 32);
CHIPDOCK_ASSERT_OFFSET(ChipdockTimeline1, host_wait, 40);
CHIPDOCK_ASSERT_OFFSET(ChipdockTimeline1, host_signal, 48);
CHIPDOCK_ASSERT_SIZE(ChipdockTimelinePoint, 48);
CHIPDOCK_ASSERT_OFFSET(ChipdockTimelinePoint, extension, 0);
CHIPDOCK_ASSERT_OFFSET(ChipdockTimelinePoint, timeline, 32);
CHIPDOCK_ASSERT_OFFSET(ChipdockTimelinePoint, value, 40);
CHIPDOCK_ASSERT_SIZE(ChipdockReplay, 40);
CHIPDOCK_ASSERT_OFFSET(ChipdockReplay, device_id, 0);
CHIPDOCK_ASSERT_OFFSET(ChipdockReplay, flags, 4);
CHIPDOCK_ASSERT_OFFSET(ChipdockReplay, stream, 8);
CHIPDOCK_ASSERT_OFFSET(ChipdockReplay, arguments, 16);
CHIPDOCK_ASSERT_OFFSET(ChipdockReplay, arguments_count, 24);
CHIPDOCK_ASSERT_OFFSET(ChipdockReplay, next, 32);
CHIPDOCK_ASSERT_SIZE(ChipdockGraph1, 32);
CHIPDOCK_ASSERT_OFFSET(ChipdockGraph1, create, 0);
CHIPDOCK_ASSERT_OFFSET(ChipdockGraph1, free, 8);
CHIPDOCK_ASSERT_OFFSET(ChipdockGraph1, finish, 16);
CHIPDOCK_ASSERT_OFFSET(ChipdockGraph1, replay, 24);
CHIPDOCK_ASSERT_SIZE(ChipdockGraphRecord, 40);
CHIPDOCK_ASSERT_OFFSET(ChipdockGraphRecord, extension, 0);
CHIPDOCK_ASSERT_OFFSET(ChipdockGraphRecord, graph, 32);
CHIPDOCK_ASSERT_SIZE(ChipdockExternal1, 32);
CHIPDOCK_ASSERT_OFFSET(ChipdockExternal1, adopt_stream, 0);
CHIPDOCK_ASSERT_OFFSET(ChipdockExternal1, native_stream, 8);
CHIPDOCK_ASSERT_OFFSET(ChipdockExternal1, native_data, 16);
CHIPDOCK_ASSERT_OFFSET(ChipdockExternal1, adopt_host_memory, 24);
CHIPDOCK_ASSERT_SIZE(ChipdockMap1, 8);
CHIPDOCK_ASSERT_OFFSET(ChipdockMap1, address, 0);
CHIPDOCK_ASSERT_SIZE(ChipdockMemoryAsync1, 16);
CHIPDOCK_ASSERT_OFFSET(ChipdockMemoryAsync1, allocate, 0);
CHIPDOCK_ASSERT_OFFSET(ChipdockMemoryAsync1, free, 8);
CHIPDOCK_ASSERT_SIZE(ChipdockWorkspace1, 16);
CHIPDOCK_ASSERT_OFFSET(ChipdockWorkspace1, allocate, 0);
CHIPDOCK_ASSERT_OFFSET(ChipdockWorkspace1, free, 8);
CHIPDOCK_ASSERT_SIZE(ChipdockObject1, 8);
CHIPDOCK_ASSERT_OFFSET(ChipdockObject1, object, 0);
CHIPDOCK_ASSERT_SIZE(ChipdockConformance1, 8);
CHIPDOCK_ASSERT_OFFSET(ChipdockConformance1, wants_hooks, 0);
CHIPDOCK_ASSERT_SIZE(ChipdockConfig1, 8);
CHIPDOCK_ASSERT_OFFSET(ChipdockConfig1, get, 0);
CHIPDOCK_ASSERT_SIZE(ChipdockProgress1, 8);
CHIPDOCK_ASSERT_OFFSET(ChipdockProgress1, step, 0);
CHIPDOCK_ASSERT_SIZE(ChipdockInterrupt1, 8);
CHIPDOCK_ASSERT_OFFSET(ChipdockInterrupt1, go_on, 0);
CHIPDOCK_ASSERT_SIZE(ChipdockNeeds1, 8);
CHIPDOCK_ASSERT_OFFSET(ChipdockNeeds1, find, 0);
CHIPDOCK_ASSERT_SIZE(ChipdockEntry, 16);
CHIPDOCK_ASSERT_OFFSET(ChipdockEntry, entry, 0);
CHIPDOCK_ASSERT_OFFSET(ChipdockEntry, device_type, 8);
CHIPDOCK_ASSERT_OFFSET(ChipdockEntry, flags, 12);
CHIPDOCK_ASSERT_SIZE(ChipdockLaunchRequest, 96);
CHIPDOCK_ASSERT_OFFSET(ChipdockLaunchRequest, device_id, 0);
CHIPDOCK_ASSERT_OFFSET(ChipdockLaunchRequest, flags, 4);
CHIPDOCK_ASSERT_OFFSET(ChipdockLaunchRequest, stream, 8);
CHIPDOCK_ASSERT_OFFSET(ChipdockLaunchRequest, grid, 16);
CHIPDOCK_ASSERT_OFFSET(ChipdockLaunchRequest, block, 40);
CHIPDOCK_ASSERT_OFFSET(ChipdockLaunchRequest, dynamic_shared_bytes, 64);
CHIPDOCK_ASSERT_OFFSET(ChipdockLaunchRequest, args, 72);
CHIPDOCK_ASSERT_OFFSET(ChipdockLaunchRequest, args_count, 80);
CHIPDOCK_ASSERT_OFFSET(ChipdockLaunchRequest, next, 88);
CHIPDOCK_ASSERT_SIZE(ChipdockLaunch1, 16);
CHIPDOCK_ASSERT_OFFSET(ChipdockLaunch1, entry, 0);
CHIPDOCK_ASSERT_OFFSET(ChipdockLaunch1, launch, 8);
CHIPDOCK_ASSERT_SIZE(ChipdockMemory1, 8);
CHIPDOCK_ASSERT_OFFSET(ChipdockMemory1, allocate_tensor, 0);

#endif /* CHIPDOCK_H */
