// Written by chipdock for target webgpu: WGSL.

@group(0) @binding(0) var<storage, read> A_ptr: array<f32>;
@group(0) @binding(1) var<storage, read_write> B_ptr: array<f32>;
var<workgroup> S: array<f32, 256>;
@compute @workgroup_size(16, 16, 1)
fn g_transpose_kernel(@builtin(workgroup_id) cd_block: vec3<u32>, @builtin(local_invocation_id) cd_thread: vec3<u32>) {
    let blockIdx_x: i32 = i32(cd_block.x);
    let blockIdx_y: i32 = i32(cd_block.y);
    let threadIdx_x: i32 = i32(cd_thread.x);
    let threadIdx_y: i32 = i32(cd_thread.y);
    S[threadIdx_y * 16 + threadIdx_x] = A_ptr[blockIdx_x * 1024 + threadIdx_y * 64 + blockIdx_y * 16 + threadIdx_x];
    workgroupBarrier();
    B_ptr[blockIdx_y * 1024 + threadIdx_y * 64 + blockIdx_x * 16 + threadIdx_x] = S[threadIdx_x * 16 + threadIdx_y];
}
