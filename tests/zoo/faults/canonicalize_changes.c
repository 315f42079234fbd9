/* canonicalize answers another target each time. */
#define ZOO_CANONICALIZE changes
#include "zoo.h"
static int32_t changes(void *self_, ChipdockStr target_json, ChipdockAny *out_target_json) {
  static int calls = 0;
  char answer[128];
  (void)self_;
  (void)target_json;
  snprintf(answer, sizeof answer, "{\"kind\": \"zoo\", \"tag\": \"\", \"keys\": [\"zoo\"], \"bars\": %d}", ++calls);
  *out_target_json = string_value(text(answer));
  return CHIPDOCK_OK;
}
