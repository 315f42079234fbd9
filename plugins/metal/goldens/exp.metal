// Written by chipdock for target metal: Metal Shading Language, to be compiled without fast math.
#include <metal_stdlib>
using namespace metal;
static inline float cd_max_f32(float a, float b) {
    return a > b ? a : b;
}
static inline float cd_min_f32(float a, float b) {
    return a < b ? a : b;
}
static inline int cd_i32_from_f32(float x) {
    if (x >= 2147483648.0f) return 2147483647;
    if (x > -2147483648.0f) return int(x);
    return x != x ? 0 : int(0x80000000u);
}

kernel void g_exp_kernel(const device float* A_ptr [[buffer(0)]], device float* B_ptr [[buffer(1)]], uint3 cd_block [[threadgroup_position_in_grid]], uint3 cd_thread [[thread_position_in_threadgroup]]) {
    const int blockIdx_x = int(cd_block.x);
    const int threadIdx_x = int(cd_thread.x);
    if (int(uint(blockIdx_x * 16) + uint(threadIdx_x >> 3)) < 125) {
        const float x = A_ptr[blockIdx_x * 128 + threadIdx_x];
        const float clamped = cd_min_f32(89.0f, cd_max_f32(-104.0f, x));
        const float whole = rint(clamped * 1.442695f);
        const float high = clamped - whole * 0.6933594f;
        const float r = high - whole * -0.00021219444f;
        const int n = cd_i32_from_f32(whole);
        const int half_1 = n >> 1;
        B_ptr[blockIdx_x * 128 + threadIdx_x] = ((((((0.00019875691f * r + 0.0013982f) * r + 0.008333452f) * r + 0.041665796f) * r + 0.16666666f) * r + 0.5f) * (r * r) + r + 1.0f) * as_type<float>(int(uint(int(uint(half_1) + 127u)) << 23)) * as_type<float>(int(uint(int(uint(n) - uint(half_1) + 127u)) << 23));
    }
}
