// Written by chipdock for target cuda: CUDA C++ that needs no header.
// nvcc -x cu -ptx -arch=ARCH FILE
static __device__ __forceinline__ int cd_floordiv_i32(int a, int b) {
    if (b == 0) return a;
    if (b == -1) return (int)(0 - (unsigned int)a);
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

extern "C" __global__ void __launch_bounds__(256) tiles_kernel(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, int n) {
    const int threadIdx_y = (int)threadIdx.y;
    const int threadIdx_x = (int)threadIdx.x;
    __shared__ __align__(16) float S[256];
    __shared__ __align__(16) float T[256];
    float acc[1];
    acc[0] = 0.0f;
    const int end = cd_floordiv_i32(n, 16);
    for (int k = 0; k < end; ++k) {
        S[threadIdx_y * 16 + threadIdx_x] = A[(long long)threadIdx_y * n + (long long)k * 16 + threadIdx_x];
        T[threadIdx_y * 16 + threadIdx_x] = B[((long long)k * 16 + threadIdx_y) * n + threadIdx_x];
        __syncthreads();
        #pragma unroll
        for (int l_1 = 0; l_1 < 16; ++l_1) {
            acc[0] = acc[0] + S[threadIdx_y * 16 + l_1] * T[l_1 * 16 + threadIdx_x];
        }
        __syncthreads();
    }
    C[(long long)threadIdx_y * n + threadIdx_x] = acc[0];
}
