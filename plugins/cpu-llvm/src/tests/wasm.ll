; An environment as `ChipdockEnv` has it where pointers have 32 bits, which hands over to functions of JavaScript.
declare void @js_raise(ptr, ptr, ptr)
declare ptr @js_allocate(i32, i32, i64)
declare i32 @js_free(i32, i32, ptr)

define void @env_raise(ptr %env, ptr %kind, ptr %message, ptr %location) {
  call void @js_raise(ptr %kind, ptr %message, ptr %location)
  ret void
}
define ptr @env_allocate(ptr %env, i32 %type, i32 %id, i64 %size) {
  %data = call ptr @js_allocate(i32 %type, i32 %id, i64 %size)
  ret ptr %data
}
define i32 @env_free(ptr %env, i32 %type, i32 %id, ptr %data) {
  %status = call i32 @js_free(i32 %type, i32 %id, ptr %data)
  ret i32 %status
}
define i32 @env_parallel(ptr %env, ptr %body, ptr %data, i32 %most) {
  %first = call i32 %body(i32 0, i32 2, ptr %data)
  %second = call i32 %body(i32 1, i32 2, ptr %data)
  %both = or i32 %first, %second
  ret i32 %both
}
@env = global { i32, i32, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr }
  { i32 1, i32 0, ptr null, ptr @env_raise, ptr @env_allocate, ptr @env_free, ptr null, ptr null, ptr null, ptr null,
    ptr null, ptr @env_parallel, ptr null, ptr null }
