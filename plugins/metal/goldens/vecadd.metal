// Written by chipdock for target metal: Metal Shading Language, to be compiled without fast math.
#include <metal_stdlib>
using namespace metal;

kernel void g_vecadd_kernel(const device float* A_ptr [[buffer(0)]], const device float* B_ptr [[buffer(1)]], device float* C_ptr [[buffer(2)]], uint3 cd_block [[threadgroup_position_in_grid]], uint3 cd_thread [[thread_position_in_threadgroup]]) {
    const int blockIdx_x = int(cd_block.x);
    const int threadIdx_x = int(cd_thread.x);
    C_ptr[blockIdx_x * 128 + threadIdx_x] = A_ptr[blockIdx_x * 128 + threadIdx_x] + B_ptr[blockIdx_x * 128 + threadIdx_x];
}
