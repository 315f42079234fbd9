// the code generator of target kind "webgpu" cannot build this module
//   16:53: in g_exp_kernel: target webgpu: cannot call "exp": WGSL has no functions outside of its module (`T.call_pure_extern("float32", "exp", A[blockIdx_x * 128 + threadIdx_x])`)
