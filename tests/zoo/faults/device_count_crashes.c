/* device_count crashes. */
#define ZOO_DEVICE_COUNT crashes
#include "zoo.h"
static int32_t crashes(void *self_, int32_t *out_count) {
  crash();
  return zoo_device_count(self_, out_count);
}
