/* The index is no JSON. */
#define ZOO_INDEX "{\"module_kind\": "
#include "zoo.h"
