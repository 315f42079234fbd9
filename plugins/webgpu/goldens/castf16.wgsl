// Written by chipdock for target webgpu: WGSL.
fn cd_f16_bits(x: f32) -> u32 {
    let sign = (bitcast<u32>(x) >> 16u) & 0x8000u;
    let bits = bitcast<u32>(x) & 0x7fffffffu;
    if (bits > 0x7f800000u) {
        return sign | 0x7e00u | ((bits >> 13u) & 0x1ffu);
    }
    if (bits >= 0x477ff000u) {
        return sign | 0x7c00u;
    }
    if (bits < 0x33000000u) {
        return sign;
    }
    if (bits < 0x38800000u) {
        // Below the least normal half: the significand in units of 2^-24, halves to even.
        let significand = (bits & 0x7fffffu) | 0x800000u;
        let shift = 126u - (bits >> 23u);
        let kept = significand >> shift;
        let rest = significand & ((1u << shift) - 1u);
        let half = 1u << (shift - 1u);
        let up = rest > half || (rest == half && (kept & 1u) == 1u);
        return sign | (kept + select(0u, 1u, up));
    }
    let rounded = bits + 0xfffu + ((bits >> 13u) & 1u);
    return sign | ((rounded - 0x38000000u) >> 13u);
}
fn cd_f16_value(half: u32) -> f32 {
    let sign = (half & 0x8000u) << 16u;
    let rest = half & 0x7fffu;
    if (rest >= 0x7c00u) {
        return bitcast<f32>(sign | 0x7f800000u | ((rest & 0x3ffu) << 13u));
    }
    if (rest < 0x400u) {
        // The significand in units of 2^-24, which f32 has exactly.
        let magnitude = f32(rest) * 5.9604645e-8f;
        return bitcast<f32>(sign | bitcast<u32>(magnitude));
    }
    return bitcast<f32>(sign | ((rest << 13u) + 0x38000000u));
}
fn cd_round_f16(x: f32) -> f32 {
    return cd_f16_value(cd_f16_bits(x));
}
fn cd_store_f16_B_ptr(cd_i: i32, cd_v: f32) {
    let by = 16u * (bitcast<u32>(cd_i) & 1u);
    let bits = (cd_f16_bits(cd_v) & 0xffffu) << by;
    atomicAnd(&B_ptr[cd_i >> 1u], ~(0xffffu << by) | bits);
    atomicOr(&B_ptr[cd_i >> 1u], bits);
}

@group(0) @binding(0) var<storage, read> A_ptr: array<f32>;
@group(0) @binding(1) var<storage, read_write> B_ptr: array<atomic<u32>>;
@compute @workgroup_size(128, 1, 1)
fn g_castf16_kernel(@builtin(workgroup_id) cd_block: vec3<u32>, @builtin(local_invocation_id) cd_thread: vec3<u32>) {
    let blockIdx_x: i32 = i32(cd_block.x);
    let threadIdx_x: i32 = i32(cd_thread.x);
    cd_store_f16_B_ptr(blockIdx_x * 128 + threadIdx_x, cd_round_f16(A_ptr[blockIdx_x * 128 + threadIdx_x]));
}
