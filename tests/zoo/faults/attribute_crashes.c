/* attribute crashes, at a key that devices are asked for to list them. */
#define ZOO_ATTRIBUTE crashes
#include "zoo.h"
static int32_t crashes(void *self_, int32_t device_id, ChipdockStr key, ChipdockAny *out_value) {
  if (is_text(key, "device_name")) crash();
  return zoo_attribute(self_, device_id, key, out_value);
}
