/* The registrar is called after init, when it is gone. */
#define ZOO_INIT keeps
#define ZOO_DEVICE_COUNT calls_it
#include "zoo.h"
static ChipdockRegistrar kept;
static int32_t keeps(const ChipdockHost *host, const ChipdockRegistrar *registrar) {
  kept = *registrar;
  return zoo_init(host, registrar);
}
static int32_t calls_it(void *self_, int32_t *out_count) {
  int32_t status = kept.function(kept.self_, text("zoo.late"), self_, zoo_answer, zoo_release);
  return status == CHIPDOCK_OK ? zoo_device_count(self_, out_count) : status;
}
