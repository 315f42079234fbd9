/* No data space is left, which is said as it should be. */
#define ZOO_ALLOCATE fails
#include "zoo.h"
static int32_t fails(void *self_, int32_t device_id, const ChipdockDataSpaceRequest *request, void **out_data) {
  (void)device_id;
  (void)request;
  (void)out_data;
  return fail(self_, CHIPDOCK_OUT_OF_MEMORY, "OutOfMemory", "the zoo is full");
}
