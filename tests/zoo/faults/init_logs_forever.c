/* init never ends, and logs all the time. */
#define ZOO_INIT logs
#include "zoo.h"
static int32_t logs(const ChipdockHost *host, const ChipdockRegistrar *registrar) {
  for (;;) host->log(host->self_, CHIPDOCK_LOG_WARNING, text("roar"));
  return zoo_init(host, registrar);
}
