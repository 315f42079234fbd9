// Written by chipdock for target opencl: OpenCL C 1.2.
#pragma OPENCL EXTENSION cl_khr_subgroup_ballot : enable
#pragma OPENCL EXTENSION cl_khr_subgroup_shuffle : enable
#pragma OPENCL EXTENSION cl_khr_subgroups : enable

static inline float cd_shuffle_lane_f32(float x, uint by, uint width) {
    uint lane = get_sub_group_local_id();
    uint start = lane / width * width;
    return sub_group_shuffle(x, start + by % width);
}
static inline float cd_shuffle_up_f32(float x, uint by, uint width) {
    uint lane = get_sub_group_local_id();
    uint start = lane / width * width;
    return sub_group_shuffle(x, by <= lane - start ? lane - by : lane);
}
static inline float cd_shuffle_down_f32(float x, uint by, uint width) {
    uint lane = get_sub_group_local_id();
    uint start = lane / width * width;
    return sub_group_shuffle(x, by < start + width - lane ? lane + by : lane);
}
static inline float cd_shuffle_xor_f32(float x, uint by, uint width) {
    uint lane = get_sub_group_local_id();
    uint start = lane / width * width;
    return sub_group_shuffle(x, (lane ^ by) < start + width ? lane ^ by : lane);
}

__kernel __attribute__((reqd_work_group_size(64, 1, 1))) void warps_kernel(__global float* restrict A, int n_blocks) {
    const int t = (int)get_local_id(0);
    const uint mask = sub_group_ballot(1).s0;
    const float got = cd_shuffle_lane_f32(A[t], 1, 32);
    sub_group_barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    A[t] = got;
    const float got_1 = cd_shuffle_up_f32(A[t], 1, 32);
    sub_group_barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    A[t] = got_1;
    const float got_2 = cd_shuffle_down_f32(A[t], 1, 32);
    sub_group_barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    A[t] = got_2;
    const float got_3 = cd_shuffle_xor_f32(A[t], 1, 32);
    sub_group_barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    A[t] = got_3;
}
