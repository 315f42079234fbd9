/* The work on the device failed, which is said as it should be. */
#define ZOO_SYNC fails
#include "zoo.h"
static int32_t fails(void *self_, int32_t device_id, void *stream) {
  (void)device_id;
  (void)stream;
  return fail(self_, CHIPDOCK_DEVICE_LOST, "DeviceLost", "the lion is out");
}
