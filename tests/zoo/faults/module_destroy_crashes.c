/* Releasing the module crashes. */
#define ZOO_MODULE_DESTROY crashes
#include "zoo.h"
static void crashes(void *self_) {
  (void)self_;
  crash();
}
