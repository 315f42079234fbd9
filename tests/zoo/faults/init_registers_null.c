/* init registers a table that is null. */
#define ZOO_INIT null_table
#include "zoo.h"
static int32_t null_table(const ChipdockHost *host, const ChipdockRegistrar *registrar) {
  int32_t status = registrar->module_loader(registrar->self_, text("nobody"), text("{}"), NULL, NULL);
  return status == CHIPDOCK_OK ? zoo_init(host, registrar) : status;
}
