// Written by chipdock for target webgpu: WGSL.

@group(0) @binding(0) var<storage, read> A_ptr: array<f32>;
@group(0) @binding(1) var<storage, read> B_ptr: array<f32>;
@group(0) @binding(2) var<storage, read_write> C_ptr: array<f32>;
struct cd_scalars_of_g_dynadd_kernel {
    n: i32,
}
@group(0) @binding(3) var<uniform> cd_in_g_dynadd_kernel: cd_scalars_of_g_dynadd_kernel;
@compute @workgroup_size(128, 1, 1)
fn g_dynadd_kernel(@builtin(workgroup_id) cd_block: vec3<u32>, @builtin(local_invocation_id) cd_thread: vec3<u32>) {
    let blockIdx_x: i32 = i32(cd_block.x);
    let threadIdx_x: i32 = i32(cd_thread.x);
    if (blockIdx_x * 128 + threadIdx_x < cd_in_g_dynadd_kernel.n) {
        C_ptr[blockIdx_x * 128 + threadIdx_x] = A_ptr[blockIdx_x * 128 + threadIdx_x] + B_ptr[blockIdx_x * 128 + threadIdx_x];
    }
}
