/* canonicalize answers nothing. */
#define ZOO_CANONICALIZE nothing
#include "zoo.h"
static int32_t nothing(void *self_, ChipdockStr target_json, ChipdockAny *out_target_json) {
  (void)self_;
  (void)target_json;
  *out_target_json = none();
  return CHIPDOCK_OK;
}
