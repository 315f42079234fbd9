// Written by chipdock for target webgpu: WGSL.
fn cd_store_u16_B_ptr(cd_i: i32, cd_v: u32) {
    let by = 16u * (bitcast<u32>(cd_i) & 1u);
    let bits = (cd_v & 0xffffu) << by;
    atomicAnd(&B_ptr[cd_i >> 1u], ~(0xffffu << by) | bits);
    atomicOr(&B_ptr[cd_i >> 1u], bits);
}

@group(0) @binding(0) var<storage, read> A_ptr: array<f32>;
@group(0) @binding(1) var<storage, read_write> B_ptr: array<atomic<u32>>;
@compute @workgroup_size(128, 1, 1)
fn g_castbf16_kernel(@builtin(workgroup_id) cd_block: vec3<u32>, @builtin(local_invocation_id) cd_thread: vec3<u32>) {
    let blockIdx_x: i32 = i32(cd_block.x);
    let threadIdx_x: i32 = i32(cd_thread.x);
    cd_store_u16_B_ptr(blockIdx_x * 128 + threadIdx_x, (((bitcast<u32>(A_ptr[blockIdx_x * 128 + threadIdx_x]) + ((bitcast<u32>(A_ptr[blockIdx_x * 128 + threadIdx_x]) >> 16u) & 1u) + 32767u) >> 16u) & 0xffffu));
}
