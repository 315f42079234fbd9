/* canonicalize answers a borrowed string, which no owned value may be. */
#define ZOO_CANONICALIZE view
#include "zoo.h"
static int32_t view(void *self_, ChipdockStr target_json, ChipdockAny *out_target_json) {
  (void)self_;
  (void)target_json;
  *out_target_json = none();
  out_target_json->type_index = CHIPDOCK_TYPE_RAW_STR;
  out_target_json->value.v_c_str = "{\"kind\": \"zoo\"}";
  return CHIPDOCK_OK;
}
