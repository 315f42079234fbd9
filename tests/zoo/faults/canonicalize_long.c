/* canonicalize answers 64 MiB. */
#define ZOO_CANONICALIZE long_answer
#include "zoo.h"
static int32_t long_answer(void *self_, ChipdockStr target_json, ChipdockAny *out_target_json) {
  (void)self_;
  (void)target_json;
  *out_target_json = long_string(64 * MIB);
  return CHIPDOCK_OK;
}
