/* A module's function is a borrowed string, which no owned value may be. */
#define ZOO_GET_FUNCTION view
#include "zoo.h"
static int32_t view(void *self_, ChipdockStr name, ChipdockAny *out_function) {
  (void)self_;
  (void)name;
  *out_function = none();
  out_function->type_index = CHIPDOCK_TYPE_RAW_STR;
  out_function->value.v_c_str = "vector_add";
  return CHIPDOCK_OK;
}
