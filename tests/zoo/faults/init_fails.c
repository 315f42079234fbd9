/* init fails as it should: it raises an error. */
#define ZOO_INIT fails
#include "zoo.h"
static int32_t fails(const ChipdockHost *host, const ChipdockRegistrar *registrar) {
  (void)registrar;
  host->raise(host->self_, text("IoError"), text("the cage is locked"));
  return CHIPDOCK_IO;
}
