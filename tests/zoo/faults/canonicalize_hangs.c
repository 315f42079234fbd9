/* canonicalize hangs. */
#define ZOO_CANONICALIZE hangs
#include "zoo.h"
static int32_t hangs(void *self_, ChipdockStr target_json, ChipdockAny *out_target_json) {
  hang();
  return zoo_canonicalize(self_, target_json, out_target_json);
}
