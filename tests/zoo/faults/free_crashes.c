/* free_data_space crashes. */
#define ZOO_FREE crashes
#include "zoo.h"
static int32_t crashes(void *self_, int32_t device_id, void *data) {
  crash();
  return zoo_free(self_, device_id, data);
}
