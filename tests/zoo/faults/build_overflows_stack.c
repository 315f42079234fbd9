/* build calls itself until the stack is full. */
#define ZOO_BUILD overflows
#include "zoo.h"
static int32_t overflows(void *self_, const ChipdockBuildRequest *request, const ChipdockBuildSession *session) {
  volatile char room[4096];
  room[0] = 1;
  return overflows(self_, request, session) + room[0];
}
