/* The device API says why there can be no device, as it should. */
#define ZOO_DEVICE_COUNT unavailable
#include "zoo.h"
static int32_t unavailable(void *self_, int32_t *out_count) {
  (void)out_count;
  return fail(self_, CHIPDOCK_UNAVAILABLE, "Unavailable", "the zoo is closed on Mondays");
}
