/* The compiled function prints, by the C library and past it. */
#define ZOO_VECTOR_ADD prints
#include "zoo.h"
static int32_t prints(void *self_, const ChipdockAny *args, int32_t num_args, ChipdockAny *result) {
  static const char line[] = "{\"schema\": \"chipdock.forged/1\"}\n";
  fputs(line, stdout);
  if (write(1, line, sizeof line - 1) < 0) return CHIPDOCK_ERROR;
  return zoo_vector_add(self_, args, num_args, result);
}
