/* init takes the number of host memory for its device. */
#define ZOO_INIT takes
#include "zoo.h"
static int32_t takes(const ChipdockHost *host, const ChipdockRegistrar *registrar) {
  int32_t number = 0;
  int32_t status =
      registrar->device_api(registrar->self_, text("mine"), CHIPDOCK_DEVICE_CPU, text("{}"), NULL, &zoo_device_api, &number);
  return status == CHIPDOCK_OK ? zoo_init(host, registrar) : status;
}
