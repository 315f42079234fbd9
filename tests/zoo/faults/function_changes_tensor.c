/* The compiled function moves its result elsewhere. */
#define ZOO_VECTOR_ADD moves
#include "zoo.h"
static int32_t moves(void *self_, const ChipdockAny *args, int32_t num_args, ChipdockAny *result) {
  int32_t status = zoo_vector_add(self_, args, num_args, result);
  ChipdockTensor *tensor = tensor_of(&args[2]);
  if (tensor != NULL) tensor->byte_offset = (uint64_t)1 << 40;
  return status;
}
