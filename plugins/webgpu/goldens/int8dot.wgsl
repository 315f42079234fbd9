// Written by chipdock for target webgpu: WGSL.
fn cd_load_i8_A_ptr(cd_i: i32) -> i32 {
    return extractBits(bitcast<i32>(extractBits(A_ptr[cd_i >> 2u], 8u * (bitcast<u32>(cd_i) & 3u), 8u)), 0u, 8u);
}
fn cd_load_i8_B_ptr(cd_i: i32) -> i32 {
    return extractBits(bitcast<i32>(extractBits(B_ptr[cd_i >> 2u], 8u * (bitcast<u32>(cd_i) & 3u), 8u)), 0u, 8u);
}

@group(0) @binding(0) var<storage, read> A_ptr: array<u32>;
@group(0) @binding(1) var<storage, read> B_ptr: array<u32>;
@group(0) @binding(2) var<storage, read_write> C_ptr: array<i32>;
@compute @workgroup_size(32, 1, 1)
fn g_int8dot_kernel(@builtin(workgroup_id) cd_block: vec3<u32>, @builtin(local_invocation_id) cd_thread: vec3<u32>) {
    let blockIdx_x: i32 = i32(cd_block.x);
    let threadIdx_x: i32 = i32(cd_thread.x);
    for (var k: i32 = 0; k < 64; k++) {
        if (k == 0) {
            C_ptr[blockIdx_x * 32 + threadIdx_x] = 0;
        }
        C_ptr[blockIdx_x * 32 + threadIdx_x] = C_ptr[blockIdx_x * 32 + threadIdx_x] + cd_load_i8_A_ptr(blockIdx_x * 64 + k) * cd_load_i8_B_ptr(threadIdx_x * 64 + k);
    }
}
