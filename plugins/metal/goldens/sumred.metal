// Written by chipdock for target metal: Metal Shading Language, to be compiled without fast math.
#include <metal_stdlib>
using namespace metal;

kernel void g_sumred_kernel(const device float* A_ptr [[buffer(0)]], device float* B_ptr [[buffer(1)]], uint3 cd_block [[threadgroup_position_in_grid]], uint3 cd_thread [[thread_position_in_threadgroup]]) {
    threadgroup float red_buf0[128];
    const int blockIdx_x = int(cd_block.x);
    const int threadIdx_x = int(cd_thread.x);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    red_buf0[threadIdx_x] = A_ptr[blockIdx_x * 128 + threadIdx_x];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (threadIdx_x < 64) {
        red_buf0[threadIdx_x] = red_buf0[threadIdx_x] + red_buf0[threadIdx_x + 64];
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (threadIdx_x < 32) {
        red_buf0[threadIdx_x] = red_buf0[threadIdx_x] + red_buf0[threadIdx_x + 32];
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (threadIdx_x < 16) {
        red_buf0[threadIdx_x] = red_buf0[threadIdx_x] + red_buf0[threadIdx_x + 16];
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (threadIdx_x < 8) {
        red_buf0[threadIdx_x] = red_buf0[threadIdx_x] + red_buf0[threadIdx_x + 8];
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (threadIdx_x < 4) {
        red_buf0[threadIdx_x] = red_buf0[threadIdx_x] + red_buf0[threadIdx_x + 4];
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (threadIdx_x < 2) {
        red_buf0[threadIdx_x] = red_buf0[threadIdx_x] + red_buf0[threadIdx_x + 2];
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (threadIdx_x < 1) {
        red_buf0[threadIdx_x] = red_buf0[threadIdx_x] + red_buf0[threadIdx_x + 1];
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (threadIdx_x == 0) {
        B_ptr[blockIdx_x] = red_buf0[0];
    }
}
