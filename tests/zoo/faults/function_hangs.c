/* The compiled function hangs. */
#define ZOO_VECTOR_ADD hangs
#include "zoo.h"
static int32_t hangs(void *self_, const ChipdockAny *args, int32_t num_args, ChipdockAny *result) {
  hang();
  return zoo_vector_add(self_, args, num_args, result);
}
