/* build reports a warning of 64 MiB. */
#define ZOO_BUILD long_one
#include "zoo.h"
static int32_t long_one(void *self_, const ChipdockBuildRequest *request, const ChipdockBuildSession *session) {
  ChipdockStr warning = long_text(64 * MIB);
  zoo_say(session, CHIPDOCK_DIAGNOSTIC_WARNING, text(""), text(""), warning);
  free_text(warning);
  return zoo_build(self_, request, session);
}
