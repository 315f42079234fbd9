/* init logs what clears the screen and looks like another's error. */
#define ZOO_INIT logs
#include "zoo.h"
static int32_t logs(const ChipdockHost *host, const ChipdockRegistrar *registrar) {
  host->log(host->self_, CHIPDOCK_LOG_WARNING, text("roar" FORGED));
  return zoo_init(host, registrar);
}
