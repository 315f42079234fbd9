/* shutdown hangs. */
#define ZOO_SHUTDOWN hangs
#include "zoo.h"
static int32_t hangs(const ChipdockHost *host) {
  hang();
  return zoo_shutdown(host);
}
