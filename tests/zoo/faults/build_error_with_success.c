/* build reports an error and says that all went well. */
#define ZOO_BUILD error
#include "zoo.h"
static int32_t error(void *self_, const ChipdockBuildRequest *request, const ChipdockBuildSession *session) {
  zoo_say(session, CHIPDOCK_DIAGNOSTIC_ERROR, text("vector_add"), text(""), text("too many bars"));
  return zoo_build(self_, request, session);
}
