/* build fails and raises nothing. */
#define ZOO_BUILD fails
#include "zoo.h"
static int32_t fails(void *self_, const ChipdockBuildRequest *request, const ChipdockBuildSession *session) {
  (void)self_;
  (void)request;
  (void)session;
  return CHIPDOCK_ERROR;
}
