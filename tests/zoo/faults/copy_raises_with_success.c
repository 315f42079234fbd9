/* A copy raises an error and says that all went well: the error is dropped, for the copy was made. */
#define ZOO_COPY raises
#include "zoo.h"
static int32_t raises(void *self_, int32_t device_id, const ChipdockCopy *copy, void *stream) {
  fail(self_, CHIPDOCK_ERROR, "IoError", "not really");
  return zoo_copy(self_, device_id, copy, stream);
}
