/* init fails with an error that is said to be 2^46 bytes long. */
#define ZOO_INIT fails
#include "zoo.h"
static int32_t fails(const ChipdockHost *host, const ChipdockRegistrar *registrar) {
  ChipdockStr endless = {"x", (size_t)1 << 46};
  (void)registrar;
  host->raise(host->self_, text("IoError"), endless);
  return CHIPDOCK_IO;
}
