/* A section's name clears the screen and says what it likes. */
#define ZOO_BUILD named
#include "zoo.h"
static int32_t named(void *self_, const ChipdockBuildRequest *request, const ChipdockBuildSession *session) {
  int32_t status = zoo_build(self_, request, session);
  if (status != CHIPDOCK_OK) return status;
  return session->section(session->self_, text("s" FORGED), text("k" FORGED), 1, "x", 1);
}
