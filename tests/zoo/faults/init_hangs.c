/* init hangs. */
#define ZOO_INIT hangs
#include "zoo.h"
static int32_t hangs(const ChipdockHost *host, const ChipdockRegistrar *registrar) {
  hang();
  return zoo_init(host, registrar);
}
