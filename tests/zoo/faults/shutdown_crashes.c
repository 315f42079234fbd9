/* shutdown crashes. */
#define ZOO_SHUTDOWN crashes
#include "zoo.h"
static int32_t crashes(const ChipdockHost *host) {
  crash();
  return zoo_shutdown(host);
}
