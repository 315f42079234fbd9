/* The library calls what nobody defines. */
#define ZOO_DEVICE_COUNT calls_nobody
#include "zoo.h"
extern int nobody_defines_this(void);
static int32_t calls_nobody(void *self_, int32_t *out_count) {
  return zoo_device_count(self_, out_count) + nobody_defines_this();
}
