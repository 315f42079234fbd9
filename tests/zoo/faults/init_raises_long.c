/* init fails with an error of 64 MiB. */
#define ZOO_INIT fails
#include "zoo.h"
static int32_t fails(const ChipdockHost *host, const ChipdockRegistrar *registrar) {
  (void)registrar;
  host->raise(host->self_, text("IoError"), long_text(64 * MIB));
  return CHIPDOCK_IO;
}
