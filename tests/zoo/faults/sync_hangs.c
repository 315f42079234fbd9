/* sync_stream hangs. */
#define ZOO_SYNC hangs
#include "zoo.h"
static int32_t hangs(void *self_, int32_t device_id, void *stream) {
  hang();
  return zoo_sync(self_, device_id, stream);
}
