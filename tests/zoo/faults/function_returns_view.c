/* The compiled function returns a borrowed string, which no owned value may be. */
#define ZOO_VECTOR_ADD view
#include "zoo.h"
static int32_t view(void *self_, const ChipdockAny *args, int32_t num_args, ChipdockAny *result) {
  int32_t status = zoo_vector_add(self_, args, num_args, result);
  result->type_index = CHIPDOCK_TYPE_RAW_STR;
  result->value.v_c_str = "done";
  return status;
}
