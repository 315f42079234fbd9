/* A section is said to be 2^46 bytes long. */
#define ZOO_BUILD huge
#include "zoo.h"
static int32_t huge(void *self_, const ChipdockBuildRequest *request, const ChipdockBuildSession *session) {
  int32_t status = zoo_build(self_, request, session);
  if (status != CHIPDOCK_OK) return status;
  return session->section(session->self_, text("huge"), text("constants"), 1, "x", (uint64_t)1 << 46);
}
