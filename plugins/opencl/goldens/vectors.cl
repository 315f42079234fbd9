// Written by chipdock for target opencl: OpenCL C 1.2.

static inline float4 cd_gather_f32x4_by_i32_global(__global const float* p, int4 index) {
    return (float4)(p[index.s0], p[index.s1], p[index.s2], p[index.s3]);
}
static inline float4 cd_load_f32x4_where_global(__global const float* p, char4 mask) {
    return (float4)(mask.s0 ? p[0] : 0.0f, mask.s1 ? p[1] : 0.0f, mask.s2 ? p[2] : 0.0f, mask.s3 ? p[3] : 0.0f);
}
static inline float4 cd_shuffle_f32x4_f32x4_f32x4_3_2_1_0(float4 a, float4 b) {
    return (float4)(a.s3, a.s2, a.s1, a.s0);
}
#if defined(__clang__) || defined(__GNUC__)
#define CD_MAY_ALIAS __attribute__((may_alias))
#else
#define CD_MAY_ALIAS
#endif
typedef ushort CD_MAY_ALIAS cd_f16_memory;
static inline float cd_f16_value(ushort x) {
    cd_f16_memory bits = x;
    return vload_half(0, (const __private half*)&bits);
}
static inline ushort cd_f16_bits(float x) {
    cd_f16_memory bits;
    vstore_half_rte(x, 0, (__private half*)&bits);
    return bits;
}
static inline float4 cd_load_f16x4_global(__global const ushort* p) {
    return (float4)(cd_f16_value(p[0]), cd_f16_value(p[1]), cd_f16_value(p[2]), cd_f16_value(p[3]));
}
static inline float cd_max_f32(float a, float b) {
    return a > b ? a : b;
}
static inline float4 cd_max_f32x4(float4 a, float4 b) {
    return (float4)(cd_max_f32(a.s0, b.s0), cd_max_f32(a.s1, b.s1), cd_max_f32(a.s2, b.s2), cd_max_f32(a.s3, b.s3));
}
static inline void cd_store_f32x4_where_global(__global float* p, char4 mask, float4 x) {
    if (mask.s0) p[0] = x.s0;
    if (mask.s1) p[1] = x.s1;
    if (mask.s2) p[2] = x.s2;
    if (mask.s3) p[3] = x.s3;
}
static inline int cd_i32_from_f32(float x) {
    if (x >= 2147483648.0f) return 2147483647;
    if (x > -2147483648.0f) return (int)x;
    return x != x ? 0 : INT_MIN;
}
static inline int4 cd_i32x4_of_f32(float4 a) {
    return (int4)(cd_i32_from_f32(a.s0), cd_i32_from_f32(a.s1), cd_i32_from_f32(a.s2), cd_i32_from_f32(a.s3));
}
static inline int cd_floordiv_i32(int a, int b) {
    if (b == 0) return a;
    if (b == -1) return (int)(0 - (uint)a);
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}
static inline int4 cd_floordiv_i32x4(int4 a, int4 b) {
    return (int4)(cd_floordiv_i32(a.s0, b.s0), cd_floordiv_i32(a.s1, b.s1), cd_floordiv_i32(a.s2, b.s2), cd_floordiv_i32(a.s3, b.s3));
}
static inline float cd_odd_from_int32(int x) {
    float f = convert_float_rtz(x);
    return (int)f != x ? as_float(as_uint(f) | 1u) : f;
}
static inline float cd_round_f16(float x) {
    return cd_f16_value(cd_f16_bits(x));
}
static inline float4 cd_f16x4_of_i32(int4 a) {
    return (float4)(cd_round_f16(cd_odd_from_int32(a.s0)), cd_round_f16(cd_odd_from_int32(a.s1)), cd_round_f16(cd_odd_from_int32(a.s2)), cd_round_f16(cd_odd_from_int32(a.s3)));
}
static inline void cd_store_f16x4_global(__global ushort* p, float4 x) {
    p[0] = cd_f16_bits(x.s0);
    p[1] = cd_f16_bits(x.s1);
    p[2] = cd_f16_bits(x.s2);
    p[3] = cd_f16_bits(x.s3);
}
static inline void cd_scatter_f32x4_by_i32_global(__global float* p, int4 index, float4 x) {
    p[index.s0] = x.s0;
    p[index.s1] = x.s1;
    p[index.s2] = x.s2;
    p[index.s3] = x.s3;
}
static inline float3 cd_gather_f32x3_by_i32_global(__global const float* p, int3 index) {
    return (float3)(p[index.s0], p[index.s1], p[index.s2]);
}
static inline float3 cd_load_f32x3_where_global(__global const float* p, char3 mask) {
    return (float3)(mask.s0 ? p[0] : 0.0f, mask.s1 ? p[1] : 0.0f, mask.s2 ? p[2] : 0.0f);
}
static inline float3 cd_shuffle_f32x3_f32x3_f32x3_2_1_0(float3 a, float3 b) {
    return (float3)(a.s2, a.s1, a.s0);
}
static inline float3 cd_load_f16x3_global(__global const ushort* p) {
    return (float3)(cd_f16_value(p[0]), cd_f16_value(p[1]), cd_f16_value(p[2]));
}
static inline float3 cd_max_f32x3(float3 a, float3 b) {
    return (float3)(cd_max_f32(a.s0, b.s0), cd_max_f32(a.s1, b.s1), cd_max_f32(a.s2, b.s2));
}
static inline void cd_store_f32x3_where_global(__global float* p, char3 mask, float3 x) {
    if (mask.s0) p[0] = x.s0;
    if (mask.s1) p[1] = x.s1;
    if (mask.s2) p[2] = x.s2;
}
static inline int3 cd_i32x3_of_f32(float3 a) {
    return (int3)(cd_i32_from_f32(a.s0), cd_i32_from_f32(a.s1), cd_i32_from_f32(a.s2));
}
static inline int3 cd_floordiv_i32x3(int3 a, int3 b) {
    return (int3)(cd_floordiv_i32(a.s0, b.s0), cd_floordiv_i32(a.s1, b.s1), cd_floordiv_i32(a.s2, b.s2));
}
static inline float3 cd_f16x3_of_i32(int3 a) {
    return (float3)(cd_round_f16(cd_odd_from_int32(a.s0)), cd_round_f16(cd_odd_from_int32(a.s1)), cd_round_f16(cd_odd_from_int32(a.s2)));
}
static inline void cd_store_f16x3_global(__global ushort* p, float3 x) {
    p[0] = cd_f16_bits(x.s0);
    p[1] = cd_f16_bits(x.s1);
    p[2] = cd_f16_bits(x.s2);
}
static inline void cd_scatter_f32x3_by_i32_global(__global float* p, int3 index, float3 x) {
    p[index.s0] = x.s0;
    p[index.s1] = x.s1;
    p[index.s2] = x.s2;
}
typedef struct { float s[5]; } cd_f32x5;
static inline cd_f32x5 cd_load_f32x5_global(__global const float* p) {
    cd_f32x5 r;
    for (int l = 0; l < 5; ++l) {
        r.s[l] = p[l];
    }
    return r;
}
typedef struct { int s[5]; } cd_i32x5;
static inline cd_i32x5 cd_load_i32x5_global(__global const int* p) {
    cd_i32x5 r;
    for (int l = 0; l < 5; ++l) {
        r.s[l] = p[l];
    }
    return r;
}
static inline cd_f32x5 cd_gather_f32x5_by_i32_global(__global const float* p, cd_i32x5 index) {
    cd_f32x5 r;
    for (int l = 0; l < 5; ++l) {
        r.s[l] = p[index.s[l]];
    }
    return r;
}
typedef struct { char s[5]; } cd_i8x5;
static inline cd_i8x5 cd_lt_f32x5(cd_f32x5 a, cd_f32x5 b) {
    cd_i8x5 r;
    for (int l = 0; l < 5; ++l) {
        r.s[l] = -(a.s[l] < b.s[l]);
    }
    return r;
}
static inline cd_i32x5 cd_splat_i32x5(int a) {
    cd_i32x5 r;
    for (int l = 0; l < 5; ++l) {
        r.s[l] = a;
    }
    return r;
}
static inline cd_i32x5 cd_bitwise_and_i32x5_i32x5(cd_i32x5 a, cd_i32x5 b) {
    cd_i32x5 r;
    for (int l = 0; l < 5; ++l) {
        r.s[l] = a.s[l] & b.s[l];
    }
    return r;
}
static inline cd_i32x5 cd_sub_i32x5(cd_i32x5 a, cd_i32x5 b) {
    cd_i32x5 r;
    for (int l = 0; l < 5; ++l) {
        r.s[l] = (int)((uint)a.s[l] - (uint)b.s[l]);
    }
    return r;
}
static inline cd_i8x5 cd_eq_i32x5(cd_i32x5 a, cd_i32x5 b) {
    cd_i8x5 r;
    for (int l = 0; l < 5; ++l) {
        r.s[l] = -(a.s[l] == b.s[l]);
    }
    return r;
}
static inline cd_i8x5 cd_and_boolx5(cd_i8x5 a, cd_i8x5 b) {
    cd_i8x5 r;
    for (int l = 0; l < 5; ++l) {
        r.s[l] = -(a.s[l] != 0 && b.s[l] != 0);
    }
    return r;
}
static inline cd_f32x5 cd_select_f32x5(cd_i8x5 a, cd_f32x5 b, cd_f32x5 c) {
    cd_f32x5 r;
    for (int l = 0; l < 5; ++l) {
        r.s[l] = a.s[l] != 0 ? b.s[l] : c.s[l];
    }
    return r;
}
static inline cd_f32x5 cd_load_f32x5_where_global(__global const float* p, cd_i8x5 mask) {
    cd_f32x5 r;
    for (int l = 0; l < 5; ++l) {
        r.s[l] = mask.s[l] ? p[l] : 0.0f;
    }
    return r;
}
static inline cd_f32x5 cd_mul_f32x5(cd_f32x5 a, cd_f32x5 b) {
    cd_f32x5 r;
    for (int l = 0; l < 5; ++l) {
        r.s[l] = a.s[l] * b.s[l];
    }
    return r;
}
static inline cd_f32x5 cd_shuffle_f32x5_f32x5_f32x5_4_3_2_1_0(cd_f32x5 a, cd_f32x5 b) {
    cd_f32x5 r = {{a.s[4], a.s[3], a.s[2], a.s[1], a.s[0]}};
    return r;
}
static inline cd_f32x5 cd_add_f32x5(cd_f32x5 a, cd_f32x5 b) {
    cd_f32x5 r;
    for (int l = 0; l < 5; ++l) {
        r.s[l] = a.s[l] + b.s[l];
    }
    return r;
}
static inline cd_f32x5 cd_load_f16x5_global(__global const ushort* p) {
    cd_f32x5 r;
    for (int l = 0; l < 5; ++l) {
        r.s[l] = cd_f16_value(p[l]);
    }
    return r;
}
static inline cd_f32x5 cd_max_f32x5(cd_f32x5 a, cd_f32x5 b) {
    cd_f32x5 r;
    for (int l = 0; l < 5; ++l) {
        r.s[l] = cd_max_f32(a.s[l], b.s[l]);
    }
    return r;
}
static inline cd_f32x5 cd_sqrt_f32x5(cd_f32x5 a) {
    cd_f32x5 r;
    for (int l = 0; l < 5; ++l) {
        r.s[l] = sqrt(a.s[l]);
    }
    return r;
}
static inline void cd_store_f32x5_global(__global float* p, cd_f32x5 x) {
    for (int l = 0; l < 5; ++l) {
        p[l] = x.s[l];
    }
}
static inline cd_f32x5 cd_f32x5_of_i32(cd_i32x5 a) {
    cd_f32x5 r;
    for (int l = 0; l < 5; ++l) {
        r.s[l] = (float)a.s[l];
    }
    return r;
}
static inline void cd_store_f32x5_where_global(__global float* p, cd_i8x5 mask, cd_f32x5 x) {
    for (int l = 0; l < 5; ++l) {
        if (mask.s[l]) p[l] = x.s[l];
    }
}
static inline cd_i32x5 cd_i32x5_of_f32(cd_f32x5 a) {
    cd_i32x5 r;
    for (int l = 0; l < 5; ++l) {
        r.s[l] = cd_i32_from_f32(a.s[l]);
    }
    return r;
}
static inline cd_i32x5 cd_floordiv_i32x5(cd_i32x5 a, cd_i32x5 b) {
    cd_i32x5 r;
    for (int l = 0; l < 5; ++l) {
        r.s[l] = cd_floordiv_i32(a.s[l], b.s[l]);
    }
    return r;
}
static inline cd_f32x5 cd_f16x5_of_i32(cd_i32x5 a) {
    cd_f32x5 r;
    for (int l = 0; l < 5; ++l) {
        r.s[l] = cd_round_f16(cd_odd_from_int32(a.s[l]));
    }
    return r;
}
static inline void cd_store_f16x5_global(__global ushort* p, cd_f32x5 x) {
    for (int l = 0; l < 5; ++l) {
        p[l] = cd_f16_bits(x.s[l]);
    }
}
static inline cd_f32x5 cd_splat_f32x5(float a) {
    cd_f32x5 r;
    for (int l = 0; l < 5; ++l) {
        r.s[l] = a;
    }
    return r;
}
static inline void cd_scatter_f32x5_by_i32_global(__global float* p, cd_i32x5 index, cd_f32x5 x) {
    for (int l = 0; l < 5; ++l) {
        p[index.s[l]] = x.s[l];
    }
}

__kernel __attribute__((reqd_work_group_size(64, 1, 1))) void vectors_kernel(__global const float* restrict A, __global float* restrict B, __global const int* restrict Idx, __global ushort* restrict H, int n_blocks) {
    const int t = (int)get_local_id(0);
    const char4 t_1 = convert_char4((vload4(0, Idx + t * 4) & (int4)(1)) == as_int4(as_uint4((int4)(1)) - as_uint4((int4)(1))));
    vstore4(sqrt(cd_max_f32x4(select(cd_gather_f32x4_by_i32_global(A, vload4(0, Idx + t * 4)), vload4(0, A + t * 4), (vload4(0, A + t * 4) < cd_gather_f32x4_by_i32_global(A, vload4(0, Idx + t * 4))) & convert_int4(t_1)) * cd_load_f32x4_where_global(A + t * 4, t_1) + cd_shuffle_f32x4_f32x4_f32x4_3_2_1_0(vload4(0, A + t * 4), cd_gather_f32x4_by_i32_global(A, vload4(0, Idx + t * 4))), cd_load_f16x4_global(H + t * 4))), 0, B + t * 4);
    cd_store_f32x4_where_global(B + t * 4, convert_char4((vload4(0, Idx + t * 4) & (int4)(1)) == as_int4(as_uint4((int4)(1)) - as_uint4((int4)(1)))), convert_float4(vload4(0, Idx + t * 4)));
    cd_store_f16x4_global(H + t * 4, cd_f16x4_of_i32(cd_floordiv_i32x4(cd_i32x4_of_f32(vload4(0, A + t * 4)), vload4(0, Idx + t * 4))));
    cd_scatter_f32x4_by_i32_global(B, vload4(0, Idx + t * 4), (float4)(1.0f));
    const char3 t_2 = convert_char3((vload3(0, Idx + t * 3) & (int3)(1)) == as_int3(as_uint3((int3)(1)) - as_uint3((int3)(1))));
    vstore3(sqrt(cd_max_f32x3(select(cd_gather_f32x3_by_i32_global(A, vload3(0, Idx + t * 3)), vload3(0, A + t * 3), (vload3(0, A + t * 3) < cd_gather_f32x3_by_i32_global(A, vload3(0, Idx + t * 3))) & convert_int3(t_2)) * cd_load_f32x3_where_global(A + t * 3, t_2) + cd_shuffle_f32x3_f32x3_f32x3_2_1_0(vload3(0, A + t * 3), cd_gather_f32x3_by_i32_global(A, vload3(0, Idx + t * 3))), cd_load_f16x3_global(H + t * 3))), 0, B + t * 3);
    cd_store_f32x3_where_global(B + t * 3, convert_char3((vload3(0, Idx + t * 3) & (int3)(1)) == as_int3(as_uint3((int3)(1)) - as_uint3((int3)(1)))), convert_float3(vload3(0, Idx + t * 3)));
    cd_store_f16x3_global(H + t * 3, cd_f16x3_of_i32(cd_floordiv_i32x3(cd_i32x3_of_f32(vload3(0, A + t * 3)), vload3(0, Idx + t * 3))));
    cd_scatter_f32x3_by_i32_global(B, vload3(0, Idx + t * 3), (float3)(1.0f));
    const cd_i8x5 t_3 = cd_eq_i32x5(cd_bitwise_and_i32x5_i32x5(cd_load_i32x5_global(Idx + t * 5), cd_splat_i32x5(1)), cd_sub_i32x5(cd_splat_i32x5(1), cd_splat_i32x5(1)));
    cd_store_f32x5_global(B + t * 5, cd_sqrt_f32x5(cd_max_f32x5(cd_add_f32x5(cd_mul_f32x5(cd_select_f32x5(cd_and_boolx5(cd_lt_f32x5(cd_load_f32x5_global(A + t * 5), cd_gather_f32x5_by_i32_global(A, cd_load_i32x5_global(Idx + t * 5))), t_3), cd_load_f32x5_global(A + t * 5), cd_gather_f32x5_by_i32_global(A, cd_load_i32x5_global(Idx + t * 5))), cd_load_f32x5_where_global(A + t * 5, t_3)), cd_shuffle_f32x5_f32x5_f32x5_4_3_2_1_0(cd_load_f32x5_global(A + t * 5), cd_gather_f32x5_by_i32_global(A, cd_load_i32x5_global(Idx + t * 5)))), cd_load_f16x5_global(H + t * 5))));
    cd_store_f32x5_where_global(B + t * 5, cd_eq_i32x5(cd_bitwise_and_i32x5_i32x5(cd_load_i32x5_global(Idx + t * 5), cd_splat_i32x5(1)), cd_sub_i32x5(cd_splat_i32x5(1), cd_splat_i32x5(1))), cd_f32x5_of_i32(cd_load_i32x5_global(Idx + t * 5)));
    cd_store_f16x5_global(H + t * 5, cd_f16x5_of_i32(cd_floordiv_i32x5(cd_i32x5_of_f32(cd_load_f32x5_global(A + t * 5)), cd_load_i32x5_global(Idx + t * 5))));
    cd_scatter_f32x5_by_i32_global(B, cd_load_i32x5_global(Idx + t * 5), cd_splat_f32x5(1.0f));
}
