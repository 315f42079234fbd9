/* The compiled function crashes. */
#define ZOO_VECTOR_ADD crashes
#include "zoo.h"
static int32_t crashes(void *self_, const ChipdockAny *args, int32_t num_args, ChipdockAny *result) {
  crash();
  return zoo_vector_add(self_, args, num_args, result);
}
