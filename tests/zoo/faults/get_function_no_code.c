/* A module's function is an object without code. */
#define ZOO_GET_FUNCTION no_code
#include "zoo.h"
static int32_t no_code(void *self_, ChipdockStr name, ChipdockAny *out_function) {
  int32_t status = zoo_get_function(self_, name, out_function);
  ((ChipdockFunctionObject *)(void *)out_function->value.v_object)->safe_call = NULL;
  return status;
}
