/* link: vendor. The library needs another one, which is not there. */
#define ZOO_DEVICE_COUNT calls_vendor
#include "zoo.h"
extern int zoo_vendor(void);
static int32_t calls_vendor(void *self_, int32_t *out_count) {
  return zoo_device_count(self_, out_count) + zoo_vendor();
}
