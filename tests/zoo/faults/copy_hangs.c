/* copy_data hangs. */
#define ZOO_COPY hangs
#include "zoo.h"
static int32_t hangs(void *self_, int32_t device_id, const ChipdockCopy *copy, void *stream) {
  hang();
  return zoo_copy(self_, device_id, copy, stream);
}
