/* build says that all went well and delivers nothing. */
#define ZOO_BUILD nothing
#include "zoo.h"
static int32_t nothing(void *self_, const ChipdockBuildRequest *request, const ChipdockBuildSession *session) {
  (void)self_;
  (void)request;
  (void)session;
  return CHIPDOCK_OK;
}
