/* attribute raises an error. */
#define ZOO_ATTRIBUTE fails
#include "zoo.h"
static int32_t fails(void *self_, int32_t device_id, ChipdockStr key, ChipdockAny *out_value) {
  if (is_text(key, "device_name")) return fail(self_, CHIPDOCK_DEVICE_LOST, "DeviceLost", "the lion is out");
  return zoo_attribute(self_, device_id, key, out_value);
}
