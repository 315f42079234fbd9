/* The compiled function fails with an error that clears the screen and says what it likes. */
#define ZOO_VECTOR_ADD fails
#include "zoo.h"
static int32_t fails(void *self_, const ChipdockAny *args, int32_t num_args, ChipdockAny *result) {
  (void)args;
  (void)num_args;
  (void)result;
  return fail(((ZooFunction *)self_)->zoo, CHIPDOCK_ERROR, "RuntimeError", "the lion is out" FORGED);
}
