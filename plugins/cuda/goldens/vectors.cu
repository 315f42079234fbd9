// Written by chipdock for target cuda: CUDA C++ that needs no header.
// nvcc -x cu -ptx -arch=ARCH FILE
struct cd_f32x4 {
    float v[4];
};
static __device__ __forceinline__ cd_f32x4 cd_load_f32x4(const float* p) {
    __align__(16) float e[4];
    if ((unsigned long long)p % 16 == 0) {
        ((uint4*)e)[0] = ((const uint4*)p)[0];
    } else {
#pragma unroll
        for (int l = 0; l < 4; ++l) {
            e[l] = p[l];
        }
    }
    cd_f32x4 r;
#pragma unroll
    for (int l = 0; l < 4; ++l) {
        r.v[l] = e[l];
    }
    return r;
}
struct cd_i32x4 {
    int v[4];
};
static __device__ __forceinline__ cd_i32x4 cd_load_i32x4(const int* p) {
    __align__(16) int e[4];
    if ((unsigned long long)p % 16 == 0) {
        ((uint4*)e)[0] = ((const uint4*)p)[0];
    } else {
#pragma unroll
        for (int l = 0; l < 4; ++l) {
            e[l] = p[l];
        }
    }
    cd_i32x4 r;
#pragma unroll
    for (int l = 0; l < 4; ++l) {
        r.v[l] = e[l];
    }
    return r;
}
static __device__ __forceinline__ cd_f32x4 cd_gather_f32x4_by_i32(const float* p, cd_i32x4 index) {
    cd_f32x4 r;
#pragma unroll
    for (int l = 0; l < 4; ++l) {
        r.v[l] = p[index.v[l]];
    }
    return r;
}
struct cd_boolx4 {
    bool v[4];
};
static __device__ __forceinline__ cd_boolx4 cd_lt_f32x4(cd_f32x4 a, cd_f32x4 b) {
    cd_boolx4 r;
#pragma unroll
    for (int l = 0; l < 4; ++l) {
        r.v[l] = a.v[l] < b.v[l];
    }
    return r;
}
static __device__ __forceinline__ cd_i32x4 cd_splat_i32x4(int a) {
    cd_i32x4 r;
#pragma unroll
    for (int l = 0; l < 4; ++l) {
        r.v[l] = a;
    }
    return r;
}
static __device__ __forceinline__ cd_boolx4 cd_lt_i32x4(cd_i32x4 a, cd_i32x4 b) {
    cd_boolx4 r;
#pragma unroll
    for (int l = 0; l < 4; ++l) {
        r.v[l] = a.v[l] < b.v[l];
    }
    return r;
}
static __device__ __forceinline__ cd_boolx4 cd_and_boolx4(cd_boolx4 a, cd_boolx4 b) {
    cd_boolx4 r;
#pragma unroll
    for (int l = 0; l < 4; ++l) {
        r.v[l] = a.v[l] && b.v[l];
    }
    return r;
}
static __device__ __forceinline__ cd_f32x4 cd_select_f32x4(cd_boolx4 a, cd_f32x4 b, cd_f32x4 c) {
    cd_f32x4 r;
#pragma unroll
    for (int l = 0; l < 4; ++l) {
        r.v[l] = a.v[l] ? b.v[l] : c.v[l];
    }
    return r;
}
static __device__ __forceinline__ cd_f32x4 cd_load_f32x4_where(const float* p, cd_boolx4 mask) {
    cd_f32x4 r;
#pragma unroll
    for (int l = 0; l < 4; ++l) {
        r.v[l] = mask.v[l] ? p[l] : 0.0f;
    }
    return r;
}
static __device__ __forceinline__ cd_f32x4 cd_mul_f32x4(cd_f32x4 a, cd_f32x4 b) {
    cd_f32x4 r;
#pragma unroll
    for (int l = 0; l < 4; ++l) {
        r.v[l] = a.v[l] * b.v[l];
    }
    return r;
}
static __device__ __forceinline__ cd_f32x4 cd_shuffle_f32x4_f32x4_f32x4_7_0_1_4(cd_f32x4 a, cd_f32x4 b) {
    cd_f32x4 r = {{b.v[3], a.v[0], a.v[1], b.v[0]}};
    return r;
}
static __device__ __forceinline__ cd_f32x4 cd_add_f32x4(cd_f32x4 a, cd_f32x4 b) {
    cd_f32x4 r;
#pragma unroll
    for (int l = 0; l < 4; ++l) {
        r.v[l] = a.v[l] + b.v[l];
    }
    return r;
}
static __device__ __forceinline__ void cd_store_f32x4_local(float* p, cd_f32x4 x) {
#pragma unroll
    for (int l = 0; l < 4; ++l) {
        p[l] = x.v[l];
    }
}
static __device__ __forceinline__ cd_f32x4 cd_load_f32x4_local(const float* p) {
    cd_f32x4 r;
#pragma unroll
    for (int l = 0; l < 4; ++l) {
        r.v[l] = p[l];
    }
    return r;
}
static __device__ __forceinline__ void cd_store_f32x4_where(float* p, cd_boolx4 mask, cd_f32x4 x) {
#pragma unroll
    for (int l = 0; l < 4; ++l) {
        if (mask.v[l]) p[l] = x.v[l];
    }
}
struct cd_f32x8 {
    float v[8];
};
static __device__ __forceinline__ float cd_f16_value(unsigned short bits) {
    float x;
    asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(bits));
    return x;
}
static __device__ __forceinline__ cd_f32x8 cd_load_f16x8(const unsigned short* p) {
    __align__(16) unsigned short e[8];
    if ((unsigned long long)p % 16 == 0) {
        ((uint4*)e)[0] = ((const uint4*)p)[0];
    } else {
#pragma unroll
        for (int l = 0; l < 8; ++l) {
            e[l] = p[l];
        }
    }
    cd_f32x8 r;
#pragma unroll
    for (int l = 0; l < 8; ++l) {
        r.v[l] = cd_f16_value(e[l]);
    }
    return r;
}
static __device__ __forceinline__ void cd_store_f32x8(float* p, cd_f32x8 x) {
    __align__(16) float e[8];
#pragma unroll
    for (int l = 0; l < 8; ++l) {
        e[l] = x.v[l];
    }
    if ((unsigned long long)p % 16 == 0) {
#pragma unroll
        for (int l = 0; l < 2; ++l) {
            ((uint4*)p)[l] = ((uint4*)e)[l];
        }
    } else {
#pragma unroll
        for (int l = 0; l < 8; ++l) {
            p[l] = e[l];
        }
    }
}
static __device__ __forceinline__ unsigned short cd_f16_bits(float x) {
    unsigned short bits;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x));
    return bits;
}
static __device__ __forceinline__ void cd_store_f16x8(unsigned short* p, cd_f32x8 x) {
    __align__(16) unsigned short e[8];
#pragma unroll
    for (int l = 0; l < 8; ++l) {
        e[l] = cd_f16_bits(x.v[l]);
    }
    if ((unsigned long long)p % 16 == 0) {
        ((uint4*)p)[0] = ((uint4*)e)[0];
    } else {
#pragma unroll
        for (int l = 0; l < 8; ++l) {
            p[l] = e[l];
        }
    }
}
struct cd_i8x16 {
    signed char v[16];
};
static __device__ __forceinline__ cd_i8x16 cd_load_i8x16(const signed char* p) {
    __align__(16) signed char e[16];
    if ((unsigned long long)p % 16 == 0) {
        ((uint4*)e)[0] = ((const uint4*)p)[0];
    } else {
#pragma unroll
        for (int l = 0; l < 16; ++l) {
            e[l] = p[l];
        }
    }
    cd_i8x16 r;
#pragma unroll
    for (int l = 0; l < 16; ++l) {
        r.v[l] = e[l];
    }
    return r;
}
static __device__ __forceinline__ cd_i8x16 cd_splat_i8x16(signed char a) {
    cd_i8x16 r;
#pragma unroll
    for (int l = 0; l < 16; ++l) {
        r.v[l] = a;
    }
    return r;
}
static __device__ __forceinline__ cd_i8x16 cd_add_i8x16(cd_i8x16 a, cd_i8x16 b) {
    cd_i8x16 r;
#pragma unroll
    for (int l = 0; l < 16; ++l) {
        r.v[l] = (signed char)((unsigned int)a.v[l] + (unsigned int)b.v[l]);
    }
    return r;
}
static __device__ __forceinline__ void cd_store_i8x16(signed char* p, cd_i8x16 x) {
    __align__(16) signed char e[16];
#pragma unroll
    for (int l = 0; l < 16; ++l) {
        e[l] = x.v[l];
    }
    if ((unsigned long long)p % 16 == 0) {
        ((uint4*)p)[0] = ((uint4*)e)[0];
    } else {
#pragma unroll
        for (int l = 0; l < 16; ++l) {
            p[l] = e[l];
        }
    }
}
struct cd_f64x2 {
    double v[2];
};
static __device__ __forceinline__ cd_f64x2 cd_load_f64x2(const double* p) {
    __align__(16) double e[2];
    if ((unsigned long long)p % 16 == 0) {
        ((uint4*)e)[0] = ((const uint4*)p)[0];
    } else {
#pragma unroll
        for (int l = 0; l < 2; ++l) {
            e[l] = p[l];
        }
    }
    cd_f64x2 r;
#pragma unroll
    for (int l = 0; l < 2; ++l) {
        r.v[l] = e[l];
    }
    return r;
}
static __device__ __forceinline__ cd_f64x2 cd_splat_f64x2(double a) {
    cd_f64x2 r;
#pragma unroll
    for (int l = 0; l < 2; ++l) {
        r.v[l] = a;
    }
    return r;
}
static __device__ __forceinline__ cd_f64x2 cd_mul_f64x2(cd_f64x2 a, cd_f64x2 b) {
    cd_f64x2 r;
#pragma unroll
    for (int l = 0; l < 2; ++l) {
        r.v[l] = a.v[l] * b.v[l];
    }
    return r;
}
static __device__ __forceinline__ void cd_store_f64x2(double* p, cd_f64x2 x) {
    __align__(16) double e[2];
#pragma unroll
    for (int l = 0; l < 2; ++l) {
        e[l] = x.v[l];
    }
    if ((unsigned long long)p % 16 == 0) {
        ((uint4*)p)[0] = ((uint4*)e)[0];
    } else {
#pragma unroll
        for (int l = 0; l < 2; ++l) {
            p[l] = e[l];
        }
    }
}
struct cd_i32x3 {
    int v[3];
};
static __device__ __forceinline__ cd_i32x3 cd_load_i32x3(const int* p) {
    cd_i32x3 r;
#pragma unroll
    for (int l = 0; l < 3; ++l) {
        r.v[l] = p[l];
    }
    return r;
}
static __device__ __forceinline__ cd_i32x3 cd_ramp_i32x3(int a, int b) {
    cd_i32x3 r;
#pragma unroll
    for (int l = 0; l < 3; ++l) {
        r.v[l] = (int)((unsigned int)a + (unsigned int)l * (unsigned int)b);
    }
    return r;
}
static __device__ __forceinline__ cd_i32x3 cd_add_i32x3(cd_i32x3 a, cd_i32x3 b) {
    cd_i32x3 r;
#pragma unroll
    for (int l = 0; l < 3; ++l) {
        r.v[l] = (int)((unsigned int)a.v[l] + (unsigned int)b.v[l]);
    }
    return r;
}
static __device__ __forceinline__ void cd_store_i32x3(int* p, cd_i32x3 x) {
#pragma unroll
    for (int l = 0; l < 3; ++l) {
        p[l] = x.v[l];
    }
}

extern "C" __global__ void __launch_bounds__(32) vectors_kernel(const float* __restrict__ A, float* __restrict__ B, int* __restrict__ P, unsigned short* __restrict__ H, signed char* __restrict__ C, double* __restrict__ D) {
    const int blockIdx_x = (int)blockIdx.x;
    const int threadIdx_x = (int)threadIdx.x;
    float L[8];
    const cd_f32x4 t = cd_load_f32x4(A + (blockIdx_x * 32 + threadIdx_x) * 4);
    const cd_i32x4 t_1 = cd_load_i32x4(P + (blockIdx_x * 32 + threadIdx_x) * 4);
    const cd_f32x4 t_2 = cd_gather_f32x4_by_i32(A, t_1);
    const cd_boolx4 t_3 = cd_lt_i32x4(t_1, cd_splat_i32x4(100));
    cd_store_f32x4_local(L, cd_add_f32x4(cd_mul_f32x4(cd_select_f32x4(cd_and_boolx4(cd_lt_f32x4(t, t_2), t_3), t, t_2), cd_load_f32x4_where(A + (blockIdx_x * 32 + threadIdx_x) * 4, t_3)), cd_shuffle_f32x4_f32x4_f32x4_7_0_1_4(t, t_2)));
    cd_store_f32x4_where(B + (blockIdx_x * 32 + threadIdx_x) * 4, cd_lt_i32x4(cd_load_i32x4(P + (blockIdx_x * 32 + threadIdx_x) * 4), cd_splat_i32x4(100)), cd_load_f32x4_local(L));
    cd_store_f32x8(B + (blockIdx_x * 32 + threadIdx_x) * 8, cd_load_f16x8(H + (blockIdx_x * 32 + threadIdx_x) * 8));
    cd_store_f16x8(H + (blockIdx_x * 32 + threadIdx_x) * 8, cd_load_f16x8(H + (blockIdx_x * 32 + threadIdx_x) * 8));
    cd_store_i8x16(C + (blockIdx_x * 32 + threadIdx_x) * 16, cd_add_i8x16(cd_load_i8x16(C + (blockIdx_x * 32 + threadIdx_x) * 16), cd_splat_i8x16(1)));
    cd_store_f64x2(D + (blockIdx_x * 32 + threadIdx_x) * 2, cd_mul_f64x2(cd_load_f64x2(D + (blockIdx_x * 32 + threadIdx_x) * 2), cd_splat_f64x2(0.5)));
    cd_store_i32x3(P + (blockIdx_x * 32 + threadIdx_x) * 3, cd_add_i32x3(cd_load_i32x3(P + (blockIdx_x * 32 + threadIdx_x) * 3), cd_ramp_i32x3((blockIdx_x * 32 + threadIdx_x) * 3, 1)));
}
