/* sync_stream crashes. */
#define ZOO_SYNC crashes
#include "zoo.h"
static int32_t crashes(void *self_, int32_t device_id, void *stream) {
  crash();
  return zoo_sync(self_, device_id, stream);
}
