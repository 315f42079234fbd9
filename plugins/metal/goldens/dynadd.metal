// Written by chipdock for target metal: Metal Shading Language, to be compiled without fast math.
#include <metal_stdlib>
using namespace metal;

kernel void g_dynadd_kernel(const device float* A_ptr [[buffer(0)]], const device float* B_ptr [[buffer(1)]], device float* C_ptr [[buffer(2)]], constant int& n [[buffer(3)]], uint3 cd_block [[threadgroup_position_in_grid]], uint3 cd_thread [[thread_position_in_threadgroup]]) {
    const int blockIdx_x = int(cd_block.x);
    const int threadIdx_x = int(cd_thread.x);
    if (int(uint(blockIdx_x) * 128u + uint(threadIdx_x)) < n) {
        C_ptr[long(blockIdx_x) * 128 + threadIdx_x] = A_ptr[long(blockIdx_x) * 128 + threadIdx_x] + B_ptr[long(blockIdx_x) * 128 + threadIdx_x];
    }
}
