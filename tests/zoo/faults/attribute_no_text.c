/* A name is no UTF-8. */
#define ZOO_ATTRIBUTE no_text
#include "zoo.h"
static int32_t no_text(void *self_, int32_t device_id, ChipdockStr key, ChipdockAny *out_value) {
  if (!is_text(key, "device_name")) return zoo_attribute(self_, device_id, key, out_value);
  *out_value = string_value(text("a cage \xff\xfe"));
  return CHIPDOCK_OK;
}
