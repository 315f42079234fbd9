// Linked into an exported library: the stream that its run time answers for the device of the last two arguments.
#include "chipdock.h"

extern const ChipdockEnv *__chipdock_env;

// Everything else of the library is hidden.
__attribute__((visibility("default"))) int32_t __tvm_ffi_stream_of(void *self, const ChipdockAny *args, int32_t num_args, ChipdockAny *result) {
    (void)self;
    void *stream = 0;
    const ChipdockAny *device = args + num_args - 2;
    int32_t status = __chipdock_env->current_stream(__chipdock_env, (int32_t)device[0].value.v_int64,
                                                    (int32_t)device[1].value.v_int64, &stream);
    if (status) return status;
    result->type_index = CHIPDOCK_TYPE_INT;
    result->value.v_int64 = (int64_t)(intptr_t)stream;
    return 0;
}
