/* build hangs. */
#define ZOO_BUILD hangs
#include "zoo.h"
static int32_t hangs(void *self_, const ChipdockBuildRequest *request, const ChipdockBuildSession *session) {
  hang();
  return zoo_build(self_, request, session);
}
