// Written by chipdock for target metal: Metal Shading Language, to be compiled without fast math.
#include <metal_stdlib>
using namespace metal;

kernel void g_int8dot_kernel(const device char* A_ptr [[buffer(0)]], const device char* B_ptr [[buffer(1)]], device int* C_ptr [[buffer(2)]], uint3 cd_block [[threadgroup_position_in_grid]], uint3 cd_thread [[thread_position_in_threadgroup]]) {
    const int blockIdx_x = int(cd_block.x);
    const int threadIdx_x = int(cd_thread.x);
    for (int k = 0; k < 64; ++k) {
        if (k == 0) {
            C_ptr[blockIdx_x * 32 + threadIdx_x] = 0;
        }
        C_ptr[blockIdx_x * 32 + threadIdx_x] = int(uint(C_ptr[blockIdx_x * 32 + threadIdx_x]) + uint(int(A_ptr[blockIdx_x * 64 + k]) * int(B_ptr[threadIdx_x * 64 + k])));
    }
}
