/* The target kind's schema is no UTF-8. */
#define ZOO_SCHEMA_TEXT "{\"schema\": 1, \"name\": \"zoo\", \"doc\": \"\xff\xfe\"}"
#include "zoo.h"
