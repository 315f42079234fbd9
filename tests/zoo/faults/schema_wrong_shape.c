/* The target kind's schema is JSON of another shape. */
#define ZOO_SCHEMA_TEXT "[1, 2, 3]"
#include "zoo.h"
