/* A name clears the screen and says what it likes. */
#define ZOO_ATTRIBUTE forged
#include "zoo.h"
static int32_t forged(void *self_, int32_t device_id, ChipdockStr key, ChipdockAny *out_value) {
  if (!is_text(key, "device_name")) return zoo_attribute(self_, device_id, key, out_value);
  *out_value = string_value(text("a cage" FORGED));
  return CHIPDOCK_OK;
}
