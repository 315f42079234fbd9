target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"


define internal i32 @cd.f.loops(ptr noundef noalias nocapture align 4 %p0, i32 noundef %p1, i64 noundef %p2) #0 {
entry:
  br label %body
body:
  %t1 = icmp sgt i32 %p1, 0
  br i1 %t1, label %loop1, label %done3
loop1:
  %t2 = phi i32 [ 0, %body ], [ %t3, %next2 ]
  %t4 = sext i32 %t2 to i64
  %t5 = getelementptr inbounds i32, ptr %p0, i64 %t4
  %t6 = load i32, ptr %t5, align 4
  %t7 = icmp slt i32 %t6, 0
  br i1 %t7, label %then4, label %endif5
then4:
  br label %done3
endif5:
  %t8 = sext i32 %t2 to i64
  %t9 = getelementptr inbounds i32, ptr %p0, i64 %t8
  %t10 = load i32, ptr %t9, align 4
  %t11 = icmp eq i32 %t10, 0
  br i1 %t11, label %and9, label %else8
and9:
  %t12 = sext i32 %t2 to i64
  %t13 = add nsw i64 %t12, 1
  %t14 = getelementptr inbounds i32, ptr %p0, i64 %t13
  %t15 = load i32, ptr %t14, align 4
  %t16 = icmp sgt i32 %t15, 3
  br i1 %t16, label %then6, label %else8
then6:
  br label %next2
else8:
  %t17 = sext i32 %t2 to i64
  %t18 = getelementptr inbounds i32, ptr %p0, i64 %t17
  store i32 %t2, ptr %t18, align 4
  br label %endif7
endif7:
  br label %next2
next2:
  %t3 = add nuw nsw i32 %t2, 1
  %t19 = icmp eq i32 %t3, %p1
  br i1 %t19, label %done3, label %loop1
done3:
  br label %loop10
loop10:
  %t20 = phi i64 [ 0, %done3 ], [ %t21, %next11 ]
  %t22 = mul i64 %t20, 3
  %t23 = add i64 %p2, %t22
  %t24 = trunc i64 %t23 to i32
  %t25 = getelementptr inbounds i32, ptr %p0, i64 %t23
  store i32 %t24, ptr %t25, align 4
  br label %next11
next11:
  %t21 = add nuw nsw i64 %t20, 1
  %t26 = icmp eq i64 %t21, 7
  br i1 %t26, label %done12, label %loop10
done12:
  br label %loop13
loop13:
  %t27 = phi i32 [ -8, %done12 ], [ %t28, %next14 ]
  br label %loop16
loop16:
  %t29 = phi i32 [ 0, %loop13 ], [ %t30, %next17 ]
  %t31 = add i32 %p1, %t29
  %t32 = sext i32 %t31 to i64
  %t33 = getelementptr inbounds i32, ptr %p0, i64 %t32
  %t34 = load i32, ptr %t33, align 4
  %t35 = add i32 %t34, %t27
  %t36 = sext i32 %t31 to i64
  %t37 = getelementptr inbounds i32, ptr %p0, i64 %t36
  store i32 %t35, ptr %t37, align 4
  br label %next17
next17:
  %t30 = add nuw nsw i32 %t29, 1
  %t38 = icmp eq i32 %t30, 4
  br i1 %t38, label %done18, label %loop16, !llvm.loop !1
done18:
  br label %next14
next14:
  %t28 = add nsw i32 %t27, 1
  %t39 = icmp eq i32 %t28, 0
  br i1 %t39, label %done15, label %loop13
done15:
  br label %while19
while19:
  %t40 = load i32, ptr %p0, align 4
  %t41 = icmp sgt i32 %t40, 1
  br i1 %t41, label %body20, label %done21
body20:
  %t42 = load i32, ptr %p0, align 4
  %t43 = sdiv i32 %t42, 2
  store i32 %t43, ptr %p0, align 4
  br label %while19
done21:
  ret i32 0
}


attributes #0 = { nounwind "target-cpu"="x86-64-v3" }
!0 = !{!"llvm.loop.unroll.count", i32 4}
!1 = distinct !{!1, !0}
