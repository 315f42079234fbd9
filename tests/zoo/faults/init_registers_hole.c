/* init registers a table with a null slot. */
#define ZOO_INIT hole
#include "zoo.h"
static int32_t hole(const ChipdockHost *host, const ChipdockRegistrar *registrar) {
  static const ChipdockCodegen holed = {zoo_release, in_unsupported, NULL, in_fingerprint};
  int32_t status = registrar->codegen(registrar->self_, text("holed"), text(ZOO_CODEGEN_INFO), NULL, &holed);
  return status == CHIPDOCK_OK ? zoo_init(host, registrar) : status;
}
