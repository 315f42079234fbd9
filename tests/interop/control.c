// A library that nothing of Chipdock made: it tells what TVM-FFI itself does from what our libraries do.
#include <stdint.h>

extern void TVMFFIErrorSetRaisedFromCStr(const char *kind, const char *message) __attribute__((weak));

int __tvm_ffi_add(void *self, const void *args, int32_t num_args, void *result) {
    (void)self, (void)args, (void)num_args, (void)result;
    return 0;
}

int __tvm_ffi_bad(void *self, const void *args, int32_t num_args, void *result) {
    (void)self, (void)args, (void)num_args, (void)result;
    TVMFFIErrorSetRaisedFromCStr("ValueError", "always");
    return -1;
}
