/* attribute hangs, at a key that devices are asked for to list them. */
#define ZOO_ATTRIBUTE hangs
#include "zoo.h"
static int32_t hangs(void *self_, int32_t device_id, ChipdockStr key, ChipdockAny *out_value) {
  if (is_text(key, "device_name")) hang();
  return zoo_attribute(self_, device_id, key, out_value);
}
