/* build reports a warning of 64 MiB. */
#define ZOO_BUILD long_one
#include "zoo.h"
static int32_t long_one(void *self_, const ChipdockBuildRequest *request, const ChipdockBuildSession *session) {
  zoo_say(session, CHIPDOCK_DIAGNOSTIC_WARNING, text(""), text(""), long_text(64 * MIB));
  return zoo_build(self_, request, session);
}
