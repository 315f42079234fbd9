/* init registers everything twice. */
#define ZOO_INIT twice
#include "zoo.h"
static int32_t twice(const ChipdockHost *host, const ChipdockRegistrar *registrar) {
  int32_t status = zoo_init(host, registrar);
  return status == CHIPDOCK_OK ? zoo_init(host, registrar) : status;
}
