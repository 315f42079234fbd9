/* device_count ends the process without a word to anybody. */
#define ZOO_DEVICE_COUNT exits
#include "zoo.h"
static int32_t exits(void *self_, int32_t *out_count) {
  if (self_ != NULL) _exit(0);
  return zoo_device_count(self_, out_count);
}
