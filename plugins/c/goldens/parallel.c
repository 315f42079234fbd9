// Written by chipdock for target c: C11 and the vector types of gcc and clang.
// cc -std=gnu11 -O3 -fPIC -shared -fno-math-errno FILE -lm
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize ("no-tree-slp-vectorize")
#pragma GCC diagnostic ignored "-Wpsabi"
#endif

static inline __attribute__((always_inline)) int32_t cd_max_i32(int32_t a, int32_t b) {
    return a > b ? a : b;
}
static inline __attribute__((always_inline)) int32_t cd_min_i32(int32_t a, int32_t b) {
    return a < b ? a : b;
}
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
static int32_t (*cd_interrupt)(void*);
static void* cd_interrupt_self;
static int32_t cd_goes_on(void* self) {
    (void)self;
    return 0;
}
__attribute__((noinline)) static int32_t cd_go_on(void) {
    int32_t (*go_on)(void*) = __atomic_load_n(&cd_interrupt, __ATOMIC_ACQUIRE);
    if (__builtin_expect(!go_on, 0)) {
        const ChipdockEnv* env = __chipdock_env;
        struct {
            void* self;
            int32_t (*const* table)(void*);
            uint64_t table_size_bytes, features;
        } found = {0};
        go_on = cd_goes_on;
        if (env && !env->query(env, "interrupt", 1, &found) && found.table) {
            go_on = *found.table;
            __atomic_store_n(&cd_interrupt_self, found.self, __ATOMIC_RELAXED);
        }
        __atomic_store_n(&cd_interrupt, go_on, __ATOMIC_RELEASE);
    }
    return go_on(__atomic_load_n(&cd_interrupt_self, __ATOMIC_RELAXED));
}
static inline __attribute__((always_inline)) int64_t cd_min_i64(int64_t a, int64_t b) {
    return a < b ? a : b;
}
static inline __attribute__((always_inline)) int32_t cd_hidden_i32(int32_t x) {
#if defined(__GNUC__) && !defined(__clang__)
#if __GNUC__ >= 12
    return __builtin_assoc_barrier(x);
#else
    __asm__("" : "+r"(x));
#endif
#endif
    return x;
}
static inline __attribute__((always_inline)) int32_t cd_div_i32(int32_t a, int32_t b) {
    if (b == 0) return a;
    if (b == -1) return (int32_t)(0 - (uint32_t)a);
    a = cd_hidden_i32(a);
    b = cd_hidden_i32(b);
    return a / b;
}
static inline __attribute__((always_inline)) int32_t cd_mod_i32(int32_t a, int32_t b) {
    if (b == 0 || b == -1) return 0;
    return a % b;
}
static int32_t cd_parallel_launch(int32_t (*body)(int32_t, int32_t, void*), void* data, int32_t tasks_max) {
    const ChipdockEnv* env = __chipdock_env;
    return env ? env->parallel_launch(env, body, data, tasks_max) : body(0, 1, data);
}

__attribute__((noinline)) static int32_t scale_compute_region0_(int32_t first, int32_t count, float* restrict B, int32_t n, float* restrict A, float factor) {
    const int32_t first_1 = cd_min_i32(cd_max_i32(first, 0), 2147483646);
    const int32_t extent = cd_max_i32(cd_min_i32(count, 2147483647 - first_1), 0);
    const int32_t end = extent / 262144 + 1;
    for (int32_t block = 0; block < end; ++block) {
        if (block > 0) {
            const int32_t r = cd_go_on();
            if (r != 0) {
                return -1;
            }
        }
        const int32_t done = block * 262144;
        const int32_t start = (int32_t)cd_min_i64((int64_t)first_1 + (int64_t)done, 2147483647LL);
        const int32_t end_1 = start + cd_min_i32(cd_min_i32(262144, extent - done), 2147483647 - start);
        for (int32_t i = start; i < end_1; ++i) {
            B[i] = A[i] * factor;
        }
    }
    return 0;
}

static int32_t f_double(int32_t task_id, int32_t tasks_count, void* data) {
    const int32_t extent = (int32_t)((const CdAny*)data)[1].value.v_int64;
    const int32_t each = cd_div_i32(extent, tasks_count);
    const int32_t more = cd_mod_i32(extent, tasks_count);
    const int32_t first = (int32_t)((uint32_t)task_id * (uint32_t)each + (uint32_t)cd_min_i32(task_id, more));
    const int32_t count = (int32_t)((uint32_t)each + (uint32_t)(task_id < more ? 1 : 0));
    float* B = ((const CdAny*)data)->value.v_ptr;
    const int32_t n = (int32_t)((const CdAny*)data)[1].value.v_int64;
    float* A = ((const CdAny*)data)[2].value.v_ptr;
    const float factor = (float)((const CdAny*)data)[3].value.v_float64;
    return scale_compute_region0_(first, count, B, n, A, factor);
}

__attribute__((noinline)) __attribute__((unused)) static int32_t scale_compute_(float* restrict A, float* restrict B, float factor, int32_t n) {
    if (n > 0) {
        if (n == 1) {
            const int32_t r = scale_compute_region0_(0, n, B, n, A, factor);
            if (r != 0) {
                return -1;
            }
        } else {
            int64_t captured[8] __attribute__((aligned(64), unused));
            ((CdAny*)captured)->value.v_ptr = B;
            ((CdAny*)captured)[1].value.v_int64 = (int64_t)n;
            ((CdAny*)captured)[2].value.v_ptr = A;
            ((CdAny*)captured)[3].value.v_float64 = (double)factor;
            const int32_t r_1 = cd_parallel_launch(f_double, captured, n);
            if (r_1 != 0) {
                return -1;
            }
        }
    }
    return 0;
}
