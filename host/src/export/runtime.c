// The run time of an exported library: the environment that its code uses where no Chipdock host has set one. It is compiled
// with the library (rules EXPORT-R1 to EXPORT-R8 of export/mod.rs) and needs the C library alone. SPDX-License-Identifier: Apache-2.0

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "chipdock.h"

#define HIDDEN __attribute__((visibility("hidden")))

// What the library was made with: written beside this text.
typedef struct {
    const char *name;
    int32_t device_type;
} NamedDevice;
extern HIDDEN const NamedDevice chipdock_devices[];
extern HIDDEN const char chipdock_without_kernels[];
extern void *__tvm_ffi__library_ctx;
extern const ChipdockEnv *__chipdock_env;

// Not zero where this processor lacks an extension that the code may use (R8); `refuse` raises the error that says so.
extern HIDDEN char chipdock_lacks;
HIDDEN int32_t refuse(void);
// Answers a text to a function of the metadata: a string of TVM-FFI's own, which outlives this library.
HIDDEN int32_t answer_text(const char *text, size_t size, ChipdockAny *result);

// Where the rest is an object already, the text that joins it to a library takes the declarations alone.
#ifndef CHIPDOCK_RUNTIME_IS_COMPILED

#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__)
#include <sys/auxv.h>
#endif

// ---- TVM-FFI, where the process has it (R2) ----

// Looked up again while it is not there: it may be loaded later.
static void *tvm_ffi(void **kept, const char *name) {
    void *found = __atomic_load_n(kept, __ATOMIC_ACQUIRE);
    if (!found && (found = dlsym(RTLD_DEFAULT, name))) __atomic_store_n(kept, found, __ATOMIC_RELEASE);
    return found;
}

#define TVM_FFI(result, name, ...)                                  \
    static result (*find_##name(void))(__VA_ARGS__) {               \
        static void *kept;                                          \
        void *found = tvm_ffi(&kept, "TVMFFI" #name);               \
        result (*function)(__VA_ARGS__);                            \
        memcpy(&function, &found, sizeof(function));                \
        return function;                                            \
    }

TVM_FFI(int, ErrorCreate, const ChipdockStr *, const ChipdockStr *, const ChipdockStr *, void **)
TVM_FFI(void, ErrorSetRaised, void *)
TVM_FFI(void, ErrorMoveFromRaised, void **)
TVM_FFI(int, ObjectIncRef, void *)
TVM_FFI(int, ObjectDecRef, void *)
TVM_FFI(void *, EnvGetStream, int32_t, int32_t)
TVM_FFI(int, EnvModLookupFromImports, void *, const char *, void **)
TVM_FFI(int, StringFromByteArray, const ChipdockStr *, ChipdockAny *)

static ChipdockStr text_of(const char *text) {
    ChipdockStr found = {text, strlen(text)};
    return found;
}

static void *take_raised(void) {
    void (*move)(void **) = find_ErrorMoveFromRaised();
    void *error = NULL;
    if (move) move(&error);
    return error;
}

static void drop(void *object) {
    int (*release)(void *) = find_ObjectDecRef();
    if (object && release) release(object);
}

static void set_raised(void *error) {
    void (*set)(void *) = find_ErrorSetRaised();
    if (error && set) set(error);
    drop(error);
}

// ---- Errors ----

// A frame as Python prints it, of `function: file:line:column` or a part of that.
static void write_frame(char *frame, size_t size, const char *location) {
    const char *place = strstr(location, ": ");
    int name_size = place ? (int)(place - location) : (int)strlen(location);
    const char *file = place ? place + 2 : "<compiled>", *end = file + strlen(file);
    long line = 0;
    // A file's name may have colons: the parts after the last two are line and column.
    const char *column = place ? memrchr(file, ':', (size_t)(end - file)) : NULL;
    const char *row = column ? memrchr(file, ':', (size_t)(column - file)) : NULL;
    if (row) {
        line = strtol(row + 1, NULL, 10);
        end = row;
    }
    snprintf(frame, size, "  File \"%.*s\", line %ld, in %.*s\n", (int)(end - file), file, line, name_size, location);
}

static void raise_error(const ChipdockEnv *env, const char *kind, const char *message, const char *location) {
    (void)env;
    int (*create)(const ChipdockStr *, const ChipdockStr *, const ChipdockStr *, void **) = find_ErrorCreate();
    if (!create) return;
    char frame[1024] = "";
    if (location) write_frame(frame, sizeof(frame), location);
    // The one kind that Python has a class of another name for.
    if (!strcmp(kind, CHIPDOCK_KIND_OUT_OF_MEMORY)) kind = CHIPDOCK_KIND_MEMORY_ERROR;
    ChipdockStr kind_text = text_of(kind), message_text = text_of(message), frame_text = text_of(frame);
    void *error = NULL;
    if (create(&kind_text, &message_text, &frame_text, &error) == 0) set_raised(error);
}

// ---- Workspace ----

static void *allocate_workspace(const ChipdockEnv *env, int32_t device_type, int32_t device_id, uint64_t size_bytes) {
    (void)device_id;
    void *data = NULL;
    if (device_type != CHIPDOCK_DEVICE_CPU) {
        raise_error(env, CHIPDOCK_KIND_UNAVAILABLE, "workspace of a device needs a Chipdock host: load the library with one", NULL);
        return NULL;
    }
    if (size_bytes > SIZE_MAX / 2 || posix_memalign(&data, 64, size_bytes ? (size_t)size_bytes : 1)) {
        char message[96];
        snprintf(message, sizeof(message), "no memory left for workspace of %llu bytes", (unsigned long long)size_bytes);
        raise_error(env, CHIPDOCK_KIND_OUT_OF_MEMORY, message, NULL);
        return NULL;
    }
    return data;
}

static int32_t free_workspace(const ChipdockEnv *env, int32_t device_type, int32_t device_id, void *data) {
    (void)env, (void)device_type, (void)device_id;
    free(data);
    return 0;
}

// ---- Devices, streams and imported functions ----

// The devices that are active on this thread, by the position of their type in `chipdock_devices`.
enum { ACTIVE_MAX = 8 };
static __thread int32_t active[ACTIVE_MAX];

static int position_of(int32_t device_type) {
    for (int i = 0; i < ACTIVE_MAX && chipdock_devices[i].name; i++)
        if (chipdock_devices[i].device_type == device_type) return i;
    return -1;
}

static int32_t current_stream(const ChipdockEnv *env, int32_t device_type, int32_t device_id, void **out_stream) {
    (void)env;
    void *(*stream)(int32_t, int32_t) = find_EnvGetStream();
    *out_stream = stream ? stream(device_type, device_id) : NULL;
    return 0;
}

static int32_t current_device(const ChipdockEnv *env, int32_t device_type, int32_t *out_device_id) {
    (void)env;
    int at = position_of(device_type);
    *out_device_id = at < 0 ? 0 : active[at];
    return 0;
}

static int32_t set_device(const ChipdockEnv *env, int32_t device_type, int32_t device_id) {
    (void)env;
    int at = position_of(device_type);
    if (at >= 0) active[at] = device_id;
    return 0;
}

static int32_t device_type(const ChipdockEnv *env, const char *name, int32_t *out_device_type) {
    for (const NamedDevice *device = chipdock_devices; device->name; device++) {
        if (!strcmp(device->name, name)) {
            *out_device_type = device->device_type;
            return 0;
        }
    }
    char message[256];
    snprintf(message, sizeof(message), "no device type is called \"%.100s\" in this library", name);
    raise_error(env, CHIPDOCK_KIND_NOT_FOUND, message, NULL);
    return -1;
}

static int32_t imported(const ChipdockEnv *env, const char *name, const ChipdockFunctionObject **out_function) {
    int (*look_up)(void *, const char *, void **) = find_EnvModLookupFromImports();
    void *found = NULL;
    if (look_up && __tvm_ffi__library_ctx) {
        if (look_up(__tvm_ffi__library_ctx, name, &found) == 0 && found) {
            // What was found belongs to the module that looked, and the code keeps it: a second module of this library, or none,
            // may be all that is left when it is called next.
            int (*retain)(void *) = find_ObjectIncRef();
            if (retain) retain(found);
            *out_function = found;
            return 0;
        }
        drop(take_raised());
    }
    char message[512];
    snprintf(message, sizeof(message), "no imported module has function \"%.100s\"%s", name, chipdock_without_kernels);
    raise_error(env, CHIPDOCK_KIND_UNAVAILABLE, message, NULL);
    return -1;
}

static int32_t query(const ChipdockEnv *env, const char *name, uint32_t version, ChipdockInterface *out_interface) {
    (void)env, (void)name, (void)version;
    memset(out_interface, 0, sizeof(*out_interface));
    return 0;
}

// It is static, and lives as long as the library.
static void release(const ChipdockEnv *env) {
    (void)env;
}

// ---- Threads (R4 to R7) ----

enum { THREADS_MAX = 1024, SPINS = 4000 };

typedef struct {
    ChipdockParallelBody body;
    void *data;
    int32_t count, next, failed;  // `next` and `failed` are atomic
    int32_t status;               // of the failed task of the lowest number, and its error; under the lock
    void *error;
    uint64_t mode;  // floating-point mode of the caller
} Region;

static struct {
    pthread_mutex_t lock;
    pthread_cond_t work, done;
    uint64_t generation;  // atomic: the number of regions so far
    Region *region;       // the region that workers may join
    int32_t workers, joined, active;
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER, .work = PTHREAD_COND_INITIALIZER, .done = PTHREAD_COND_INITIALIZER};
// Atomic: whether a region has the pool, whether its threads were started, whether this is a forked child without them.
static int is_taken, is_started, is_forked;
static __thread int is_inside;

static inline void pause_briefly(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

// The floating-point mode of this thread: rounding, subnormals, traps; not what happened. 0 where it is not known.
static inline uint64_t float_mode(void) {
#if defined(__x86_64__)
    return __builtin_ia32_stmxcsr() & ~0x3fu;
#elif defined(__aarch64__)
    uint64_t mode;
    __asm__ volatile("mrs %0, fpcr" : "=r"(mode));
    return mode;
#else
    return 0;
#endif
}

static inline void set_float_mode(uint64_t mode) {
    if (mode == float_mode()) return;
#if defined(__x86_64__)
    __builtin_ia32_ldmxcsr((uint32_t)mode | (__builtin_ia32_stmxcsr() & 0x3fu));
#elif defined(__aarch64__)
    __asm__ volatile("msr fpcr, %0" : : "r"(mode));
#endif
}

static void fail(Region *region, int32_t task, int32_t status) {
    void *error = take_raised();
    pthread_mutex_lock(&pool.lock);
    // The failure of the lowest task is the one that a serial run meets first.
    if (task < __atomic_load_n(&region->failed, __ATOMIC_RELAXED)) {
        void *older = region->error;
        region->error = error;
        region->status = status;
        error = older;
        __atomic_store_n(&region->failed, task, __ATOMIC_RELAXED);
    }
    pthread_mutex_unlock(&pool.lock);
    drop(error);
}

static void run_tasks(Region *region) {
    is_inside = 1;
    for (;;) {
        int32_t task = __atomic_fetch_add(&region->next, 1, __ATOMIC_RELAXED);
        if (task >= region->count) break;
        if (task > __atomic_load_n(&region->failed, __ATOMIC_RELAXED)) continue;
        int32_t status = region->body(task, region->count, region->data);
        if (status) fail(region, task, status);
    }
    is_inside = 0;
}

static void *work(void *unused) {
    (void)unused;
    uint64_t seen = 0;
    for (;;) {
        for (int i = 0; i < SPINS && __atomic_load_n(&pool.generation, __ATOMIC_RELAXED) == seen; i++) pause_briefly();
        pthread_mutex_lock(&pool.lock);
        while (__atomic_load_n(&pool.generation, __ATOMIC_RELAXED) == seen) pthread_cond_wait(&pool.work, &pool.lock);
        seen = __atomic_load_n(&pool.generation, __ATOMIC_RELAXED);
        Region *region = pool.region;
        if (region && pool.joined < region->count - 1) {
            pool.joined++;
            __atomic_add_fetch(&pool.active, 1, __ATOMIC_RELAXED);
        } else {
            region = NULL;
        }
        pthread_mutex_unlock(&pool.lock);
        if (!region) continue;
        set_float_mode(region->mode);
        run_tasks(region);
        pthread_mutex_lock(&pool.lock);
        if (__atomic_sub_fetch(&pool.active, 1, __ATOMIC_RELEASE) == 0) pthread_cond_signal(&pool.done);
        pthread_mutex_unlock(&pool.lock);
    }
    return NULL;
}

// The quota of the control group, rounded up.
static long quota(void) {
    long long most = 0, period = 0;
    FILE *file = fopen("/sys/fs/cgroup/cpu.max", "re");
    if (!file) return THREADS_MAX;
    int read = fscanf(file, "%lld %lld", &most, &period);
    fclose(file);
    if (read != 2 || most <= 0 || period <= 0) return THREADS_MAX;
    return (long)((most + period - 1) / period);
}

static long thread_count(void) {
    const char *wanted = secure_getenv("CHIPDOCK_THREADS");
    char *end = NULL;
    long count = wanted && *wanted ? strtol(wanted, &end, 10) : 0;
    if (count >= 1 && end && !*end) return count < THREADS_MAX ? count : THREADS_MAX;
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof(set), &set) == 0) {
        count = CPU_COUNT(&set);
    } else {
        count = sysconf(_SC_NPROCESSORS_ONLN);
    }
    long most = quota();
    if (count > most) count = most;
    return count < 1 ? 1 : count < THREADS_MAX ? count : THREADS_MAX;
}

static void forked(void) {
    __atomic_store_n(&is_forked, 1, __ATOMIC_RELAXED);
}

// Starts the threads; only whoever has the pool calls it.
static void start(void) {
    long count = thread_count();
    Dl_info own;
    __atomic_store_n(&is_started, 1, __ATOMIC_RELAXED);
    // The code of a thread must not be unmapped, and a child must know that it has none.
    if (count < 2 || !dladdr((void *)&pool, &own) || !dlopen(own.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE)) return;
    if (pthread_atfork(NULL, NULL, forked)) return;
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes)) return;
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    sigset_t all, before;
    sigfillset(&all);
    // Signals are for the threads of the program.
    pthread_sigmask(SIG_SETMASK, &all, &before);
    for (long i = 1; i < count; i++) {
        pthread_t thread;
        if (pthread_create(&thread, &attributes, work, NULL)) break;
        pool.workers++;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
}

static int32_t run_region(Region *region) {
    pthread_mutex_lock(&pool.lock);
    pool.region = region;
    pool.joined = 0;
    __atomic_add_fetch(&pool.generation, 1, __ATOMIC_RELAXED);
    pthread_cond_broadcast(&pool.work);
    pthread_mutex_unlock(&pool.lock);
    run_tasks(region);
    // Nobody joins any more; those who did have their last task.
    pthread_mutex_lock(&pool.lock);
    pool.region = NULL;
    pthread_mutex_unlock(&pool.lock);
    for (int i = 0; i < SPINS && __atomic_load_n(&pool.active, __ATOMIC_ACQUIRE); i++) pause_briefly();
    pthread_mutex_lock(&pool.lock);
    while (__atomic_load_n(&pool.active, __ATOMIC_ACQUIRE)) pthread_cond_wait(&pool.done, &pool.lock);
    pthread_mutex_unlock(&pool.lock);
    __atomic_store_n(&is_taken, 0, __ATOMIC_RELEASE);
    if (region->status) set_raised(region->error);
    return region->status;
}

static int32_t parallel_launch(const ChipdockEnv *env, ChipdockParallelBody body, void *data, int32_t tasks_max) {
    (void)env;
    int is_serial = is_inside || tasks_max < 0 || tasks_max == 1 || __atomic_load_n(&is_forked, __ATOMIC_RELAXED);
    // A region that finds the pool taken is one task: its caller keeps a processor busy itself.
    if (is_serial || __atomic_exchange_n(&is_taken, 1, __ATOMIC_ACQUIRE)) return body(0, 1, data);
    if (!__atomic_load_n(&is_started, __ATOMIC_RELAXED)) start();
    int32_t count = pool.workers + 1;
    if (tasks_max > 0 && tasks_max < count) count = tasks_max;
    if (count == 1) {
        __atomic_store_n(&is_taken, 0, __ATOMIC_RELEASE);
        return body(0, 1, data);
    }
    Region region = {.body = body, .data = data, .count = count, .failed = INT32_MAX, .mode = float_mode()};
    return run_region(&region);
}

// ---- The environment ----

static const ChipdockEnv environment = {
    .version = CHIPDOCK_ENV_VERSION,
    .raise = raise_error,
    .allocate_workspace = allocate_workspace,
    .free_workspace = free_workspace,
    .current_stream = current_stream,
    .current_device = current_device,
    .set_device = set_device,
    .device_type = device_type,
    .imported = imported,
    .parallel_launch = parallel_launch,
    .query = query,
    .release = release,
};

// ---- The processor (R8) ----

// Names of extensions with spaces between; without it, the code needs none.
extern HIDDEN const char __chipdock_needs[] __attribute__((weak));
char chipdock_lacks;
static char missing[256];

#if defined(__x86_64__)

enum { EAX, EBX, ECX, EDX };
// Registers that the system must keep for a thread: those of 256 and of 512 bits, as bits of XCR0.
enum { NO_STATE = 0, STATE_256 = 0x6, STATE_512 = 0xe6 };

static const struct {
    const char *name;
    uint32_t leaf, part;
    int reg, bit, state;
} extensions[] = {
    {"sse3", 1, 0, ECX, 0, NO_STATE},
    {"pclmulqdq", 1, 0, ECX, 1, NO_STATE},
    {"ssse3", 1, 0, ECX, 9, NO_STATE},
    {"fma", 1, 0, ECX, 12, STATE_256},
    {"sse4.1", 1, 0, ECX, 19, NO_STATE},
    {"sse4.2", 1, 0, ECX, 20, NO_STATE},
    {"movbe", 1, 0, ECX, 22, NO_STATE},
    {"popcnt", 1, 0, ECX, 23, NO_STATE},
    {"aes", 1, 0, ECX, 25, NO_STATE},
    {"avx", 1, 0, ECX, 28, STATE_256},
    {"f16c", 1, 0, ECX, 29, STATE_256},
    {"rdrand", 1, 0, ECX, 30, NO_STATE},
    {"lzcnt", 0x80000001, 0, ECX, 5, NO_STATE},
    {"sse4a", 0x80000001, 0, ECX, 6, NO_STATE},
    {"tbm", 0x80000001, 0, ECX, 21, NO_STATE},
    {"bmi1", 7, 0, EBX, 3, NO_STATE},
    {"avx2", 7, 0, EBX, 5, STATE_256},
    {"bmi2", 7, 0, EBX, 8, NO_STATE},
    {"avx512f", 7, 0, EBX, 16, STATE_512},
    {"avx512dq", 7, 0, EBX, 17, STATE_512},
    {"adx", 7, 0, EBX, 19, NO_STATE},
    {"avx512ifma", 7, 0, EBX, 21, STATE_512},
    {"avx512cd", 7, 0, EBX, 28, STATE_512},
    {"sha", 7, 0, EBX, 29, NO_STATE},
    {"avx512bw", 7, 0, EBX, 30, STATE_512},
    {"avx512vl", 7, 0, EBX, 31, STATE_512},
    {"avx512vbmi", 7, 0, ECX, 1, STATE_512},
    {"avx512vbmi2", 7, 0, ECX, 6, STATE_512},
    {"gfni", 7, 0, ECX, 8, NO_STATE},
    {"vaes", 7, 0, ECX, 9, STATE_256},
    {"vpclmulqdq", 7, 0, ECX, 10, STATE_256},
    {"avx512vnni", 7, 0, ECX, 11, STATE_512},
    {"avx512bitalg", 7, 0, ECX, 12, STATE_512},
    {"avx512vpopcntdq", 7, 0, ECX, 14, STATE_512},
    {"avx512fp16", 7, 0, EDX, 23, STATE_512},
    {"avxvnni", 7, 1, EAX, 4, STATE_256},
    {"avx512bf16", 7, 1, EAX, 5, STATE_512},
};

static uint32_t kept_state(void) {
    uint32_t words[4], low = 0, high = 0;
    // Whether the system has told which registers it keeps.
    if (!__get_cpuid(1, &words[EAX], &words[EBX], &words[ECX], &words[EDX]) || !(words[ECX] >> 27 & 1)) return 0;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
}

static int has(size_t at) {
    uint32_t words[4] = {0, 0, 0, 0}, state = (uint32_t)extensions[at].state;
    if (!__get_cpuid_count(extensions[at].leaf, extensions[at].part, &words[EAX], &words[EBX], &words[ECX], &words[EDX]))
        return 0;
    return (words[extensions[at].reg] >> extensions[at].bit & 1) && (!state || (kept_state() & state) == state);
}

#elif defined(__aarch64__)

// Bits of the two words by which Linux tells the extensions.
static const struct {
    const char *name;
    uint64_t first, second;
} extensions[] = {
    {"lse", 1 << 8, 0},      {"fp16", 3 << 9, 0},     {"dotprod", 1 << 20, 0}, {"sve", 1 << 22, 0},
    {"sve2", 0, 1 << 1},     {"i8mm", 0, 1 << 13},    {"bf16", 0, 1 << 14},
};

static int has(size_t at) {
    uint64_t first = extensions[at].first, second = extensions[at].second;
    return (getauxval(AT_HWCAP) & first) == first && (getauxval(AT_HWCAP2) & second) == second;
}

#endif

static void examine_processor(void) {
#if defined(__x86_64__) || defined(__aarch64__)
    for (const char *name = __chipdock_needs; name && *name;) {
        size_t size = strcspn(name, " "), used = strlen(missing);
        for (size_t at = 0; at < sizeof(extensions) / sizeof(extensions[0]); at++) {
            if (strlen(extensions[at].name) != size || memcmp(extensions[at].name, name, size) || has(at)) continue;
            chipdock_lacks = 1;
            snprintf(missing + used, sizeof(missing) - used, "%s%s", used ? ", " : "", extensions[at].name);
        }
        name += size;
        name += *name == ' ';
    }
#endif
}

int32_t refuse(void) {
    char message[512];
    snprintf(message, sizeof(message),
             "this library needs %s, which this machine's processor does not have; build it for a processor that has no more than "
             "this one (target c: march; target llvm: mcpu and mattr)",
             missing);
    __chipdock_env->raise(__chipdock_env, CHIPDOCK_KIND_UNSUPPORTED, message, NULL);
    return -1;
}

__attribute__((constructor)) static void set_environment(void) {
    if (!__chipdock_env) __chipdock_env = &environment;
    examine_processor();
}

int32_t answer_text(const char *text, size_t size, ChipdockAny *result) {
    int (*make)(const ChipdockStr *, ChipdockAny *) = find_StringFromByteArray();
    if (make) {
        ChipdockStr bytes = {text, size};
        return make(&bytes, result);
    }
    // Without TVM-FFI nobody can say more; a failure without an error is answered where there is no slot for one.
    return -1;
}

#endif
