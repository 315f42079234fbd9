/* A name is 64 MiB long. */
#define ZOO_ATTRIBUTE long_name
#include "zoo.h"
static int32_t long_name(void *self_, int32_t device_id, ChipdockStr key, ChipdockAny *out_value) {
  if (!is_text(key, "device_name")) return zoo_attribute(self_, device_id, key, out_value);
  *out_value = long_string(64 * MIB);
  return CHIPDOCK_OK;
}
