/* canonicalize answers a target of another kind. */
#define ZOO_CANONICALIZE other
#include "zoo.h"
static int32_t other(void *self_, ChipdockStr target_json, ChipdockAny *out_target_json) {
  (void)self_;
  (void)target_json;
  *out_target_json = string_value(text("{\"kind\": \"c\", \"tag\": \"\", \"keys\": [\"cpu\"]}"));
  return CHIPDOCK_OK;
}
