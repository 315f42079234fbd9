/* The session of one call is used in the next, when it is gone. */
#define ZOO_UNSUPPORTED keeps
#define ZOO_BUILD uses
#include "zoo.h"
static ChipdockBuildSession kept;
static int32_t keeps(void *self_, const ChipdockBuildRequest *request, const ChipdockBuildSession *session) {
  kept = *session;
  return zoo_unsupported(self_, request, session);
}
static int32_t uses(void *self_, const ChipdockBuildRequest *request, const ChipdockBuildSession *session) {
  int32_t status = zoo_build(self_, request, &kept);
  (void)session;
  return status;
}
