/* canonicalize ends the process, as if all were well. */
#define ZOO_CANONICALIZE exits
#include "zoo.h"
static int32_t exits(void *self_, ChipdockStr target_json, ChipdockAny *out_target_json) {
  if (self_ != NULL) exit(0);
  return zoo_canonicalize(self_, target_json, out_target_json);
}
