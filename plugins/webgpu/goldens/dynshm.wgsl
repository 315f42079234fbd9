// Written by chipdock for target webgpu: WGSL.

@group(0) @binding(0) var<storage, read> A_ptr: array<f32>;
@group(0) @binding(1) var<storage, read_write> B_ptr: array<f32>;
override cd_words_of_g_dynshm_kernel: u32;
var<workgroup> S: array<u32, cd_words_of_g_dynshm_kernel>;
@compute @workgroup_size(256, 1, 1)
fn g_dynshm_kernel(@builtin(workgroup_id) cd_block: vec3<u32>, @builtin(local_invocation_id) cd_thread: vec3<u32>) {
    let threadIdx_x: i32 = i32(cd_thread.x);
    S[threadIdx_x] = bitcast<u32>(A_ptr[threadIdx_x]);
    workgroupBarrier();
    B_ptr[threadIdx_x] = bitcast<f32>(S[255 - threadIdx_x]);
}
