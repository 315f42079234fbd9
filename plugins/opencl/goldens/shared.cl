// Written by chipdock for target opencl: OpenCL C 1.2.


__kernel __attribute__((reqd_work_group_size(64, 1, 1))) void shared_kernel(__global const float* restrict A, __global float* restrict B, int n_blocks) {
    __local float S[64];
    const int b = (int)get_group_id(0);
    const int t = (int)get_local_id(0);
    if (b >= 0) {
        S[t] = A[(long)b * 64 + t];
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
        for (int step_1 = 0; step_1 < 6; ++step_1) {
            if (t < 32 >> (step_1 & 31)) {
                S[t] = S[t] + S[(long)t + (32 >> (step_1 & 31))];
            }
            barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
        }
        B[(long)b * 64 + t] = S[0];
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
        B[(long)b * 64 + t] = B[(long)b * 64] + 1.0f;
    }
}
