/* copy_data crashes. */
#define ZOO_COPY crashes
#include "zoo.h"
static int32_t crashes(void *self_, int32_t device_id, const ChipdockCopy *copy, void *stream) {
  crash();
  return zoo_copy(self_, device_id, copy, stream);
}
