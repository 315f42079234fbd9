/* The target kind's schema is no JSON. */
#define ZOO_SCHEMA_TEXT "{\"schema\": "
#include "zoo.h"
