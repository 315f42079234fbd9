/* device_count hangs. */
#define ZOO_DEVICE_COUNT hangs
#include "zoo.h"
static int32_t hangs(void *self_, int32_t *out_count) {
  hang();
  return zoo_device_count(self_, out_count);
}
