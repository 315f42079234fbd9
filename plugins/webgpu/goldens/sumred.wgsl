// Written by chipdock for target webgpu: WGSL.

@group(0) @binding(0) var<storage, read> A_ptr: array<f32>;
@group(0) @binding(1) var<storage, read_write> B_ptr: array<f32>;
var<workgroup> red_buf0: array<f32, 128>;
@compute @workgroup_size(128, 1, 1)
fn g_sumred_kernel(@builtin(workgroup_id) cd_block: vec3<u32>, @builtin(local_invocation_id) cd_thread: vec3<u32>) {
    let blockIdx_x: i32 = i32(cd_block.x);
    let threadIdx_x: i32 = i32(cd_thread.x);
    workgroupBarrier();
    red_buf0[threadIdx_x] = A_ptr[blockIdx_x * 128 + threadIdx_x];
    workgroupBarrier();
    if (threadIdx_x < 64) {
        red_buf0[threadIdx_x] = red_buf0[threadIdx_x] + red_buf0[threadIdx_x + 64];
    }
    workgroupBarrier();
    if (threadIdx_x < 32) {
        red_buf0[threadIdx_x] = red_buf0[threadIdx_x] + red_buf0[threadIdx_x + 32];
    }
    workgroupBarrier();
    if (threadIdx_x < 16) {
        red_buf0[threadIdx_x] = red_buf0[threadIdx_x] + red_buf0[threadIdx_x + 16];
    }
    workgroupBarrier();
    if (threadIdx_x < 8) {
        red_buf0[threadIdx_x] = red_buf0[threadIdx_x] + red_buf0[threadIdx_x + 8];
    }
    workgroupBarrier();
    if (threadIdx_x < 4) {
        red_buf0[threadIdx_x] = red_buf0[threadIdx_x] + red_buf0[threadIdx_x + 4];
    }
    workgroupBarrier();
    if (threadIdx_x < 2) {
        red_buf0[threadIdx_x] = red_buf0[threadIdx_x] + red_buf0[threadIdx_x + 2];
    }
    workgroupBarrier();
    if (threadIdx_x < 1) {
        red_buf0[threadIdx_x] = red_buf0[threadIdx_x] + red_buf0[threadIdx_x + 1];
    }
    workgroupBarrier();
    if (threadIdx_x == 0) {
        B_ptr[blockIdx_x] = red_buf0[0];
    }
}
