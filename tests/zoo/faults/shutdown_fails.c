/* shutdown fails and raises nothing. */
#define ZOO_SHUTDOWN fails
#include "zoo.h"
static int32_t fails(const ChipdockHost *host) {
  (void)host;
  return CHIPDOCK_ERROR;
}
