/* The index is 64 MiB long. */
#define ZOO_BUILD long_index
#include "zoo.h"
static int32_t long_index(void *self_, const ChipdockBuildRequest *request, const ChipdockBuildSession *session) {
  (void)self_;
  (void)request;
  return session->index(session->self_, long_text(64 * MIB));
}
