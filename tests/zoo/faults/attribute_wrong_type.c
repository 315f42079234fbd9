/* A name is a function. */
#define ZOO_ATTRIBUTE wrong_type
#include "zoo.h"
static int32_t wrong_type(void *self_, int32_t device_id, ChipdockStr key, ChipdockAny *out_value) {
  if (is_text(key, "device_name")) return zoo_get_function(self_, text("vector_add"), out_value);
  return zoo_attribute(self_, device_id, key, out_value);
}
