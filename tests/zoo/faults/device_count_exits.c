/* device_count ends the process, as if all were well. */
#define ZOO_DEVICE_COUNT exits
#include "zoo.h"
static int32_t exits(void *self_, int32_t *out_count) {
  if (self_ != NULL) exit(0);
  return zoo_device_count(self_, out_count);
}
