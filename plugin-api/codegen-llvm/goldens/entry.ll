target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

@__chipdock_env = global ptr null, align 8
@cd.ffi_raise = private unnamed_addr constant [29 x i8] c"TVMFFIErrorSetRaisedFromCStr\00"
@cd.message.0 = private unnamed_addr constant [86 x i8] c"Expected 1 argument, 100% of \22them\22, but got \FF of them??!\0A\00\0BValueError\00__tvm_ffi_work\00"
@cd.no_memory = private unnamed_addr constant [32 x i8] c"no memory left to word an error\00"
@cd.no_workspace = private unnamed_addr constant [29 x i8] c"no memory left for workspace\00"
@cd.out_of_memory = private unnamed_addr constant [12 x i8] c"OutOfMemory\00"

define i32 @__tvm_ffi_work(ptr noundef %p0, ptr noundef %p1, i32 noundef %p2, ptr noundef %p3) mustprogress #0 {
entry:
  %values = alloca [1 x i64], align 8
  br label %body
body:
  %t1 = icmp eq i32 %p2, 1
  br i1 %t1, label %fine1, label %worded2, !prof !0
worded2:
  %t2 = sext i32 %p2 to i64
  store i64 %t2, ptr %values, align 8
  br label %failed
fine1:
  %t3 = getelementptr i8, ptr %p1, i64 8
  %t4 = load ptr, ptr %t3, align 8
  %t5 = getelementptr i8, ptr %t4, i64 24
  %t6 = load ptr, ptr %t5, align 8
  %t7 = load i64, ptr %t6, align 8
  %t8 = load ptr, ptr %t4, align 8
  %t9 = call i32 @cd.f.work_compute_(ptr %t8, i64 %t7)
  ret i32 %t9
dead3:
  ret i32 0
failed:
  %t10 = phi ptr [ @cd.message.0, %worded2 ]
  %t11 = call i32 @cd.h.fail(ptr %t10, ptr %values)
  ret i32 %t11
}

define internal i32 @cd.f.work_compute_(ptr noundef noalias nocapture align 4 %p0, i64 noundef %p1) mustprogress #0 {
entry:
  br label %body
body:
  %t1 = mul i64 %p1, 4
  %t2 = call noalias align 64 ptr @cd.h.allocate_workspace(i32 1, i32 0, i64 %t1)
  %t3 = icmp eq ptr %t2, null
  br i1 %t3, label %then1, label %endif2
then1:
  ret i32 -1
dead3:
  br label %endif2
endif2:
  %t4 = icmp sgt i64 %p1, 0
  br i1 %t4, label %loop4, label %done6
loop4:
  %t5 = phi i64 [ 0, %endif2 ], [ %t6, %next5 ]
  %t7 = getelementptr inbounds float, ptr %p0, i64 %t5
  %t8 = load float, ptr %t7, align 4
  %t9 = fadd contract float %t8, 0x3FF8000000000000
  %t10 = getelementptr inbounds float, ptr %t2, i64 %t5
  store float %t9, ptr %t10, align 4
  %t11 = getelementptr inbounds float, ptr %t2, i64 %t5
  %t12 = load float, ptr %t11, align 4
  %t13 = getelementptr inbounds float, ptr %p0, i64 %t5
  store float %t12, ptr %t13, align 4
  br label %next5
next5:
  %t6 = add nuw nsw i64 %t5, 1
  %t14 = icmp eq i64 %t6, %p1
  br i1 %t14, label %done6, label %loop4
done6:
  %t15 = call i32 @cd.h.free_workspace(i32 1, i32 0, ptr %t2)
  ret i32 0
}

define internal noalias align 64 ptr @cd.h.allocate_workspace(i32 %device_type, i32 %device_id, i64 %size_bytes) #0 {
entry:
  %env = load ptr, ptr @__chipdock_env, align 8
  %alone = icmp eq ptr %env, null
  br i1 %alone, label %own, label %host
host:
  %env.allocate_workspace = getelementptr i8, ptr %env, i64 24
  %do.allocate_workspace = load ptr, ptr %env.allocate_workspace, align 8
  %given = call ptr %do.allocate_workspace(ptr %env, i32 %device_type, i32 %device_id, i64 %size_bytes)
  ret ptr %given
own:
  ; 64-byte aligned within a larger piece, whose start is kept just before it.
  %fits = icmp ult i64 %size_bytes, -129
  br i1 %fits, label %ask, label %none
ask:
  %larger = add i64 %size_bytes, 128
  %whole = call ptr @malloc(i64 %larger)
  %failed = icmp eq ptr %whole, null
  br i1 %failed, label %none, label %got
got:
  %start = ptrtoint ptr %whole to i64
  %odd = and i64 %start, 63
  %skip = sub i64 128, %odd
  %data = getelementptr i8, ptr %whole, i64 %skip
  %kept = getelementptr i8, ptr %data, i64 -8
  store ptr %whole, ptr %kept, align 8
  ret ptr %data
none:
  %status = call i32 @cd.h.raise(ptr @cd.out_of_memory, ptr @cd.no_workspace)
  ret ptr null
}

define internal i32 @cd.h.fail(ptr %text, ptr %values) cold noinline optnone #0 {
entry:
  br label %measure
measure:
  %m = phi ptr [ %text, %entry ], [ %m.next, %measure ]
  %size = phi i64 [ 0, %entry ], [ %size.next, %measure ]
  %values.end = phi ptr [ %values, %entry ], [ %values.next, %measure ]
  %m.byte = load i8, ptr %m, align 1
  %m.next = getelementptr i8, ptr %m, i64 1
  %m.integer = icmp ugt i8 %m.byte, -3
  %m.values = select i1 %m.integer, i64 8, i64 0
  %values.next = getelementptr i8, ptr %values.end, i64 %m.values
  %m.size = select i1 %m.integer, i64 20, i64 1
  %size.next = add i64 %size, %m.size
  %m.ends = icmp eq i8 %m.byte, 0
  br i1 %m.ends, label %measured, label %measure
measured:
  %out = call ptr @malloc(i64 %size.next)
  %none = icmp eq ptr %out, null
  br i1 %none, label %raise, label %begin
begin:
  %out.last = getelementptr i8, ptr %out, i64 %size
  store i8 0, ptr %out.last, align 1
  br label %compose
compose:
  %s = phi ptr [ %m, %begin ], [ %s.less, %plain ], [ %s.less, %sign ]
  %o = phi ptr [ %out.last, %begin ], [ %o.plain, %plain ], [ %o.sign, %sign ]
  %v = phi ptr [ %values.end, %begin ], [ %v, %plain ], [ %v.less, %sign ]
  %is_done = icmp eq ptr %s, %text
  br i1 %is_done, label %raise, label %byte
byte:
  %s.less = getelementptr i8, ptr %s, i64 -1
  %byte.value = load i8, ptr %s.less, align 1
  %is_integer = icmp ugt i8 %byte.value, -3
  br i1 %is_integer, label %integer, label %plain
plain:
  %o.plain = getelementptr i8, ptr %o, i64 -1
  store i8 %byte.value, ptr %o.plain, align 1
  br label %compose
integer:
  %v.less = getelementptr i8, ptr %v, i64 -8
  %integer.value = load i64, ptr %v.less, align 8
  %is_signed = icmp eq i8 %byte.value, -1
  %is_below = icmp slt i64 %integer.value, 0
  %is_negative = and i1 %is_signed, %is_below
  %minus = sub i64 0, %integer.value
  %magnitude = select i1 %is_negative, i64 %minus, i64 %integer.value
  br label %digits
digits:
  %d.rest = phi i64 [ %magnitude, %integer ], [ %d.less, %digits ]
  %d.end = phi ptr [ %o, %integer ], [ %d.at, %digits ]
  %d.at = getelementptr i8, ptr %d.end, i64 -1
  %d.less = udiv i64 %d.rest, 10
  %d.tens = mul i64 %d.less, 10
  %d.digit = sub i64 %d.rest, %d.tens
  %d.small = trunc i64 %d.digit to i8
  %d.char = add i8 %d.small, 48
  store i8 %d.char, ptr %d.at, align 1
  %d.ends = icmp eq i64 %d.less, 0
  br i1 %d.ends, label %sign, label %digits
sign:
  %o.minus = getelementptr i8, ptr %d.at, i64 -1
  %o.sign = select i1 %is_negative, ptr %o.minus, ptr %d.at
  %first = select i1 %is_negative, i8 45, i8 %d.char
  store i8 %first, ptr %o.sign, align 1
  br label %compose
raise:
  %message = phi ptr [ @cd.no_memory, %measured ], [ %o, %compose ]
  %kind = getelementptr i8, ptr %m.next, i64 1
  %kind.byte = load i8, ptr %m.next, align 1
  %kind.size = zext i8 %kind.byte to i64
  %location = getelementptr i8, ptr %kind, i64 %kind.size
  %env = load ptr, ptr @__chipdock_env, align 8
  %alone = icmp eq ptr %env, null
  br i1 %alone, label %find, label %host
host:
  %env.raise = getelementptr i8, ptr %env, i64 16
  %do.raise = load ptr, ptr %env.raise, align 8
  call void %do.raise(ptr %env, ptr %kind, ptr %message, ptr %location)
  br label %raised
find:
  %found = call ptr @dlsym(ptr null, ptr @cd.ffi_raise)
  %missing = icmp eq ptr %found, null
  br i1 %missing, label %raised, label %ffi
ffi:
  call void %found(ptr %kind, ptr %message)
  br label %raised
raised:
  call void @free(ptr %out)
  ret i32 -1
}

define internal i32 @cd.h.free_workspace(i32 %device_type, i32 %device_id, ptr %data) #0 {
entry:
  %env = load ptr, ptr @__chipdock_env, align 8
  %alone = icmp eq ptr %env, null
  br i1 %alone, label %own, label %host
host:
  %env.free_workspace = getelementptr i8, ptr %env, i64 32
  %do.free_workspace = load ptr, ptr %env.free_workspace, align 8
  %status = call i32 %do.free_workspace(ptr %env, i32 %device_type, i32 %device_id, ptr %data)
  ret i32 %status
own:
  %nothing = icmp eq ptr %data, null
  br i1 %nothing, label %done, label %release
release:
  %kept = getelementptr i8, ptr %data, i64 -8
  %whole = load ptr, ptr %kept, align 8
  call void @free(ptr %whole)
  br label %done
done:
  ret i32 0
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

declare ptr @dlsym(ptr, ptr)
declare void @free(ptr)
declare ptr @malloc(i64)

attributes #0 = { nounwind "target-cpu"="x86-64-v3" }
!0 = !{!"branch_weights", i32 2000, i32 1}
