/* A registered name is 64 MiB long. */
#define ZOO_INIT long_name
#include "zoo.h"
static int32_t long_name(const ChipdockHost *host, const ChipdockRegistrar *registrar) {
  ChipdockStr name = long_text(64 * MIB);
  int32_t status = registrar->function(registrar->self_, name, NULL, zoo_answer, zoo_release);
  free_text(name);
  return status == CHIPDOCK_OK ? zoo_init(host, registrar) : status;
}
