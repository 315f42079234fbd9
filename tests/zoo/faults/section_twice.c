/* Two sections have one name, and the refusal of the second is ignored. */
#define ZOO_BUILD twice
#include "zoo.h"
static int32_t twice(void *self_, const ChipdockBuildRequest *request, const ChipdockBuildSession *session) {
  int32_t status = zoo_build(self_, request, session);
  session->section(session->self_, text("code"), text("code"), 1, "other", 5);
  return status;
}
