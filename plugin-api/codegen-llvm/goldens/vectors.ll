target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"


define internal i32 @cd.f.vectors(ptr noundef noalias nocapture readonly align 4 %p0, ptr noundef noalias nocapture align 4 %p1, ptr noundef noalias nocapture readonly align 4 %p2) mustprogress #0 {
entry:
  %t1 = alloca [32 x float], align 64
  br label %body
body:
  store <16 x float> splat (float 0x0000000000000000), ptr %t1, align 4
  %t2 = getelementptr inbounds float, ptr %t1, i64 16
  store <16 x float> splat (float 0x0000000000000000), ptr %t2, align 4
  br label %loop1
loop1:
  %t3 = phi i32 [ 0, %body ], [ %t4, %next2 ]
  %t5 = load <16 x float>, ptr %t1, align 4
  %t6 = sext i32 %t3 to i64
  %t7 = mul nsw i64 %t6, 16
  %t8 = getelementptr inbounds float, ptr %p0, i64 %t7
  %t9 = load <16 x float>, ptr %t8, align 4
  %t10 = getelementptr inbounds i32, ptr %p2, i64 %t7
  %t11 = load <16 x i32>, ptr %t10, align 4
  %t12 = getelementptr float, ptr %p0, <16 x i32> %t11
  %t13 = call <16 x float> @llvm.masked.gather.v16f32.v16p0(<16 x ptr> %t12, i32 4, <16 x i1> <i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true>, <16 x float> zeroinitializer)
  %t14 = fcmp olt <16 x float> %t9, %t13
  %t15 = and <16 x i32> %t11, splat (i32 1)
  %t16 = icmp eq <16 x i32> %t15, splat (i32 0)
  %t17 = and <16 x i1> %t14, %t16
  %t18 = select <16 x i1> %t17, <16 x float> %t9, <16 x float> %t13
  %t19 = getelementptr float, ptr %p0, i64 %t7
  %t20 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr %t19, i32 4, <16 x i1> %t16, <16 x float> zeroinitializer)
  %t21 = fmul contract <16 x float> %t18, %t20
  %t22 = fadd contract <16 x float> %t5, %t21
  store <16 x float> %t22, ptr %t1, align 4
  %t23 = sext i32 %t3 to i64
  %t24 = mul nsw i64 %t23, 16
  %t25 = getelementptr inbounds float, ptr %p0, i64 %t24
  %t26 = load <16 x float>, ptr %t25, align 4
  %t27 = getelementptr inbounds i32, ptr %p2, i64 %t24
  %t28 = load <16 x i32>, ptr %t27, align 4
  %t29 = getelementptr float, ptr %p0, <16 x i32> %t28
  %t30 = call <16 x float> @llvm.masked.gather.v16f32.v16p0(<16 x ptr> %t29, i32 4, <16 x i1> <i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true>, <16 x float> zeroinitializer)
  %t31 = shufflevector <16 x float> %t26, <16 x float> poison, <16 x i32> <i32 15, i32 14, i32 13, i32 12, i32 11, i32 10, i32 9, i32 8, i32 7, i32 6, i32 5, i32 4, i32 3, i32 2, i32 1, i32 0>
  %t32 = getelementptr inbounds float, ptr %t1, i64 16
  store <16 x float> %t31, ptr %t32, align 4
  %t33 = sext i32 %t3 to i64
  %t34 = mul nsw i64 %t33, 16
  %t35 = getelementptr inbounds i32, ptr %p2, i64 %t34
  %t36 = load <16 x i32>, ptr %t35, align 4
  %t37 = sitofp <16 x i32> %t36 to <16 x float>
  %t38 = getelementptr float, ptr %p1, i64 %t34
  %t39 = and <16 x i32> %t36, splat (i32 1)
  %t40 = icmp eq <16 x i32> %t39, splat (i32 0)
  call void @llvm.masked.store.v16f32.p0(<16 x float> %t37, ptr %t38, i32 4, <16 x i1> %t40)
  br label %next2
next2:
  %t4 = add nuw nsw i32 %t3, 1
  %t41 = icmp eq i32 %t4, 64
  br i1 %t41, label %done3, label %loop1, !llvm.loop !1
done3:
  %t42 = load <16 x float>, ptr %t1, align 4
  %t43 = getelementptr inbounds float, ptr %t1, i64 16
  %t44 = load <16 x float>, ptr %t43, align 4
  %t45 = fadd contract <16 x float> %t42, %t44
  store <16 x float> %t45, ptr %p1, align 4
  ret i32 0
}

declare <16 x float> @llvm.masked.gather.v16f32.v16p0(<16 x ptr>, i32, <16 x i1>, <16 x float>)
declare <16 x float> @llvm.masked.load.v16f32.p0(ptr, i32, <16 x i1>, <16 x float>)
declare void @llvm.masked.store.v16f32.p0(<16 x float>, ptr, i32, <16 x i1>)

attributes #0 = { nounwind "target-cpu"="x86-64-v3" }
!0 = !{!"llvm.loop.vectorize.enable", i1 false}
!1 = distinct !{!1, !0}
