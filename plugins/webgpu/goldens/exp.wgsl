// Written by chipdock for target webgpu: WGSL.
fn cd_order_f32(x: f32) -> i32 {
    let bits = bitcast<i32>(x);
    return select(bits, i32(-2147483648) - bits, bits < 0);
}
fn cd_lt_f32(a: f32, b: f32) -> bool {
    let x = cd_order_f32(a);
    let y = cd_order_f32(b);
    return (x < y) & (x >= -2139095040) & (y <= 2139095040);
}
fn cd_max_f32(a: f32, b: f32) -> f32 {
    return select(b, a, cd_lt_f32(b, a));
}
fn cd_min_f32(a: f32, b: f32) -> f32 {
    return select(b, a, cd_lt_f32(a, b));
}
fn cd_i32_of_float(x: f32) -> i32 {
    if ((bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u) {
        return i32(0);
    }
    if (x >= 2147483600.0f) {
        return 2147483647;
    }
    if (x <= -2147483600.0f) {
        return i32(-2147483648);
    }
    return i32(x);
}

@group(0) @binding(0) var<storage, read> A_ptr: array<f32>;
@group(0) @binding(1) var<storage, read_write> B_ptr: array<f32>;
@compute @workgroup_size(128, 1, 1)
fn g_exp_kernel(@builtin(workgroup_id) cd_block: vec3<u32>, @builtin(local_invocation_id) cd_thread: vec3<u32>) {
    let blockIdx_x: i32 = i32(cd_block.x);
    let threadIdx_x: i32 = i32(cd_thread.x);
    if (blockIdx_x * 16 + (threadIdx_x >> 3u) < 125) {
        let x: f32 = A_ptr[blockIdx_x * 128 + threadIdx_x];
        let clamped: f32 = cd_min_f32(89.0f, cd_max_f32(-104.0f, x));
        let whole: f32 = round(clamped * 1.442695f);
        let high: f32 = clamped - whole * 0.6933594f;
        let r: f32 = high - whole * -0.00021219444f;
        let n: i32 = cd_i32_of_float(whole);
        let half: i32 = n >> 1u;
        B_ptr[blockIdx_x * 128 + threadIdx_x] = ((((((0.00019875691f * r + 0.0013982f) * r + 0.008333452f) * r + 0.041665796f) * r + 0.16666666f) * r + 0.5f) * (r * r) + r + 1.0f) * bitcast<f32>((half + 127) << 23u) * bitcast<f32>((n - half + 127) << 23u);
    }
}
