// Features of CUDA C that C++ lacks. The threads of a block are fibres: each runs until it waits, for the block or for its
// warp. A warp continues when none of its threads can run: those that wait at one line take part together, as on a machine
// that runs a warp in step.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstring>
#include <ucontext.h>
#include <utility>
#include <vector>

#define __global__
#define __device__
#define __host__
#define __shared__ static
#define __align__(n) __attribute__((aligned(n)))
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(n)

struct uint2 { unsigned x, y; };
struct uint3 { unsigned x, y, z; };
struct uint4 { unsigned x, y, z, w; };
static uint3 threadIdx, blockIdx;

namespace shim {
enum State { RUNS, AT_BLOCK, AT_WARP, ENDED };
struct Thread {
    ucontext_t context;
    std::vector<char> stack = std::vector<char>(1 << 18);
    State state;
    int line, source;             // where it waits, and the lane whose value it wants
    unsigned group;               // the lanes that took part with it
    unsigned long long value, other;
};
static std::vector<Thread*> threads;
static ucontext_t scheduler;
static int current, count;
static uint3 extents;
static const char* failure;
static void (*body)(void*);
static void* data;

static void place(int index) {
    threadIdx = {index % extents.x, index / extents.x % extents.y, index / extents.x / extents.y};
    current = index;
}
static void wait(State state, int line) {
    Thread& self = *threads[current];
    self.state = state;
    self.line = line;
    swapcontext(&self.context, &scheduler);
}
static void entry() {
    body(data);
    wait(ENDED, 0);
}
// Lets the threads of a warp that wait at one line take part together; returns false if none waits.
static bool warp(int first, int last) {
    int line = 0;
    for (int i = first; i < last && line == 0; ++i)
        if (threads[i]->state == AT_WARP) line = threads[i]->line;
    if (line == 0) return false;
    unsigned group = 0;
    for (int i = first; i < last; ++i)
        if (threads[i]->state == AT_WARP && threads[i]->line == line) group |= 1u << (i - first);
    for (int i = first; i < last; ++i) {
        if (!(group >> (i - first) & 1)) continue;
        Thread& t = *threads[i];
        t.group = group;
        // A lane that takes no part has no value.
        bool has = t.source >= 0 && t.source < last - first && (group >> t.source & 1);
        t.other = has ? threads[first + t.source]->value : 0xdeadbeefdeadbeefULL;
        t.state = RUNS;
    }
    return true;
}
static void block() {
    for (int i = 0; i < count; ++i) {
        Thread& t = *threads[i];
        getcontext(&t.context);
        t.context.uc_link = nullptr;
        t.context.uc_stack.ss_sp = t.stack.data();
        t.context.uc_stack.ss_size = t.stack.size();
        makecontext(&t.context, entry, 0);
        t.state = RUNS;
    }
    for (;;) {
        for (int i = 0; i < count; ++i) {
            if (threads[i]->state != RUNS) continue;
            place(i);
            swapcontext(&scheduler, &threads[i]->context);
        }
        bool goes_on = false;
        for (int first = 0; first < count; first += 32) goes_on |= warp(first, std::min(first + 32, count));
        if (goes_on) continue;
        int line = 0;
        for (int i = 0; i < count; ++i) {
            Thread& t = *threads[i];
            if (t.state != AT_BLOCK) continue;
            if (line != 0 && t.line != line) failure = "threads wait at two barriers at once";
            line = t.line;
            t.state = RUNS;
        }
        if (line == 0) return;
    }
}
template <class P> static P argument(const void* from) {
    std::remove_cv_t<P> value;
    std::memcpy(&value, from, sizeof(value));
    return value;
}
template <class... P, size_t... I>
static void call(void (*kernel)(P...), const void* const* args, std::index_sequence<I...>) {
    kernel(argument<P>(args[I])...);
}
template <class... P>
static const char* run(void (*kernel)(P...), const void* const* args, const unsigned* grid, const unsigned* size) {
    auto thread = [&] { call(kernel, args, std::index_sequence_for<P...>()); };
    body = [](void* data) { (*(decltype(thread)*)data)(); };
    data = &thread;
    extents = {size[0], size[1], size[2]};
    count = size[0] * size[1] * size[2];
    while ((int)threads.size() < count) threads.push_back(new Thread);
    failure = nullptr;
    for (unsigned z = 0; z < grid[2]; ++z)
        for (unsigned y = 0; y < grid[1]; ++y)
            for (unsigned x = 0; x < grid[0]; ++x) {
                blockIdx = {x, y, z};
                block();
            }
    return failure;
}
template <class T> static T shuffle(unsigned mask, T value, int source, int line) {
    Thread& self = *threads[current];
    self.value = 0;
    std::memcpy(&self.value, &value, sizeof(T));
    self.source = source;
    wait(AT_WARP, line);
    if ((self.group & ~mask) != 0) failure = "a thread that the mask does not name takes part in a shuffle";
    T other;
    std::memcpy(&other, &self.other, sizeof(T));
    return other;
}
static unsigned active(int line) {
    wait(AT_WARP, line);
    return threads[current]->group;
}
static int lane() { return current % 32; }
// The lane that a shuffle of groups of `width` lanes reads; the thread's own lane if the group has no such lane.
static int from(int source, int width) {
    int first = lane() / width * width;
    return source < first || source >= first + width ? lane() : source;
}
}

#define CD_RUN(name)                                                                                               \
    extern "C" __attribute__((visibility("default"))) const char* cd_run_##name(                                   \
        const void* const* args, const unsigned* grid, const unsigned* block, unsigned long long) {                \
        return shim::run(name, args, grid, block);                                                                 \
    }

#define __syncthreads() shim::wait(shim::AT_BLOCK, __LINE__)
#define __syncwarp() (void)shim::active(__LINE__)
#define __activemask() shim::active(__LINE__)
#define __shfl_sync(mask, value, source, width) \
    shim::shuffle(mask, value, shim::lane() / (width) * (width) + ((source) & ((width) - 1)), __LINE__)
#define __shfl_up_sync(mask, value, delta, width) \
    shim::shuffle(mask, value, shim::from(shim::lane() - (int)(delta), width), __LINE__)
#define __shfl_down_sync(mask, value, delta, width) \
    shim::shuffle(mask, value, shim::from(shim::lane() + (int)(delta), width), __LINE__)
#define __shfl_xor_sync(mask, value, bits, width) \
    shim::shuffle(mask, value, shim::from(shim::lane() ^ (bits), width), __LINE__)

template <class T> static T atomicAdd(T* p, T x) {
    T old = *p;
    if constexpr (std::is_integral<T>::value) *p = (T)((std::make_unsigned_t<T>)old + (std::make_unsigned_t<T>)x);
    else *p = old + x;
    return old;
}
template <class T> static T atomicCAS(T* p, T expected, T wanted) {
    T old = *p;
    if (old == expected) *p = wanted;
    return old;
}
static float __int_as_float(int x) { float y; std::memcpy(&y, &x, 4); return y; }
static int __float_as_int(float x) { int y; std::memcpy(&y, &x, 4); return y; }
static double __longlong_as_double(long long x) { double y; std::memcpy(&y, &x, 8); return y; }
static long long __double_as_longlong(double x) { long long y; std::memcpy(&y, &x, 8); return y; }
static int __popc(unsigned x) { return __builtin_popcount(x); }
static int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
static int __clz(int x) { return x == 0 ? 32 : __builtin_clz((unsigned)x); }
static int __clzll(long long x) { return x == 0 ? 64 : __builtin_clzll((unsigned long long)x); }
static float rsqrtf(float x) { return (float)(1.0 / std::sqrt((double)x)); }
static double rsqrt(double x) { return 1.0 / std::sqrt(x); }
