/* init fails with an error that clears the screen and says what it likes. */
#define ZOO_INIT fails
#include "zoo.h"
static int32_t fails(const ChipdockHost *host, const ChipdockRegistrar *registrar) {
  (void)registrar;
  host->raise(host->self_, text("Io" FORGED), text("the cage is locked" FORGED));
  return CHIPDOCK_IO;
}
