/* The compiled function makes every new file unreadable. */
#define ZOO_VECTOR_ADD masks
#include "zoo.h"
static int32_t masks(void *self_, const ChipdockAny *args, int32_t num_args, ChipdockAny *result) {
  umask(0777);
  return zoo_vector_add(self_, args, num_args, result);
}
