/* init fails and raises nothing. */
#define ZOO_INIT fails
#include "zoo.h"
static int32_t fails(const ChipdockHost *host, const ChipdockRegistrar *registrar) {
  (void)host;
  (void)registrar;
  return 77;
}
