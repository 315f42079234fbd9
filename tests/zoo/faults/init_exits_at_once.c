/* init ends the process without a word to anybody. */
#define ZOO_INIT exits
#include "zoo.h"
static int32_t exits(const ChipdockHost *host, const ChipdockRegistrar *registrar) {
  if (host != NULL) _exit(0);
  return zoo_init(host, registrar);
}
