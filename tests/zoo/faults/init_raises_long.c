/* init fails with an error of 64 MiB. */
#define ZOO_INIT fails
#include "zoo.h"
static int32_t fails(const ChipdockHost *host, const ChipdockRegistrar *registrar) {
  ChipdockStr message = long_text(64 * MIB);
  (void)registrar;
  host->raise(host->self_, text("IoError"), message);
  free_text(message);
  return CHIPDOCK_IO;
}
