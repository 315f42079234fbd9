/* init aborts, as a C++ exception does that nobody catches. */
#define ZOO_INIT aborts
#include "zoo.h"
static int32_t aborts(const ChipdockHost *host, const ChipdockRegistrar *registrar) {
  if (host != NULL) abort();
  return zoo_init(host, registrar);
}
