/* The index is said to be 2^46 bytes long. */
#define ZOO_BUILD endless
#include "zoo.h"
static int32_t endless(void *self_, const ChipdockBuildRequest *request, const ChipdockBuildSession *session) {
  ChipdockStr index = text(ZOO_INDEX);
  (void)self_;
  (void)request;
  index.size = (size_t)1 << 46;
  return session->index(session->self_, index);
}
