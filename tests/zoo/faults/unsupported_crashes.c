/* unsupported crashes. */
#define ZOO_UNSUPPORTED crashes
#include "zoo.h"
static int32_t crashes(void *self_, const ChipdockBuildRequest *request, const ChipdockBuildSession *session) {
  crash();
  return zoo_unsupported(self_, request, session);
}
