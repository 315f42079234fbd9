/* The target kind's schema is nested 100,000 deep. */
#define ZOO_SCHEMA deep
#include "zoo.h"
static ChipdockStr deep(void) {
  ChipdockStr schema = long_text(200000);
  char *bytes = (char *)schema.data;
  memset(bytes, '[', 100000);
  memset(bytes + 100000, ']', 100000);
  return schema;
}
