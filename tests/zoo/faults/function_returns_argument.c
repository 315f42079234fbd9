/* The compiled function returns a tensor that it was only lent. */
#define ZOO_VECTOR_ADD lent
#include "zoo.h"
static int32_t lent(void *self_, const ChipdockAny *args, int32_t num_args, ChipdockAny *result) {
  int32_t status = zoo_vector_add(self_, args, num_args, result);
  result->type_index = CHIPDOCK_TYPE_DLTENSOR_PTR;
  result->value.v_tensor = tensor_of(&args[2]);
  return status;
}
