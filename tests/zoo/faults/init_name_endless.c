/* A registered name is said to be 2^63 bytes long. */
#define ZOO_INIT endless_name
#include "zoo.h"
static int32_t endless_name(const ChipdockHost *host, const ChipdockRegistrar *registrar) {
  ChipdockStr endless = {"zoo", (size_t)1 << 63};
  int32_t status = registrar->function(registrar->self_, endless, NULL, zoo_answer, zoo_release);
  return status == CHIPDOCK_OK ? zoo_init(host, registrar) : status;
}
