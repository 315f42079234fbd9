/* The work on the device failed, and nothing says so. */
#define ZOO_SYNC fails
#include "zoo.h"
static int32_t fails(void *self_, int32_t device_id, void *stream) {
  (void)self_;
  (void)device_id;
  (void)stream;
  return 99;
}
