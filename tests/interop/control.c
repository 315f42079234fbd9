// A library that nothing of Chipdock made: it tells what TVM-FFI itself does from what our libraries do.
#include <stdint.h>

extern void TVMFFIErrorSetRaisedFromCStr(const char *kind, const char *message) __attribute__((weak));
extern void *TVMFFIEnvGetStream(int32_t device_type, int32_t device_id) __attribute__((weak));

typedef struct {
    int32_t type_index;
    uint32_t padding;
    int64_t value;
} Any;

int __tvm_ffi_add(void *self, const void *args, int32_t num_args, void *result) {
    (void)self, (void)args, (void)num_args, (void)result;
    return 0;
}

int __tvm_ffi_bad(void *self, const void *args, int32_t num_args, void *result) {
    (void)self, (void)args, (void)num_args, (void)result;
    TVMFFIErrorSetRaisedFromCStr("ValueError", "always");
    return -1;
}

// The stream of the device of the last two arguments.
int __tvm_ffi_stream_of(void *self, const void *args, int32_t num_args, void *result) {
    (void)self;
    const Any *device = (const Any *)args + num_args - 2;
    Any answer = {1, 0, (int64_t)(intptr_t)TVMFFIEnvGetStream((int32_t)device[0].value, (int32_t)device[1].value)};
    *(Any *)result = answer;
    return 0;
}
