// Written by chipdock for target opencl: OpenCL C 1.2.


__kernel __attribute__((reqd_work_group_size(256, 1, 1))) void elementwise_kernel(__global const float* restrict A, __global uchar* restrict B, long n, long A_elem_offset, float scale, uchar is_on) {
    const int blockIdx_x = (int)get_group_id(0);
    const int threadIdx_x = (int)get_local_id(0);
    if ((long)(int)((uint)blockIdx_x * 256u + (uint)threadIdx_x) < n) {
        B[(long)blockIdx_x * 256 + threadIdx_x] = A[(long)blockIdx_x * 256 + threadIdx_x + A_elem_offset] * scale > 0.5f && is_on != 0;
    }
}
