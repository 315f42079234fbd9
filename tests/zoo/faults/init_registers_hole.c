/* init registers a table with a null slot. */
#define ZOO_INIT hole
#include "zoo.h"
static int32_t hole(const ChipdockHost *host, const ChipdockRegistrar *registrar) {
  static const ChipdockCodegenInfo info = {CHIPDOCK_STR("1.0.0"), CHIPDOCK_STR("1.99.0")};
  static const ChipdockCodegen holed = {zoo_release, in_unsupported, NULL};
  int32_t status = registrar->codegen(registrar->self_, text("holed"), &info, NULL, &holed);
  return status == CHIPDOCK_OK ? zoo_init(host, registrar) : status;
}
