// Written by chipdock for target metal: Metal Shading Language, to be compiled without fast math.
#include <metal_stdlib>
using namespace metal;

kernel void g_vec4_kernel(const device float* A_ptr [[buffer(0)]], device float* B_ptr [[buffer(1)]], uint3 cd_block [[threadgroup_position_in_grid]], uint3 cd_thread [[thread_position_in_threadgroup]]) {
    const int blockIdx_x = int(cd_block.x);
    const int threadIdx_x = int(cd_thread.x);
    *(device packed_float4*)(B_ptr + (blockIdx_x * 512 + threadIdx_x * 4)) = packed_float4(float4(*(const device packed_float4*)(A_ptr + (blockIdx_x * 512 + threadIdx_x * 4))) * float4(2.0f));
}
