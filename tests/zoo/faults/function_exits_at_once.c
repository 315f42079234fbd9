/* The compiled function ends the process without a word to anybody. */
#define ZOO_VECTOR_ADD exits
#include "zoo.h"
static int32_t exits(void *self_, const ChipdockAny *args, int32_t num_args, ChipdockAny *result) {
  if (self_ != NULL) _exit(0);
  return zoo_vector_add(self_, args, num_args, result);
}
