target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"


define internal i32 @cd.f.nontemporal(ptr noundef noalias nocapture align 4 %p0, ptr noundef noalias nocapture align 4 %p1, i32 noundef %p2) mustprogress #0 {
entry:
  br label %body
body:
  %t1 = icmp sgt i32 %p2, 0
  br i1 %t1, label %loop1, label %done3
loop1:
  %t2 = phi i32 [ 0, %body ], [ %t3, %next2 ]
  %t4 = sext i32 %t2 to i64
  %t5 = mul nsw i64 %t4, 16
  %t6 = getelementptr inbounds float, ptr %p0, i64 %t5
  %t7 = load <16 x float>, ptr %t6, align 4
  %t8 = sext i32 %t2 to i64
  %t9 = mul nsw i64 %t8, 16
  %t10 = getelementptr inbounds float, ptr %p1, i64 %t9
  %t11 = ptrtoint ptr %t10 to i64
  %t12 = and i64 %t11, 63
  %t13 = icmp eq i64 %t12, 0
  br i1 %t13, label %stream4, label %cached5
stream4:
  store <16 x float> %t7, ptr %t10, align 64, !nontemporal !0
  br label %stored6
cached5:
  store <16 x float> %t7, ptr %t10, align 4
  br label %stored6
stored6:
  %t14 = sext i32 %t2 to i64
  %t15 = mul nsw i64 %t14, 16
  %t16 = getelementptr inbounds float, ptr %p0, i64 %t15
  %t17 = ptrtoint ptr %t16 to i64
  %t18 = and i64 %t17, 63
  %t19 = icmp eq i64 %t18, 0
  br i1 %t19, label %stream7, label %cached8
stream7:
  store <16 x float> splat (float 0x0000000000000000), ptr %t16, align 64, !nontemporal !0
  br label %stored9
cached8:
  store <16 x float> splat (float 0x0000000000000000), ptr %t16, align 4
  br label %stored9
stored9:
  br label %next2
next2:
  %t3 = add nuw nsw i32 %t2, 1
  %t20 = icmp eq i32 %t3, %p2
  br i1 %t20, label %done3, label %loop1, !llvm.loop !2
done3:
  %t21 = icmp sgt i32 %p2, 0
  br i1 %t21, label %loop10, label %done12
loop10:
  %t22 = phi i32 [ 0, %done3 ], [ %t23, %next11 ]
  %t24 = sext i32 %t22 to i64
  %t25 = mul nsw i64 %t24, 16
  %t26 = getelementptr inbounds float, ptr %p0, i64 %t25
  %t27 = load <16 x float>, ptr %t26, align 4
  %t28 = sext i32 %t22 to i64
  %t29 = mul nsw i64 %t28, 16
  %t30 = getelementptr inbounds float, ptr %p1, i64 %t29
  %t31 = ptrtoint ptr %t30 to i64
  %t32 = and i64 %t31, 63
  %t33 = icmp eq i64 %t32, 0
  br i1 %t33, label %stream13, label %cached14
stream13:
  store <16 x float> %t27, ptr %t30, align 64, !nontemporal !0
  br label %stored15
cached14:
  store <16 x float> %t27, ptr %t30, align 4
  br label %stored15
stored15:
  %t34 = sext i32 %t22 to i64
  %t35 = mul nsw i64 %t34, 16
  %t36 = getelementptr inbounds float, ptr %p0, i64 %t35
  store <16 x float> splat (float 0x0000000000000000), ptr %t36, align 4
  br label %next11
next11:
  %t23 = add nuw nsw i32 %t22, 1
  %t37 = icmp eq i32 %t23, %p2
  br i1 %t37, label %done12, label %loop10, !llvm.loop !3
done12:
  fence seq_cst
  ret i32 0
}


attributes #0 = { nounwind "target-cpu"="x86-64-v3" }
!0 = !{i32 1}
!1 = !{!"llvm.loop.vectorize.enable", i1 false}
!2 = distinct !{!2, !1}
!3 = distinct !{!3, !1}
