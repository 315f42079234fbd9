// Written by chipdock for target metal: Metal Shading Language, to be compiled without fast math.
#include <metal_stdlib>
using namespace metal;

kernel void g_exp_kernel(const device float* A_ptr [[buffer(0)]], device float* B_ptr [[buffer(1)]], uint3 cd_block [[threadgroup_position_in_grid]], uint3 cd_thread [[thread_position_in_threadgroup]]) {
    const int blockIdx_x = int(cd_block.x);
    const int threadIdx_x = int(cd_thread.x);
    if (int(uint(blockIdx_x * 16) + uint(threadIdx_x >> 3)) < 125) {
        B_ptr[blockIdx_x * 128 + threadIdx_x] = precise::exp(A_ptr[blockIdx_x * 128 + threadIdx_x]);
    }
}
