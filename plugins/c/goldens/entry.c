// Written by chipdock for target c: C11 and the vector types of gcc and clang.
// cc -std=gnu11 -O3 -fPIC -shared -fno-math-errno FILE -lm
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize ("no-tree-slp-vectorize")
#pragma GCC diagnostic ignored "-Wpsabi"
#endif

typedef struct {
    int32_t device_type;
    int32_t device_id;
} CdDevice;
typedef struct {
    void* data;
    CdDevice device;
    int32_t ndim;
    struct {
        uint8_t code;
        uint8_t bits;
        uint16_t lanes;
    } dtype;
    int64_t* shape;
    int64_t* strides;
    uint64_t byte_offset;
} CdTensor;
typedef struct {
    int32_t type_index;
    uint32_t small_length;
    union {
        int64_t v_int64;
        double v_float64;
        void* v_ptr;
    } value;
} CdAny;
typedef struct {
    char header[24];
    int32_t (*safe_call)(void*, const CdAny*, int32_t, CdAny*);
} CdFunction;
typedef struct ChipdockEnv ChipdockEnv;
struct ChipdockEnv {
    uint32_t version;
    uint32_t flags;
    void* self_;
    void (*raise)(const ChipdockEnv*, const char* kind, const char* message, const char* location);
    void* (*allocate_workspace)(const ChipdockEnv*, int32_t device_type, int32_t device_id, uint64_t size_bytes);
    int32_t (*free_workspace)(const ChipdockEnv*, int32_t device_type, int32_t device_id, void* data);
    int32_t (*current_stream)(const ChipdockEnv*, int32_t device_type, int32_t device_id, void** out_stream);
    int32_t (*current_device)(const ChipdockEnv*, int32_t device_type, int32_t* out_device_id);
    int32_t (*set_device)(const ChipdockEnv*, int32_t device_type, int32_t device_id);
    int32_t (*device_type)(const ChipdockEnv*, const char* name, int32_t* out_device_type);
    int32_t (*imported)(const ChipdockEnv*, const char* name, const CdFunction** out_function);
    int32_t (*parallel_launch)(const ChipdockEnv*, int32_t (*body)(int32_t, int32_t, void*), void* data, int32_t tasks_max);
    int32_t (*query)(const ChipdockEnv*, const char* name, uint32_t version, void* out_interface);
    void (*release)(const ChipdockEnv*);
};
// Set by whoever loads this; null: TVM-FFI's functions are looked for, then small fallbacks of our own serve.
__attribute__((visibility("default"))) const ChipdockEnv* __chipdock_env = 0;
extern void* dlsym(void* restrict handle, const char* restrict name);
__attribute__((cold, noinline, unused)) static int32_t cd_raise(const char* kind, const char* message, const char* location) {
    const ChipdockEnv* env = __chipdock_env;
    if (env) {
        env->raise(env, kind, message, location);
        return -1;
    }
    void (*raise)(const char*, const char*);
    void* found = dlsym(0, "TVMFFIErrorSetRaisedFromCStr");
    __builtin_memcpy(&raise, &found, sizeof(raise));
    if (raise) raise(kind, message);
    return -1;
}
__attribute__((malloc)) static void* cd_allocate_workspace(int32_t device_type, int32_t device_id, uint64_t size_bytes) {
    const ChipdockEnv* env = __chipdock_env;
    if (env) return env->allocate_workspace(env, device_type, device_id, size_bytes);
    // 64-byte aligned within a larger piece, whose start is kept just before it.
    char* whole = size_bytes < UINT64_MAX - 128 ? __builtin_malloc((size_t)size_bytes + 128) : 0;
    if (!whole) {
        cd_raise("OutOfMemory", "no memory left for workspace", 0);
        return 0;
    }
    char* data = (char*)(((uintptr_t)whole + 127) / 64 * 64);
    __builtin_memcpy(data - sizeof(whole), &whole, sizeof(whole));
    return data;
}
static int32_t cd_free_workspace(int32_t device_type, int32_t device_id, void* data) {
    const ChipdockEnv* env = __chipdock_env;
    if (env) return env->free_workspace(env, device_type, device_id, data);
    char* whole = 0;
    if (data) __builtin_memcpy(&whole, (char*)data - sizeof(whole), sizeof(whole));
    __builtin_free(whole);
    return 0;
}
__attribute__((cold, noinline, format(printf, 3, 4))) static int32_t cd_fail(const char* location, const char* kind, const char* format, ...) {
    char small[512], *message = small;
    va_list args;
    va_start(args, format);
    int length = __builtin_vsnprintf(small, sizeof(small), format, args);
    va_end(args);
    if (length >= (int)sizeof(small) && (message = __builtin_malloc((size_t)length + 1))) {
        va_start(args, format);
        __builtin_vsnprintf(message, (size_t)length + 1, format, args);
        va_end(args);
    }
    int32_t status = cd_raise(kind, message ? message : small, location);
    if (message != small) __builtin_free(message);
    return status;
}

static int32_t work_compute_(float* restrict A, int64_t n) {
    float* W = cd_allocate_workspace(1, 0, (uint64_t)n * 4ULL);
    if (W == NULL) {
        return -1;
    }
    for (int64_t i = 0LL; i < n; ++i) {
        W[i] = A[i] + 1.5f;
        A[i] = W[i];
    }
    cd_free_workspace(1, 0, W);
    return 0;
}

__attribute__((visibility("default"))) int32_t __tvm_ffi_work(void* self_handle, void* args, int32_t num_args, void* result) {
    if (!__builtin_expect(num_args == 1, 1)) {
        return cd_fail("__tvm_ffi_work", "ValueError", "Expected 1 argument, 100%% of \"them\", but got %lld of them\?\?!\n", (long long)num_args);
    }
    void* A_handle = ((const CdAny*)args)->value.v_ptr;
    int64_t* A_shape = ((const CdTensor*)A_handle)->shape;
    const int64_t n = ((const int64_t*)A_shape)[0];
    return work_compute_(((const CdTensor*)A_handle)->data, n);
    return 0;
}
