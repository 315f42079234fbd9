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
  br i1 %t4, label %endif2, label %tail1, !prof !0
endif2:
  %t5 = load i32, ptr %p1, align 4
  %t6 = icmp eq i32 %t5, 70
  br i1 %t6, label %endif4, label %then3, !prof !0
then3:
  %t7 = icmp eq i32 %t5, 7
  br i1 %t7, label %endif5, label %tail1, !prof !0
endif5:
  br label %endif4
endif4:
  %t8 = getelementptr i8, ptr %p1, i64 8
  %t9 = load ptr, ptr %t8, align 8
  %t10 = icmp eq ptr %t9, null
  br i1 %t10, label %tail1, label %endif6, !prof !1
endif6:
  %t11 = getelementptr i8, ptr %p1, i64 8
  %t12 = load ptr, ptr %t11, align 8
  %t13 = icmp eq i32 %t5, 70
  %t14 = select i1 %t13, i64 24, i64 0
  %t15 = getelementptr i8, ptr %t12, i64 %t14
  %t16 = getelementptr i8, ptr %t15, i64 16
  %t17 = load i64, ptr %t16, align 1
  %t18 = xor i64 %t17, 316667938734081
  %t19 = getelementptr i8, ptr %t15, i64 8
  %t20 = load i64, ptr %t19, align 1
  %t21 = xor i64 %t20, 1
  %t22 = or i64 %t18, %t21
  %t23 = icmp eq i64 %t22, 0
  br i1 %t23, label %endif7, label %tail1, !prof !0
endif7:
  %t24 = getelementptr i8, ptr %t15, i64 24
  %t25 = load ptr, ptr %t24, align 8
  %t26 = getelementptr i8, ptr %t15, i64 32
  %t27 = load ptr, ptr %t26, align 8
  %t28 = load ptr, ptr %t15, align 8
  %t29 = icmp eq ptr %t28, null
  %t30 = xor i1 %t29, true
  %t31 = icmp eq ptr %t25, null
  %t32 = xor i1 %t31, true
  %t33 = and i1 %t30, %t32
  br i1 %t33, label %endif8, label %tail1, !prof !0
endif8:
  %t34 = load ptr, ptr %t15, align 8
  %t35 = getelementptr i8, ptr %t15, i64 40
  %t36 = load i64, ptr %t35, align 8
  %t37 = getelementptr i8, ptr %t34, i64 %t36
  %t38 = load i64, ptr %t25, align 8
  %t39 = trunc i64 %t38 to i32
  %t40 = load i64, ptr %t25, align 8
  %t41 = ashr i64 %t40, 31
  %t42 = icmp eq i64 %t41, 0
  br i1 %t42, label %endif9, label %tail1, !prof !0
endif9:
  %t43 = icmp eq ptr %t27, null
  br i1 %t43, label %endif11, label %then10, !prof !0
then10:
  %t44 = load i64, ptr %t27, align 8
  %t45 = xor i64 %t44, 1
  %t46 = icmp eq i64 %t45, 0
  br i1 %t46, label %endif12, label %tail1, !prof !0
endif12:
  br label %endif11
endif11:
  %t47 = getelementptr i8, ptr %p1, i64 16
  %t48 = load i32, ptr %t47, align 4
  %t49 = icmp eq i32 %t48, 70
  br i1 %t49, label %endif14, label %then13, !prof !0
then13:
  %t50 = icmp eq i32 %t48, 7
  br i1 %t50, label %endif15, label %tail1, !prof !0
endif15:
  br label %endif14
endif14:
  %t51 = getelementptr i8, ptr %p1, i64 24
  %t52 = load ptr, ptr %t51, align 8
  %t53 = icmp eq ptr %t52, null
  br i1 %t53, label %tail1, label %endif16, !prof !1
endif16:
  %t54 = getelementptr i8, ptr %p1, i64 24
  %t55 = load ptr, ptr %t54, align 8
  %t56 = icmp eq i32 %t48, 70
  %t57 = select i1 %t56, i64 24, i64 0
  %t58 = getelementptr i8, ptr %t55, i64 %t57
  %t59 = getelementptr i8, ptr %t58, i64 16
  %t60 = load i64, ptr %t59, align 1
  %t61 = xor i64 %t60, 316667938734081
  %t62 = getelementptr i8, ptr %t58, i64 8
  %t63 = load i64, ptr %t62, align 1
  %t64 = xor i64 %t63, 1
  %t65 = or i64 %t61, %t64
  %t66 = icmp eq i64 %t65, 0
  br i1 %t66, label %endif17, label %tail1, !prof !0
endif17:
  %t67 = getelementptr i8, ptr %t58, i64 24
  %t68 = load ptr, ptr %t67, align 8
  %t69 = getelementptr i8, ptr %t58, i64 32
  %t70 = load ptr, ptr %t69, align 8
  %t71 = load ptr, ptr %t58, align 8
  %t72 = icmp eq ptr %t71, null
  %t73 = xor i1 %t72, true
  %t74 = icmp eq ptr %t68, null
  %t75 = xor i1 %t74, true
  %t76 = and i1 %t73, %t75
  br i1 %t76, label %endif18, label %tail1, !prof !0
endif18:
  %t77 = load ptr, ptr %t58, align 8
  %t78 = getelementptr i8, ptr %t58, i64 40
  %t79 = load i64, ptr %t78, align 8
  %t80 = getelementptr i8, ptr %t77, i64 %t79
  %t81 = load i64, ptr %t68, align 8
  %t82 = sext i32 %t39 to i64
  %t83 = xor i64 %t81, %t82
  %t84 = icmp eq i64 %t83, 0
  br i1 %t84, label %endif19, label %tail1, !prof !0
endif19:
  %t85 = icmp eq ptr %t70, null
  br i1 %t85, label %endif21, label %then20, !prof !0
then20:
  %t86 = load i64, ptr %t70, align 8
  %t87 = xor i64 %t86, 1
  %t88 = icmp eq i64 %t87, 0
  br i1 %t88, label %endif22, label %tail1, !prof !0
endif22:
  br label %endif21
endif21:
  %t89 = getelementptr i8, ptr %p1, i64 32
  %t90 = load i32, ptr %t89, align 4
  %t91 = icmp eq i32 %t90, 70
  br i1 %t91, label %endif24, label %then23, !prof !0
then23:
  %t92 = icmp eq i32 %t90, 7
  br i1 %t92, label %endif25, label %tail1, !prof !0
endif25:
  br label %endif24
endif24:
  %t93 = getelementptr i8, ptr %p1, i64 40
  %t94 = load ptr, ptr %t93, align 8
  %t95 = icmp eq ptr %t94, null
  br i1 %t95, label %tail1, label %endif26, !prof !1
endif26:
  %t96 = getelementptr i8, ptr %p1, i64 40
  %t97 = load ptr, ptr %t96, align 8
  %t98 = icmp eq i32 %t90, 70
  %t99 = select i1 %t98, i64 24, i64 0
  %t100 = getelementptr i8, ptr %t97, i64 %t99
  %t101 = getelementptr i8, ptr %t100, i64 16
  %t102 = load i64, ptr %t101, align 1
  %t103 = xor i64 %t102, 316667938734081
  %t104 = getelementptr i8, ptr %t100, i64 8
  %t105 = load i64, ptr %t104, align 1
  %t106 = xor i64 %t105, 1
  %t107 = or i64 %t103, %t106
  %t108 = icmp eq i64 %t107, 0
  br i1 %t108, label %endif27, label %tail1, !prof !0
endif27:
  %t109 = getelementptr i8, ptr %t100, i64 24
  %t110 = load ptr, ptr %t109, align 8
  %t111 = getelementptr i8, ptr %t100, i64 32
  %t112 = load ptr, ptr %t111, align 8
  %t113 = load ptr, ptr %t100, align 8
  %t114 = icmp eq ptr %t113, null
  %t115 = xor i1 %t114, true
  %t116 = icmp eq ptr %t110, null
  %t117 = xor i1 %t116, true
  %t118 = and i1 %t115, %t117
  br i1 %t118, label %endif28, label %tail1, !prof !0
endif28:
  %t119 = load ptr, ptr %t100, align 8
  %t120 = getelementptr i8, ptr %t100, i64 40
  %t121 = load i64, ptr %t120, align 8
  %t122 = getelementptr i8, ptr %t119, i64 %t121
  %t123 = load i64, ptr %t110, align 8
  %t124 = sext i32 %t39 to i64
  %t125 = xor i64 %t123, %t124
  %t126 = icmp eq i64 %t125, 0
  br i1 %t126, label %endif29, label %tail1, !prof !0
endif29:
  %t127 = icmp eq ptr %t112, null
  br i1 %t127, label %endif31, label %then30, !prof !0
then30:
  %t128 = load i64, ptr %t112, align 8
  %t129 = xor i64 %t128, 1
  %t130 = icmp eq i64 %t129, 0
  br i1 %t130, label %endif32, label %tail1, !prof !0
endif32:
  br label %endif31
endif31:
  %t131 = ptrtoint ptr %t37 to i64
  %t132 = ptrtoint ptr %t80 to i64
  %t133 = or i64 %t131, %t132
  %t134 = ptrtoint ptr %t122 to i64
  %t135 = or i64 %t133, %t134
  %t136 = and i64 %t135, 3
  %t137 = icmp eq i64 %t136, 0
  br i1 %t137, label %endif33, label %tail1, !prof !0
endif33:
  %t138 = call i32 @cd.f.vecadd_compute_(ptr %t37, ptr %t80, ptr %t122, i32 %t39)
  ret i32 %t138
tail1:
  %t139 = call i32 @cd.f.vecadd_checked_(ptr %p1, i32 %p2)
  ret i32 %t139
}

define internal i32 @cd.f.vecadd_expected_Tensor_(i32 noundef %p0, i32 noundef %p1) cold noinline optnone #0 {
entry:
  %values = alloca [2 x i64], align 8
  br label %body
body:
  %t1 = sext i32 %p0 to i64
  store i64 %t1, ptr %values, align 8
  %t2 = icmp ne i32 %p1, 0
  br i1 %t2, label %fine1, label %failed, !prof !1
fine1:
  %t3 = sext i32 %p0 to i64
  store i64 %t3, ptr %values, align 8
  %t4 = icmp ne i32 %p1, 1
  br i1 %t4, label %fine2, label %failed, !prof !1
fine2:
  %t5 = sext i32 %p0 to i64
  store i64 %t5, ptr %values, align 8
  %t6 = icmp ne i32 %p1, 2
  br i1 %t6, label %fine3, label %failed, !prof !1
fine3:
  %t7 = sext i32 %p0 to i64
  store i64 %t7, ptr %values, align 8
  %t8 = icmp ne i32 %p1, 3
  br i1 %t8, label %fine4, label %failed, !prof !1
fine4:
  %t9 = sext i32 %p0 to i64
  store i64 %t9, ptr %values, align 8
  %t10 = icmp ne i32 %p1, 4
  br i1 %t10, label %fine5, label %failed, !prof !1
fine5:
  %t11 = sext i32 %p0 to i64
  store i64 %t11, ptr %values, align 8
  %t12 = icmp ne i32 %p1, 8
  br i1 %t12, label %fine6, label %failed, !prof !1
fine6:
  %t13 = sext i32 %p0 to i64
  store i64 %t13, ptr %values, align 8
  %t14 = icmp ne i32 %p1, 11
  br i1 %t14, label %fine7, label %failed, !prof !1
fine7:
  %t15 = sext i32 %p0 to i64
  store i64 %t15, ptr %values, align 8
  %t16 = icmp ne i32 %p1, 65
  br i1 %t16, label %fine8, label %failed, !prof !1
fine8:
  %t17 = sext i32 %p0 to i64
  store i64 %t17, ptr %values, align 8
  %t18 = icmp ne i32 %p1, 68
  br i1 %t18, label %fine9, label %failed, !prof !1
fine9:
  %t19 = sext i32 %p0 to i64
  store i64 %t19, ptr %values, align 8
  %t20 = icmp ne i32 %p1, 71
  br i1 %t20, label %fine10, label %failed, !prof !1
fine10:
  %t21 = sext i32 %p0 to i64
  store i64 %t21, ptr %values, align 8
  %t22 = sext i32 %p1 to i64
  %t23 = getelementptr i8, ptr %values, i64 8
  store i64 %t22, ptr %t23, align 8
  br i1 false, label %fine11, label %failed, !prof !1
fine11:
  ret i32 -1
failed:
  %t24 = phi ptr [ @cd.message.0, %body ], [ @cd.message.1, %fine1 ], [ @cd.message.2, %fine2 ], [ @cd.message.3, %fine3 ], [ @cd.message.4, %fine4 ], [ @cd.message.5, %fine5 ], [ @cd.message.5, %fine6 ], [ @cd.message.5, %fine7 ], [ @cd.message.6, %fine8 ], [ @cd.message.7, %fine9 ], [ @cd.message.8, %fine10 ]
  %t25 = call i32 @cd.h.fail(ptr %t24, ptr %values)
  ret i32 %t25
}

define internal i32 @cd.f.vecadd_checked_(ptr noundef %p0, i32 noundef %p1) cold noinline optnone #0 {
entry:
  %values = alloca [3 x i64], align 8
  br label %body
body:
  %t1 = sext i32 %p1 to i64
  store i64 %t1, ptr %values, align 8
  %t2 = icmp eq i32 %p1, 3
  br i1 %t2, label %fine1, label %failed, !prof !1
fine1:
  %t3 = icmp eq ptr %p0, null
  br i1 %t3, label %failed, label %fine2, !prof !0
fine2:
  %t4 = load i32, ptr %p0, align 4
  %t5 = icmp eq i32 %t4, 7
  %t6 = icmp eq i32 %t4, 70
  %t7 = or i1 %t5, %t6
  br i1 %t7, label %endif4, label %then3
then3:
  %t8 = call i32 @cd.f.vecadd_expected_Tensor_(i32 0, i32 %t4)
  ret i32 %t8
endif4:
  %t9 = getelementptr i8, ptr %p0, i64 8
  %t10 = load ptr, ptr %t9, align 8
  %t11 = icmp eq ptr %t10, null
  br i1 %t11, label %failed, label %fine5, !prof !0
fine5:
  %t12 = getelementptr i8, ptr %p0, i64 8
  %t13 = load ptr, ptr %t12, align 8
  %t14 = icmp eq i32 %t4, 70
  %t15 = select i1 %t14, i64 24, i64 0
  %t16 = getelementptr i8, ptr %t13, i64 %t15
  %t17 = getelementptr i8, ptr %p0, i64 16
  %t18 = load i32, ptr %t17, align 4
  %t19 = icmp eq i32 %t18, 7
  %t20 = icmp eq i32 %t18, 70
  %t21 = or i1 %t19, %t20
  br i1 %t21, label %endif7, label %then6
then6:
  %t22 = call i32 @cd.f.vecadd_expected_Tensor_(i32 1, i32 %t18)
  ret i32 %t22
endif7:
  %t23 = getelementptr i8, ptr %p0, i64 24
  %t24 = load ptr, ptr %t23, align 8
  %t25 = icmp eq ptr %t24, null
  br i1 %t25, label %failed, label %fine8, !prof !0
fine8:
  %t26 = getelementptr i8, ptr %p0, i64 24
  %t27 = load ptr, ptr %t26, align 8
  %t28 = icmp eq i32 %t18, 70
  %t29 = select i1 %t28, i64 24, i64 0
  %t30 = getelementptr i8, ptr %t27, i64 %t29
  %t31 = getelementptr i8, ptr %p0, i64 32
  %t32 = load i32, ptr %t31, align 4
  %t33 = icmp eq i32 %t32, 7
  %t34 = icmp eq i32 %t32, 70
  %t35 = or i1 %t33, %t34
  br i1 %t35, label %endif10, label %then9
then9:
  %t36 = call i32 @cd.f.vecadd_expected_Tensor_(i32 2, i32 %t32)
  ret i32 %t36
endif10:
  %t37 = getelementptr i8, ptr %p0, i64 40
  %t38 = load ptr, ptr %t37, align 8
  %t39 = icmp eq ptr %t38, null
  br i1 %t39, label %failed, label %fine11, !prof !0
fine11:
  %t40 = getelementptr i8, ptr %p0, i64 40
  %t41 = load ptr, ptr %t40, align 8
  %t42 = icmp eq i32 %t32, 70
  %t43 = select i1 %t42, i64 24, i64 0
  %t44 = getelementptr i8, ptr %t41, i64 %t43
  %t45 = getelementptr i8, ptr %t16, i64 16
  %t46 = load i32, ptr %t45, align 4
  %t47 = icmp eq i32 %t46, 1
  br i1 %t47, label %fine12, label %worded13, !prof !1
worded13:
  %t48 = sext i32 %t46 to i64
  store i64 %t48, ptr %values, align 8
  br label %failed
fine12:
  %t49 = getelementptr i8, ptr %t16, i64 20
  %t50 = load i8, ptr %t49, align 1
  %t51 = icmp eq i8 %t50, 2
  br i1 %t51, label %and17, label %then14
and17:
  %t52 = getelementptr i8, ptr %t16, i64 21
  %t53 = load i8, ptr %t52, align 1
  %t54 = icmp eq i8 %t53, 32
  br i1 %t54, label %and16, label %then14
and16:
  %t55 = getelementptr i8, ptr %t16, i64 22
  %t56 = load i16, ptr %t55, align 2
  %t57 = icmp eq i16 %t56, 1
  br i1 %t57, label %endif15, label %then14
then14:
  %t58 = getelementptr i8, ptr %t16, i64 20
  %t59 = load i8, ptr %t58, align 1
  %t60 = icmp eq i8 %t59, 0
  br i1 %t60, label %and20, label %fine18, !prof !0
and20:
  %t61 = getelementptr i8, ptr %t16, i64 22
  %t62 = load i16, ptr %t61, align 2
  %t63 = icmp eq i16 %t62, 1
  br i1 %t63, label %worded19, label %fine18, !prof !0
worded19:
  %t64 = getelementptr i8, ptr %t16, i64 21
  %t65 = load i8, ptr %t64, align 1
  %t66 = zext i8 %t65 to i32
  %t67 = sext i32 %t66 to i64
  store i64 %t67, ptr %values, align 8
  br label %failed
fine18:
  %t68 = getelementptr i8, ptr %t16, i64 20
  %t69 = load i8, ptr %t68, align 1
  %t70 = icmp eq i8 %t69, 1
  br i1 %t70, label %and23, label %fine21, !prof !0
and23:
  %t71 = getelementptr i8, ptr %t16, i64 22
  %t72 = load i16, ptr %t71, align 2
  %t73 = icmp eq i16 %t72, 1
  br i1 %t73, label %worded22, label %fine21, !prof !0
worded22:
  %t74 = getelementptr i8, ptr %t16, i64 21
  %t75 = load i8, ptr %t74, align 1
  %t76 = zext i8 %t75 to i32
  %t77 = sext i32 %t76 to i64
  store i64 %t77, ptr %values, align 8
  br label %failed
fine21:
  %t78 = getelementptr i8, ptr %t16, i64 20
  %t79 = load i8, ptr %t78, align 1
  %t80 = icmp eq i8 %t79, 2
  br i1 %t80, label %and26, label %fine24, !prof !0
and26:
  %t81 = getelementptr i8, ptr %t16, i64 22
  %t82 = load i16, ptr %t81, align 2
  %t83 = icmp eq i16 %t82, 1
  br i1 %t83, label %worded25, label %fine24, !prof !0
worded25:
  %t84 = getelementptr i8, ptr %t16, i64 21
  %t85 = load i8, ptr %t84, align 1
  %t86 = zext i8 %t85 to i32
  %t87 = sext i32 %t86 to i64
  store i64 %t87, ptr %values, align 8
  br label %failed
fine24:
  %t88 = getelementptr i8, ptr %t16, i64 20
  %t89 = load i8, ptr %t88, align 1
  %t90 = icmp eq i8 %t89, 4
  br i1 %t90, label %and29, label %fine27, !prof !0
and29:
  %t91 = getelementptr i8, ptr %t16, i64 22
  %t92 = load i16, ptr %t91, align 2
  %t93 = icmp eq i16 %t92, 1
  br i1 %t93, label %worded28, label %fine27, !prof !0
worded28:
  %t94 = getelementptr i8, ptr %t16, i64 21
  %t95 = load i8, ptr %t94, align 1
  %t96 = zext i8 %t95 to i32
  %t97 = sext i32 %t96 to i64
  store i64 %t97, ptr %values, align 8
  br label %failed
fine27:
  %t98 = getelementptr i8, ptr %t16, i64 20
  %t99 = load i8, ptr %t98, align 1
  %t100 = icmp eq i8 %t99, 6
  br i1 %t100, label %and31, label %fine30, !prof !0
and31:
  %t101 = getelementptr i8, ptr %t16, i64 22
  %t102 = load i16, ptr %t101, align 2
  %t103 = icmp eq i16 %t102, 1
  br i1 %t103, label %failed, label %fine30, !prof !0
fine30:
  br i1 false, label %fine32, label %worded33, !prof !1
worded33:
  %t104 = getelementptr i8, ptr %t16, i64 20
  %t105 = load i8, ptr %t104, align 1
  %t106 = zext i8 %t105 to i32
  %t107 = sext i32 %t106 to i64
  store i64 %t107, ptr %values, align 8
  %t108 = getelementptr i8, ptr %t16, i64 21
  %t109 = load i8, ptr %t108, align 1
  %t110 = zext i8 %t109 to i32
  %t111 = sext i32 %t110 to i64
  %t112 = getelementptr i8, ptr %values, i64 8
  store i64 %t111, ptr %t112, align 8
  %t113 = getelementptr i8, ptr %t16, i64 22
  %t114 = load i16, ptr %t113, align 2
  %t115 = zext i16 %t114 to i32
  %t116 = sext i32 %t115 to i64
  %t117 = getelementptr i8, ptr %values, i64 16
  store i64 %t116, ptr %t117, align 8
  br label %failed
fine32:
  br label %endif15
endif15:
  %t118 = getelementptr i8, ptr %t16, i64 8
  %t119 = load i32, ptr %t118, align 4
  %t120 = icmp eq i32 %t119, 1
  br i1 %t120, label %fine34, label %worded35, !prof !1
worded35:
  %t121 = sext i32 %t119 to i64
  store i64 %t121, ptr %values, align 8
  br label %failed
fine34:
  %t122 = getelementptr i8, ptr %t16, i64 24
  %t123 = load ptr, ptr %t122, align 8
  %t124 = getelementptr i8, ptr %t16, i64 32
  %t125 = load ptr, ptr %t124, align 8
  %t126 = load ptr, ptr %t16, align 8
  %t127 = getelementptr i8, ptr %t16, i64 40
  %t128 = load i64, ptr %t127, align 8
  %t129 = getelementptr i8, ptr %t126, i64 %t128
  %t130 = icmp eq ptr %t123, null
  br i1 %t130, label %failed, label %fine36, !prof !0
fine36:
  %t131 = getelementptr i8, ptr %t30, i64 16
  %t132 = load i32, ptr %t131, align 4
  %t133 = icmp eq i32 %t132, 1
  br i1 %t133, label %fine37, label %worded38, !prof !1
worded38:
  %t134 = sext i32 %t132 to i64
  store i64 %t134, ptr %values, align 8
  br label %failed
fine37:
  %t135 = getelementptr i8, ptr %t30, i64 20
  %t136 = load i8, ptr %t135, align 1
  %t137 = icmp eq i8 %t136, 2
  br i1 %t137, label %and42, label %then39
and42:
  %t138 = getelementptr i8, ptr %t30, i64 21
  %t139 = load i8, ptr %t138, align 1
  %t140 = icmp eq i8 %t139, 32
  br i1 %t140, label %and41, label %then39
and41:
  %t141 = getelementptr i8, ptr %t30, i64 22
  %t142 = load i16, ptr %t141, align 2
  %t143 = icmp eq i16 %t142, 1
  br i1 %t143, label %endif40, label %then39
then39:
  %t144 = getelementptr i8, ptr %t30, i64 20
  %t145 = load i8, ptr %t144, align 1
  %t146 = icmp eq i8 %t145, 0
  br i1 %t146, label %and45, label %fine43, !prof !0
and45:
  %t147 = getelementptr i8, ptr %t30, i64 22
  %t148 = load i16, ptr %t147, align 2
  %t149 = icmp eq i16 %t148, 1
  br i1 %t149, label %worded44, label %fine43, !prof !0
worded44:
  %t150 = getelementptr i8, ptr %t30, i64 21
  %t151 = load i8, ptr %t150, align 1
  %t152 = zext i8 %t151 to i32
  %t153 = sext i32 %t152 to i64
  store i64 %t153, ptr %values, align 8
  br label %failed
fine43:
  %t154 = getelementptr i8, ptr %t30, i64 20
  %t155 = load i8, ptr %t154, align 1
  %t156 = icmp eq i8 %t155, 1
  br i1 %t156, label %and48, label %fine46, !prof !0
and48:
  %t157 = getelementptr i8, ptr %t30, i64 22
  %t158 = load i16, ptr %t157, align 2
  %t159 = icmp eq i16 %t158, 1
  br i1 %t159, label %worded47, label %fine46, !prof !0
worded47:
  %t160 = getelementptr i8, ptr %t30, i64 21
  %t161 = load i8, ptr %t160, align 1
  %t162 = zext i8 %t161 to i32
  %t163 = sext i32 %t162 to i64
  store i64 %t163, ptr %values, align 8
  br label %failed
fine46:
  %t164 = getelementptr i8, ptr %t30, i64 20
  %t165 = load i8, ptr %t164, align 1
  %t166 = icmp eq i8 %t165, 2
  br i1 %t166, label %and51, label %fine49, !prof !0
and51:
  %t167 = getelementptr i8, ptr %t30, i64 22
  %t168 = load i16, ptr %t167, align 2
  %t169 = icmp eq i16 %t168, 1
  br i1 %t169, label %worded50, label %fine49, !prof !0
worded50:
  %t170 = getelementptr i8, ptr %t30, i64 21
  %t171 = load i8, ptr %t170, align 1
  %t172 = zext i8 %t171 to i32
  %t173 = sext i32 %t172 to i64
  store i64 %t173, ptr %values, align 8
  br label %failed
fine49:
  %t174 = getelementptr i8, ptr %t30, i64 20
  %t175 = load i8, ptr %t174, align 1
  %t176 = icmp eq i8 %t175, 4
  br i1 %t176, label %and54, label %fine52, !prof !0
and54:
  %t177 = getelementptr i8, ptr %t30, i64 22
  %t178 = load i16, ptr %t177, align 2
  %t179 = icmp eq i16 %t178, 1
  br i1 %t179, label %worded53, label %fine52, !prof !0
worded53:
  %t180 = getelementptr i8, ptr %t30, i64 21
  %t181 = load i8, ptr %t180, align 1
  %t182 = zext i8 %t181 to i32
  %t183 = sext i32 %t182 to i64
  store i64 %t183, ptr %values, align 8
  br label %failed
fine52:
  %t184 = getelementptr i8, ptr %t30, i64 20
  %t185 = load i8, ptr %t184, align 1
  %t186 = icmp eq i8 %t185, 6
  br i1 %t186, label %and56, label %fine55, !prof !0
and56:
  %t187 = getelementptr i8, ptr %t30, i64 22
  %t188 = load i16, ptr %t187, align 2
  %t189 = icmp eq i16 %t188, 1
  br i1 %t189, label %failed, label %fine55, !prof !0
fine55:
  br i1 false, label %fine57, label %worded58, !prof !1
worded58:
  %t190 = getelementptr i8, ptr %t30, i64 20
  %t191 = load i8, ptr %t190, align 1
  %t192 = zext i8 %t191 to i32
  %t193 = sext i32 %t192 to i64
  store i64 %t193, ptr %values, align 8
  %t194 = getelementptr i8, ptr %t30, i64 21
  %t195 = load i8, ptr %t194, align 1
  %t196 = zext i8 %t195 to i32
  %t197 = sext i32 %t196 to i64
  %t198 = getelementptr i8, ptr %values, i64 8
  store i64 %t197, ptr %t198, align 8
  %t199 = getelementptr i8, ptr %t30, i64 22
  %t200 = load i16, ptr %t199, align 2
  %t201 = zext i16 %t200 to i32
  %t202 = sext i32 %t201 to i64
  %t203 = getelementptr i8, ptr %values, i64 16
  store i64 %t202, ptr %t203, align 8
  br label %failed
fine57:
  br label %endif40
endif40:
  %t204 = getelementptr i8, ptr %t30, i64 8
  %t205 = load i32, ptr %t204, align 4
  %t206 = icmp eq i32 %t205, 1
  br i1 %t206, label %fine59, label %worded60, !prof !1
worded60:
  %t207 = sext i32 %t205 to i64
  store i64 %t207, ptr %values, align 8
  br label %failed
fine59:
  %t208 = getelementptr i8, ptr %t30, i64 24
  %t209 = load ptr, ptr %t208, align 8
  %t210 = getelementptr i8, ptr %t30, i64 32
  %t211 = load ptr, ptr %t210, align 8
  %t212 = load ptr, ptr %t30, align 8
  %t213 = getelementptr i8, ptr %t30, i64 40
  %t214 = load i64, ptr %t213, align 8
  %t215 = getelementptr i8, ptr %t212, i64 %t214
  %t216 = icmp eq ptr %t209, null
  br i1 %t216, label %failed, label %fine61, !prof !0
fine61:
  %t217 = getelementptr i8, ptr %t44, i64 16
  %t218 = load i32, ptr %t217, align 4
  %t219 = icmp eq i32 %t218, 1
  br i1 %t219, label %fine62, label %worded63, !prof !1
worded63:
  %t220 = sext i32 %t218 to i64
  store i64 %t220, ptr %values, align 8
  br label %failed
fine62:
  %t221 = getelementptr i8, ptr %t44, i64 20
  %t222 = load i8, ptr %t221, align 1
  %t223 = icmp eq i8 %t222, 2
  br i1 %t223, label %and67, label %then64
and67:
  %t224 = getelementptr i8, ptr %t44, i64 21
  %t225 = load i8, ptr %t224, align 1
  %t226 = icmp eq i8 %t225, 32
  br i1 %t226, label %and66, label %then64
and66:
  %t227 = getelementptr i8, ptr %t44, i64 22
  %t228 = load i16, ptr %t227, align 2
  %t229 = icmp eq i16 %t228, 1
  br i1 %t229, label %endif65, label %then64
then64:
  %t230 = getelementptr i8, ptr %t44, i64 20
  %t231 = load i8, ptr %t230, align 1
  %t232 = icmp eq i8 %t231, 0
  br i1 %t232, label %and70, label %fine68, !prof !0
and70:
  %t233 = getelementptr i8, ptr %t44, i64 22
  %t234 = load i16, ptr %t233, align 2
  %t235 = icmp eq i16 %t234, 1
  br i1 %t235, label %worded69, label %fine68, !prof !0
worded69:
  %t236 = getelementptr i8, ptr %t44, i64 21
  %t237 = load i8, ptr %t236, align 1
  %t238 = zext i8 %t237 to i32
  %t239 = sext i32 %t238 to i64
  store i64 %t239, ptr %values, align 8
  br label %failed
fine68:
  %t240 = getelementptr i8, ptr %t44, i64 20
  %t241 = load i8, ptr %t240, align 1
  %t242 = icmp eq i8 %t241, 1
  br i1 %t242, label %and73, label %fine71, !prof !0
and73:
  %t243 = getelementptr i8, ptr %t44, i64 22
  %t244 = load i16, ptr %t243, align 2
  %t245 = icmp eq i16 %t244, 1
  br i1 %t245, label %worded72, label %fine71, !prof !0
worded72:
  %t246 = getelementptr i8, ptr %t44, i64 21
  %t247 = load i8, ptr %t246, align 1
  %t248 = zext i8 %t247 to i32
  %t249 = sext i32 %t248 to i64
  store i64 %t249, ptr %values, align 8
  br label %failed
fine71:
  %t250 = getelementptr i8, ptr %t44, i64 20
  %t251 = load i8, ptr %t250, align 1
  %t252 = icmp eq i8 %t251, 2
  br i1 %t252, label %and76, label %fine74, !prof !0
and76:
  %t253 = getelementptr i8, ptr %t44, i64 22
  %t254 = load i16, ptr %t253, align 2
  %t255 = icmp eq i16 %t254, 1
  br i1 %t255, label %worded75, label %fine74, !prof !0
worded75:
  %t256 = getelementptr i8, ptr %t44, i64 21
  %t257 = load i8, ptr %t256, align 1
  %t258 = zext i8 %t257 to i32
  %t259 = sext i32 %t258 to i64
  store i64 %t259, ptr %values, align 8
  br label %failed
fine74:
  %t260 = getelementptr i8, ptr %t44, i64 20
  %t261 = load i8, ptr %t260, align 1
  %t262 = icmp eq i8 %t261, 4
  br i1 %t262, label %and79, label %fine77, !prof !0
and79:
  %t263 = getelementptr i8, ptr %t44, i64 22
  %t264 = load i16, ptr %t263, align 2
  %t265 = icmp eq i16 %t264, 1
  br i1 %t265, label %worded78, label %fine77, !prof !0
worded78:
  %t266 = getelementptr i8, ptr %t44, i64 21
  %t267 = load i8, ptr %t266, align 1
  %t268 = zext i8 %t267 to i32
  %t269 = sext i32 %t268 to i64
  store i64 %t269, ptr %values, align 8
  br label %failed
fine77:
  %t270 = getelementptr i8, ptr %t44, i64 20
  %t271 = load i8, ptr %t270, align 1
  %t272 = icmp eq i8 %t271, 6
  br i1 %t272, label %and81, label %fine80, !prof !0
and81:
  %t273 = getelementptr i8, ptr %t44, i64 22
  %t274 = load i16, ptr %t273, align 2
  %t275 = icmp eq i16 %t274, 1
  br i1 %t275, label %failed, label %fine80, !prof !0
fine80:
  br i1 false, label %fine82, label %worded83, !prof !1
worded83:
  %t276 = getelementptr i8, ptr %t44, i64 20
  %t277 = load i8, ptr %t276, align 1
  %t278 = zext i8 %t277 to i32
  %t279 = sext i32 %t278 to i64
  store i64 %t279, ptr %values, align 8
  %t280 = getelementptr i8, ptr %t44, i64 21
  %t281 = load i8, ptr %t280, align 1
  %t282 = zext i8 %t281 to i32
  %t283 = sext i32 %t282 to i64
  %t284 = getelementptr i8, ptr %values, i64 8
  store i64 %t283, ptr %t284, align 8
  %t285 = getelementptr i8, ptr %t44, i64 22
  %t286 = load i16, ptr %t285, align 2
  %t287 = zext i16 %t286 to i32
  %t288 = sext i32 %t287 to i64
  %t289 = getelementptr i8, ptr %values, i64 16
  store i64 %t288, ptr %t289, align 8
  br label %failed
fine82:
  br label %endif65
endif65:
  %t290 = getelementptr i8, ptr %t44, i64 8
  %t291 = load i32, ptr %t290, align 4
  %t292 = icmp eq i32 %t291, 1
  br i1 %t292, label %fine84, label %worded85, !prof !1
worded85:
  %t293 = sext i32 %t291 to i64
  store i64 %t293, ptr %values, align 8
  br label %failed
fine84:
  %t294 = getelementptr i8, ptr %t44, i64 24
  %t295 = load ptr, ptr %t294, align 8
  %t296 = getelementptr i8, ptr %t44, i64 32
  %t297 = load ptr, ptr %t296, align 8
  %t298 = load ptr, ptr %t44, align 8
  %t299 = getelementptr i8, ptr %t44, i64 40
  %t300 = load i64, ptr %t299, align 8
  %t301 = getelementptr i8, ptr %t298, i64 %t300
  %t302 = icmp eq ptr %t295, null
  br i1 %t302, label %failed, label %fine86, !prof !0
fine86:
  %t303 = load i64, ptr %t123, align 8
  %t304 = icmp ule i64 %t303, 2147483647
  br i1 %t304, label %fine87, label %worded88, !prof !1
worded88:
  store i64 %t303, ptr %values, align 8
  br label %failed
fine87:
  %t305 = load i64, ptr %t123, align 8
  %t306 = trunc i64 %t305 to i32
  %t307 = icmp eq ptr %t125, null
  br i1 %t307, label %endif90, label %and91
and91:
  %t308 = load i64, ptr %t123, align 8
  %t309 = icmp ne i64 %t308, 0
  br i1 %t309, label %then89, label %endif90
then89:
  %t310 = load i64, ptr %t123, align 8
  %t311 = icmp slt i64 %t310, 2
  br i1 %t311, label %fine92, label %or94, !prof !1
or94:
  %t312 = load i64, ptr %t125, align 8
  %t313 = icmp eq i64 %t312, 1
  br i1 %t313, label %fine92, label %worded93, !prof !1
worded93:
  store i64 1, ptr %values, align 8
  %t314 = load i64, ptr %t125, align 8
  %t315 = getelementptr i8, ptr %values, i64 8
  store i64 %t314, ptr %t315, align 8
  br label %failed
fine92:
  br label %endif90
endif90:
  %t316 = load i64, ptr %t123, align 8
  %t317 = icmp eq i64 %t316, 0
  br i1 %t317, label %fine95, label %or96, !prof !1
or96:
  %t318 = load ptr, ptr %t16, align 8
  %t319 = icmp eq ptr %t318, null
  br i1 %t319, label %failed, label %fine95, !prof !0
fine95:
  %t320 = ptrtoint ptr %t129 to i64
  %t321 = and i64 %t320, 3
  store i64 %t321, ptr %values, align 8
  %t322 = load i64, ptr %t123, align 8
  %t323 = icmp eq i64 %t322, 0
  %t324 = icmp eq i64 %t321, 0
  %t325 = or i1 %t323, %t324
  br i1 %t325, label %fine97, label %failed, !prof !1
fine97:
  %t326 = load i64, ptr %t209, align 8
  %t327 = sext i32 %t306 to i64
  %t328 = icmp eq i64 %t326, %t327
  br i1 %t328, label %fine98, label %worded99, !prof !1
worded99:
  store i64 %t327, ptr %values, align 8
  %t329 = getelementptr i8, ptr %values, i64 8
  store i64 %t326, ptr %t329, align 8
  br label %failed
fine98:
  %t330 = icmp eq ptr %t211, null
  br i1 %t330, label %endif101, label %and102
and102:
  %t331 = load i64, ptr %t209, align 8
  %t332 = icmp ne i64 %t331, 0
  br i1 %t332, label %then100, label %endif101
then100:
  %t333 = load i64, ptr %t209, align 8
  %t334 = icmp slt i64 %t333, 2
  br i1 %t334, label %fine103, label %or105, !prof !1
or105:
  %t335 = load i64, ptr %t211, align 8
  %t336 = icmp eq i64 %t335, 1
  br i1 %t336, label %fine103, label %worded104, !prof !1
worded104:
  store i64 1, ptr %values, align 8
  %t337 = load i64, ptr %t211, align 8
  %t338 = getelementptr i8, ptr %values, i64 8
  store i64 %t337, ptr %t338, align 8
  br label %failed
fine103:
  br label %endif101
endif101:
  %t339 = getelementptr i8, ptr %t30, i64 12
  %t340 = load i32, ptr %t339, align 4
  %t341 = getelementptr i8, ptr %t16, i64 12
  %t342 = load i32, ptr %t341, align 4
  %t343 = icmp eq i32 %t340, %t342
  br i1 %t343, label %fine106, label %worded107, !prof !1
worded107:
  %t344 = sext i32 %t342 to i64
  store i64 %t344, ptr %values, align 8
  %t345 = sext i32 %t340 to i64
  %t346 = getelementptr i8, ptr %values, i64 8
  store i64 %t345, ptr %t346, align 8
  br label %failed
fine106:
  %t347 = load i64, ptr %t209, align 8
  %t348 = icmp eq i64 %t347, 0
  br i1 %t348, label %fine108, label %or109, !prof !1
or109:
  %t349 = load ptr, ptr %t30, align 8
  %t350 = icmp eq ptr %t349, null
  br i1 %t350, label %failed, label %fine108, !prof !0
fine108:
  %t351 = ptrtoint ptr %t215 to i64
  %t352 = and i64 %t351, 3
  store i64 %t352, ptr %values, align 8
  %t353 = load i64, ptr %t209, align 8
  %t354 = icmp eq i64 %t353, 0
  %t355 = icmp eq i64 %t352, 0
  %t356 = or i1 %t354, %t355
  br i1 %t356, label %fine110, label %failed, !prof !1
fine110:
  %t357 = load i64, ptr %t295, align 8
  %t358 = sext i32 %t306 to i64
  %t359 = icmp eq i64 %t357, %t358
  br i1 %t359, label %fine111, label %worded112, !prof !1
worded112:
  store i64 %t358, ptr %values, align 8
  %t360 = getelementptr i8, ptr %values, i64 8
  store i64 %t357, ptr %t360, align 8
  br label %failed
fine111:
  %t361 = icmp eq ptr %t297, null
  br i1 %t361, label %endif114, label %and115
and115:
  %t362 = load i64, ptr %t295, align 8
  %t363 = icmp ne i64 %t362, 0
  br i1 %t363, label %then113, label %endif114
then113:
  %t364 = load i64, ptr %t295, align 8
  %t365 = icmp slt i64 %t364, 2
  br i1 %t365, label %fine116, label %or118, !prof !1
or118:
  %t366 = load i64, ptr %t297, align 8
  %t367 = icmp eq i64 %t366, 1
  br i1 %t367, label %fine116, label %worded117, !prof !1
worded117:
  store i64 1, ptr %values, align 8
  %t368 = load i64, ptr %t297, align 8
  %t369 = getelementptr i8, ptr %values, i64 8
  store i64 %t368, ptr %t369, align 8
  br label %failed
fine116:
  br label %endif114
endif114:
  %t370 = getelementptr i8, ptr %t44, i64 12
  %t371 = load i32, ptr %t370, align 4
  %t372 = getelementptr i8, ptr %t16, i64 12
  %t373 = load i32, ptr %t372, align 4
  %t374 = icmp eq i32 %t371, %t373
  br i1 %t374, label %fine119, label %worded120, !prof !1
worded120:
  %t375 = sext i32 %t373 to i64
  store i64 %t375, ptr %values, align 8
  %t376 = sext i32 %t371 to i64
  %t377 = getelementptr i8, ptr %values, i64 8
  store i64 %t376, ptr %t377, align 8
  br label %failed
fine119:
  %t378 = load i64, ptr %t295, align 8
  %t379 = icmp eq i64 %t378, 0
  br i1 %t379, label %fine121, label %or122, !prof !1
or122:
  %t380 = load ptr, ptr %t44, align 8
  %t381 = icmp eq ptr %t380, null
  br i1 %t381, label %failed, label %fine121, !prof !0
fine121:
  %t382 = ptrtoint ptr %t301 to i64
  %t383 = and i64 %t382, 3
  store i64 %t383, ptr %values, align 8
  %t384 = load i64, ptr %t295, align 8
  %t385 = icmp eq i64 %t384, 0
  %t386 = icmp eq i64 %t383, 0
  %t387 = or i1 %t385, %t386
  br i1 %t387, label %fine123, label %failed, !prof !1
fine123:
  %t388 = call i32 @cd.f.vecadd_compute_(ptr %t129, ptr %t215, ptr %t301, i32 %t306)
  ret i32 %t388
failed:
  %t389 = phi ptr [ @cd.message.9, %body ], [ @cd.message.10, %fine1 ], [ @cd.message.11, %endif4 ], [ @cd.message.12, %endif7 ], [ @cd.message.13, %endif10 ], [ @cd.message.14, %worded13 ], [ @cd.message.15, %worded19 ], [ @cd.message.16, %worded22 ], [ @cd.message.17, %worded25 ], [ @cd.message.18, %worded28 ], [ @cd.message.19, %and31 ], [ @cd.message.20, %worded33 ], [ @cd.message.21, %worded35 ], [ @cd.message.22, %fine34 ], [ @cd.message.23, %worded38 ], [ @cd.message.24, %worded44 ], [ @cd.message.25, %worded47 ], [ @cd.message.26, %worded50 ], [ @cd.message.27, %worded53 ], [ @cd.message.28, %and56 ], [ @cd.message.29, %worded58 ], [ @cd.message.30, %worded60 ], [ @cd.message.31, %fine59 ], [ @cd.message.32, %worded63 ], [ @cd.message.33, %worded69 ], [ @cd.message.34, %worded72 ], [ @cd.message.35, %worded75 ], [ @cd.message.36, %worded78 ], [ @cd.message.37, %and81 ], [ @cd.message.38, %worded83 ], [ @cd.message.39, %worded85 ], [ @cd.message.40, %fine84 ], [ @cd.message.41, %worded88 ], [ @cd.message.42, %worded93 ], [ @cd.message.43, %or96 ], [ @cd.message.44, %fine95 ], [ @cd.message.45, %worded99 ], [ @cd.message.46, %worded104 ], [ @cd.message.47, %worded107 ], [ @cd.message.48, %or109 ], [ @cd.message.49, %fine108 ], [ @cd.message.50, %worded112 ], [ @cd.message.51, %worded117 ], [ @cd.message.52, %worded120 ], [ @cd.message.53, %or122 ], [ @cd.message.54, %fine121 ]
  %t390 = call i32 @cd.h.fail(ptr %t389, ptr %values)
  ret i32 %t390
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

define internal i32 @cd.h.fail(ptr %text, ptr %values) cold noinline optnone #0 {
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

define internal i32 @cd.h.raise(ptr %kind, ptr %message) cold noinline optnone #0 {
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
declare ptr @malloc(i64)

attributes #0 = { nounwind "target-cpu"="x86-64-v3" }
!0 = !{!"branch_weights", i32 1, i32 2000}
!1 = !{!"branch_weights", i32 2000, i32 1}
