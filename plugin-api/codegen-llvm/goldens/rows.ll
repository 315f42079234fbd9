target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

@__chipdock_env = global ptr null, align 8
@cd.ffi_raise = private unnamed_addr constant [29 x i8] c"TVMFFIErrorSetRaisedFromCStr\00"
@cd.message.0 = private unnamed_addr constant [164 x i8] c"TypeError\00Mismatched type on argument #\01 when calling:\0A  `rows(A: Tensor([n, 12], float16), B: Tensor([n], bool), scale: float32)`,\0A  expected Tensor, but got None\00"
@cd.message.1 = private unnamed_addr constant [163 x i8] c"TypeError\00Mismatched type on argument #\01 when calling:\0A  `rows(A: Tensor([n, 12], float16), B: Tensor([n], bool), scale: float32)`,\0A  expected Tensor, but got int\00"
@cd.message.10 = private unnamed_addr constant [168 x i8] c"TypeError\00Mismatched type on argument #\01 when calling:\0A  `rows(A: Tensor([n, 12], float16), B: Tensor([n], bool), scale: float32)`,\0A  expected float, but got a pointer\00"
@cd.message.11 = private unnamed_addr constant [165 x i8] c"TypeError\00Mismatched type on argument #\01 when calling:\0A  `rows(A: Tensor([n, 12], float16), B: Tensor([n], bool), scale: float32)`,\0A  expected float, but got Tensor\00"
@cd.message.12 = private unnamed_addr constant [162 x i8] c"TypeError\00Mismatched type on argument #\01 when calling:\0A  `rows(A: Tensor([n, 12], float16), B: Tensor([n], bool), scale: float32)`,\0A  expected float, but got str\00"
@cd.message.13 = private unnamed_addr constant [169 x i8] c"TypeError\00Mismatched type on argument #\01 when calling:\0A  `rows(A: Tensor([n, 12], float16), B: Tensor([n], bool), scale: float32)`,\0A  expected float, but got a function\00"
@cd.message.14 = private unnamed_addr constant [167 x i8] c"TypeError\00Mismatched type on argument #\01 when calling:\0A  `rows(A: Tensor([n, 12], float16), B: Tensor([n], bool), scale: float32)`,\0A  expected float, but got an array\00"
@cd.message.15 = private unnamed_addr constant [184 x i8] c"TypeError\00Mismatched type on argument #\01 when calling:\0A  `rows(A: Tensor([n, 12], float16), B: Tensor([n], bool), scale: float32)`,\0A  expected float, but got a value with type index \01\00"
@cd.message.16 = private unnamed_addr constant [134 x i8] c"TypeError\00Expected 3 arguments when calling:\0A  `rows(A: Tensor([n, 12], float16), B: Tensor([n], bool), scale: float32)`,\0A  but got \01\00"
@cd.message.17 = private unnamed_addr constant [152 x i8] c"TypeError\00args pointer is NULL when calling:\0A  `rows(A: Tensor([n, 12], float16), B: Tensor([n], bool), scale: float32)`,\0A  expected a non-NULL pointer\00"
@cd.message.18 = private unnamed_addr constant [174 x i8] c"TypeError\00Mismatched type on argument #0 when calling:\0A  `rows(A: Tensor([n, 12], float16), B: Tensor([n], bool), scale: float32)`,\0A  expected Tensor, but got a NULL pointer\00"
@cd.message.19 = private unnamed_addr constant [174 x i8] c"TypeError\00Mismatched type on argument #1 when calling:\0A  `rows(A: Tensor([n, 12], float16), B: Tensor([n], bool), scale: float32)`,\0A  expected Tensor, but got a NULL pointer\00"
@cd.message.2 = private unnamed_addr constant [164 x i8] c"TypeError\00Mismatched type on argument #\01 when calling:\0A  `rows(A: Tensor([n, 12], float16), B: Tensor([n], bool), scale: float32)`,\0A  expected Tensor, but got bool\00"
@cd.message.20 = private unnamed_addr constant [159 x i8] c"ValueError\00Mismatched A.ndim on argument #0 when calling:\0A  `rows(A: Tensor([n, 12], float16), B: Tensor([n], bool), scale: float32)`,\0A  expected 2, but got \01\00"
@cd.message.21 = private unnamed_addr constant [168 x i8] c"TypeError\00Mismatched A.dtype on argument #0 when calling:\0A  `rows(A: Tensor([n, 12], float16), B: Tensor([n], bool), scale: float32)`,\0A  expected float16, but got int\01\00"
@cd.message.22 = private unnamed_addr constant [169 x i8] c"TypeError\00Mismatched A.dtype on argument #0 when calling:\0A  `rows(A: Tensor([n, 12], float16), B: Tensor([n], bool), scale: float32)`,\0A  expected float16, but got uint\01\00"
@cd.message.23 = private unnamed_addr constant [170 x i8] c"TypeError\00Mismatched A.dtype on argument #0 when calling:\0A  `rows(A: Tensor([n, 12], float16), B: Tensor([n], bool), scale: float32)`,\0A  expected float16, but got float\01\00"
@cd.message.24 = private unnamed_addr constant [171 x i8] c"TypeError\00Mismatched A.dtype on argument #0 when calling:\0A  `rows(A: Tensor([n, 12], float16), B: Tensor([n], bool), scale: float32)`,\0A  expected float16, but got bfloat\01\00"
@cd.message.25 = private unnamed_addr constant [168 x i8] c"TypeError\00Mismatched A.dtype on argument #0 when calling:\0A  `rows(A: Tensor([n, 12], float16), B: Tensor([n], bool), scale: float32)`,\0A  expected float16, but got bool\00"
@cd.message.26 = private unnamed_addr constant [198 x i8] c"TypeError\00Mismatched A.dtype on argument #0 when calling:\0A  `rows(A: Tensor([n, 12], float16), B: Tensor([n], bool), scale: float32)`,\0A  expected float16, but got dtype code \01 of \01 bits and \01 lanes\00"
@cd.message.27 = private unnamed_addr constant [196 x i8] c"ValueError\00Mismatched A.device_type on argument #0 when calling:\0A  `rows(A: Tensor([n, 12], float16), B: Tensor([n], bool), scale: float32)`,\0A  expected cpu (device type 1), but got device type \01\00"
@cd.message.28 = private unnamed_addr constant [181 x i8] c"ValueError\00Mismatched A.shape on argument #0 when calling:\0A  `rows(A: Tensor([n, 12], float16), B: Tensor([n], bool), scale: float32)`,\0A  expected 2 extents, but got a NULL pointer\00"
@cd.message.29 = private unnamed_addr constant [159 x i8] c"ValueError\00Mismatched B.ndim on argument #1 when calling:\0A  `rows(A: Tensor([n, 12], float16), B: Tensor([n], bool), scale: float32)`,\0A  expected 1, but got \01\00"
@cd.message.3 = private unnamed_addr constant [165 x i8] c"TypeError\00Mismatched type on argument #\01 when calling:\0A  `rows(A: Tensor([n, 12], float16), B: Tensor([n], bool), scale: float32)`,\0A  expected Tensor, but got float\00"
@cd.message.30 = private unnamed_addr constant [165 x i8] c"TypeError\00Mismatched B.dtype on argument #1 when calling:\0A  `rows(A: Tensor([n, 12], float16), B: Tensor([n], bool), scale: float32)`,\0A  expected bool, but got int\01\00"
@cd.message.31 = private unnamed_addr constant [166 x i8] c"TypeError\00Mismatched B.dtype on argument #1 when calling:\0A  `rows(A: Tensor([n, 12], float16), B: Tensor([n], bool), scale: float32)`,\0A  expected bool, but got uint\01\00"
@cd.message.32 = private unnamed_addr constant [167 x i8] c"TypeError\00Mismatched B.dtype on argument #1 when calling:\0A  `rows(A: Tensor([n, 12], float16), B: Tensor([n], bool), scale: float32)`,\0A  expected bool, but got float\01\00"
@cd.message.33 = private unnamed_addr constant [168 x i8] c"TypeError\00Mismatched B.dtype on argument #1 when calling:\0A  `rows(A: Tensor([n, 12], float16), B: Tensor([n], bool), scale: float32)`,\0A  expected bool, but got bfloat\01\00"
@cd.message.34 = private unnamed_addr constant [165 x i8] c"TypeError\00Mismatched B.dtype on argument #1 when calling:\0A  `rows(A: Tensor([n, 12], float16), B: Tensor([n], bool), scale: float32)`,\0A  expected bool, but got bool\00"
@cd.message.35 = private unnamed_addr constant [195 x i8] c"TypeError\00Mismatched B.dtype on argument #1 when calling:\0A  `rows(A: Tensor([n, 12], float16), B: Tensor([n], bool), scale: float32)`,\0A  expected bool, but got dtype code \01 of \01 bits and \01 lanes\00"
@cd.message.36 = private unnamed_addr constant [196 x i8] c"ValueError\00Mismatched B.device_type on argument #1 when calling:\0A  `rows(A: Tensor([n, 12], float16), B: Tensor([n], bool), scale: float32)`,\0A  expected cpu (device type 1), but got device type \01\00"
@cd.message.37 = private unnamed_addr constant [181 x i8] c"ValueError\00Mismatched B.shape on argument #1 when calling:\0A  `rows(A: Tensor([n, 12], float16), B: Tensor([n], bool), scale: float32)`,\0A  expected 1 extents, but got a NULL pointer\00"
@cd.message.38 = private unnamed_addr constant [161 x i8] c"ValueError\00Invalid A.shape[1] on argument #0 when calling:\0A  `rows(A: Tensor([n, 12], float16), B: Tensor([n], bool), scale: float32)`,\0A  expected 12, but got \01\00"
@cd.message.39 = private unnamed_addr constant [193 x i8] c"ValueError\00Invalid A.shape[0] on argument #0 when calling:\0A  `rows(A: Tensor([n, 12], float16), B: Tensor([n], bool), scale: float32)`,\0A  expected n between 0 and 2147483647 (int32), but got \01\00"
@cd.message.4 = private unnamed_addr constant [169 x i8] c"TypeError\00Mismatched type on argument #\01 when calling:\0A  `rows(A: Tensor([n, 12], float16), B: Tensor([n], bool), scale: float32)`,\0A  expected Tensor, but got a pointer\00"
@cd.message.40 = private unnamed_addr constant [206 x i8] c"ValueError\00Mismatched A.strides on argument #0 when calling:\0A  `rows(A: Tensor([n, 12], float16), B: Tensor([n], bool), scale: float32)`,\0A  expected to be compact array, that is A.strides[0] = \01, but got \01\00"
@cd.message.41 = private unnamed_addr constant [206 x i8] c"ValueError\00Mismatched A.strides on argument #0 when calling:\0A  `rows(A: Tensor([n, 12], float16), B: Tensor([n], bool), scale: float32)`,\0A  expected to be compact array, that is A.strides[1] = \01, but got \01\00"
@cd.message.42 = private unnamed_addr constant [173 x i8] c"ValueError\00A data pointer is NULL on argument #0 when calling:\0A  `rows(A: Tensor([n, 12], float16), B: Tensor([n], bool), scale: float32)`,\0A  expected non-NULL data pointer\00"
@cd.message.43 = private unnamed_addr constant [229 x i8] c"ValueError\00Misaligned A.data on argument #0 when calling:\0A  `rows(A: Tensor([n, 12], float16), B: Tensor([n], bool), scale: float32)`,\0A  expected data plus byte_offset to be a multiple of 2 bytes, but got one that is beyond by \02\00"
@cd.message.44 = private unnamed_addr constant [185 x i8] c"ValueError\00Mismatched B.shape[0] on argument #1 when calling:\0A  `rows(A: Tensor([n, 12], float16), B: Tensor([n], bool), scale: float32)`,\0A  expected to match A.shape[0] (\01), but got \01\00"
@cd.message.45 = private unnamed_addr constant [206 x i8] c"ValueError\00Mismatched B.strides on argument #1 when calling:\0A  `rows(A: Tensor([n, 12], float16), B: Tensor([n], bool), scale: float32)`,\0A  expected to be compact array, that is B.strides[0] = \01, but got \01\00"
@cd.message.46 = private unnamed_addr constant [187 x i8] c"ValueError\00Mismatched B.device_id on argument #1 when calling:\0A  `rows(A: Tensor([n, 12], float16), B: Tensor([n], bool), scale: float32)`,\0A  expected to match A.device_id (\01), but got \01\00"
@cd.message.47 = private unnamed_addr constant [173 x i8] c"ValueError\00B data pointer is NULL on argument #1 when calling:\0A  `rows(A: Tensor([n, 12], float16), B: Tensor([n], bool), scale: float32)`,\0A  expected non-NULL data pointer\00"
@cd.message.5 = private unnamed_addr constant [163 x i8] c"TypeError\00Mismatched type on argument #\01 when calling:\0A  `rows(A: Tensor([n, 12], float16), B: Tensor([n], bool), scale: float32)`,\0A  expected Tensor, but got str\00"
@cd.message.6 = private unnamed_addr constant [170 x i8] c"TypeError\00Mismatched type on argument #\01 when calling:\0A  `rows(A: Tensor([n, 12], float16), B: Tensor([n], bool), scale: float32)`,\0A  expected Tensor, but got a function\00"
@cd.message.7 = private unnamed_addr constant [168 x i8] c"TypeError\00Mismatched type on argument #\01 when calling:\0A  `rows(A: Tensor([n, 12], float16), B: Tensor([n], bool), scale: float32)`,\0A  expected Tensor, but got an array\00"
@cd.message.8 = private unnamed_addr constant [185 x i8] c"TypeError\00Mismatched type on argument #\01 when calling:\0A  `rows(A: Tensor([n, 12], float16), B: Tensor([n], bool), scale: float32)`,\0A  expected Tensor, but got a value with type index \01\00"
@cd.message.9 = private unnamed_addr constant [163 x i8] c"TypeError\00Mismatched type on argument #\01 when calling:\0A  `rows(A: Tensor([n, 12], float16), B: Tensor([n], bool), scale: float32)`,\0A  expected float, but got None\00"
@cd.no_memory = private unnamed_addr constant [32 x i8] c"no memory left to word an error\00"

define i32 @__tvm_ffi_rows(ptr noundef %p0, ptr noundef %p1, i32 noundef %p2, ptr noundef %p3) mustprogress #0 {
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
  %t18 = xor i64 %t17, 299075752689666
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
  %t42 = getelementptr i8, ptr %t25, i64 8
  %t43 = load i64, ptr %t42, align 8
  %t44 = xor i64 %t43, 12
  %t45 = or i64 %t41, %t44
  %t46 = icmp eq i64 %t45, 0
  br i1 %t46, label %endif9, label %tail1, !prof !0
endif9:
  %t47 = icmp eq ptr %t27, null
  br i1 %t47, label %endif11, label %then10, !prof !0
then10:
  %t48 = load i64, ptr %t27, align 8
  %t49 = xor i64 %t48, 12
  %t50 = getelementptr i8, ptr %t27, i64 8
  %t51 = load i64, ptr %t50, align 8
  %t52 = xor i64 %t51, 1
  %t53 = or i64 %t49, %t52
  %t54 = icmp eq i64 %t53, 0
  br i1 %t54, label %endif12, label %tail1, !prof !0
endif12:
  br label %endif11
endif11:
  %t55 = getelementptr i8, ptr %p1, i64 16
  %t56 = load i32, ptr %t55, align 4
  %t57 = icmp eq i32 %t56, 70
  br i1 %t57, label %endif14, label %then13, !prof !0
then13:
  %t58 = icmp eq i32 %t56, 7
  br i1 %t58, label %endif15, label %tail1, !prof !0
endif15:
  br label %endif14
endif14:
  %t59 = getelementptr i8, ptr %p1, i64 24
  %t60 = load ptr, ptr %t59, align 8
  %t61 = icmp eq ptr %t60, null
  br i1 %t61, label %tail1, label %endif16, !prof !1
endif16:
  %t62 = getelementptr i8, ptr %p1, i64 24
  %t63 = load ptr, ptr %t62, align 8
  %t64 = icmp eq i32 %t56, 70
  %t65 = select i1 %t64, i64 24, i64 0
  %t66 = getelementptr i8, ptr %t63, i64 %t65
  %t67 = getelementptr i8, ptr %t66, i64 16
  %t68 = load i64, ptr %t67, align 1
  %t69 = xor i64 %t68, 290296839536641
  %t70 = getelementptr i8, ptr %t66, i64 8
  %t71 = load i64, ptr %t70, align 1
  %t72 = xor i64 %t71, 1
  %t73 = or i64 %t69, %t72
  %t74 = icmp eq i64 %t73, 0
  br i1 %t74, label %endif17, label %tail1, !prof !0
endif17:
  %t75 = getelementptr i8, ptr %t66, i64 24
  %t76 = load ptr, ptr %t75, align 8
  %t77 = getelementptr i8, ptr %t66, i64 32
  %t78 = load ptr, ptr %t77, align 8
  %t79 = load ptr, ptr %t66, align 8
  %t80 = icmp eq ptr %t79, null
  %t81 = xor i1 %t80, true
  %t82 = icmp eq ptr %t76, null
  %t83 = xor i1 %t82, true
  %t84 = and i1 %t81, %t83
  br i1 %t84, label %endif18, label %tail1, !prof !0
endif18:
  %t85 = load ptr, ptr %t66, align 8
  %t86 = getelementptr i8, ptr %t66, i64 40
  %t87 = load i64, ptr %t86, align 8
  %t88 = getelementptr i8, ptr %t85, i64 %t87
  %t89 = load i64, ptr %t76, align 8
  %t90 = sext i32 %t39 to i64
  %t91 = xor i64 %t89, %t90
  %t92 = icmp eq i64 %t91, 0
  br i1 %t92, label %endif19, label %tail1, !prof !0
endif19:
  %t93 = icmp eq ptr %t78, null
  br i1 %t93, label %endif21, label %then20, !prof !0
then20:
  %t94 = load i64, ptr %t78, align 8
  %t95 = xor i64 %t94, 1
  %t96 = icmp eq i64 %t95, 0
  br i1 %t96, label %endif22, label %tail1, !prof !0
endif22:
  br label %endif21
endif21:
  %t97 = getelementptr i8, ptr %p1, i64 32
  %t98 = load i32, ptr %t97, align 4
  %t99 = icmp eq i32 %t98, 3
  br i1 %t99, label %endif23, label %tail1, !prof !0
endif23:
  %t100 = getelementptr i8, ptr %p1, i64 40
  %t101 = load double, ptr %t100, align 8
  %t102 = fptrunc double %t101 to float
  %t103 = ptrtoint ptr %t37 to i64
  %t104 = and i64 %t103, 1
  %t105 = icmp eq i64 %t104, 0
  br i1 %t105, label %endif24, label %tail1, !prof !0
endif24:
  %t106 = call i32 @cd.f.rows_compute_(ptr %t37, ptr %t88, float %t102, i32 %t39)
  ret i32 %t106
tail1:
  %t107 = call i32 @cd.f.rows_checked_(ptr %p1, i32 %p2)
  ret i32 %t107
}

define internal i32 @cd.f.rows_expected_Tensor_(i32 noundef %p0, i32 noundef %p1) cold noinline optnone #0 {
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

define internal i32 @cd.f.rows_expected_float_(i32 noundef %p0, i32 noundef %p1) cold noinline optnone #0 {
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
  %t4 = icmp ne i32 %p1, 4
  br i1 %t4, label %fine2, label %failed, !prof !1
fine2:
  %t5 = sext i32 %p0 to i64
  store i64 %t5, ptr %values, align 8
  %t6 = icmp ne i32 %p1, 7
  br i1 %t6, label %fine3, label %failed, !prof !1
fine3:
  %t7 = sext i32 %p0 to i64
  store i64 %t7, ptr %values, align 8
  %t8 = icmp ne i32 %p1, 8
  br i1 %t8, label %fine4, label %failed, !prof !1
fine4:
  %t9 = sext i32 %p0 to i64
  store i64 %t9, ptr %values, align 8
  %t10 = icmp ne i32 %p1, 11
  br i1 %t10, label %fine5, label %failed, !prof !1
fine5:
  %t11 = sext i32 %p0 to i64
  store i64 %t11, ptr %values, align 8
  %t12 = icmp ne i32 %p1, 65
  br i1 %t12, label %fine6, label %failed, !prof !1
fine6:
  %t13 = sext i32 %p0 to i64
  store i64 %t13, ptr %values, align 8
  %t14 = icmp ne i32 %p1, 68
  br i1 %t14, label %fine7, label %failed, !prof !1
fine7:
  %t15 = sext i32 %p0 to i64
  store i64 %t15, ptr %values, align 8
  %t16 = icmp ne i32 %p1, 70
  br i1 %t16, label %fine8, label %failed, !prof !1
fine8:
  %t17 = sext i32 %p0 to i64
  store i64 %t17, ptr %values, align 8
  %t18 = icmp ne i32 %p1, 71
  br i1 %t18, label %fine9, label %failed, !prof !1
fine9:
  %t19 = sext i32 %p0 to i64
  store i64 %t19, ptr %values, align 8
  %t20 = sext i32 %p1 to i64
  %t21 = getelementptr i8, ptr %values, i64 8
  store i64 %t20, ptr %t21, align 8
  br i1 false, label %fine10, label %failed, !prof !1
fine10:
  ret i32 -1
failed:
  %t22 = phi ptr [ @cd.message.9, %body ], [ @cd.message.10, %fine1 ], [ @cd.message.11, %fine2 ], [ @cd.message.12, %fine3 ], [ @cd.message.12, %fine4 ], [ @cd.message.12, %fine5 ], [ @cd.message.13, %fine6 ], [ @cd.message.11, %fine7 ], [ @cd.message.14, %fine8 ], [ @cd.message.15, %fine9 ]
  %t23 = call i32 @cd.h.fail(ptr %t22, ptr %values)
  ret i32 %t23
}

define internal i32 @cd.f.rows_checked_(ptr noundef %p0, i32 noundef %p1) cold noinline optnone #0 {
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
  %t8 = call i32 @cd.f.rows_expected_Tensor_(i32 0, i32 %t4)
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
  %t22 = call i32 @cd.f.rows_expected_Tensor_(i32 1, i32 %t18)
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
  %t33 = icmp eq i32 %t32, 3
  %t34 = icmp eq i32 %t32, 1
  %t35 = or i1 %t33, %t34
  %t36 = icmp eq i32 %t32, 2
  %t37 = or i1 %t35, %t36
  br i1 %t37, label %endif10, label %then9
then9:
  %t38 = call i32 @cd.f.rows_expected_float_(i32 2, i32 %t32)
  ret i32 %t38
endif10:
  %t39 = icmp eq i32 %t32, 3
  br i1 %t39, label %then11, label %else12
then11:
  %t40 = getelementptr i8, ptr %p0, i64 40
  %t41 = load double, ptr %t40, align 8
  br label %end13
else12:
  %t42 = getelementptr i8, ptr %p0, i64 40
  %t43 = load i64, ptr %t42, align 8
  %t44 = sitofp i64 %t43 to double
  br label %end13
end13:
  %t45 = phi double [ %t41, %then11 ], [ %t44, %else12 ]
  %t46 = fptrunc double %t45 to float
  %t47 = getelementptr i8, ptr %t16, i64 16
  %t48 = load i32, ptr %t47, align 4
  %t49 = icmp eq i32 %t48, 2
  br i1 %t49, label %fine14, label %worded15, !prof !1
worded15:
  %t50 = sext i32 %t48 to i64
  store i64 %t50, ptr %values, align 8
  br label %failed
fine14:
  %t51 = getelementptr i8, ptr %t16, i64 20
  %t52 = load i8, ptr %t51, align 1
  %t53 = icmp eq i8 %t52, 2
  br i1 %t53, label %and19, label %then16
and19:
  %t54 = getelementptr i8, ptr %t16, i64 21
  %t55 = load i8, ptr %t54, align 1
  %t56 = icmp eq i8 %t55, 16
  br i1 %t56, label %and18, label %then16
and18:
  %t57 = getelementptr i8, ptr %t16, i64 22
  %t58 = load i16, ptr %t57, align 2
  %t59 = icmp eq i16 %t58, 1
  br i1 %t59, label %endif17, label %then16
then16:
  %t60 = getelementptr i8, ptr %t16, i64 20
  %t61 = load i8, ptr %t60, align 1
  %t62 = icmp eq i8 %t61, 0
  br i1 %t62, label %and22, label %fine20, !prof !0
and22:
  %t63 = getelementptr i8, ptr %t16, i64 22
  %t64 = load i16, ptr %t63, align 2
  %t65 = icmp eq i16 %t64, 1
  br i1 %t65, label %worded21, label %fine20, !prof !0
worded21:
  %t66 = getelementptr i8, ptr %t16, i64 21
  %t67 = load i8, ptr %t66, align 1
  %t68 = zext i8 %t67 to i32
  %t69 = sext i32 %t68 to i64
  store i64 %t69, ptr %values, align 8
  br label %failed
fine20:
  %t70 = getelementptr i8, ptr %t16, i64 20
  %t71 = load i8, ptr %t70, align 1
  %t72 = icmp eq i8 %t71, 1
  br i1 %t72, label %and25, label %fine23, !prof !0
and25:
  %t73 = getelementptr i8, ptr %t16, i64 22
  %t74 = load i16, ptr %t73, align 2
  %t75 = icmp eq i16 %t74, 1
  br i1 %t75, label %worded24, label %fine23, !prof !0
worded24:
  %t76 = getelementptr i8, ptr %t16, i64 21
  %t77 = load i8, ptr %t76, align 1
  %t78 = zext i8 %t77 to i32
  %t79 = sext i32 %t78 to i64
  store i64 %t79, ptr %values, align 8
  br label %failed
fine23:
  %t80 = getelementptr i8, ptr %t16, i64 20
  %t81 = load i8, ptr %t80, align 1
  %t82 = icmp eq i8 %t81, 2
  br i1 %t82, label %and28, label %fine26, !prof !0
and28:
  %t83 = getelementptr i8, ptr %t16, i64 22
  %t84 = load i16, ptr %t83, align 2
  %t85 = icmp eq i16 %t84, 1
  br i1 %t85, label %worded27, label %fine26, !prof !0
worded27:
  %t86 = getelementptr i8, ptr %t16, i64 21
  %t87 = load i8, ptr %t86, align 1
  %t88 = zext i8 %t87 to i32
  %t89 = sext i32 %t88 to i64
  store i64 %t89, ptr %values, align 8
  br label %failed
fine26:
  %t90 = getelementptr i8, ptr %t16, i64 20
  %t91 = load i8, ptr %t90, align 1
  %t92 = icmp eq i8 %t91, 4
  br i1 %t92, label %and31, label %fine29, !prof !0
and31:
  %t93 = getelementptr i8, ptr %t16, i64 22
  %t94 = load i16, ptr %t93, align 2
  %t95 = icmp eq i16 %t94, 1
  br i1 %t95, label %worded30, label %fine29, !prof !0
worded30:
  %t96 = getelementptr i8, ptr %t16, i64 21
  %t97 = load i8, ptr %t96, align 1
  %t98 = zext i8 %t97 to i32
  %t99 = sext i32 %t98 to i64
  store i64 %t99, ptr %values, align 8
  br label %failed
fine29:
  %t100 = getelementptr i8, ptr %t16, i64 20
  %t101 = load i8, ptr %t100, align 1
  %t102 = icmp eq i8 %t101, 6
  br i1 %t102, label %and33, label %fine32, !prof !0
and33:
  %t103 = getelementptr i8, ptr %t16, i64 22
  %t104 = load i16, ptr %t103, align 2
  %t105 = icmp eq i16 %t104, 1
  br i1 %t105, label %failed, label %fine32, !prof !0
fine32:
  br i1 false, label %fine34, label %worded35, !prof !1
worded35:
  %t106 = getelementptr i8, ptr %t16, i64 20
  %t107 = load i8, ptr %t106, align 1
  %t108 = zext i8 %t107 to i32
  %t109 = sext i32 %t108 to i64
  store i64 %t109, ptr %values, align 8
  %t110 = getelementptr i8, ptr %t16, i64 21
  %t111 = load i8, ptr %t110, align 1
  %t112 = zext i8 %t111 to i32
  %t113 = sext i32 %t112 to i64
  %t114 = getelementptr i8, ptr %values, i64 8
  store i64 %t113, ptr %t114, align 8
  %t115 = getelementptr i8, ptr %t16, i64 22
  %t116 = load i16, ptr %t115, align 2
  %t117 = zext i16 %t116 to i32
  %t118 = sext i32 %t117 to i64
  %t119 = getelementptr i8, ptr %values, i64 16
  store i64 %t118, ptr %t119, align 8
  br label %failed
fine34:
  br label %endif17
endif17:
  %t120 = getelementptr i8, ptr %t16, i64 8
  %t121 = load i32, ptr %t120, align 4
  %t122 = icmp eq i32 %t121, 1
  br i1 %t122, label %fine36, label %worded37, !prof !1
worded37:
  %t123 = sext i32 %t121 to i64
  store i64 %t123, ptr %values, align 8
  br label %failed
fine36:
  %t124 = getelementptr i8, ptr %t16, i64 24
  %t125 = load ptr, ptr %t124, align 8
  %t126 = getelementptr i8, ptr %t16, i64 32
  %t127 = load ptr, ptr %t126, align 8
  %t128 = load ptr, ptr %t16, align 8
  %t129 = getelementptr i8, ptr %t16, i64 40
  %t130 = load i64, ptr %t129, align 8
  %t131 = getelementptr i8, ptr %t128, i64 %t130
  %t132 = icmp eq ptr %t125, null
  br i1 %t132, label %failed, label %fine38, !prof !0
fine38:
  %t133 = getelementptr i8, ptr %t30, i64 16
  %t134 = load i32, ptr %t133, align 4
  %t135 = icmp eq i32 %t134, 1
  br i1 %t135, label %fine39, label %worded40, !prof !1
worded40:
  %t136 = sext i32 %t134 to i64
  store i64 %t136, ptr %values, align 8
  br label %failed
fine39:
  %t137 = getelementptr i8, ptr %t30, i64 20
  %t138 = load i8, ptr %t137, align 1
  %t139 = icmp eq i8 %t138, 6
  br i1 %t139, label %and44, label %then41
and44:
  %t140 = getelementptr i8, ptr %t30, i64 21
  %t141 = load i8, ptr %t140, align 1
  %t142 = icmp eq i8 %t141, 8
  br i1 %t142, label %and43, label %then41
and43:
  %t143 = getelementptr i8, ptr %t30, i64 22
  %t144 = load i16, ptr %t143, align 2
  %t145 = icmp eq i16 %t144, 1
  br i1 %t145, label %endif42, label %then41
then41:
  %t146 = getelementptr i8, ptr %t30, i64 20
  %t147 = load i8, ptr %t146, align 1
  %t148 = icmp eq i8 %t147, 0
  br i1 %t148, label %and47, label %fine45, !prof !0
and47:
  %t149 = getelementptr i8, ptr %t30, i64 22
  %t150 = load i16, ptr %t149, align 2
  %t151 = icmp eq i16 %t150, 1
  br i1 %t151, label %worded46, label %fine45, !prof !0
worded46:
  %t152 = getelementptr i8, ptr %t30, i64 21
  %t153 = load i8, ptr %t152, align 1
  %t154 = zext i8 %t153 to i32
  %t155 = sext i32 %t154 to i64
  store i64 %t155, ptr %values, align 8
  br label %failed
fine45:
  %t156 = getelementptr i8, ptr %t30, i64 20
  %t157 = load i8, ptr %t156, align 1
  %t158 = icmp eq i8 %t157, 1
  br i1 %t158, label %and50, label %fine48, !prof !0
and50:
  %t159 = getelementptr i8, ptr %t30, i64 22
  %t160 = load i16, ptr %t159, align 2
  %t161 = icmp eq i16 %t160, 1
  br i1 %t161, label %worded49, label %fine48, !prof !0
worded49:
  %t162 = getelementptr i8, ptr %t30, i64 21
  %t163 = load i8, ptr %t162, align 1
  %t164 = zext i8 %t163 to i32
  %t165 = sext i32 %t164 to i64
  store i64 %t165, ptr %values, align 8
  br label %failed
fine48:
  %t166 = getelementptr i8, ptr %t30, i64 20
  %t167 = load i8, ptr %t166, align 1
  %t168 = icmp eq i8 %t167, 2
  br i1 %t168, label %and53, label %fine51, !prof !0
and53:
  %t169 = getelementptr i8, ptr %t30, i64 22
  %t170 = load i16, ptr %t169, align 2
  %t171 = icmp eq i16 %t170, 1
  br i1 %t171, label %worded52, label %fine51, !prof !0
worded52:
  %t172 = getelementptr i8, ptr %t30, i64 21
  %t173 = load i8, ptr %t172, align 1
  %t174 = zext i8 %t173 to i32
  %t175 = sext i32 %t174 to i64
  store i64 %t175, ptr %values, align 8
  br label %failed
fine51:
  %t176 = getelementptr i8, ptr %t30, i64 20
  %t177 = load i8, ptr %t176, align 1
  %t178 = icmp eq i8 %t177, 4
  br i1 %t178, label %and56, label %fine54, !prof !0
and56:
  %t179 = getelementptr i8, ptr %t30, i64 22
  %t180 = load i16, ptr %t179, align 2
  %t181 = icmp eq i16 %t180, 1
  br i1 %t181, label %worded55, label %fine54, !prof !0
worded55:
  %t182 = getelementptr i8, ptr %t30, i64 21
  %t183 = load i8, ptr %t182, align 1
  %t184 = zext i8 %t183 to i32
  %t185 = sext i32 %t184 to i64
  store i64 %t185, ptr %values, align 8
  br label %failed
fine54:
  %t186 = getelementptr i8, ptr %t30, i64 20
  %t187 = load i8, ptr %t186, align 1
  %t188 = icmp eq i8 %t187, 6
  br i1 %t188, label %and58, label %fine57, !prof !0
and58:
  %t189 = getelementptr i8, ptr %t30, i64 22
  %t190 = load i16, ptr %t189, align 2
  %t191 = icmp eq i16 %t190, 1
  br i1 %t191, label %failed, label %fine57, !prof !0
fine57:
  br i1 false, label %fine59, label %worded60, !prof !1
worded60:
  %t192 = getelementptr i8, ptr %t30, i64 20
  %t193 = load i8, ptr %t192, align 1
  %t194 = zext i8 %t193 to i32
  %t195 = sext i32 %t194 to i64
  store i64 %t195, ptr %values, align 8
  %t196 = getelementptr i8, ptr %t30, i64 21
  %t197 = load i8, ptr %t196, align 1
  %t198 = zext i8 %t197 to i32
  %t199 = sext i32 %t198 to i64
  %t200 = getelementptr i8, ptr %values, i64 8
  store i64 %t199, ptr %t200, align 8
  %t201 = getelementptr i8, ptr %t30, i64 22
  %t202 = load i16, ptr %t201, align 2
  %t203 = zext i16 %t202 to i32
  %t204 = sext i32 %t203 to i64
  %t205 = getelementptr i8, ptr %values, i64 16
  store i64 %t204, ptr %t205, align 8
  br label %failed
fine59:
  br label %endif42
endif42:
  %t206 = getelementptr i8, ptr %t30, i64 8
  %t207 = load i32, ptr %t206, align 4
  %t208 = icmp eq i32 %t207, 1
  br i1 %t208, label %fine61, label %worded62, !prof !1
worded62:
  %t209 = sext i32 %t207 to i64
  store i64 %t209, ptr %values, align 8
  br label %failed
fine61:
  %t210 = getelementptr i8, ptr %t30, i64 24
  %t211 = load ptr, ptr %t210, align 8
  %t212 = getelementptr i8, ptr %t30, i64 32
  %t213 = load ptr, ptr %t212, align 8
  %t214 = load ptr, ptr %t30, align 8
  %t215 = getelementptr i8, ptr %t30, i64 40
  %t216 = load i64, ptr %t215, align 8
  %t217 = getelementptr i8, ptr %t214, i64 %t216
  %t218 = icmp eq ptr %t211, null
  br i1 %t218, label %failed, label %fine63, !prof !0
fine63:
  %t219 = getelementptr i8, ptr %t125, i64 8
  %t220 = load i64, ptr %t219, align 8
  %t221 = icmp eq i64 %t220, 12
  br i1 %t221, label %fine64, label %worded65, !prof !1
worded65:
  store i64 %t220, ptr %values, align 8
  br label %failed
fine64:
  %t222 = load i64, ptr %t125, align 8
  %t223 = icmp ule i64 %t222, 2147483647
  br i1 %t223, label %fine66, label %worded67, !prof !1
worded67:
  store i64 %t222, ptr %values, align 8
  br label %failed
fine66:
  %t224 = load i64, ptr %t125, align 8
  %t225 = trunc i64 %t224 to i32
  %t226 = icmp eq ptr %t127, null
  br i1 %t226, label %endif69, label %and70
and70:
  %t227 = load i64, ptr %t125, align 8
  %t228 = icmp ne i64 %t227, 0
  br i1 %t228, label %then68, label %endif69
then68:
  %t229 = load i64, ptr %t125, align 8
  %t230 = icmp slt i64 %t229, 2
  br i1 %t230, label %fine71, label %or73, !prof !1
or73:
  %t231 = load i64, ptr %t127, align 8
  %t232 = icmp eq i64 %t231, 12
  br i1 %t232, label %fine71, label %worded72, !prof !1
worded72:
  store i64 12, ptr %values, align 8
  %t233 = load i64, ptr %t127, align 8
  %t234 = getelementptr i8, ptr %values, i64 8
  store i64 %t233, ptr %t234, align 8
  br label %failed
fine71:
  %t235 = getelementptr i8, ptr %t125, i64 8
  %t236 = load i64, ptr %t235, align 8
  %t237 = icmp slt i64 %t236, 2
  br i1 %t237, label %fine74, label %or76, !prof !1
or76:
  %t238 = getelementptr i8, ptr %t127, i64 8
  %t239 = load i64, ptr %t238, align 8
  %t240 = icmp eq i64 %t239, 1
  br i1 %t240, label %fine74, label %worded75, !prof !1
worded75:
  store i64 1, ptr %values, align 8
  %t241 = getelementptr i8, ptr %t127, i64 8
  %t242 = load i64, ptr %t241, align 8
  %t243 = getelementptr i8, ptr %values, i64 8
  store i64 %t242, ptr %t243, align 8
  br label %failed
fine74:
  br label %endif69
endif69:
  %t244 = load i64, ptr %t125, align 8
  %t245 = icmp eq i64 %t244, 0
  br i1 %t245, label %fine77, label %or78, !prof !1
or78:
  %t246 = load ptr, ptr %t16, align 8
  %t247 = icmp eq ptr %t246, null
  br i1 %t247, label %failed, label %fine77, !prof !0
fine77:
  %t248 = ptrtoint ptr %t131 to i64
  %t249 = and i64 %t248, 1
  store i64 %t249, ptr %values, align 8
  %t250 = load i64, ptr %t125, align 8
  %t251 = icmp eq i64 %t250, 0
  %t252 = icmp eq i64 %t249, 0
  %t253 = or i1 %t251, %t252
  br i1 %t253, label %fine79, label %failed, !prof !1
fine79:
  %t254 = load i64, ptr %t211, align 8
  %t255 = sext i32 %t225 to i64
  %t256 = icmp eq i64 %t254, %t255
  br i1 %t256, label %fine80, label %worded81, !prof !1
worded81:
  store i64 %t255, ptr %values, align 8
  %t257 = getelementptr i8, ptr %values, i64 8
  store i64 %t254, ptr %t257, align 8
  br label %failed
fine80:
  %t258 = icmp eq ptr %t213, null
  br i1 %t258, label %endif83, label %and84
and84:
  %t259 = load i64, ptr %t211, align 8
  %t260 = icmp ne i64 %t259, 0
  br i1 %t260, label %then82, label %endif83
then82:
  %t261 = load i64, ptr %t211, align 8
  %t262 = icmp slt i64 %t261, 2
  br i1 %t262, label %fine85, label %or87, !prof !1
or87:
  %t263 = load i64, ptr %t213, align 8
  %t264 = icmp eq i64 %t263, 1
  br i1 %t264, label %fine85, label %worded86, !prof !1
worded86:
  store i64 1, ptr %values, align 8
  %t265 = load i64, ptr %t213, align 8
  %t266 = getelementptr i8, ptr %values, i64 8
  store i64 %t265, ptr %t266, align 8
  br label %failed
fine85:
  br label %endif83
endif83:
  %t267 = getelementptr i8, ptr %t30, i64 12
  %t268 = load i32, ptr %t267, align 4
  %t269 = getelementptr i8, ptr %t16, i64 12
  %t270 = load i32, ptr %t269, align 4
  %t271 = icmp eq i32 %t268, %t270
  br i1 %t271, label %fine88, label %worded89, !prof !1
worded89:
  %t272 = sext i32 %t270 to i64
  store i64 %t272, ptr %values, align 8
  %t273 = sext i32 %t268 to i64
  %t274 = getelementptr i8, ptr %values, i64 8
  store i64 %t273, ptr %t274, align 8
  br label %failed
fine88:
  %t275 = load i64, ptr %t211, align 8
  %t276 = icmp eq i64 %t275, 0
  br i1 %t276, label %fine90, label %or91, !prof !1
or91:
  %t277 = load ptr, ptr %t30, align 8
  %t278 = icmp eq ptr %t277, null
  br i1 %t278, label %failed, label %fine90, !prof !0
fine90:
  %t279 = call i32 @cd.f.rows_compute_(ptr %t131, ptr %t217, float %t46, i32 %t225)
  ret i32 %t279
failed:
  %t280 = phi ptr [ @cd.message.16, %body ], [ @cd.message.17, %fine1 ], [ @cd.message.18, %endif4 ], [ @cd.message.19, %endif7 ], [ @cd.message.20, %worded15 ], [ @cd.message.21, %worded21 ], [ @cd.message.22, %worded24 ], [ @cd.message.23, %worded27 ], [ @cd.message.24, %worded30 ], [ @cd.message.25, %and33 ], [ @cd.message.26, %worded35 ], [ @cd.message.27, %worded37 ], [ @cd.message.28, %fine36 ], [ @cd.message.29, %worded40 ], [ @cd.message.30, %worded46 ], [ @cd.message.31, %worded49 ], [ @cd.message.32, %worded52 ], [ @cd.message.33, %worded55 ], [ @cd.message.34, %and58 ], [ @cd.message.35, %worded60 ], [ @cd.message.36, %worded62 ], [ @cd.message.37, %fine61 ], [ @cd.message.38, %worded65 ], [ @cd.message.39, %worded67 ], [ @cd.message.40, %worded72 ], [ @cd.message.41, %worded75 ], [ @cd.message.42, %or78 ], [ @cd.message.43, %fine77 ], [ @cd.message.44, %worded81 ], [ @cd.message.45, %worded86 ], [ @cd.message.46, %worded89 ], [ @cd.message.47, %or91 ]
  %t281 = call i32 @cd.h.fail(ptr %t280, ptr %values)
  ret i32 %t281
}

define internal i32 @cd.f.rows_compute_(ptr noundef nocapture readonly align 2 %p0, ptr noundef nocapture align 1 %p1, float noundef %p2, i32 noundef %p3) mustprogress noinline #0 {
entry:
  br label %body
body:
  %t1 = icmp sgt i32 %p3, 0
  br i1 %t1, label %loop1, label %done3
loop1:
  %t2 = phi i32 [ 0, %body ], [ %t3, %next2 ]
  %t4 = sext i32 %t2 to i64
  %t5 = getelementptr inbounds i8, ptr %p1, i64 %t4
  %t6 = zext i1 false to i8
  store i8 %t6, ptr %t5, align 1
  br label %loop4
loop4:
  %t7 = phi i32 [ 0, %loop1 ], [ %t8, %next5 ]
  %t9 = sext i32 %t2 to i64
  %t10 = getelementptr inbounds i8, ptr %p1, i64 %t9
  %t11 = load i8, ptr %t10, align 1
  %t12 = icmp ne i8 %t11, 0
  br i1 %t12, label %end8, label %or7
or7:
  %t13 = mul nsw i64 %t9, 12
  %t14 = sext i32 %t7 to i64
  %t15 = add nsw i64 %t13, %t14
  %t16 = getelementptr inbounds i16, ptr %p0, i64 %t15
  %t17 = load i16, ptr %t16, align 2
  %t18 = zext i16 %t17 to i32
  %t19 = and i32 %t18, 32768
  %t20 = shl i32 %t19, 16
  %t21 = and i32 %t18, 32767
  %t22 = shl i32 %t21, 13
  %t23 = add i32 %t22, 939524096
  %t24 = or i32 %t22, 2139095040
  %t25 = icmp uge i32 %t21, 31744
  %t26 = select i1 %t25, i32 %t24, i32 %t23
  %t27 = uitofp i32 %t21 to float
  %t28 = fmul float %t27, 0x3E70000000000000
  %t29 = bitcast float %t28 to i32
  %t30 = icmp ult i32 %t21, 1024
  %t31 = select i1 %t30, i32 %t29, i32 %t26
  %t32 = or i32 %t31, %t20
  %t33 = bitcast i32 %t32 to float
  %t34 = fmul contract float %t33, %p2
  %t35 = fcmp ogt float %t34, 0x3FE0000000000000
  br label %end8
end8:
  %t36 = phi i1 [ true, %loop4 ], [ %t35, %or7 ]
  %t37 = getelementptr inbounds i8, ptr %p1, i64 %t9
  %t38 = zext i1 %t36 to i8
  store i8 %t38, ptr %t37, align 1
  br label %next5
next5:
  %t8 = add nuw nsw i32 %t7, 1
  %t39 = icmp eq i32 %t8, 12
  br i1 %t39, label %done6, label %loop4
done6:
  br label %next2
next2:
  %t3 = add nuw nsw i32 %t2, 1
  %t40 = icmp eq i32 %t3, %p3
  br i1 %t40, label %done3, label %loop1
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
