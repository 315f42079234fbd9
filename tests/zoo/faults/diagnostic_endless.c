/* build reports a warning that is said to be 2^46 bytes long. */
#define ZOO_BUILD endless
#include "zoo.h"
static int32_t endless(void *self_, const ChipdockBuildRequest *request, const ChipdockBuildSession *session) {
  ChipdockStr message = {"x", (size_t)1 << 46};
  zoo_say(session, CHIPDOCK_DIAGNOSTIC_WARNING, text(""), text(""), message);
  return zoo_build(self_, request, session);
}
