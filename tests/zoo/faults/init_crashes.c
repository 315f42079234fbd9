/* init crashes. */
#define ZOO_INIT crashes
#include "zoo.h"
static int32_t crashes(const ChipdockHost *host, const ChipdockRegistrar *registrar) {
  crash();
  return zoo_init(host, registrar);
}
