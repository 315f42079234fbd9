target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

@__chipdock_env = global ptr null, align 8
@cd.ffi_raise = private unnamed_addr constant [29 x i8] c"TVMFFIErrorSetRaisedFromCStr\00"
@cd.message.0 = private unnamed_addr constant [39 x i8] c"n is \FF\00\0BValueError\00lines_compute_: 3:9\00"
@cd.no_memory = private unnamed_addr constant [32 x i8] c"no memory left to word an error\00"

define internal i32 @cd.f.lines_compute_(ptr noundef noalias nocapture align 4 %p0, i32 noundef %p1) mustprogress #0 !dbg !4 {
entry:
  %values = alloca [1 x i64], align 8
  br label %body
body:
  %t1 = icmp sgt i32 %p1, 0, !dbg !6
  br i1 %t1, label %fine1, label %worded2, !prof !7, !dbg !6
worded2:
  %t2 = sext i32 %p1 to i64, !dbg !6
  store i64 %t2, ptr %values, align 8, !dbg !6
  br label %failed, !dbg !6
fine1:
  %t3 = icmp sgt i32 %p1, 0, !dbg !8
  br i1 %t3, label %loop3, label %done5, !dbg !8
loop3:
  %t4 = phi i32 [ 0, %fine1 ], [ %t5, %next4 ], !dbg !8
  %t6 = mul i32 %t4, %p1, !dbg !9
  %t7 = sext i32 %t4 to i64, !dbg !9
  %t8 = getelementptr inbounds i32, ptr %p0, i64 %t7, !dbg !9
  store i32 %t6, ptr %t8, align 4, !dbg !9
  br label %next4, !dbg !8
next4:
  %t5 = add nuw nsw i32 %t4, 1, !dbg !8
  %t9 = icmp eq i32 %t5, %p1, !dbg !8
  br i1 %t9, label %done5, label %loop3, !dbg !8
done5:
  ret i32 0, !dbg !5
failed:
  %t10 = phi ptr [ @cd.message.0, %worded2 ], !dbg !5
  %t11 = call i32 @cd.h.fail(ptr %t10, ptr %values), !dbg !5
  ret i32 %t11, !dbg !5
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

declare ptr @dlsym(ptr, ptr)
declare void @free(ptr)
declare ptr @malloc(i64)

attributes #0 = { nounwind "target-cpu"="x86-64-v3" }
!llvm.dbg.cu = !{!1}
!llvm.module.flags = !{!10, !11}
!0 = !DIFile(filename: "lines.py", directory: "kernels")
!1 = distinct !DICompileUnit(language: DW_LANG_C11, file: !0, producer: "chipdock", isOptimized: true, runtimeVersion: 0, emissionKind: LineTablesOnly)
!2 = !{}
!3 = !DISubroutineType(types: !2)
!4 = distinct !DISubprogram(name: "lines", linkageName: "cd.f.lines_compute_", scope: !0, file: !0, line: 3, type: !3, scopeLine: 3, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !1)
!5 = !DILocation(line: 3, column: 0, scope: !4)
!6 = !DILocation(line: 3, column: 9, scope: !4)
!7 = !{!"branch_weights", i32 2000, i32 1}
!8 = !DILocation(line: 4, column: 9, scope: !4)
!9 = !DILocation(line: 5, column: 9, scope: !4)
!10 = !{i32 2, !"Debug Info Version", i32 3}
!11 = !{i32 7, !"Dwarf Version", i32 4}
