/* canonicalize crashes. */
#define ZOO_CANONICALIZE crashes
#include "zoo.h"
static int32_t crashes(void *self_, ChipdockStr target_json, ChipdockAny *out_target_json) {
  crash();
  return zoo_canonicalize(self_, target_json, out_target_json);
}
