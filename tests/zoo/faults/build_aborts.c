/* build aborts, as LLVM does over a fatal error. */
#define ZOO_BUILD aborts
#include "zoo.h"
static int32_t aborts(void *self_, const ChipdockBuildRequest *request, const ChipdockBuildSession *session) {
  if (self_ != NULL) abort();
  return zoo_build(self_, request, session);
}
