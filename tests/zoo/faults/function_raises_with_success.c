/* The compiled function raises an error and says that all went well: the error is dropped. */
#define ZOO_VECTOR_ADD raises
#include "zoo.h"
static int32_t raises(void *self_, const ChipdockAny *args, int32_t num_args, ChipdockAny *result) {
  fail(((ZooFunction *)self_)->zoo, CHIPDOCK_ERROR, "RuntimeError", "not really");
  return zoo_vector_add(self_, args, num_args, result);
}
