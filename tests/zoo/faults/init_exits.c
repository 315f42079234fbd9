/* init ends the process, as if all were well. */
#define ZOO_INIT exits
#include "zoo.h"
static int32_t exits(const ChipdockHost *host, const ChipdockRegistrar *registrar) {
  if (host != NULL) exit(0);
  return zoo_init(host, registrar);
}
