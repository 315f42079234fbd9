/* A data space is said to be there, and no address of it is written. */
#define ZOO_ALLOCATE nothing
#include "zoo.h"
static int32_t nothing(void *self_, int32_t device_id, const ChipdockDataSpaceRequest *request, void **out_data) {
  (void)request;
  (void)out_data;
  return check_device(self_, device_id);
}
