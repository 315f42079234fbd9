/* build reports a million warnings. */
#define ZOO_BUILD many
#include "zoo.h"
static int32_t many(void *self_, const ChipdockBuildRequest *request, const ChipdockBuildSession *session) {
  int number;
  for (number = 0; number < 1000000; number++)
    zoo_say(session, CHIPDOCK_DIAGNOSTIC_WARNING, text("vector_add"), text(""), text("roar"));
  return zoo_build(self_, request, session);
}
