/* The compiled function fails and raises nothing. */
#define ZOO_VECTOR_ADD fails
#include "zoo.h"
static int32_t fails(void *self_, const ChipdockAny *args, int32_t num_args, ChipdockAny *result) {
  (void)self_;
  (void)args;
  (void)num_args;
  (void)result;
  return CHIPDOCK_ERROR;
}
