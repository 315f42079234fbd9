/* allocate_data_space crashes. */
#define ZOO_ALLOCATE crashes
#include "zoo.h"
static int32_t crashes(void *self_, int32_t device_id, const ChipdockDataSpaceRequest *request, void **out_data) {
  crash();
  return zoo_allocate(self_, device_id, request, out_data);
}
