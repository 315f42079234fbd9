/* init logs a line of 64 MiB. */
#define ZOO_INIT logs
#include "zoo.h"
static int32_t logs(const ChipdockHost *host, const ChipdockRegistrar *registrar) {
  host->log(host->self_, CHIPDOCK_LOG_WARNING, long_text(64 * MIB));
  return zoo_init(host, registrar);
}
