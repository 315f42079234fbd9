// Written by chipdock for target webgpu: WGSL.
fn cd_load_f32x4_A_ptr(cd_i: i32) -> vec4<f32> {
    return vec4<f32>(A_ptr[cd_i], A_ptr[cd_i + 1], A_ptr[cd_i + 2], A_ptr[cd_i + 3]);
}
fn cd_store_f32x4_B_ptr(cd_i: i32, cd_v: vec4<f32>) {
    B_ptr[cd_i] = cd_v[0];
    B_ptr[cd_i + 1] = cd_v[1];
    B_ptr[cd_i + 2] = cd_v[2];
    B_ptr[cd_i + 3] = cd_v[3];
}

@group(0) @binding(0) var<storage, read> A_ptr: array<f32>;
@group(0) @binding(1) var<storage, read_write> B_ptr: array<f32>;
@compute @workgroup_size(128, 1, 1)
fn g_vec4_kernel(@builtin(workgroup_id) cd_block: vec3<u32>, @builtin(local_invocation_id) cd_thread: vec3<u32>) {
    let blockIdx_x: i32 = i32(cd_block.x);
    let threadIdx_x: i32 = i32(cd_thread.x);
    cd_store_f32x4_B_ptr(blockIdx_x * 512 + threadIdx_x * 4, cd_load_f32x4_A_ptr(blockIdx_x * 512 + threadIdx_x * 4) * vec4<f32>(2.0f));
}
