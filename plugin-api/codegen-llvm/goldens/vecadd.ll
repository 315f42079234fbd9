target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

@__chipdock_env = global ptr null, align 8
@cd.ffi_raise = private unnamed_addr constant [29 x i8] c"TVMFFIErrorSetRaisedFromCStr\00"
@cd.message.0 = private unnamed_addr constant [174 x i8] c"TypeError\00Mismatched type on argument #\01 when calling:\0A  `vecadd(A: Tensor([n], float32), B: Tensor([n], float32), C: Tensor([n], float32))`,\0A  expected Tensor, but got None\00"
@cd.message.1 = private unnamed_addr constant [173 x i8] c"TypeError\00Mismatched type on argument #\01 when calling:\0A  `vecadd(A: Tensor([n], float32), B: Tensor([n], float32), C: Tensor([n], float32))`,\0A  expected Tensor, but got int\00"
@cd.message.10 = private unnamed_addr constant [162 x i8] c"TypeError\00args pointer is NULL when calling:\0A  `vecadd(A: Tensor([n], float32), B: Tensor([n], float32), C: Tensor([n], float32))`,\0A  expected a non-NULL pointer\00"
@cd.message.11 = private unnamed_addr constant [184 x i8] c"TypeError\00Mismatched type on argument #0 when calling:\0A  `vecadd(A: Tensor([n], float32), B: Tensor([n], float32), C: Tensor([n], float32))`,\0A  expected Tensor, but got a NULL pointer\00"
@cd.message.12 = private unnamed_addr constant [184 x i8] c"TypeError\00Mismatched type on argument #1 when calling:\0A  `vecadd(A: Tensor([n], float32), B: Tensor([n], float32), C: Tensor([n], float32))`,\0A  expected Tensor, but got a NULL pointer\00"
@cd.message.13 = private unnamed_addr constant [184 x i8] c"TypeError\00Mismatched type on argument #2 when calling:\0A  `vecadd(A: Tensor([n], float32), B: Tensor([n], float32), C: Tensor([n], float32))`,\0A  expected Tensor, but got a NULL pointer\00"
@cd.message.14 = private unnamed_addr constant [169 x i8] c"ValueError\00Mismatched A.ndim on argument #0 when calling:\0A  `vecadd(A: Tensor([n], float32), B: Tensor([n], float32), C: Tensor([n], float32))`,\0A  expected 1, but got \01\00"
@cd.message.15 = private unnamed_addr constant [178 x i8] c"TypeError\00Mismatched A.dtype on argument #0 when calling:\0A  `vecadd(A: Tensor([n], float32), B: Tensor([n], float32), C: Tensor([n], float32))`,\0A  expected float32, but got int\01\00"
@cd.message.16 = private unnamed_addr constant [179 x i8] c"TypeError\00Mismatched A.dtype on argument #0 when calling:\0A  `vecadd(A: Tensor([n], float32), B: Tensor([n], float32), C: Tensor([n], float32))`,\0A  expected float32, but got uint\01\00"
@cd.message.17 = private unnamed_addr constant [180 x i8] c"TypeError\00Mismatched A.dtype on argument #0 when calling:\0A  `vecadd(A: Tensor([n], float32), B: Tensor([n], float32), C: Tensor([n], float32))`,\0A  expected float32, but got float\01\00"
@cd.message.18 = private unnamed_addr constant [181 x i8] c"TypeError\00Mismatched A.dtype on argument #0 when calling:\0A  `vecadd(A: Tensor([n], float32), B: Tensor([n], float32), C: Tensor([n], float32))`,\0A  expected float32, but got bfloat\01\00"
@cd.message.19 = private unnamed_addr constant [178 x i8] c"TypeError\00Mismatched A.dtype on argument #0 when calling:\0A  `vecadd(A: Tensor([n], float32), B: Tensor([n], float32), C: Tensor([n], float32))`,\0A  expected float32, but got bool\00"
@cd.message.2 = private unnamed_addr constant [174 x i8] c"TypeError\00Mismatched type on argument #\01 when calling:\0A  `vecadd(A: Tensor([n], float32), B: Tensor([n], float32), C: Tensor([n], float32))`,\0A  expected Tensor, but got bool\00"
@cd.message.20 = private unnamed_addr constant [208 x i8] c"TypeError\00Mismatched A.dtype on argument #0 when calling:\0A  `vecadd(A: Tensor([n], float32), B: Tensor([n], float32), C: Tensor([n], float32))`,\0A  expected float32, but got dtype code \01 of \01 bits and \01 lanes\00"
@cd.message.21 = private unnamed_addr constant [206 x i8] c"ValueError\00Mismatched A.device_type on argument #0 when calling:\0A  `vecadd(A: Tensor([n], float32), B: Tensor([n], float32), C: Tensor([n], float32))`,\0A  expected cpu (device type 1), but got device type \01\00"
@cd.message.22 = private unnamed_addr constant [191 x i8] c"ValueError\00Mismatched A.shape on argument #0 when calling:\0A  `vecadd(A: Tensor([n], float32), B: Tensor([n], float32), C: Tensor([n], float32))`,\0A  expected 1 extents, but got a NULL pointer\00"
@cd.message.23 = private unnamed_addr constant [169 x i8] c"ValueError\00Mismatched B.ndim on argument #1 when calling:\0A  `vecadd(A: Tensor([n], float32), B: Tensor([n], float32), C: Tensor([n], float32))`,\0A  expected 1, but got \01\00"
@cd.message.24 = private unnamed_addr constant [178 x i8] c"TypeError\00Mismatched B.dtype on argument #1 when calling:\0A  `vecadd(A: Tensor([n], float32), B: Tensor([n], float32), C: Tensor([n], float32))`,\0A  expected float32, but got int\01\00"
@cd.message.25 = private unnamed_addr constant [179 x i8] c"TypeError\00Mismatched B.dtype on argument #1 when calling:\0A  `vecadd(A: Tensor([n], float32), B: Tensor([n], float32), C: Tensor([n], float32))`,\0A  expected float32, but got uint\01\00"
@cd.message.26 = private unnamed_addr constant [180 x i8] c"TypeError\00Mismatched B.dtype on argument #1 when calling:\0A  `vecadd(A: Tensor([n], float32), B: Tensor([n], float32), C: Tensor([n], float32))`,\0A  expected float32, but got float\01\00"
@cd.message.27 = private unnamed_addr constant [181 x i8] c"TypeError\00Mismatched B.dtype on argument #1 when calling:\0A  `vecadd(A: Tensor([n], float32), B: Tensor([n], float32), C: Tensor([n], float32))`,\0A  expected float32, but got bfloat\01\00"
@cd.message.28 = private unnamed_addr constant [178 x i8] c"TypeError\00Mismatched B.dtype on argument #1 when calling:\0A  `vecadd(A: Tensor([n], float32), B: Tensor([n], float32), C: Tensor([n], float32))`,\0A  expected float32, but got bool\00"
@cd.message.29 = private unnamed_addr constant [208 x i8] c"TypeError\00Mismatched B.dtype on argument #1 when calling:\0A  `vecadd(A: Tensor([n], float32), B: Tensor([n], float32), C: Tensor([n], float32))`,\0A  expected float32, but got dtype code \01 of \01 bits and \01 lanes\00"
@cd.message.3 = private unnamed_addr constant [175 x i8] c"TypeError\00Mismatched type on argument #\01 when calling:\0A  `vecadd(A: Tensor([n], float32), B: Tensor([n], float32), C: Tensor([n], float32))`,\0A  expected Tensor, but got float\00"
@cd.message.30 = private unnamed_addr constant [206 x i8] c"ValueError\00Mismatched B.device_type on argument #1 when calling:\0A  `vecadd(A: Tensor([n], float32), B: Tensor([n], float32), C: Tensor([n], float32))`,\0A  expected cpu (device type 1), but got device type \01\00"
@cd.message.31 = private unnamed_addr constant [191 x i8] c"ValueError\00Mismatched B.shape on argument #1 when calling:\0A  `vecadd(A: Tensor([n], float32), B: Tensor([n], float32), C: Tensor([n], float32))`,\0A  expected 1 extents, but got a NULL pointer\00"
@cd.message.32 = private unnamed_addr constant [169 x i8] c"ValueError\00Mismatched C.ndim on argument #2 when calling:\0A  `vecadd(A: Tensor([n], float32), B: Tensor([n], float32), C: Tensor([n], float32))`,\0A  expected 1, but got \01\00"
@cd.message.33 = private unnamed_addr constant [178 x i8] c"TypeError\00Mismatched C.dtype on argument #2 when calling:\0A  `vecadd(A: Tensor([n], float32), B: Tensor([n], float32), C: Tensor([n], float32))`,\0A  expected float32, but got int\01\00"
@cd.message.34 = private unnamed_addr constant [179 x i8] c"TypeError\00Mismatched C.dtype on argument #2 when calling:\0A  `vecadd(A: Tensor([n], float32), B: Tensor([n], float32), C: Tensor([n], float32))`,\0A  expected float32, but got uint\01\00"
@cd.message.35 = private unnamed_addr constant [180 x i8] c"TypeError\00Mismatched C.dtype on argument #2 when calling:\0A  `vecadd(A: Tensor([n], float32), B: Tensor([n], float32), C: Tensor([n], float32))`,\0A  expected float32, but got float\01\00"
@cd.message.36 = private unnamed_addr constant [181 x i8] c"TypeError\00Mismatched C.dtype on argument #2 when calling:\0A  `vecadd(A: Tensor([n], float32), B: Tensor([n], float32), C: Tensor([n], float32))`,\0A  expected float32, but got bfloat\01\00"
@cd.message.37 = private unnamed_addr constant [178 x i8] c"TypeError\00Mismatched C.dtype on argument #2 when calling:\0A  `vecadd(A: Tensor([n], float32), B: Tensor([n], float32), C: Tensor([n], float32))`,\0A  expected float32, but got bool\00"
@cd.message.38 = private unnamed_addr constant [208 x i8] c"TypeError\00Mismatched C.dtype on argument #2 when calling:\0A  `vecadd(A: Tensor([n], float32), B: Tensor([n], float32), C: Tensor([n], float32))`,\0A  expected float32, but got dtype code \01 of \01 bits and \01 lanes\00"
@cd.message.39 = private unnamed_addr constant [206 x i8] c"ValueError\00Mismatched C.device_type on argument #2 when calling:\0A  `vecadd(A: Tensor([n], float32), B: Tensor([n], float32), C: Tensor([n], float32))`,\0A  expected cpu (device type 1), but got device type \01\00"
@cd.message.4 = private unnamed_addr constant [179 x i8] c"TypeError\00Mismatched type on argument #\01 when calling:\0A  `vecadd(A: Tensor([n], float32), B: Tensor([n], float32), C: Tensor([n], float32))`,\0A  expected Tensor, but got a pointer\00"
@cd.message.40 = private unnamed_addr constant [191 x i8] c"ValueError\00Mismatched C.shape on argument #2 when calling:\0A  `vecadd(A: Tensor([n], float32), B: Tensor([n], float32), C: Tensor([n], float32))`,\0A  expected 1 extents, but got a NULL pointer\00"
@cd.message.41 = private unnamed_addr constant [203 x i8] c"ValueError\00Invalid A.shape[0] on argument #0 when calling:\0A  `vecadd(A: Tensor([n], float32), B: Tensor([n], float32), C: Tensor([n], float32))`,\0A  expected n between 0 and 2147483647 (int32), but got \01\00"
@cd.message.42 = private unnamed_addr constant [216 x i8] c"ValueError\00Mismatched A.strides on argument #0 when calling:\0A  `vecadd(A: Tensor([n], float32), B: Tensor([n], float32), C: Tensor([n], float32))`,\0A  expected to be compact array, that is A.strides[0] = \01, but got \01\00"
@cd.message.43 = private unnamed_addr constant [183 x i8] c"ValueError\00A data pointer is NULL on argument #0 when calling:\0A  `vecadd(A: Tensor([n], float32), B: Tensor([n], float32), C: Tensor([n], float32))`,\0A  expected non-NULL data pointer\00"
@cd.message.44 = private unnamed_addr constant [239 x i8] c"ValueError\00Misaligned A.data on argument #0 when calling:\0A  `vecadd(A: Tensor([n], float32), B: Tensor([n], float32), C: Tensor([n], float32))`,\0A  expected data plus byte_offset to be a multiple of 4 bytes, but got one that is beyond by \02\00"
@cd.message.45 = private unnamed_addr constant [195 x i8] c"ValueError\00Mismatched B.shape[0] on argument #1 when calling:\0A  `vecadd(A: Tensor([n], float32), B: Tensor([n], float32), C: Tensor([n], float32))`,\0A  expected to match A.shape[0] (\01), but got \01\00"
@cd.message.46 = private unnamed_addr constant [216 x i8] c"ValueError\00Mismatched B.strides on argument #1 when calling:\0A  `vecadd(A: Tensor([n], float32), B: Tensor([n], float32), C: Tensor([n], float32))`,\0A  expected to be compact array, that is B.strides[0] = \01, but got \01\00"
@cd.message.47 = private unnamed_addr constant [197 x i8] c"ValueError\00Mismatched B.device_id on argument #1 when calling:\0A  `vecadd(A: Tensor([n], float32), B: Tensor([n], float32), C: Tensor([n], float32))`,\0A  expected to match A.device_id (\01), but got \01\00"
@cd.message.48 = private unnamed_addr constant [183 x i8] c"ValueError\00B data pointer is NULL on argument #1 when calling:\0A  `vecadd(A: Tensor([n], float32), B: Tensor([n], float32), C: Tensor([n], float32))`,\0A  expected non-NULL data pointer\00"
@cd.message.49 = private unnamed_addr constant [239 x i8] c"ValueError\00Misaligned B.data on argument #1 when calling:\0A  `vecadd(A: Tensor([n], float32), B: Tensor([n], float32), C: Tensor([n], float32))`,\0A  expected data plus byte_offset to be a multiple of 4 bytes, but got one that is beyond by \02\00"
@cd.message.5 = private unnamed_addr constant [173 x i8] c"TypeError\00Mismatched type on argument #\01 when calling:\0A  `vecadd(A: Tensor([n], float32), B: Tensor([n], float32), C: Tensor([n], float32))`,\0A  expected Tensor, but got str\00"
@cd.message.50 = private unnamed_addr constant [195 x i8] c"ValueError\00Mismatched C.shape[0] on argument #2 when calling:\0A  `vecadd(A: Tensor([n], float32), B: Tensor([n], float32), C: Tensor([n], float32))`,\0A  expected to match A.shape[0] (\01), but got \01\00"
@cd.message.51 = private unnamed_addr constant [216 x i8] c"ValueError\00Mismatched C.strides on argument #2 when calling:\0A  `vecadd(A: Tensor([n], float32), B: Tensor([n], float32), C: Tensor([n], float32))`,\0A  expected to be compact array, that is C.strides[0] = \01, but got \01\00"
@cd.message.52 = private unnamed_addr constant [197 x i8] c"ValueError\00Mismatched C.device_id on argument #2 when calling:\0A  `vecadd(A: Tensor([n], float32), B: Tensor([n], float32), C: Tensor([n], float32))`,\0A  expected to match A.device_id (\01), but got \01\00"
@cd.message.53 = private unnamed_addr constant [183 x i8] c"ValueError\00C data pointer is NULL on argument #2 when calling:\0A  `vecadd(A: Tensor([n], float32), B: Tensor([n], float32), C: Tensor([n], float32))`,\0A  expected non-NULL data pointer\00"
@cd.message.54 = private unnamed_addr constant [239 x i8] c"ValueError\00Misaligned C.data on argument #2 when calling:\0A  `vecadd(A: Tensor([n], float32), B: Tensor([n], float32), C: Tensor([n], float32))`,\0A  expected data plus byte_offset to be a multiple of 4 bytes, but got one that is beyond by \02\00"
@cd.message.6 = private unnamed_addr constant [180 x i8] c"TypeError\00Mismatched type on argument #\01 when calling:\0A  `vecadd(A: Tensor([n], float32), B: Tensor([n], float32), C: Tensor([n], float32))`,\0A  expected Tensor, but got a function\00"
@cd.message.7 = private unnamed_addr constant [178 x i8] c"TypeError\00Mismatched type on argument #\01 when calling:\0A  `vecadd(A: Tensor([n], float32), B: Tensor([n], float32), C: Tensor([n], float32))`,\0A  expected Tensor, but got an array\00"
@cd.message.8 = private unnamed_addr constant [195 x i8] c"TypeError\00Mismatched type on argument #\01 when calling:\0A  `vecadd(A: Tensor([n], float32), B: Tensor([n], float32), C: Tensor([n], float32))`,\0A  expected Tensor, but got a value with type index \01\00"
@cd.message.9 = private unnamed_addr constant [144 x i8] c"TypeError\00Expected 3 arguments when calling:\0A  `vecadd(A: Tensor([n], float32), B: Tensor([n], float32), C: Tensor([n], float32))`,\0A  but got \01\00"
@cd.no_memory = private unnamed_addr constant [32 x i8] c"no memory left to word an error\00"

define i32 @__tvm_ffi_vecadd(ptr noundef %p0, ptr noundef %p1, i32 noundef %p2, ptr noundef %p3) mustprogress #0 {
entry:
  br label %body
body:
  %t1 = icmp eq i32 %p2, 3
  %t2 = icmp eq ptr %p1, null
  %t3 = xor i1 %t2, true
  %t4 = and i1 %t1, %t3
  %t5 = call i1 @llvm.expect.i1(i1 %t4, i1 true)
  %t6 = xor i1 %t5, true
  br i1 %t6, label %then1, label %endif2
then1:
  %t7 = call i32 @cd.f.vecadd_checked_(ptr %p1, i32 %p2)
  ret i32 %t7
endif2:
  %t8 = load i32, ptr %p1, align 4
  %t9 = icmp eq i32 %t8, 70
  %t10 = call i1 @llvm.expect.i1(i1 %t9, i1 true)
  %t11 = xor i1 %t10, true
  br i1 %t11, label %then3, label %endif4
then3:
  %t12 = icmp eq i32 %t8, 7
  %t13 = call i1 @llvm.expect.i1(i1 %t12, i1 true)
  %t14 = xor i1 %t13, true
  br i1 %t14, label %then5, label %endif6
then5:
  %t15 = call i32 @cd.f.vecadd_checked_(ptr %p1, i32 %p2)
  ret i32 %t15
endif6:
  br label %endif4
endif4:
  %t16 = getelementptr i8, ptr %p1, i64 8
  %t17 = load ptr, ptr %t16, align 8
  %t18 = icmp eq ptr %t17, null
  %t19 = xor i1 %t18, true
  %t20 = call i1 @llvm.expect.i1(i1 %t19, i1 true)
  %t21 = xor i1 %t20, true
  br i1 %t21, label %then7, label %endif8
then7:
  %t22 = call i32 @cd.f.vecadd_checked_(ptr %p1, i32 %p2)
  ret i32 %t22
endif8:
  %t23 = getelementptr i8, ptr %p1, i64 8
  %t24 = load ptr, ptr %t23, align 8
  %t25 = icmp eq i32 %t8, 70
  %t26 = select i1 %t25, i64 24, i64 0
  %t27 = getelementptr i8, ptr %t24, i64 %t26
  %t28 = getelementptr i8, ptr %t27, i64 16
  %t29 = load i64, ptr %t28, align 1
  %t30 = xor i64 %t29, 316667938734081
  %t31 = getelementptr i8, ptr %t27, i64 8
  %t32 = load i64, ptr %t31, align 1
  %t33 = xor i64 %t32, 1
  %t34 = or i64 %t30, %t33
  %t35 = icmp eq i64 %t34, 0
  %t36 = call i1 @llvm.expect.i1(i1 %t35, i1 true)
  %t37 = xor i1 %t36, true
  br i1 %t37, label %then9, label %endif10
then9:
  %t38 = call i32 @cd.f.vecadd_checked_(ptr %p1, i32 %p2)
  ret i32 %t38
endif10:
  %t39 = getelementptr i8, ptr %t27, i64 24
  %t40 = load ptr, ptr %t39, align 8
  %t41 = getelementptr i8, ptr %t27, i64 32
  %t42 = load ptr, ptr %t41, align 8
  %t43 = load ptr, ptr %t27, align 8
  %t44 = icmp eq ptr %t43, null
  %t45 = xor i1 %t44, true
  %t46 = icmp eq ptr %t40, null
  %t47 = xor i1 %t46, true
  %t48 = and i1 %t45, %t47
  %t49 = call i1 @llvm.expect.i1(i1 %t48, i1 true)
  %t50 = xor i1 %t49, true
  br i1 %t50, label %then11, label %endif12
then11:
  %t51 = call i32 @cd.f.vecadd_checked_(ptr %p1, i32 %p2)
  ret i32 %t51
endif12:
  %t52 = load ptr, ptr %t27, align 8
  %t53 = getelementptr i8, ptr %t27, i64 40
  %t54 = load i64, ptr %t53, align 8
  %t55 = getelementptr i8, ptr %t52, i64 %t54
  %t56 = load i64, ptr %t40, align 8
  %t57 = trunc i64 %t56 to i32
  %t58 = load i64, ptr %t40, align 8
  %t59 = ashr i64 %t58, 31
  %t60 = icmp eq i64 %t59, 0
  %t61 = call i1 @llvm.expect.i1(i1 %t60, i1 true)
  %t62 = xor i1 %t61, true
  br i1 %t62, label %then13, label %endif14
then13:
  %t63 = call i32 @cd.f.vecadd_checked_(ptr %p1, i32 %p2)
  ret i32 %t63
endif14:
  %t64 = icmp eq ptr %t42, null
  %t65 = xor i1 %t64, true
  %t66 = call i1 @llvm.expect.i1(i1 %t65, i1 true)
  br i1 %t66, label %then15, label %endif16
then15:
  %t67 = load i64, ptr %t42, align 8
  %t68 = xor i64 %t67, 1
  %t69 = icmp eq i64 %t68, 0
  %t70 = call i1 @llvm.expect.i1(i1 %t69, i1 true)
  %t71 = xor i1 %t70, true
  br i1 %t71, label %then17, label %endif18
then17:
  %t72 = call i32 @cd.f.vecadd_checked_(ptr %p1, i32 %p2)
  ret i32 %t72
endif18:
  br label %endif16
endif16:
  %t73 = getelementptr i8, ptr %p1, i64 16
  %t74 = load i32, ptr %t73, align 4
  %t75 = icmp eq i32 %t74, 70
  %t76 = call i1 @llvm.expect.i1(i1 %t75, i1 true)
  %t77 = xor i1 %t76, true
  br i1 %t77, label %then19, label %endif20
then19:
  %t78 = icmp eq i32 %t74, 7
  %t79 = call i1 @llvm.expect.i1(i1 %t78, i1 true)
  %t80 = xor i1 %t79, true
  br i1 %t80, label %then21, label %endif22
then21:
  %t81 = call i32 @cd.f.vecadd_checked_(ptr %p1, i32 %p2)
  ret i32 %t81
endif22:
  br label %endif20
endif20:
  %t82 = getelementptr i8, ptr %p1, i64 24
  %t83 = load ptr, ptr %t82, align 8
  %t84 = icmp eq ptr %t83, null
  %t85 = xor i1 %t84, true
  %t86 = call i1 @llvm.expect.i1(i1 %t85, i1 true)
  %t87 = xor i1 %t86, true
  br i1 %t87, label %then23, label %endif24
then23:
  %t88 = call i32 @cd.f.vecadd_checked_(ptr %p1, i32 %p2)
  ret i32 %t88
endif24:
  %t89 = getelementptr i8, ptr %p1, i64 24
  %t90 = load ptr, ptr %t89, align 8
  %t91 = icmp eq i32 %t74, 70
  %t92 = select i1 %t91, i64 24, i64 0
  %t93 = getelementptr i8, ptr %t90, i64 %t92
  %t94 = getelementptr i8, ptr %t93, i64 16
  %t95 = load i64, ptr %t94, align 1
  %t96 = xor i64 %t95, 316667938734081
  %t97 = getelementptr i8, ptr %t93, i64 8
  %t98 = load i64, ptr %t97, align 1
  %t99 = xor i64 %t98, 1
  %t100 = or i64 %t96, %t99
  %t101 = icmp eq i64 %t100, 0
  %t102 = call i1 @llvm.expect.i1(i1 %t101, i1 true)
  %t103 = xor i1 %t102, true
  br i1 %t103, label %then25, label %endif26
then25:
  %t104 = call i32 @cd.f.vecadd_checked_(ptr %p1, i32 %p2)
  ret i32 %t104
endif26:
  %t105 = getelementptr i8, ptr %t93, i64 24
  %t106 = load ptr, ptr %t105, align 8
  %t107 = getelementptr i8, ptr %t93, i64 32
  %t108 = load ptr, ptr %t107, align 8
  %t109 = load ptr, ptr %t93, align 8
  %t110 = icmp eq ptr %t109, null
  %t111 = xor i1 %t110, true
  %t112 = icmp eq ptr %t106, null
  %t113 = xor i1 %t112, true
  %t114 = and i1 %t111, %t113
  %t115 = call i1 @llvm.expect.i1(i1 %t114, i1 true)
  %t116 = xor i1 %t115, true
  br i1 %t116, label %then27, label %endif28
then27:
  %t117 = call i32 @cd.f.vecadd_checked_(ptr %p1, i32 %p2)
  ret i32 %t117
endif28:
  %t118 = load ptr, ptr %t93, align 8
  %t119 = getelementptr i8, ptr %t93, i64 40
  %t120 = load i64, ptr %t119, align 8
  %t121 = getelementptr i8, ptr %t118, i64 %t120
  %t122 = load i64, ptr %t106, align 8
  %t123 = sext i32 %t57 to i64
  %t124 = xor i64 %t122, %t123
  %t125 = icmp eq i64 %t124, 0
  %t126 = call i1 @llvm.expect.i1(i1 %t125, i1 true)
  %t127 = xor i1 %t126, true
  br i1 %t127, label %then29, label %endif30
then29:
  %t128 = call i32 @cd.f.vecadd_checked_(ptr %p1, i32 %p2)
  ret i32 %t128
endif30:
  %t129 = icmp eq ptr %t108, null
  %t130 = xor i1 %t129, true
  %t131 = call i1 @llvm.expect.i1(i1 %t130, i1 true)
  br i1 %t131, label %then31, label %endif32
then31:
  %t132 = load i64, ptr %t108, align 8
  %t133 = xor i64 %t132, 1
  %t134 = icmp eq i64 %t133, 0
  %t135 = call i1 @llvm.expect.i1(i1 %t134, i1 true)
  %t136 = xor i1 %t135, true
  br i1 %t136, label %then33, label %endif34
then33:
  %t137 = call i32 @cd.f.vecadd_checked_(ptr %p1, i32 %p2)
  ret i32 %t137
endif34:
  br label %endif32
endif32:
  %t138 = getelementptr i8, ptr %p1, i64 32
  %t139 = load i32, ptr %t138, align 4
  %t140 = icmp eq i32 %t139, 70
  %t141 = call i1 @llvm.expect.i1(i1 %t140, i1 true)
  %t142 = xor i1 %t141, true
  br i1 %t142, label %then35, label %endif36
then35:
  %t143 = icmp eq i32 %t139, 7
  %t144 = call i1 @llvm.expect.i1(i1 %t143, i1 true)
  %t145 = xor i1 %t144, true
  br i1 %t145, label %then37, label %endif38
then37:
  %t146 = call i32 @cd.f.vecadd_checked_(ptr %p1, i32 %p2)
  ret i32 %t146
endif38:
  br label %endif36
endif36:
  %t147 = getelementptr i8, ptr %p1, i64 40
  %t148 = load ptr, ptr %t147, align 8
  %t149 = icmp eq ptr %t148, null
  %t150 = xor i1 %t149, true
  %t151 = call i1 @llvm.expect.i1(i1 %t150, i1 true)
  %t152 = xor i1 %t151, true
  br i1 %t152, label %then39, label %endif40
then39:
  %t153 = call i32 @cd.f.vecadd_checked_(ptr %p1, i32 %p2)
  ret i32 %t153
endif40:
  %t154 = getelementptr i8, ptr %p1, i64 40
  %t155 = load ptr, ptr %t154, align 8
  %t156 = icmp eq i32 %t139, 70
  %t157 = select i1 %t156, i64 24, i64 0
  %t158 = getelementptr i8, ptr %t155, i64 %t157
  %t159 = getelementptr i8, ptr %t158, i64 16
  %t160 = load i64, ptr %t159, align 1
  %t161 = xor i64 %t160, 316667938734081
  %t162 = getelementptr i8, ptr %t158, i64 8
  %t163 = load i64, ptr %t162, align 1
  %t164 = xor i64 %t163, 1
  %t165 = or i64 %t161, %t164
  %t166 = icmp eq i64 %t165, 0
  %t167 = call i1 @llvm.expect.i1(i1 %t166, i1 true)
  %t168 = xor i1 %t167, true
  br i1 %t168, label %then41, label %endif42
then41:
  %t169 = call i32 @cd.f.vecadd_checked_(ptr %p1, i32 %p2)
  ret i32 %t169
endif42:
  %t170 = getelementptr i8, ptr %t158, i64 24
  %t171 = load ptr, ptr %t170, align 8
  %t172 = getelementptr i8, ptr %t158, i64 32
  %t173 = load ptr, ptr %t172, align 8
  %t174 = load ptr, ptr %t158, align 8
  %t175 = icmp eq ptr %t174, null
  %t176 = xor i1 %t175, true
  %t177 = icmp eq ptr %t171, null
  %t178 = xor i1 %t177, true
  %t179 = and i1 %t176, %t178
  %t180 = call i1 @llvm.expect.i1(i1 %t179, i1 true)
  %t181 = xor i1 %t180, true
  br i1 %t181, label %then43, label %endif44
then43:
  %t182 = call i32 @cd.f.vecadd_checked_(ptr %p1, i32 %p2)
  ret i32 %t182
endif44:
  %t183 = load ptr, ptr %t158, align 8
  %t184 = getelementptr i8, ptr %t158, i64 40
  %t185 = load i64, ptr %t184, align 8
  %t186 = getelementptr i8, ptr %t183, i64 %t185
  %t187 = load i64, ptr %t171, align 8
  %t188 = sext i32 %t57 to i64
  %t189 = xor i64 %t187, %t188
  %t190 = icmp eq i64 %t189, 0
  %t191 = call i1 @llvm.expect.i1(i1 %t190, i1 true)
  %t192 = xor i1 %t191, true
  br i1 %t192, label %then45, label %endif46
then45:
  %t193 = call i32 @cd.f.vecadd_checked_(ptr %p1, i32 %p2)
  ret i32 %t193
endif46:
  %t194 = icmp eq ptr %t173, null
  %t195 = xor i1 %t194, true
  %t196 = call i1 @llvm.expect.i1(i1 %t195, i1 true)
  br i1 %t196, label %then47, label %endif48
then47:
  %t197 = load i64, ptr %t173, align 8
  %t198 = xor i64 %t197, 1
  %t199 = icmp eq i64 %t198, 0
  %t200 = call i1 @llvm.expect.i1(i1 %t199, i1 true)
  %t201 = xor i1 %t200, true
  br i1 %t201, label %then49, label %endif50
then49:
  %t202 = call i32 @cd.f.vecadd_checked_(ptr %p1, i32 %p2)
  ret i32 %t202
endif50:
  br label %endif48
endif48:
  %t203 = ptrtoint ptr %t55 to i64
  %t204 = ptrtoint ptr %t121 to i64
  %t205 = or i64 %t203, %t204
  %t206 = ptrtoint ptr %t186 to i64
  %t207 = or i64 %t205, %t206
  %t208 = and i64 %t207, 3
  %t209 = icmp eq i64 %t208, 0
  %t210 = call i1 @llvm.expect.i1(i1 %t209, i1 true)
  %t211 = xor i1 %t210, true
  br i1 %t211, label %then51, label %endif52
then51:
  %t212 = call i32 @cd.f.vecadd_checked_(ptr %p1, i32 %p2)
  ret i32 %t212
endif52:
  %t213 = call i32 @cd.f.vecadd_compute_(ptr %t55, ptr %t121, ptr %t186, i32 %t57)
  ret i32 %t213
}

define internal i32 @cd.f.vecadd_expected_Tensor_(i32 noundef %p0, i32 noundef %p1) cold noinline optnone #0 {
entry:
  %values = alloca [2 x i64], align 8
  br label %body
body:
  %t1 = icmp ne i32 %p1, 0
  br i1 %t1, label %fine1, label %worded2, !prof !0
worded2:
  %t2 = sext i32 %p0 to i64
  store i64 %t2, ptr %values, align 8
  br label %failed
fine1:
  %t3 = icmp ne i32 %p1, 1
  br i1 %t3, label %fine3, label %worded4, !prof !0
worded4:
  %t4 = sext i32 %p0 to i64
  store i64 %t4, ptr %values, align 8
  br label %failed
fine3:
  %t5 = icmp ne i32 %p1, 2
  br i1 %t5, label %fine5, label %worded6, !prof !0
worded6:
  %t6 = sext i32 %p0 to i64
  store i64 %t6, ptr %values, align 8
  br label %failed
fine5:
  %t7 = icmp ne i32 %p1, 3
  br i1 %t7, label %fine7, label %worded8, !prof !0
worded8:
  %t8 = sext i32 %p0 to i64
  store i64 %t8, ptr %values, align 8
  br label %failed
fine7:
  %t9 = icmp ne i32 %p1, 4
  br i1 %t9, label %fine9, label %worded10, !prof !0
worded10:
  %t10 = sext i32 %p0 to i64
  store i64 %t10, ptr %values, align 8
  br label %failed
fine9:
  %t11 = icmp ne i32 %p1, 8
  br i1 %t11, label %fine11, label %worded12, !prof !0
worded12:
  %t12 = sext i32 %p0 to i64
  store i64 %t12, ptr %values, align 8
  br label %failed
fine11:
  %t13 = icmp ne i32 %p1, 11
  br i1 %t13, label %fine13, label %worded14, !prof !0
worded14:
  %t14 = sext i32 %p0 to i64
  store i64 %t14, ptr %values, align 8
  br label %failed
fine13:
  %t15 = icmp ne i32 %p1, 65
  br i1 %t15, label %fine15, label %worded16, !prof !0
worded16:
  %t16 = sext i32 %p0 to i64
  store i64 %t16, ptr %values, align 8
  br label %failed
fine15:
  %t17 = icmp ne i32 %p1, 68
  br i1 %t17, label %fine17, label %worded18, !prof !0
worded18:
  %t18 = sext i32 %p0 to i64
  store i64 %t18, ptr %values, align 8
  br label %failed
fine17:
  %t19 = icmp ne i32 %p1, 71
  br i1 %t19, label %fine19, label %worded20, !prof !0
worded20:
  %t20 = sext i32 %p0 to i64
  store i64 %t20, ptr %values, align 8
  br label %failed
fine19:
  br i1 false, label %fine21, label %worded22, !prof !0
worded22:
  %t21 = sext i32 %p0 to i64
  store i64 %t21, ptr %values, align 8
  %t22 = sext i32 %p1 to i64
  %t23 = getelementptr i8, ptr %values, i64 8
  store i64 %t22, ptr %t23, align 8
  br label %failed
fine21:
  ret i32 -1
failed:
  %t24 = phi ptr [ @cd.message.0, %worded2 ], [ @cd.message.1, %worded4 ], [ @cd.message.2, %worded6 ], [ @cd.message.3, %worded8 ], [ @cd.message.4, %worded10 ], [ @cd.message.5, %worded12 ], [ @cd.message.5, %worded14 ], [ @cd.message.5, %worded16 ], [ @cd.message.6, %worded18 ], [ @cd.message.7, %worded20 ], [ @cd.message.8, %worded22 ]
  %t25 = call i32 @cd.h.fail(ptr %t24, ptr %values)
  ret i32 %t25
}

define internal i32 @cd.f.vecadd_checked_(ptr noundef %p0, i32 noundef %p1) cold noinline optnone #0 {
entry:
  %values = alloca [3 x i64], align 8
  br label %body
body:
  %t1 = icmp eq i32 %p1, 3
  br i1 %t1, label %fine1, label %worded2, !prof !0
worded2:
  %t2 = sext i32 %p1 to i64
  store i64 %t2, ptr %values, align 8
  br label %failed
fine1:
  %t3 = icmp eq ptr %p0, null
  %t4 = xor i1 %t3, true
  br i1 %t4, label %fine3, label %failed, !prof !0
fine3:
  %t5 = load i32, ptr %p0, align 4
  %t6 = icmp eq i32 %t5, 7
  %t7 = icmp eq i32 %t5, 70
  %t8 = or i1 %t6, %t7
  %t9 = xor i1 %t8, true
  br i1 %t9, label %then5, label %endif6
then5:
  %t10 = call i32 @cd.f.vecadd_expected_Tensor_(i32 0, i32 %t5)
  ret i32 %t10
endif6:
  %t11 = getelementptr i8, ptr %p0, i64 8
  %t12 = load ptr, ptr %t11, align 8
  %t13 = icmp eq ptr %t12, null
  %t14 = xor i1 %t13, true
  br i1 %t14, label %fine7, label %failed, !prof !0
fine7:
  %t15 = getelementptr i8, ptr %p0, i64 8
  %t16 = load ptr, ptr %t15, align 8
  %t17 = icmp eq i32 %t5, 70
  %t18 = select i1 %t17, i64 24, i64 0
  %t19 = getelementptr i8, ptr %t16, i64 %t18
  %t20 = getelementptr i8, ptr %p0, i64 16
  %t21 = load i32, ptr %t20, align 4
  %t22 = icmp eq i32 %t21, 7
  %t23 = icmp eq i32 %t21, 70
  %t24 = or i1 %t22, %t23
  %t25 = xor i1 %t24, true
  br i1 %t25, label %then9, label %endif10
then9:
  %t26 = call i32 @cd.f.vecadd_expected_Tensor_(i32 1, i32 %t21)
  ret i32 %t26
endif10:
  %t27 = getelementptr i8, ptr %p0, i64 24
  %t28 = load ptr, ptr %t27, align 8
  %t29 = icmp eq ptr %t28, null
  %t30 = xor i1 %t29, true
  br i1 %t30, label %fine11, label %failed, !prof !0
fine11:
  %t31 = getelementptr i8, ptr %p0, i64 24
  %t32 = load ptr, ptr %t31, align 8
  %t33 = icmp eq i32 %t21, 70
  %t34 = select i1 %t33, i64 24, i64 0
  %t35 = getelementptr i8, ptr %t32, i64 %t34
  %t36 = getelementptr i8, ptr %p0, i64 32
  %t37 = load i32, ptr %t36, align 4
  %t38 = icmp eq i32 %t37, 7
  %t39 = icmp eq i32 %t37, 70
  %t40 = or i1 %t38, %t39
  %t41 = xor i1 %t40, true
  br i1 %t41, label %then13, label %endif14
then13:
  %t42 = call i32 @cd.f.vecadd_expected_Tensor_(i32 2, i32 %t37)
  ret i32 %t42
endif14:
  %t43 = getelementptr i8, ptr %p0, i64 40
  %t44 = load ptr, ptr %t43, align 8
  %t45 = icmp eq ptr %t44, null
  %t46 = xor i1 %t45, true
  br i1 %t46, label %fine15, label %failed, !prof !0
fine15:
  %t47 = getelementptr i8, ptr %p0, i64 40
  %t48 = load ptr, ptr %t47, align 8
  %t49 = icmp eq i32 %t37, 70
  %t50 = select i1 %t49, i64 24, i64 0
  %t51 = getelementptr i8, ptr %t48, i64 %t50
  %t52 = getelementptr i8, ptr %t19, i64 16
  %t53 = load i32, ptr %t52, align 4
  %t54 = icmp eq i32 %t53, 1
  br i1 %t54, label %fine17, label %worded18, !prof !0
worded18:
  %t55 = sext i32 %t53 to i64
  store i64 %t55, ptr %values, align 8
  br label %failed
fine17:
  %t56 = getelementptr i8, ptr %t19, i64 20
  %t57 = load i8, ptr %t56, align 1
  %t58 = icmp eq i8 %t57, 2
  br i1 %t58, label %and19, label %end20
and19:
  %t59 = getelementptr i8, ptr %t19, i64 21
  %t60 = load i8, ptr %t59, align 1
  %t61 = icmp eq i8 %t60, 32
  br label %end20
end20:
  %t62 = phi i1 [ false, %fine17 ], [ %t61, %and19 ]
  br i1 %t62, label %and21, label %end22
and21:
  %t63 = getelementptr i8, ptr %t19, i64 22
  %t64 = load i16, ptr %t63, align 2
  %t65 = icmp eq i16 %t64, 1
  br label %end22
end22:
  %t66 = phi i1 [ false, %end20 ], [ %t65, %and21 ]
  %t67 = xor i1 %t66, true
  br i1 %t67, label %then23, label %endif24
then23:
  %t68 = getelementptr i8, ptr %t19, i64 20
  %t69 = load i8, ptr %t68, align 1
  %t70 = icmp eq i8 %t69, 0
  br i1 %t70, label %and25, label %end26
and25:
  %t71 = getelementptr i8, ptr %t19, i64 22
  %t72 = load i16, ptr %t71, align 2
  %t73 = icmp eq i16 %t72, 1
  br label %end26
end26:
  %t74 = phi i1 [ false, %then23 ], [ %t73, %and25 ]
  %t75 = xor i1 %t74, true
  br i1 %t75, label %fine27, label %worded28, !prof !0
worded28:
  %t76 = getelementptr i8, ptr %t19, i64 21
  %t77 = load i8, ptr %t76, align 1
  %t78 = zext i8 %t77 to i32
  %t79 = sext i32 %t78 to i64
  store i64 %t79, ptr %values, align 8
  br label %failed
fine27:
  %t80 = getelementptr i8, ptr %t19, i64 20
  %t81 = load i8, ptr %t80, align 1
  %t82 = icmp eq i8 %t81, 1
  br i1 %t82, label %and29, label %end30
and29:
  %t83 = getelementptr i8, ptr %t19, i64 22
  %t84 = load i16, ptr %t83, align 2
  %t85 = icmp eq i16 %t84, 1
  br label %end30
end30:
  %t86 = phi i1 [ false, %fine27 ], [ %t85, %and29 ]
  %t87 = xor i1 %t86, true
  br i1 %t87, label %fine31, label %worded32, !prof !0
worded32:
  %t88 = getelementptr i8, ptr %t19, i64 21
  %t89 = load i8, ptr %t88, align 1
  %t90 = zext i8 %t89 to i32
  %t91 = sext i32 %t90 to i64
  store i64 %t91, ptr %values, align 8
  br label %failed
fine31:
  %t92 = getelementptr i8, ptr %t19, i64 20
  %t93 = load i8, ptr %t92, align 1
  %t94 = icmp eq i8 %t93, 2
  br i1 %t94, label %and33, label %end34
and33:
  %t95 = getelementptr i8, ptr %t19, i64 22
  %t96 = load i16, ptr %t95, align 2
  %t97 = icmp eq i16 %t96, 1
  br label %end34
end34:
  %t98 = phi i1 [ false, %fine31 ], [ %t97, %and33 ]
  %t99 = xor i1 %t98, true
  br i1 %t99, label %fine35, label %worded36, !prof !0
worded36:
  %t100 = getelementptr i8, ptr %t19, i64 21
  %t101 = load i8, ptr %t100, align 1
  %t102 = zext i8 %t101 to i32
  %t103 = sext i32 %t102 to i64
  store i64 %t103, ptr %values, align 8
  br label %failed
fine35:
  %t104 = getelementptr i8, ptr %t19, i64 20
  %t105 = load i8, ptr %t104, align 1
  %t106 = icmp eq i8 %t105, 4
  br i1 %t106, label %and37, label %end38
and37:
  %t107 = getelementptr i8, ptr %t19, i64 22
  %t108 = load i16, ptr %t107, align 2
  %t109 = icmp eq i16 %t108, 1
  br label %end38
end38:
  %t110 = phi i1 [ false, %fine35 ], [ %t109, %and37 ]
  %t111 = xor i1 %t110, true
  br i1 %t111, label %fine39, label %worded40, !prof !0
worded40:
  %t112 = getelementptr i8, ptr %t19, i64 21
  %t113 = load i8, ptr %t112, align 1
  %t114 = zext i8 %t113 to i32
  %t115 = sext i32 %t114 to i64
  store i64 %t115, ptr %values, align 8
  br label %failed
fine39:
  %t116 = getelementptr i8, ptr %t19, i64 20
  %t117 = load i8, ptr %t116, align 1
  %t118 = icmp eq i8 %t117, 6
  br i1 %t118, label %and41, label %end42
and41:
  %t119 = getelementptr i8, ptr %t19, i64 22
  %t120 = load i16, ptr %t119, align 2
  %t121 = icmp eq i16 %t120, 1
  br label %end42
end42:
  %t122 = phi i1 [ false, %fine39 ], [ %t121, %and41 ]
  %t123 = xor i1 %t122, true
  br i1 %t123, label %fine43, label %failed, !prof !0
fine43:
  br i1 false, label %fine45, label %worded46, !prof !0
worded46:
  %t124 = getelementptr i8, ptr %t19, i64 20
  %t125 = load i8, ptr %t124, align 1
  %t126 = zext i8 %t125 to i32
  %t127 = sext i32 %t126 to i64
  store i64 %t127, ptr %values, align 8
  %t128 = getelementptr i8, ptr %t19, i64 21
  %t129 = load i8, ptr %t128, align 1
  %t130 = zext i8 %t129 to i32
  %t131 = sext i32 %t130 to i64
  %t132 = getelementptr i8, ptr %values, i64 8
  store i64 %t131, ptr %t132, align 8
  %t133 = getelementptr i8, ptr %t19, i64 22
  %t134 = load i16, ptr %t133, align 2
  %t135 = zext i16 %t134 to i32
  %t136 = sext i32 %t135 to i64
  %t137 = getelementptr i8, ptr %values, i64 16
  store i64 %t136, ptr %t137, align 8
  br label %failed
fine45:
  br label %endif24
endif24:
  %t138 = getelementptr i8, ptr %t19, i64 8
  %t139 = load i32, ptr %t138, align 4
  %t140 = icmp eq i32 %t139, 1
  br i1 %t140, label %fine47, label %worded48, !prof !0
worded48:
  %t141 = sext i32 %t139 to i64
  store i64 %t141, ptr %values, align 8
  br label %failed
fine47:
  %t142 = getelementptr i8, ptr %t19, i64 24
  %t143 = load ptr, ptr %t142, align 8
  %t144 = getelementptr i8, ptr %t19, i64 32
  %t145 = load ptr, ptr %t144, align 8
  %t146 = load ptr, ptr %t19, align 8
  %t147 = getelementptr i8, ptr %t19, i64 40
  %t148 = load i64, ptr %t147, align 8
  %t149 = getelementptr i8, ptr %t146, i64 %t148
  %t150 = icmp eq ptr %t143, null
  %t151 = xor i1 %t150, true
  br i1 %t151, label %fine49, label %failed, !prof !0
fine49:
  %t152 = getelementptr i8, ptr %t35, i64 16
  %t153 = load i32, ptr %t152, align 4
  %t154 = icmp eq i32 %t153, 1
  br i1 %t154, label %fine51, label %worded52, !prof !0
worded52:
  %t155 = sext i32 %t153 to i64
  store i64 %t155, ptr %values, align 8
  br label %failed
fine51:
  %t156 = getelementptr i8, ptr %t35, i64 20
  %t157 = load i8, ptr %t156, align 1
  %t158 = icmp eq i8 %t157, 2
  br i1 %t158, label %and53, label %end54
and53:
  %t159 = getelementptr i8, ptr %t35, i64 21
  %t160 = load i8, ptr %t159, align 1
  %t161 = icmp eq i8 %t160, 32
  br label %end54
end54:
  %t162 = phi i1 [ false, %fine51 ], [ %t161, %and53 ]
  br i1 %t162, label %and55, label %end56
and55:
  %t163 = getelementptr i8, ptr %t35, i64 22
  %t164 = load i16, ptr %t163, align 2
  %t165 = icmp eq i16 %t164, 1
  br label %end56
end56:
  %t166 = phi i1 [ false, %end54 ], [ %t165, %and55 ]
  %t167 = xor i1 %t166, true
  br i1 %t167, label %then57, label %endif58
then57:
  %t168 = getelementptr i8, ptr %t35, i64 20
  %t169 = load i8, ptr %t168, align 1
  %t170 = icmp eq i8 %t169, 0
  br i1 %t170, label %and59, label %end60
and59:
  %t171 = getelementptr i8, ptr %t35, i64 22
  %t172 = load i16, ptr %t171, align 2
  %t173 = icmp eq i16 %t172, 1
  br label %end60
end60:
  %t174 = phi i1 [ false, %then57 ], [ %t173, %and59 ]
  %t175 = xor i1 %t174, true
  br i1 %t175, label %fine61, label %worded62, !prof !0
worded62:
  %t176 = getelementptr i8, ptr %t35, i64 21
  %t177 = load i8, ptr %t176, align 1
  %t178 = zext i8 %t177 to i32
  %t179 = sext i32 %t178 to i64
  store i64 %t179, ptr %values, align 8
  br label %failed
fine61:
  %t180 = getelementptr i8, ptr %t35, i64 20
  %t181 = load i8, ptr %t180, align 1
  %t182 = icmp eq i8 %t181, 1
  br i1 %t182, label %and63, label %end64
and63:
  %t183 = getelementptr i8, ptr %t35, i64 22
  %t184 = load i16, ptr %t183, align 2
  %t185 = icmp eq i16 %t184, 1
  br label %end64
end64:
  %t186 = phi i1 [ false, %fine61 ], [ %t185, %and63 ]
  %t187 = xor i1 %t186, true
  br i1 %t187, label %fine65, label %worded66, !prof !0
worded66:
  %t188 = getelementptr i8, ptr %t35, i64 21
  %t189 = load i8, ptr %t188, align 1
  %t190 = zext i8 %t189 to i32
  %t191 = sext i32 %t190 to i64
  store i64 %t191, ptr %values, align 8
  br label %failed
fine65:
  %t192 = getelementptr i8, ptr %t35, i64 20
  %t193 = load i8, ptr %t192, align 1
  %t194 = icmp eq i8 %t193, 2
  br i1 %t194, label %and67, label %end68
and67:
  %t195 = getelementptr i8, ptr %t35, i64 22
  %t196 = load i16, ptr %t195, align 2
  %t197 = icmp eq i16 %t196, 1
  br label %end68
end68:
  %t198 = phi i1 [ false, %fine65 ], [ %t197, %and67 ]
  %t199 = xor i1 %t198, true
  br i1 %t199, label %fine69, label %worded70, !prof !0
worded70:
  %t200 = getelementptr i8, ptr %t35, i64 21
  %t201 = load i8, ptr %t200, align 1
  %t202 = zext i8 %t201 to i32
  %t203 = sext i32 %t202 to i64
  store i64 %t203, ptr %values, align 8
  br label %failed
fine69:
  %t204 = getelementptr i8, ptr %t35, i64 20
  %t205 = load i8, ptr %t204, align 1
  %t206 = icmp eq i8 %t205, 4
  br i1 %t206, label %and71, label %end72
and71:
  %t207 = getelementptr i8, ptr %t35, i64 22
  %t208 = load i16, ptr %t207, align 2
  %t209 = icmp eq i16 %t208, 1
  br label %end72
end72:
  %t210 = phi i1 [ false, %fine69 ], [ %t209, %and71 ]
  %t211 = xor i1 %t210, true
  br i1 %t211, label %fine73, label %worded74, !prof !0
worded74:
  %t212 = getelementptr i8, ptr %t35, i64 21
  %t213 = load i8, ptr %t212, align 1
  %t214 = zext i8 %t213 to i32
  %t215 = sext i32 %t214 to i64
  store i64 %t215, ptr %values, align 8
  br label %failed
fine73:
  %t216 = getelementptr i8, ptr %t35, i64 20
  %t217 = load i8, ptr %t216, align 1
  %t218 = icmp eq i8 %t217, 6
  br i1 %t218, label %and75, label %end76
and75:
  %t219 = getelementptr i8, ptr %t35, i64 22
  %t220 = load i16, ptr %t219, align 2
  %t221 = icmp eq i16 %t220, 1
  br label %end76
end76:
  %t222 = phi i1 [ false, %fine73 ], [ %t221, %and75 ]
  %t223 = xor i1 %t222, true
  br i1 %t223, label %fine77, label %failed, !prof !0
fine77:
  br i1 false, label %fine79, label %worded80, !prof !0
worded80:
  %t224 = getelementptr i8, ptr %t35, i64 20
  %t225 = load i8, ptr %t224, align 1
  %t226 = zext i8 %t225 to i32
  %t227 = sext i32 %t226 to i64
  store i64 %t227, ptr %values, align 8
  %t228 = getelementptr i8, ptr %t35, i64 21
  %t229 = load i8, ptr %t228, align 1
  %t230 = zext i8 %t229 to i32
  %t231 = sext i32 %t230 to i64
  %t232 = getelementptr i8, ptr %values, i64 8
  store i64 %t231, ptr %t232, align 8
  %t233 = getelementptr i8, ptr %t35, i64 22
  %t234 = load i16, ptr %t233, align 2
  %t235 = zext i16 %t234 to i32
  %t236 = sext i32 %t235 to i64
  %t237 = getelementptr i8, ptr %values, i64 16
  store i64 %t236, ptr %t237, align 8
  br label %failed
fine79:
  br label %endif58
endif58:
  %t238 = getelementptr i8, ptr %t35, i64 8
  %t239 = load i32, ptr %t238, align 4
  %t240 = icmp eq i32 %t239, 1
  br i1 %t240, label %fine81, label %worded82, !prof !0
worded82:
  %t241 = sext i32 %t239 to i64
  store i64 %t241, ptr %values, align 8
  br label %failed
fine81:
  %t242 = getelementptr i8, ptr %t35, i64 24
  %t243 = load ptr, ptr %t242, align 8
  %t244 = getelementptr i8, ptr %t35, i64 32
  %t245 = load ptr, ptr %t244, align 8
  %t246 = load ptr, ptr %t35, align 8
  %t247 = getelementptr i8, ptr %t35, i64 40
  %t248 = load i64, ptr %t247, align 8
  %t249 = getelementptr i8, ptr %t246, i64 %t248
  %t250 = icmp eq ptr %t243, null
  %t251 = xor i1 %t250, true
  br i1 %t251, label %fine83, label %failed, !prof !0
fine83:
  %t252 = getelementptr i8, ptr %t51, i64 16
  %t253 = load i32, ptr %t252, align 4
  %t254 = icmp eq i32 %t253, 1
  br i1 %t254, label %fine85, label %worded86, !prof !0
worded86:
  %t255 = sext i32 %t253 to i64
  store i64 %t255, ptr %values, align 8
  br label %failed
fine85:
  %t256 = getelementptr i8, ptr %t51, i64 20
  %t257 = load i8, ptr %t256, align 1
  %t258 = icmp eq i8 %t257, 2
  br i1 %t258, label %and87, label %end88
and87:
  %t259 = getelementptr i8, ptr %t51, i64 21
  %t260 = load i8, ptr %t259, align 1
  %t261 = icmp eq i8 %t260, 32
  br label %end88
end88:
  %t262 = phi i1 [ false, %fine85 ], [ %t261, %and87 ]
  br i1 %t262, label %and89, label %end90
and89:
  %t263 = getelementptr i8, ptr %t51, i64 22
  %t264 = load i16, ptr %t263, align 2
  %t265 = icmp eq i16 %t264, 1
  br label %end90
end90:
  %t266 = phi i1 [ false, %end88 ], [ %t265, %and89 ]
  %t267 = xor i1 %t266, true
  br i1 %t267, label %then91, label %endif92
then91:
  %t268 = getelementptr i8, ptr %t51, i64 20
  %t269 = load i8, ptr %t268, align 1
  %t270 = icmp eq i8 %t269, 0
  br i1 %t270, label %and93, label %end94
and93:
  %t271 = getelementptr i8, ptr %t51, i64 22
  %t272 = load i16, ptr %t271, align 2
  %t273 = icmp eq i16 %t272, 1
  br label %end94
end94:
  %t274 = phi i1 [ false, %then91 ], [ %t273, %and93 ]
  %t275 = xor i1 %t274, true
  br i1 %t275, label %fine95, label %worded96, !prof !0
worded96:
  %t276 = getelementptr i8, ptr %t51, i64 21
  %t277 = load i8, ptr %t276, align 1
  %t278 = zext i8 %t277 to i32
  %t279 = sext i32 %t278 to i64
  store i64 %t279, ptr %values, align 8
  br label %failed
fine95:
  %t280 = getelementptr i8, ptr %t51, i64 20
  %t281 = load i8, ptr %t280, align 1
  %t282 = icmp eq i8 %t281, 1
  br i1 %t282, label %and97, label %end98
and97:
  %t283 = getelementptr i8, ptr %t51, i64 22
  %t284 = load i16, ptr %t283, align 2
  %t285 = icmp eq i16 %t284, 1
  br label %end98
end98:
  %t286 = phi i1 [ false, %fine95 ], [ %t285, %and97 ]
  %t287 = xor i1 %t286, true
  br i1 %t287, label %fine99, label %worded100, !prof !0
worded100:
  %t288 = getelementptr i8, ptr %t51, i64 21
  %t289 = load i8, ptr %t288, align 1
  %t290 = zext i8 %t289 to i32
  %t291 = sext i32 %t290 to i64
  store i64 %t291, ptr %values, align 8
  br label %failed
fine99:
  %t292 = getelementptr i8, ptr %t51, i64 20
  %t293 = load i8, ptr %t292, align 1
  %t294 = icmp eq i8 %t293, 2
  br i1 %t294, label %and101, label %end102
and101:
  %t295 = getelementptr i8, ptr %t51, i64 22
  %t296 = load i16, ptr %t295, align 2
  %t297 = icmp eq i16 %t296, 1
  br label %end102
end102:
  %t298 = phi i1 [ false, %fine99 ], [ %t297, %and101 ]
  %t299 = xor i1 %t298, true
  br i1 %t299, label %fine103, label %worded104, !prof !0
worded104:
  %t300 = getelementptr i8, ptr %t51, i64 21
  %t301 = load i8, ptr %t300, align 1
  %t302 = zext i8 %t301 to i32
  %t303 = sext i32 %t302 to i64
  store i64 %t303, ptr %values, align 8
  br label %failed
fine103:
  %t304 = getelementptr i8, ptr %t51, i64 20
  %t305 = load i8, ptr %t304, align 1
  %t306 = icmp eq i8 %t305, 4
  br i1 %t306, label %and105, label %end106
and105:
  %t307 = getelementptr i8, ptr %t51, i64 22
  %t308 = load i16, ptr %t307, align 2
  %t309 = icmp eq i16 %t308, 1
  br label %end106
end106:
  %t310 = phi i1 [ false, %fine103 ], [ %t309, %and105 ]
  %t311 = xor i1 %t310, true
  br i1 %t311, label %fine107, label %worded108, !prof !0
worded108:
  %t312 = getelementptr i8, ptr %t51, i64 21
  %t313 = load i8, ptr %t312, align 1
  %t314 = zext i8 %t313 to i32
  %t315 = sext i32 %t314 to i64
  store i64 %t315, ptr %values, align 8
  br label %failed
fine107:
  %t316 = getelementptr i8, ptr %t51, i64 20
  %t317 = load i8, ptr %t316, align 1
  %t318 = icmp eq i8 %t317, 6
  br i1 %t318, label %and109, label %end110
and109:
  %t319 = getelementptr i8, ptr %t51, i64 22
  %t320 = load i16, ptr %t319, align 2
  %t321 = icmp eq i16 %t320, 1
  br label %end110
end110:
  %t322 = phi i1 [ false, %fine107 ], [ %t321, %and109 ]
  %t323 = xor i1 %t322, true
  br i1 %t323, label %fine111, label %failed, !prof !0
fine111:
  br i1 false, label %fine113, label %worded114, !prof !0
worded114:
  %t324 = getelementptr i8, ptr %t51, i64 20
  %t325 = load i8, ptr %t324, align 1
  %t326 = zext i8 %t325 to i32
  %t327 = sext i32 %t326 to i64
  store i64 %t327, ptr %values, align 8
  %t328 = getelementptr i8, ptr %t51, i64 21
  %t329 = load i8, ptr %t328, align 1
  %t330 = zext i8 %t329 to i32
  %t331 = sext i32 %t330 to i64
  %t332 = getelementptr i8, ptr %values, i64 8
  store i64 %t331, ptr %t332, align 8
  %t333 = getelementptr i8, ptr %t51, i64 22
  %t334 = load i16, ptr %t333, align 2
  %t335 = zext i16 %t334 to i32
  %t336 = sext i32 %t335 to i64
  %t337 = getelementptr i8, ptr %values, i64 16
  store i64 %t336, ptr %t337, align 8
  br label %failed
fine113:
  br label %endif92
endif92:
  %t338 = getelementptr i8, ptr %t51, i64 8
  %t339 = load i32, ptr %t338, align 4
  %t340 = icmp eq i32 %t339, 1
  br i1 %t340, label %fine115, label %worded116, !prof !0
worded116:
  %t341 = sext i32 %t339 to i64
  store i64 %t341, ptr %values, align 8
  br label %failed
fine115:
  %t342 = getelementptr i8, ptr %t51, i64 24
  %t343 = load ptr, ptr %t342, align 8
  %t344 = getelementptr i8, ptr %t51, i64 32
  %t345 = load ptr, ptr %t344, align 8
  %t346 = load ptr, ptr %t51, align 8
  %t347 = getelementptr i8, ptr %t51, i64 40
  %t348 = load i64, ptr %t347, align 8
  %t349 = getelementptr i8, ptr %t346, i64 %t348
  %t350 = icmp eq ptr %t343, null
  %t351 = xor i1 %t350, true
  br i1 %t351, label %fine117, label %failed, !prof !0
fine117:
  %t352 = load i64, ptr %t143, align 8
  %t353 = icmp ule i64 %t352, 2147483647
  br i1 %t353, label %fine119, label %worded120, !prof !0
worded120:
  store i64 %t352, ptr %values, align 8
  br label %failed
fine119:
  %t354 = load i64, ptr %t143, align 8
  %t355 = trunc i64 %t354 to i32
  %t356 = icmp eq ptr %t145, null
  %t357 = xor i1 %t356, true
  br i1 %t357, label %and121, label %end122
and121:
  %t358 = load i64, ptr %t143, align 8
  %t359 = icmp ne i64 %t358, 0
  br label %end122
end122:
  %t360 = phi i1 [ false, %fine119 ], [ %t359, %and121 ]
  br i1 %t360, label %then123, label %endif124
then123:
  %t361 = load i64, ptr %t143, align 8
  %t362 = icmp slt i64 %t361, 2
  br i1 %t362, label %end126, label %or125
or125:
  %t363 = load i64, ptr %t145, align 8
  %t364 = icmp eq i64 %t363, 1
  br label %end126
end126:
  %t365 = phi i1 [ true, %then123 ], [ %t364, %or125 ]
  br i1 %t365, label %fine127, label %worded128, !prof !0
worded128:
  store i64 1, ptr %values, align 8
  %t366 = load i64, ptr %t145, align 8
  %t367 = getelementptr i8, ptr %values, i64 8
  store i64 %t366, ptr %t367, align 8
  br label %failed
fine127:
  br label %endif124
endif124:
  %t368 = load i64, ptr %t143, align 8
  %t369 = icmp eq i64 %t368, 0
  br i1 %t369, label %end130, label %or129
or129:
  %t370 = load ptr, ptr %t19, align 8
  %t371 = icmp eq ptr %t370, null
  %t372 = xor i1 %t371, true
  br label %end130
end130:
  %t373 = phi i1 [ true, %endif124 ], [ %t372, %or129 ]
  br i1 %t373, label %fine131, label %failed, !prof !0
fine131:
  %t374 = load i64, ptr %t143, align 8
  %t375 = icmp eq i64 %t374, 0
  %t376 = ptrtoint ptr %t149 to i64
  %t377 = and i64 %t376, 3
  %t378 = icmp eq i64 %t377, 0
  %t379 = or i1 %t375, %t378
  br i1 %t379, label %fine133, label %worded134, !prof !0
worded134:
  store i64 %t377, ptr %values, align 8
  br label %failed
fine133:
  %t380 = load i64, ptr %t243, align 8
  %t381 = sext i32 %t355 to i64
  %t382 = icmp eq i64 %t380, %t381
  br i1 %t382, label %fine135, label %worded136, !prof !0
worded136:
  store i64 %t381, ptr %values, align 8
  %t383 = getelementptr i8, ptr %values, i64 8
  store i64 %t380, ptr %t383, align 8
  br label %failed
fine135:
  %t384 = icmp eq ptr %t245, null
  %t385 = xor i1 %t384, true
  br i1 %t385, label %and137, label %end138
and137:
  %t386 = load i64, ptr %t243, align 8
  %t387 = icmp ne i64 %t386, 0
  br label %end138
end138:
  %t388 = phi i1 [ false, %fine135 ], [ %t387, %and137 ]
  br i1 %t388, label %then139, label %endif140
then139:
  %t389 = load i64, ptr %t243, align 8
  %t390 = icmp slt i64 %t389, 2
  br i1 %t390, label %end142, label %or141
or141:
  %t391 = load i64, ptr %t245, align 8
  %t392 = icmp eq i64 %t391, 1
  br label %end142
end142:
  %t393 = phi i1 [ true, %then139 ], [ %t392, %or141 ]
  br i1 %t393, label %fine143, label %worded144, !prof !0
worded144:
  store i64 1, ptr %values, align 8
  %t394 = load i64, ptr %t245, align 8
  %t395 = getelementptr i8, ptr %values, i64 8
  store i64 %t394, ptr %t395, align 8
  br label %failed
fine143:
  br label %endif140
endif140:
  %t396 = getelementptr i8, ptr %t35, i64 12
  %t397 = load i32, ptr %t396, align 4
  %t398 = getelementptr i8, ptr %t19, i64 12
  %t399 = load i32, ptr %t398, align 4
  %t400 = icmp eq i32 %t397, %t399
  br i1 %t400, label %fine145, label %worded146, !prof !0
worded146:
  %t401 = sext i32 %t399 to i64
  store i64 %t401, ptr %values, align 8
  %t402 = sext i32 %t397 to i64
  %t403 = getelementptr i8, ptr %values, i64 8
  store i64 %t402, ptr %t403, align 8
  br label %failed
fine145:
  %t404 = load i64, ptr %t243, align 8
  %t405 = icmp eq i64 %t404, 0
  br i1 %t405, label %end148, label %or147
or147:
  %t406 = load ptr, ptr %t35, align 8
  %t407 = icmp eq ptr %t406, null
  %t408 = xor i1 %t407, true
  br label %end148
end148:
  %t409 = phi i1 [ true, %fine145 ], [ %t408, %or147 ]
  br i1 %t409, label %fine149, label %failed, !prof !0
fine149:
  %t410 = load i64, ptr %t243, align 8
  %t411 = icmp eq i64 %t410, 0
  %t412 = ptrtoint ptr %t249 to i64
  %t413 = and i64 %t412, 3
  %t414 = icmp eq i64 %t413, 0
  %t415 = or i1 %t411, %t414
  br i1 %t415, label %fine151, label %worded152, !prof !0
worded152:
  store i64 %t413, ptr %values, align 8
  br label %failed
fine151:
  %t416 = load i64, ptr %t343, align 8
  %t417 = sext i32 %t355 to i64
  %t418 = icmp eq i64 %t416, %t417
  br i1 %t418, label %fine153, label %worded154, !prof !0
worded154:
  store i64 %t417, ptr %values, align 8
  %t419 = getelementptr i8, ptr %values, i64 8
  store i64 %t416, ptr %t419, align 8
  br label %failed
fine153:
  %t420 = icmp eq ptr %t345, null
  %t421 = xor i1 %t420, true
  br i1 %t421, label %and155, label %end156
and155:
  %t422 = load i64, ptr %t343, align 8
  %t423 = icmp ne i64 %t422, 0
  br label %end156
end156:
  %t424 = phi i1 [ false, %fine153 ], [ %t423, %and155 ]
  br i1 %t424, label %then157, label %endif158
then157:
  %t425 = load i64, ptr %t343, align 8
  %t426 = icmp slt i64 %t425, 2
  br i1 %t426, label %end160, label %or159
or159:
  %t427 = load i64, ptr %t345, align 8
  %t428 = icmp eq i64 %t427, 1
  br label %end160
end160:
  %t429 = phi i1 [ true, %then157 ], [ %t428, %or159 ]
  br i1 %t429, label %fine161, label %worded162, !prof !0
worded162:
  store i64 1, ptr %values, align 8
  %t430 = load i64, ptr %t345, align 8
  %t431 = getelementptr i8, ptr %values, i64 8
  store i64 %t430, ptr %t431, align 8
  br label %failed
fine161:
  br label %endif158
endif158:
  %t432 = getelementptr i8, ptr %t51, i64 12
  %t433 = load i32, ptr %t432, align 4
  %t434 = getelementptr i8, ptr %t19, i64 12
  %t435 = load i32, ptr %t434, align 4
  %t436 = icmp eq i32 %t433, %t435
  br i1 %t436, label %fine163, label %worded164, !prof !0
worded164:
  %t437 = sext i32 %t435 to i64
  store i64 %t437, ptr %values, align 8
  %t438 = sext i32 %t433 to i64
  %t439 = getelementptr i8, ptr %values, i64 8
  store i64 %t438, ptr %t439, align 8
  br label %failed
fine163:
  %t440 = load i64, ptr %t343, align 8
  %t441 = icmp eq i64 %t440, 0
  br i1 %t441, label %end166, label %or165
or165:
  %t442 = load ptr, ptr %t51, align 8
  %t443 = icmp eq ptr %t442, null
  %t444 = xor i1 %t443, true
  br label %end166
end166:
  %t445 = phi i1 [ true, %fine163 ], [ %t444, %or165 ]
  br i1 %t445, label %fine167, label %failed, !prof !0
fine167:
  %t446 = load i64, ptr %t343, align 8
  %t447 = icmp eq i64 %t446, 0
  %t448 = ptrtoint ptr %t349 to i64
  %t449 = and i64 %t448, 3
  %t450 = icmp eq i64 %t449, 0
  %t451 = or i1 %t447, %t450
  br i1 %t451, label %fine169, label %worded170, !prof !0
worded170:
  store i64 %t449, ptr %values, align 8
  br label %failed
fine169:
  %t452 = call i32 @cd.f.vecadd_compute_(ptr %t149, ptr %t249, ptr %t349, i32 %t355)
  ret i32 %t452
failed:
  %t453 = phi ptr [ @cd.message.9, %worded2 ], [ @cd.message.10, %fine1 ], [ @cd.message.11, %endif6 ], [ @cd.message.12, %endif10 ], [ @cd.message.13, %endif14 ], [ @cd.message.14, %worded18 ], [ @cd.message.15, %worded28 ], [ @cd.message.16, %worded32 ], [ @cd.message.17, %worded36 ], [ @cd.message.18, %worded40 ], [ @cd.message.19, %end42 ], [ @cd.message.20, %worded46 ], [ @cd.message.21, %worded48 ], [ @cd.message.22, %fine47 ], [ @cd.message.23, %worded52 ], [ @cd.message.24, %worded62 ], [ @cd.message.25, %worded66 ], [ @cd.message.26, %worded70 ], [ @cd.message.27, %worded74 ], [ @cd.message.28, %end76 ], [ @cd.message.29, %worded80 ], [ @cd.message.30, %worded82 ], [ @cd.message.31, %fine81 ], [ @cd.message.32, %worded86 ], [ @cd.message.33, %worded96 ], [ @cd.message.34, %worded100 ], [ @cd.message.35, %worded104 ], [ @cd.message.36, %worded108 ], [ @cd.message.37, %end110 ], [ @cd.message.38, %worded114 ], [ @cd.message.39, %worded116 ], [ @cd.message.40, %fine115 ], [ @cd.message.41, %worded120 ], [ @cd.message.42, %worded128 ], [ @cd.message.43, %end130 ], [ @cd.message.44, %worded134 ], [ @cd.message.45, %worded136 ], [ @cd.message.46, %worded144 ], [ @cd.message.47, %worded146 ], [ @cd.message.48, %end148 ], [ @cd.message.49, %worded152 ], [ @cd.message.50, %worded154 ], [ @cd.message.51, %worded162 ], [ @cd.message.52, %worded164 ], [ @cd.message.53, %end166 ], [ @cd.message.54, %worded170 ]
  %t454 = call i32 @cd.h.fail(ptr %t453, ptr %values)
  ret i32 %t454
}

define internal i32 @cd.f.vecadd_compute_(ptr noundef nocapture readonly align 4 %p0, ptr noundef nocapture readonly align 4 %p1, ptr noundef nocapture align 4 %p2, i32 noundef %p3) mustprogress noinline #0 {
entry:
  br label %body
body:
  %t1 = icmp sgt i32 %p3, 0
  br i1 %t1, label %loop1, label %done3
loop1:
  %t2 = phi i32 [ 0, %body ], [ %t3, %next2 ]
  %t4 = sext i32 %t2 to i64
  %t5 = getelementptr inbounds float, ptr %p0, i64 %t4
  %t6 = load float, ptr %t5, align 4
  %t7 = getelementptr inbounds float, ptr %p1, i64 %t4
  %t8 = load float, ptr %t7, align 4
  %t9 = fadd contract float %t6, %t8
  %t10 = getelementptr inbounds float, ptr %p2, i64 %t4
  store float %t9, ptr %t10, align 4
  br label %next2
next2:
  %t3 = add nuw nsw i32 %t2, 1
  %t11 = icmp eq i32 %t3, %p3
  br i1 %t11, label %done3, label %loop1
done3:
  ret i32 0
}

define internal i32 @cd.h.fail(ptr %text, ptr %values) cold noinline #0 {
entry:
  br label %kind
kind:
  %k = phi ptr [ %text, %entry ], [ %k.next, %kind ]
  %k.byte = load i8, ptr %k, align 1
  %k.next = getelementptr i8, ptr %k, i64 1
  %k.ends = icmp eq i8 %k.byte, 0
  br i1 %k.ends, label %measure, label %kind
measure:
  %m = phi ptr [ %k.next, %kind ], [ %m.next, %measure ]
  %size = phi i64 [ 1, %kind ], [ %size.next, %measure ]
  %m.byte = load i8, ptr %m, align 1
  %m.next = getelementptr i8, ptr %m, i64 1
  %m.integer = icmp ult i8 %m.byte, 3
  %m.size = select i1 %m.integer, i64 20, i64 1
  %size.next = add i64 %size, %m.size
  %m.ends = icmp eq i8 %m.byte, 0
  br i1 %m.ends, label %measured, label %measure
measured:
  %out = call ptr @malloc(i64 %size.next)
  %none = icmp eq ptr %out, null
  br i1 %none, label %full, label %next
full:
  %unworded = call i32 @cd.h.raise(ptr %text, ptr @cd.no_memory)
  ret i32 %unworded
next:
  %s = phi ptr [ %k.next, %measured ], [ %s.next, %plain ], [ %e.next, %escaped ], [ %s.next, %wrote ]
  %o = phi ptr [ %out, %measured ], [ %o.plain, %plain ], [ %o.escaped, %escaped ], [ %o.end, %wrote ]
  %v = phi ptr [ %values, %measured ], [ %v, %plain ], [ %v, %escaped ], [ %v.next, %wrote ]
  %byte = load i8, ptr %s, align 1
  %s.next = getelementptr i8, ptr %s, i64 1
  switch i8 %byte, label %plain [
    i8 0, label %ready
    i8 1, label %integer
    i8 2, label %integer
    i8 3, label %escaped
  ]
escaped:
  %e.byte = load i8, ptr %s.next, align 1
  %e.char = sub i8 %e.byte, 64
  store i8 %e.char, ptr %o, align 1
  %e.next = getelementptr i8, ptr %s, i64 2
  %o.escaped = getelementptr i8, ptr %o, i64 1
  br label %next
plain:
  store i8 %byte, ptr %o, align 1
  %o.plain = getelementptr i8, ptr %o, i64 1
  br label %next
integer:
  %x = load i64, ptr %v, align 8
  %v.next = getelementptr i8, ptr %v, i64 8
  %is_signed = icmp eq i8 %byte, 1
  %is_below = icmp slt i64 %x, 0
  %is_negative = and i1 %is_signed, %is_below
  %minus = sub i64 0, %x
  %magnitude = select i1 %is_negative, i64 %minus, i64 %x
  store i8 45, ptr %o, align 1
  %sign = zext i1 %is_negative to i64
  %o.first = getelementptr i8, ptr %o, i64 %sign
  br label %count
count:
  %c.rest = phi i64 [ %magnitude, %integer ], [ %c.less, %count ]
  %c.at = phi ptr [ %o.first, %integer ], [ %c.next, %count ]
  %c.next = getelementptr i8, ptr %c.at, i64 1
  %c.less = udiv i64 %c.rest, 10
  %c.ends = icmp eq i64 %c.less, 0
  br i1 %c.ends, label %digits, label %count
digits:
  %d.rest = phi i64 [ %magnitude, %count ], [ %d.less, %digits ]
  %d.end = phi ptr [ %c.next, %count ], [ %d.at, %digits ]
  %d.at = getelementptr i8, ptr %d.end, i64 -1
  %d.less = udiv i64 %d.rest, 10
  %d.tens = mul i64 %d.less, 10
  %d.digit = sub i64 %d.rest, %d.tens
  %d.small = trunc i64 %d.digit to i8
  %d.char = add i8 %d.small, 48
  store i8 %d.char, ptr %d.at, align 1
  %d.ends = icmp eq i64 %d.less, 0
  br i1 %d.ends, label %wrote, label %digits
wrote:
  %o.end = phi ptr [ %c.next, %digits ]
  br label %next
ready:
  store i8 0, ptr %o, align 1
  %status = call i32 @cd.h.raise(ptr %text, ptr %out)
  call void @free(ptr %out)
  ret i32 %status
}

define internal i32 @cd.h.raise(ptr %kind, ptr %message) cold noinline #0 {
entry:
  %env = load ptr, ptr @__chipdock_env, align 8
  %alone = icmp eq ptr %env, null
  br i1 %alone, label %find, label %host
host:
  %slot = getelementptr i8, ptr %env, i64 16
  %raise = load ptr, ptr %slot, align 8
  call void %raise(ptr %env, ptr %kind, ptr %message)
  ret i32 -1
find:
  %found = call ptr @dlsym(ptr null, ptr @cd.ffi_raise)
  %missing = icmp eq ptr %found, null
  br i1 %missing, label %done, label %ffi
ffi:
  call void %found(ptr %kind, ptr %message)
  br label %done
done:
  ret i32 -1
}

declare ptr @dlsym(ptr, ptr)
declare void @free(ptr)
declare i1 @llvm.expect.i1(i1, i1)
declare ptr @malloc(i64)

attributes #0 = { nounwind "target-cpu"="x86-64-v3" }
!0 = !{!"branch_weights", i32 2000, i32 1}
