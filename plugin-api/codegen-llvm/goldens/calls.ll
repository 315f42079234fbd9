target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

@__chipdock_env = global ptr null, align 8
@cd.ffi_raise = private unnamed_addr constant [29 x i8] c"TVMFFIErrorSetRaisedFromCStr\00"
@cd.name.2 = private unnamed_addr constant [15 x i8] c"other.function\00"
@cd.name.2.kept = internal global ptr null, align 8
@cd.no_device = private unnamed_addr constant [53 x i8] c"no host to ask for a device; load this with Chipdock\00"
@cd.no_host = private unnamed_addr constant [70 x i8] c"no host to call an imported function through; load this with Chipdock\00"
@cd.text.0 = private unnamed_addr constant [5 x i8] c"text\00"
@cd.text.1 = private unnamed_addr constant [4 x i8] c"npu\00"
@cd.unavailable = private unnamed_addr constant [12 x i8] c"Unavailable\00"

define internal i32 @cd.f.calls(ptr noundef noalias align 4 %p0, ptr noundef noalias align 8 %p1, ptr noundef noalias align 2 %p2, ptr noundef noalias align 4 %p3, ptr noundef noalias align 8 %p4) mustprogress #0 {
entry:
  %t80 = alloca [4 x i64], align 64
  br label %body
body:
  %t1 = getelementptr i32, ptr %p0, i64 3
  %t2 = atomicrmw add ptr %t1, i32 1 monotonic, align 4
  %t3 = getelementptr i64, ptr %p1, i64 3
  %t4 = atomicrmw add ptr %t3, i64 1 monotonic, align 8
  %t5 = getelementptr i16, ptr %p2, i64 3
  %t6 = load atomic i16, ptr %t5 monotonic, align 2
  br label %again1
again1:
  %t7 = phi i16 [ %t6, %body ], [ %t8, %again1 ]
  %t9 = zext i16 %t7 to i32
  %t10 = and i32 %t9, 32768
  %t11 = shl i32 %t10, 16
  %t12 = and i32 %t9, 32767
  %t13 = shl i32 %t12, 13
  %t14 = add i32 %t13, 939524096
  %t15 = or i32 %t13, 2139095040
  %t16 = icmp uge i32 %t12, 31744
  %t17 = select i1 %t16, i32 %t15, i32 %t14
  %t18 = uitofp i32 %t12 to float
  %t19 = fmul float %t18, 0x3E70000000000000
  %t20 = bitcast float %t19 to i32
  %t21 = icmp ult i32 %t12, 1024
  %t22 = select i1 %t21, i32 %t20, i32 %t17
  %t23 = or i32 %t22, %t11
  %t24 = bitcast i32 %t23 to float
  %t25 = zext i16 15360 to i32
  %t26 = and i32 %t25, 32768
  %t27 = shl i32 %t26, 16
  %t28 = and i32 %t25, 32767
  %t29 = shl i32 %t28, 13
  %t30 = add i32 %t29, 939524096
  %t31 = or i32 %t29, 2139095040
  %t32 = icmp uge i32 %t28, 31744
  %t33 = select i1 %t32, i32 %t31, i32 %t30
  %t34 = uitofp i32 %t28 to float
  %t35 = fmul float %t34, 0x3E70000000000000
  %t36 = bitcast float %t35 to i32
  %t37 = icmp ult i32 %t28, 1024
  %t38 = select i1 %t37, i32 %t36, i32 %t33
  %t39 = or i32 %t38, %t27
  %t40 = bitcast i32 %t39 to float
  %t41 = fadd float %t24, %t40
  %t42 = bitcast float %t41 to i32
  %t43 = lshr i32 %t42, 16
  %t44 = and i32 %t43, 32768
  %t45 = and i32 %t42, 2147483647
  %t46 = lshr i32 %t45, 13
  %t47 = and i32 %t46, 1
  %t48 = add i32 %t47, 3355447295
  %t49 = add i32 %t45, %t48
  %t50 = lshr i32 %t49, 13
  %t51 = bitcast i32 %t45 to float
  %t52 = fadd float %t51, 0x3FE0000000000000
  %t53 = bitcast float %t52 to i32
  %t54 = sub i32 %t53, 1056964608
  %t55 = icmp ult i32 %t45, 947912704
  %t56 = select i1 %t55, i32 %t54, i32 %t50
  %t57 = icmp uge i32 %t45, 1199566848
  %t58 = select i1 %t57, i32 31744, i32 %t56
  %t59 = and i32 %t46, 511
  %t60 = or i32 %t59, 32256
  %t61 = icmp ugt i32 %t45, 2139095040
  %t62 = select i1 %t61, i32 %t60, i32 %t58
  %t63 = or i32 %t62, %t44
  %t64 = trunc i32 %t63 to i16
  %t65 = cmpxchg weak ptr %t5, i16 %t7, i16 %t64 monotonic monotonic, align 2
  %t8 = extractvalue { i16, i1 } %t65, 0
  %t66 = extractvalue { i16, i1 } %t65, 1
  br i1 %t66, label %added2, label %again1
added2:
  %t67 = getelementptr float, ptr %p3, i64 3
  %t68 = atomicrmw fadd ptr %t67, float 0x3FF0000000000000 monotonic, align 4
  %t69 = getelementptr double, ptr %p4, i64 3
  %t70 = atomicrmw fadd ptr %t69, double 0x3FF0000000000000 monotonic, align 8
  %t71 = load float, ptr %p3, align 4
  %t72 = call float @expf(float %t71) memory(none) nounwind willreturn
  %t73 = getelementptr inbounds float, ptr %p3, i64 1
  store float %t72, ptr %t73, align 4
  %t74 = load double, ptr %p4, align 8
  %t75 = load float, ptr %p3, align 4
  %t76 = fpext float %t75 to double
  %t77 = call double @pow(double %t74, double %t76) memory(none) nounwind willreturn
  %t78 = getelementptr inbounds double, ptr %p4, i64 1
  store double %t77, ptr %t78, align 8
  %t79 = call zeroext i16 @toupper_(i8 signext 97, i1 zeroext true, ptr @cd.text.0) nounwind
  %t81 = call i32 @cd.h.device_type(ptr @cd.text.1)
  %t82 = call i32 @cd.h.set_device(i32 4, i32 1)
  %t83 = call i32 @cd.h.call_packed(ptr @cd.name.2.kept, ptr @cd.name.2, ptr %t80, i32 1)
  %t84 = icmp ne i32 %t83, 0
  br i1 %t84, label %then3, label %endif4
then3:
  ret i32 -1
dead5:
  br label %endif4
endif4:
  ret i32 0
}

define internal i32 @cd.h.call_packed(ptr %kept, ptr %name, ptr %values, i32 %count) #0 {
entry:
  %place = alloca ptr, align 8
  %known = load atomic ptr, ptr %kept acquire, align 8
  %is_known = icmp ne ptr %known, null
  br i1 %is_known, label %call, label %ask
ask:
  %env = load ptr, ptr @__chipdock_env, align 8
  %alone = icmp eq ptr %env, null
  br i1 %alone, label %none, label %host
host:
  %env.imported = getelementptr i8, ptr %env, i64 72
  %do.imported = load ptr, ptr %env.imported, align 8
  %asked = call i32 %do.imported(ptr %env, ptr %name, ptr %place)
  %failed = icmp ne i32 %asked, 0
  br i1 %failed, label %fail, label %keep
fail:
  ret i32 -1
keep:
  %found = load ptr, ptr %place, align 8
  store atomic ptr %found, ptr %kept release, align 8
  br label %call
call:
  %function = phi ptr [ %known, %entry ], [ %found, %keep ]
  %slot = getelementptr i8, ptr %function, i64 24
  %safe_call = load ptr, ptr %slot, align 8
  %wide = sext i32 %count to i64
  %bytes = shl i64 %wide, 4
  %result = getelementptr i8, ptr %values, i64 %bytes
  %status = call i32 %safe_call(ptr %function, ptr %values, i32 %count, ptr %result)
  ret i32 %status
none:
  %raised = call i32 @cd.h.raise(ptr @cd.unavailable, ptr @cd.no_host)
  ret i32 %raised
}

define internal i32 @cd.h.device_type(ptr %name) #0 {
entry:
  %place = alloca i32, align 4
  store i32 -1, ptr %place, align 4
  %env = load ptr, ptr @__chipdock_env, align 8
  %alone = icmp eq ptr %env, null
  br i1 %alone, label %none, label %host
host:
  %env.device_type = getelementptr i8, ptr %env, i64 64
  %do.device_type = load ptr, ptr %env.device_type, align 8
  %status = call i32 %do.device_type(ptr %env, ptr %name, ptr %place)
  %failed = icmp ne i32 %status, 0
  %number = load i32, ptr %place, align 4
  %answer = select i1 %failed, i32 -1, i32 %number
  ret i32 %answer
none:
  %raised = call i32 @cd.h.raise(ptr @cd.unavailable, ptr @cd.no_device)
  ret i32 %raised
}

define internal i32 @cd.h.raise(ptr %kind, ptr %message) cold noinline optnone #0 {
entry:
  %env = load ptr, ptr @__chipdock_env, align 8
  %alone = icmp eq ptr %env, null
  br i1 %alone, label %find, label %host
host:
  %env.raise = getelementptr i8, ptr %env, i64 16
  %do.raise = load ptr, ptr %env.raise, align 8
  call void %do.raise(ptr %env, ptr %kind, ptr %message, ptr null)
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

define internal i32 @cd.h.set_device(i32 %device_type, i32 %device_id) #0 {
entry:
  %env = load ptr, ptr @__chipdock_env, align 8
  %alone = icmp eq ptr %env, null
  br i1 %alone, label %none, label %host
host:
  %env.set_device = getelementptr i8, ptr %env, i64 56
  %do.set_device = load ptr, ptr %env.set_device, align 8
  %status = call i32 %do.set_device(ptr %env, i32 %device_type, i32 %device_id)
  ret i32 %status
none:
  %raised = call i32 @cd.h.raise(ptr @cd.unavailable, ptr @cd.no_device)
  ret i32 %raised
}

declare ptr @dlsym(ptr, ptr)
declare float @expf(float)
declare double @pow(double, double)
declare zeroext i16 @toupper_(i8 signext, i1 zeroext, ptr)

attributes #0 = { nounwind "target-cpu"="x86-64-v3" }
