/* A module's function is a function object at null. */
#define ZOO_GET_FUNCTION null
#include "zoo.h"
static int32_t null(void *self_, ChipdockStr name, ChipdockAny *out_function) {
  (void)self_;
  (void)name;
  *out_function = none();
  out_function->type_index = CHIPDOCK_TYPE_FUNCTION;
  return CHIPDOCK_OK;
}
