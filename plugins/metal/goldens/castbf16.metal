// Written by chipdock for target metal: Metal Shading Language, to be compiled without fast math.
#include <metal_stdlib>
using namespace metal;

kernel void g_castbf16_kernel(const device float* A_ptr [[buffer(0)]], device ushort* B_ptr [[buffer(1)]], uint3 cd_block [[threadgroup_position_in_grid]], uint3 cd_thread [[thread_position_in_threadgroup]]) {
    const int blockIdx_x = int(cd_block.x);
    const int threadIdx_x = int(cd_thread.x);
    B_ptr[blockIdx_x * 128 + threadIdx_x] = ushort((as_type<uint>(A_ptr[blockIdx_x * 128 + threadIdx_x]) + ((as_type<uint>(A_ptr[blockIdx_x * 128 + threadIdx_x]) >> 16) & 1u) + 32767u) >> 16);
}
