/* init asks its host for somebody's function, which may load another plugin. */
#define ZOO_INIT asks
#include "zoo.h"
static int32_t asks(const ChipdockHost *host, const ChipdockRegistrar *registrar) {
  ChipdockAny found = none();
  int32_t status = host->function(host->self_, text("anything"), &found);
  return status == CHIPDOCK_OK ? zoo_init(host, registrar) : status;
}
