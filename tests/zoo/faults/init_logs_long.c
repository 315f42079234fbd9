/* init logs a line of 64 MiB. */
#define ZOO_INIT logs
#include "zoo.h"
static int32_t logs(const ChipdockHost *host, const ChipdockRegistrar *registrar) {
  ChipdockStr line = long_text(64 * MIB);
  host->log(host->self_, CHIPDOCK_LOG_WARNING, line);
  free_text(line);
  return zoo_init(host, registrar);
}
