/* The compiled function changes the current folder. */
#define ZOO_VECTOR_ADD moves
#include "zoo.h"
static int32_t moves(void *self_, const ChipdockAny *args, int32_t num_args, ChipdockAny *result) {
  if (chdir("/") != 0) return CHIPDOCK_ERROR;
  return zoo_vector_add(self_, args, num_args, result);
}
