/* build reports a warning that clears the screen and says what it likes. */
#define ZOO_BUILD forged
#include "zoo.h"
static int32_t forged(void *self_, const ChipdockBuildRequest *request, const ChipdockBuildSession *session) {
  zoo_say(session, CHIPDOCK_DIAGNOSTIC_WARNING, text("f" FORGED), text("n" FORGED), text("roar" FORGED));
  return zoo_build(self_, request, session);
}
