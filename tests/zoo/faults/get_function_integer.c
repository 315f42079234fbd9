/* A module's function is a number. */
#define ZOO_GET_FUNCTION number
#include "zoo.h"
static int32_t number(void *self_, ChipdockStr name, ChipdockAny *out_function) {
  (void)self_;
  (void)name;
  *out_function = integer(7);
  return CHIPDOCK_OK;
}
