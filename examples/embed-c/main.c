/*
 * Compiles a kernel and runs it on a device: the host in a C program.
 *
 *     cc -std=c99 main.c -I<include> -L<lib> -lchipdock -Wl,-rpath,<lib> -o embed
 *     ./embed vector_add.py [TARGET [DEVICE]]
 *
 * <include> has chipdock_host.h and chipdock.h, <lib> has libchipdock.so and, beside it, the folder plugins.
 */

#include <chipdock_host.h>

#include <stdio.h>
#include <stdlib.h>

/* Prints this thread's error; returns 1. */
static int failed(void) {
  ChipdockAny error;
  chipdock_take_error(&error);
  if (error.type_index == CHIPDOCK_TYPE_ERROR) {
    const ChipdockErrorObject *object = (const ChipdockErrorObject *)error.value.v_object;
    fprintf(stderr, "%.*s: %.*s\n", (int)object->kind.size, object->kind.data, (int)object->message.size,
            object->message.data);
  }
  chipdock_release(&error);
  return 1;
}

/* Returns the text of a file, which the caller frees; null if it cannot be read. */
static char *text_of(const char *path) {
  FILE *file = fopen(path, "rb");
  char *text = NULL;
  long size;
  if (file && fseek(file, 0, SEEK_END) == 0 && (size = ftell(file)) >= 0 && fseek(file, 0, SEEK_SET) == 0 &&
      (text = malloc((size_t)size + 1))) {
    text[fread(text, 1, (size_t)size, file)] = '\0';
  }
  if (file) fclose(file);
  return text;
}

static ChipdockTensor vector_of(float *elements, int64_t *count) {
  ChipdockTensor tensor;
  memset(&tensor, 0, sizeof(tensor));
  tensor.data = elements;
  tensor.device.device_type = CHIPDOCK_DEVICE_CPU;
  tensor.ndim = 1;
  tensor.dtype.code = CHIPDOCK_DTYPE_FLOAT;
  tensor.dtype.bits = 32;
  tensor.dtype.lanes = 1;
  tensor.shape = count;
  return tensor;
}

int main(int argc, char **argv) {
  float a[] = {1, 2, 3}, b[] = {10, 20, 30}, c[] = {0, 0, 0};
  int64_t count = 3;
  ChipdockTensor ta = vector_of(a, &count), tb = vector_of(b, &count), tc = vector_of(c, &count);
  ChipdockAny host = chipdock_value(CHIPDOCK_TYPE_NONE), module = host, result = host;
  char *text = argc > 1 ? text_of(argv[1]) : NULL;
  int status = 1;
  if (!text) {
    fprintf(stderr, "usage: embed KERNEL.py [TARGET [DEVICE]]\n");
    return 2;
  }
  if (__tvm_ffi_host(NULL, NULL, 0, &host) == 0) {
    ChipdockAny compile[3], run[6];
    compile[0] = host;
    compile[1] = chipdock_text(text);
    compile[2] = chipdock_text(argc > 2 ? argv[2] : "c");
    if (__tvm_ffi_compile(NULL, compile, 3, &module) == 0) {
      run[0] = module;
      run[1] = chipdock_text("vector_add");
      run[2] = chipdock_text(argc > 3 ? argv[3] : "cpu:0");
      run[3] = chipdock_tensor(&ta);
      run[4] = chipdock_tensor(&tb);
      run[5] = chipdock_tensor(&tc);
      if (__tvm_ffi_run(NULL, run, 6, &result) == 0) {
        printf("%g %g %g \n", (double)c[0], (double)c[1], (double)c[2]);
        status = 0;
      }
    }
  }
  if (status) status = failed();
  chipdock_release(&result);
  chipdock_release(&module);
  chipdock_release(&host);
  free(text);
  return status;
}
