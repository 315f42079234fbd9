/* Releasing what was registered crashes, which a host may skip at its end. */
#define ZOO_DESTROY crashes
#define ZOO_MODULE_DESTROY zoo_release
#include "zoo.h"
static void crashes(void *self_) {
  (void)self_;
  crash();
}
