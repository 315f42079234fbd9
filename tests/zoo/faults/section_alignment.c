/* A section is aligned to 3 bytes, and the refusal is ignored. */
#define ZOO_BUILD aligned
#include "zoo.h"
static int32_t aligned(void *self_, const ChipdockBuildRequest *request, const ChipdockBuildSession *session) {
  session->section(session->self_, text("odd"), text("code"), 3, "odd", 3);
  return zoo_build(self_, request, session);
}
