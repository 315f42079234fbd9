/* The target kind's schema is 32 MiB of valid JSON. */
#define ZOO_SCHEMA padded
#include "zoo.h"
static ChipdockStr padded(void) {
  ChipdockStr schema = long_text(32 * MIB);
  char *bytes = (char *)schema.data;
  memset(bytes, ' ', schema.size);
  memcpy(bytes + schema.size - (sizeof ZOO_GOOD_SCHEMA - 1), ZOO_GOOD_SCHEMA, sizeof ZOO_GOOD_SCHEMA - 1);
  return schema;
}
