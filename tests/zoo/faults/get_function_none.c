/* A module does not have the function that its index shows. */
#define ZOO_GET_FUNCTION nothing
#include "zoo.h"
static int32_t nothing(void *self_, ChipdockStr name, ChipdockAny *out_function) {
  (void)self_;
  (void)name;
  *out_function = none();
  return CHIPDOCK_OK;
}
