/* canonicalize refuses with an error that clears the screen and says what it likes. */
#define ZOO_CANONICALIZE forged
#include "zoo.h"
static int32_t forged(void *self_, ChipdockStr target_json, ChipdockAny *out_target_json) {
  (void)target_json;
  (void)out_target_json;
  return fail(self_, CHIPDOCK_INVALID_ARGUMENT, "ValueError", "no such cage" FORGED);
}
