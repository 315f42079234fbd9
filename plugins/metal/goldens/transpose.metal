// Written by chipdock for target metal: Metal Shading Language, to be compiled without fast math.
#include <metal_stdlib>
using namespace metal;

kernel void g_transpose_kernel(const device float* A_ptr [[buffer(0)]], device float* B_ptr [[buffer(1)]], uint3 cd_block [[threadgroup_position_in_grid]], uint3 cd_thread [[thread_position_in_threadgroup]]) {
    threadgroup float S[256];
    const int blockIdx_x = int(cd_block.x);
    const int blockIdx_y = int(cd_block.y);
    const int threadIdx_x = int(cd_thread.x);
    const int threadIdx_y = int(cd_thread.y);
    S[threadIdx_y * 16 + threadIdx_x] = A_ptr[blockIdx_x * 1024 + threadIdx_y * 64 + blockIdx_y * 16 + threadIdx_x];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    B_ptr[blockIdx_y * 1024 + threadIdx_y * 64 + blockIdx_x * 16 + threadIdx_x] = S[threadIdx_x * 16 + threadIdx_y];
}
