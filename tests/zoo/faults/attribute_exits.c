/* attribute ends the process, as if all were well. */
#define ZOO_ATTRIBUTE exits
#include "zoo.h"
static int32_t exits(void *self_, int32_t device_id, ChipdockStr key, ChipdockAny *out_value) {
  if (is_text(key, "device_name")) exit(0);
  return zoo_attribute(self_, device_id, key, out_value);
}
