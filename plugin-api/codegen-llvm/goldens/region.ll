target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

@__chipdock_env = global ptr null, align 8

define internal i32 @cd.f.work_region(i32 noundef %p0, i32 noundef %p1, ptr noundef %p2) mustprogress #0 {
entry:
  br label %body
body:
  %t1 = getelementptr i8, ptr %p2, i64 8
  %t2 = load ptr, ptr %t1, align 8
  %t3 = getelementptr i8, ptr %p2, i64 24
  %t4 = load ptr, ptr %t3, align 8
  %t5 = getelementptr i8, ptr %p2, i64 40
  %t6 = load i64, ptr %t5, align 8
  %t7 = icmp sgt i64 %t6, 0
  br i1 %t7, label %loop1, label %done3
loop1:
  %t8 = phi i64 [ 0, %body ], [ %t9, %next2 ]
  %t10 = sext i32 %p0 to i64
  %t11 = mul i64 %t10, %t6
  %t12 = add i64 %t11, %t8
  %t13 = getelementptr inbounds float, ptr %t2, i64 %t12
  %t14 = load float, ptr %t13, align 4, !alias.scope !4, !noalias !3
  %t15 = fmul contract float %t14, 0x4000000000000000
  %t16 = getelementptr inbounds float, ptr %t4, i64 %t12
  store float %t15, ptr %t16, align 4, !alias.scope !3, !noalias !4
  br label %next2
next2:
  %t9 = add nuw nsw i64 %t8, 1
  %t17 = icmp eq i64 %t9, %t6
  br i1 %t17, label %done3, label %loop1
done3:
  ret i32 0
}

define internal i32 @cd.f.work_compute_(ptr noundef noalias align 4 %p0, ptr noundef noalias align 4 %p1, i64 noundef %p2) mustprogress #0 {
entry:
  %t1 = alloca [6 x i64], align 64
  br label %body
body:
  %t2 = getelementptr i8, ptr %t1, i64 8
  store ptr %p0, ptr %t2, align 8
  %t3 = getelementptr i8, ptr %t1, i64 24
  store ptr %p1, ptr %t3, align 8
  %t4 = getelementptr i8, ptr %t1, i64 40
  store i64 %p2, ptr %t4, align 8
  %t5 = call i32 @cd.h.parallel_launch(ptr @cd.f.work_region, ptr %t1, i32 0)
  %t6 = icmp ne i32 %t5, 0
  br i1 %t6, label %then1, label %endif2
then1:
  ret i32 -1
dead3:
  br label %endif2
endif2:
  ret i32 0
}

define internal i32 @cd.h.parallel_launch(ptr %body, ptr %data, i32 %tasks_max) #0 {
entry:
  %env = load ptr, ptr @__chipdock_env, align 8
  %alone = icmp eq ptr %env, null
  br i1 %alone, label %own, label %host
host:
  %env.parallel_launch = getelementptr i8, ptr %env, i64 80
  %do.parallel_launch = load ptr, ptr %env.parallel_launch, align 8
  %status = call i32 %do.parallel_launch(ptr %env, ptr %body, ptr %data, i32 %tasks_max)
  ret i32 %status
own:
  %serial = call i32 %body(i32 0, i32 1, ptr %data)
  ret i32 %serial
}


attributes #0 = { nounwind "target-cpu"="x86-64-v3" }
!0 = distinct !{!0, !"buffers"}
!1 = distinct !{!1, !0, !"buffer"}
!2 = distinct !{!2, !0, !"buffer"}
!3 = !{!1}
!4 = !{!2}
