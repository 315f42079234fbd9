/* There are said to be 2^31 - 1 devices. */
#define ZOO_DEVICE_COUNT too_many
#include "zoo.h"
static int32_t too_many(void *self_, int32_t *out_count) {
  (void)self_;
  *out_count = INT32_MAX;
  return CHIPDOCK_OK;
}
