/* No data space is left, and nothing says so. */
#define ZOO_ALLOCATE fails
#include "zoo.h"
static int32_t fails(void *self_, int32_t device_id, const ChipdockDataSpaceRequest *request, void **out_data) {
  (void)self_;
  (void)device_id;
  (void)request;
  (void)out_data;
  return CHIPDOCK_OUT_OF_MEMORY;
}
