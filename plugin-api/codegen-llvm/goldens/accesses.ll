target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"


define internal i32 @cd.f.accesses(ptr noundef noalias nocapture align 4 %p0, ptr noundef noalias nocapture align 1 %p1, ptr noundef noalias nocapture align 4 %p2, i32 noundef %p3) mustprogress #0 {
entry:
  br label %body
body:
  %t1 = icmp sgt i32 %p3, 0
  br i1 %t1, label %loop1, label %done3
loop1:
  %t2 = phi i32 [ 0, %body ], [ %t3, %next2 ]
  %t4 = sext i32 %t2 to i64
  %t5 = getelementptr inbounds float, ptr %p0, i64 %t4
  %t6 = getelementptr float, ptr %t5, <8 x i32> <i32 0, i32 3, i32 6, i32 9, i32 12, i32 15, i32 18, i32 21>
  %t7 = call <8 x float> @llvm.masked.gather.v8f32.v8p0(<8 x ptr> %t6, i32 4, <8 x i1> <i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true>, <8 x float> zeroinitializer)
  %t8 = sext i32 %t2 to i64
  %t9 = getelementptr inbounds float, ptr %p0, i64 %t8
  %t10 = getelementptr inbounds float, ptr %t9, i64 -7
  %t11 = shufflevector <8 x float> %t7, <8 x float> poison, <8 x i32> <i32 7, i32 6, i32 5, i32 4, i32 3, i32 2, i32 1, i32 0>
  store <8 x float> %t11, ptr %t10, align 4
  %t12 = sext i32 %t2 to i64
  %t13 = getelementptr inbounds float, ptr %p0, i64 %t12
  %t14 = getelementptr inbounds float, ptr %t13, i64 -7
  %t15 = load <8 x float>, ptr %t14, align 4
  %t16 = shufflevector <8 x float> %t15, <8 x float> poison, <8 x i32> <i32 7, i32 6, i32 5, i32 4, i32 3, i32 2, i32 1, i32 0>
  %t17 = sext i32 %t2 to i64
  %t18 = getelementptr inbounds float, ptr %p0, i64 %t17
  %t19 = getelementptr float, ptr %t18, <8 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14>
  call void @llvm.masked.scatter.v8f32.v8p0(<8 x float> %t16, <8 x ptr> %t19, i32 4, <8 x i1> <i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true>)
  %t20 = sext i32 %t2 to i64
  %t21 = getelementptr inbounds float, ptr %p0, i64 %t20
  %t22 = load float, ptr %t21, align 4
  %t23 = insertelement <8 x float> poison, float %t22, i64 0
  %t24 = shufflevector <8 x float> %t23, <8 x float> poison, <8 x i32> zeroinitializer
  %t25 = sext i32 %t2 to i64
  %t26 = getelementptr inbounds float, ptr %p0, i64 %t25
  %t27 = sext i32 %p3 to i64
  %t28 = insertelement <8 x i64> poison, i64 %t27, i64 0
  %t29 = shufflevector <8 x i64> %t28, <8 x i64> poison, <8 x i32> zeroinitializer
  %t30 = mul <8 x i64> %t29, <i64 0, i64 1, i64 2, i64 3, i64 4, i64 5, i64 6, i64 7>
  %t31 = getelementptr float, ptr %t26, <8 x i64> %t30
  call void @llvm.masked.scatter.v8f32.v8p0(<8 x float> %t24, <8 x ptr> %t31, i32 4, <8 x i1> <i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true>)
  %t32 = sext i32 %t2 to i64
  %t33 = getelementptr float, ptr %p0, i64 %t32
  %t34 = sext i32 %t2 to i64
  %t35 = getelementptr inbounds i8, ptr %p1, i64 %t34
  %t36 = load <8 x i8>, ptr %t35, align 1
  %t37 = icmp ne <8 x i8> %t36, zeroinitializer
  %t38 = call <8 x float> @llvm.masked.load.v8f32.p0(ptr %t33, i32 4, <8 x i1> %t37, <8 x float> zeroinitializer)
  %t39 = sext i32 %t2 to i64
  %t40 = getelementptr float, ptr %p0, i64 %t39
  %t41 = getelementptr float, ptr %t40, i64 -7
  %t42 = shufflevector <8 x float> %t38, <8 x float> poison, <8 x i32> <i32 7, i32 6, i32 5, i32 4, i32 3, i32 2, i32 1, i32 0>
  %t43 = shufflevector <8 x i1> %t37, <8 x i1> poison, <8 x i32> <i32 7, i32 6, i32 5, i32 4, i32 3, i32 2, i32 1, i32 0>
  call void @llvm.masked.store.v8f32.p0(<8 x float> %t42, ptr %t41, i32 4, <8 x i1> %t43)
  %t44 = sext i32 %t2 to i64
  %t45 = getelementptr float, ptr %p0, i64 %t44
  %t46 = getelementptr float, ptr %t45, i64 -7
  %t47 = sext i32 %t2 to i64
  %t48 = getelementptr inbounds i8, ptr %p1, i64 %t47
  %t49 = load <8 x i8>, ptr %t48, align 1
  %t50 = icmp ne <8 x i8> %t49, zeroinitializer
  %t51 = shufflevector <8 x i1> %t50, <8 x i1> poison, <8 x i32> <i32 7, i32 6, i32 5, i32 4, i32 3, i32 2, i32 1, i32 0>
  %t52 = call <8 x float> @llvm.masked.load.v8f32.p0(ptr %t46, i32 4, <8 x i1> %t51, <8 x float> zeroinitializer)
  %t53 = shufflevector <8 x float> %t52, <8 x float> poison, <8 x i32> <i32 7, i32 6, i32 5, i32 4, i32 3, i32 2, i32 1, i32 0>
  %t54 = sext i32 %t2 to i64
  %t55 = getelementptr float, ptr %p0, i64 %t54
  %t56 = getelementptr float, ptr %t55, <8 x i32> <i32 0, i32 5, i32 10, i32 15, i32 20, i32 25, i32 30, i32 35>
  call void @llvm.masked.scatter.v8f32.v8p0(<8 x float> %t53, <8 x ptr> %t56, i32 4, <8 x i1> %t50)
  %t57 = sext i32 %t2 to i64
  %t58 = getelementptr i8, ptr %p1, i64 %t57
  %t59 = getelementptr i8, ptr %t58, <8 x i32> <i32 0, i32 7, i32 14, i32 21, i32 28, i32 35, i32 42, i32 49>
  %t60 = sext i32 %t2 to i64
  %t61 = getelementptr inbounds i8, ptr %p1, i64 %t60
  %t62 = load <8 x i8>, ptr %t61, align 1
  %t63 = icmp ne <8 x i8> %t62, zeroinitializer
  %t64 = call <8 x i8> @llvm.masked.gather.v8i8.v8p0(<8 x ptr> %t59, i32 1, <8 x i1> %t63, <8 x i8> zeroinitializer)
  %t65 = icmp ne <8 x i8> %t64, zeroinitializer
  %t66 = sext i32 %t2 to i64
  %t67 = getelementptr i8, ptr %p1, i64 %t66
  %t68 = zext <8 x i1> %t65 to <8 x i8>
  call void @llvm.masked.store.v8i8.p0(<8 x i8> %t68, ptr %t67, i32 1, <8 x i1> %t63)
  %t69 = sext i32 %t2 to i64
  %t70 = add nsw i64 %t69, 1
  %t71 = getelementptr float, ptr %p0, i64 %t70
  %t72 = sext i32 %t2 to i64
  %t73 = getelementptr inbounds i8, ptr %p1, i64 %t72
  %t74 = load i8, ptr %t73, align 1
  %t75 = icmp ne i8 %t74, 0
  br i1 %t75, label %load4, label %loaded5
load4:
  %t76 = load float, ptr %t71, align 4
  br label %loaded5
loaded5:
  %t77 = phi float [ %t76, %load4 ], [ 0.0, %loop1 ]
  %t78 = sext i32 %t2 to i64
  %t79 = getelementptr float, ptr %p0, i64 %t78
  br i1 %t75, label %store6, label %stored7
store6:
  store float %t77, ptr %t79, align 4
  br label %stored7
stored7:
  %t80 = sext i32 %t2 to i64
  %t81 = getelementptr inbounds float, ptr %p0, i64 %t80
  %t82 = load <8 x float>, ptr %t81, align 4
  %t83 = sext i32 %t2 to i64
  %t84 = getelementptr inbounds float, ptr %p0, i64 %t83
  %t85 = extractelement <8 x float> %t82, i64 7
  store float %t85, ptr %t84, align 4
  %t86 = sext i32 %t2 to i64
  %t87 = getelementptr inbounds i8, ptr %p1, i64 %t86
  %t88 = load i8, ptr %t87, align 1
  %t89 = icmp ne i8 %t88, 0
  %t90 = xor i1 %t89, true
  %t91 = sext i32 %t2 to i64
  %t92 = getelementptr inbounds i8, ptr %p1, i64 %t91
  %t93 = zext i1 %t90 to i8
  store i8 %t93, ptr %t92, align 1
  %t94 = sext i32 %t2 to i64
  %t95 = getelementptr inbounds float, ptr %p0, i64 %t94
  %t96 = load <4 x float>, ptr %t95, align 4
  %t97 = sext i32 %t2 to i64
  %t98 = mul nsw i64 %t97, 4
  %t99 = getelementptr inbounds float, ptr %p2, i64 %t98
  store <4 x float> %t96, ptr %t99, align 4
  %t100 = sext i32 %t2 to i64
  %t101 = add nsw i64 %t100, 1
  %t102 = sext i32 %p3 to i64
  %t103 = mul nsw i64 %t101, %t102
  %t104 = add nsw i64 8, %t103
  %t105 = getelementptr inbounds float, ptr %p0, i64 %t104
  %t106 = load float, ptr %t105, align 4
  %t107 = sext i32 %t2 to i64
  %t108 = mul nsw i64 %t107, %t102
  %t109 = add nsw i64 8, %t108
  %t110 = getelementptr inbounds float, ptr %p0, i64 %t109
  store float %t106, ptr %t110, align 4
  br label %next2
next2:
  %t3 = add nuw nsw i32 %t2, 1
  %t111 = icmp eq i32 %t3, %p3
  br i1 %t111, label %done3, label %loop1, !llvm.loop !1
done3:
  ret i32 0
}

declare <8 x float> @llvm.masked.gather.v8f32.v8p0(<8 x ptr>, i32, <8 x i1>, <8 x float>)
declare <8 x i8> @llvm.masked.gather.v8i8.v8p0(<8 x ptr>, i32, <8 x i1>, <8 x i8>)
declare <8 x float> @llvm.masked.load.v8f32.p0(ptr, i32, <8 x i1>, <8 x float>)
declare void @llvm.masked.scatter.v8f32.v8p0(<8 x float>, <8 x ptr>, i32, <8 x i1>)
declare void @llvm.masked.store.v8f32.p0(<8 x float>, ptr, i32, <8 x i1>)
declare void @llvm.masked.store.v8i8.p0(<8 x i8>, ptr, i32, <8 x i1>)

attributes #0 = { nounwind "target-cpu"="x86-64-v3" }
!0 = !{!"llvm.loop.vectorize.enable", i1 false}
!1 = distinct !{!1, !0}
