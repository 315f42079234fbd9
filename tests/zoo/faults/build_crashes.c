/* build crashes. */
#define ZOO_BUILD crashes
#include "zoo.h"
static int32_t crashes(void *self_, const ChipdockBuildRequest *request, const ChipdockBuildSession *session) {
  crash();
  return zoo_build(self_, request, session);
}
