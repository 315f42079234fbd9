/* init registers a million functions. */
#define ZOO_INIT many
#include "zoo.h"
static int32_t many(const ChipdockHost *host, const ChipdockRegistrar *registrar) {
  int32_t status = CHIPDOCK_OK;
  int number;
  char name[32];
  for (number = 0; number < 1000000 && status == CHIPDOCK_OK; number++) {
    snprintf(name, sizeof name, "zoo.f%d", number);
    status = registrar->function(registrar->self_, text(name), NULL, zoo_answer, zoo_release);
  }
  return status == CHIPDOCK_OK ? zoo_init(host, registrar) : status;
}
