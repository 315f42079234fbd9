/* A data space is null, and that is said to be a success. */
#define ZOO_ALLOCATE null
#include "zoo.h"
static int32_t null(void *self_, int32_t device_id, const ChipdockDataSpaceRequest *request, void **out_data) {
  (void)request;
  *out_data = NULL;
  return check_device(self_, device_id);
}
