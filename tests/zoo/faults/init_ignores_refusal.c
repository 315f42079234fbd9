/* A registration is refused, and init says that all went well. */
#define ZOO_INIT ignores
#include "zoo.h"
static int32_t ignores(const ChipdockHost *host, const ChipdockRegistrar *registrar) {
  Zoo zoo = {host, 0, NULL};
  registrar->function(registrar->self_, text("two words"), &zoo, zoo_answer, zoo_release);
  return zoo_init(host, registrar);
}
