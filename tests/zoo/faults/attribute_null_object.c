/* A name is a string object at null. */
#define ZOO_ATTRIBUTE null_object
#include "zoo.h"
static int32_t null_object(void *self_, int32_t device_id, ChipdockStr key, ChipdockAny *out_value) {
  int32_t status = zoo_attribute(self_, device_id, key, out_value);
  if (!is_text(key, "device_name")) return status;
  *out_value = none();
  out_value->type_index = CHIPDOCK_TYPE_STR;
  return CHIPDOCK_OK;
}
