/* A registered name is 64 MiB long. */
#define ZOO_INIT long_name
#include "zoo.h"
static int32_t long_name(const ChipdockHost *host, const ChipdockRegistrar *registrar) {
  int32_t status = registrar->function(registrar->self_, long_text(64 * MIB), NULL, zoo_answer, zoo_release);
  return status == CHIPDOCK_OK ? zoo_init(host, registrar) : status;
}
