/* init registers nothing. */
#define ZOO_INIT nothing
#include "zoo.h"
static int32_t nothing(const ChipdockHost *host, const ChipdockRegistrar *registrar) {
  (void)host;
  (void)registrar;
  return CHIPDOCK_OK;
}
