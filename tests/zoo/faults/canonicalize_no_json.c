/* canonicalize answers what is no JSON. */
#define ZOO_CANONICALIZE no_json
#include "zoo.h"
static int32_t no_json(void *self_, ChipdockStr target_json, ChipdockAny *out_target_json) {
  (void)self_;
  (void)target_json;
  *out_target_json = string_value(text("lions and tigers"));
  return CHIPDOCK_OK;
}
