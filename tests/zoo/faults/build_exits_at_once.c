/* build ends the process without a word to anybody. */
#define ZOO_BUILD exits
#include "zoo.h"
static int32_t exits(void *self_, const ChipdockBuildRequest *request, const ChipdockBuildSession *session) {
  if (self_ != NULL) _exit(0);
  return zoo_build(self_, request, session);
}
