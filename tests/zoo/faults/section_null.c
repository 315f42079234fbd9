/* A section of ten bytes lies at null. */
#define ZOO_BUILD nowhere
#include "zoo.h"
static int32_t nowhere(void *self_, const ChipdockBuildRequest *request, const ChipdockBuildSession *session) {
  int32_t status = zoo_build(self_, request, session);
  if (status != CHIPDOCK_OK) return status;
  return session->section(session->self_, text("nowhere"), text("constants"), 1, NULL, 10);
}
