/* The index is 64 MiB long. */
#define ZOO_BUILD long_index
#include "zoo.h"
static int32_t long_index(void *self_, const ChipdockBuildRequest *request, const ChipdockBuildSession *session) {
  ChipdockStr index = long_text(64 * MIB);
  int32_t status = session->index(session->self_, index);
  (void)self_;
  (void)request;
  free_text(index);
  return status;
}
