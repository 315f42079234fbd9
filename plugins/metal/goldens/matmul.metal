// Written by chipdock for target metal: Metal Shading Language, to be compiled without fast math.
#include <metal_stdlib>
using namespace metal;

kernel void g_matmul_kernel(const device float* A_ptr [[buffer(0)]], const device float* B_ptr [[buffer(1)]], device float* C_ptr [[buffer(2)]], uint3 cd_block [[threadgroup_position_in_grid]], uint3 cd_thread [[thread_position_in_threadgroup]]) {
    const int blockIdx_y = int(cd_block.y);
    const int blockIdx_x = int(cd_block.x);
    const int threadIdx_y = int(cd_thread.y);
    const int threadIdx_x = int(cd_thread.x);
    for (int k = 0; k < 512; ++k) {
        if (k == 0) {
            C_ptr[blockIdx_y * 8192 + threadIdx_y * 512 + blockIdx_x * 16 + threadIdx_x] = 0.0f;
        }
        const long index = blockIdx_y * 8192 + threadIdx_y * 512 + blockIdx_x * 16 + threadIdx_x;
        C_ptr[index] = C_ptr[index] + A_ptr[blockIdx_y * 8192 + threadIdx_y * 512 + k] * B_ptr[k * 512 + blockIdx_x * 16 + threadIdx_x];
    }
}
