/* A copy fails and raises nothing. */
#define ZOO_COPY fails
#include "zoo.h"
static int32_t fails(void *self_, int32_t device_id, const ChipdockCopy *copy, void *stream) {
  (void)self_;
  (void)device_id;
  (void)copy;
  (void)stream;
  return CHIPDOCK_ERROR;
}
