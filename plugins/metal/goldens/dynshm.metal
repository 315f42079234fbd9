// Written by chipdock for target metal: Metal Shading Language, to be compiled without fast math.
#include <metal_stdlib>
using namespace metal;

kernel void g_dynshm_kernel(const device float* A_ptr [[buffer(0)]], device float* B_ptr [[buffer(1)]], threadgroup float* S [[threadgroup(0)]], uint3 cd_block [[threadgroup_position_in_grid]], uint3 cd_thread [[thread_position_in_threadgroup]]) {
    const int threadIdx_x = int(cd_thread.x);
    S[threadIdx_x] = A_ptr[threadIdx_x];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    B_ptr[threadIdx_x] = S[255 - threadIdx_x];
}
