/* A data space cannot be freed. */
#define ZOO_FREE fails
#include "zoo.h"
static int32_t fails(void *self_, int32_t device_id, void *data) {
  (void)device_id;
  (void)data;
  return fail(self_, CHIPDOCK_DEVICE_LOST, "DeviceLost", "the key is gone");
}
