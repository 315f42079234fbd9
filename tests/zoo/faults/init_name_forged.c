/* A registered name clears the screen and says what it likes. */
#define ZOO_INIT forges
#include "zoo.h"
static int32_t forges(const ChipdockHost *host, const ChipdockRegistrar *registrar) {
  int32_t status = registrar->function(registrar->self_, text("zoo" FORGED), NULL, zoo_answer, zoo_release);
  return status == CHIPDOCK_OK ? zoo_init(host, registrar) : status;
}
