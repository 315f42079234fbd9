/* A name is a small string of 200 bytes, of which seven have room. */
#define ZOO_ATTRIBUTE too_long
#include "zoo.h"
static int32_t too_long(void *self_, int32_t device_id, ChipdockStr key, ChipdockAny *out_value) {
  int32_t status = zoo_attribute(self_, device_id, key, out_value);
  if (!is_text(key, "device_name")) return status;
  *out_value = string_value(text("cage"));
  out_value->small_length = 200;
  return CHIPDOCK_OK;
}
