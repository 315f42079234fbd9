// Written by chipdock for target webgpu: WGSL.

@group(0) @binding(0) var<storage, read> A_ptr: array<f32>;
@group(0) @binding(1) var<storage, read> B_ptr: array<f32>;
@group(0) @binding(2) var<storage, read_write> C_ptr: array<f32>;
@compute @workgroup_size(16, 16, 1)
fn g_matmul_kernel(@builtin(workgroup_id) cd_block: vec3<u32>, @builtin(local_invocation_id) cd_thread: vec3<u32>) {
    let blockIdx_y: i32 = i32(cd_block.y);
    let blockIdx_x: i32 = i32(cd_block.x);
    let threadIdx_y: i32 = i32(cd_thread.y);
    let threadIdx_x: i32 = i32(cd_thread.x);
    for (var k: i32 = 0; k < 512; k++) {
        if (k == 0) {
            C_ptr[blockIdx_y * 8192 + threadIdx_y * 512 + blockIdx_x * 16 + threadIdx_x] = 0.0f;
        }
        let index: i32 = blockIdx_y * 8192 + threadIdx_y * 512 + blockIdx_x * 16 + threadIdx_x;
        C_ptr[index] = C_ptr[index] + A_ptr[blockIdx_y * 8192 + threadIdx_y * 512 + k] * B_ptr[k * 512 + blockIdx_x * 16 + threadIdx_x];
    }
}
