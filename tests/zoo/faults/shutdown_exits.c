/* shutdown ends the process, as if all were well. */
#define ZOO_SHUTDOWN exits
#include "zoo.h"
static int32_t exits(const ChipdockHost *host) {
  if (host != NULL) exit(0);
  return zoo_shutdown(host);
}
