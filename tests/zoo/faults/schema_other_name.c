/* The target kind's schema is that of another kind. */
#define ZOO_SCHEMA_TEXT "{\"schema\": 1, \"name\": \"c\", \"doc\": \"\", \"device\": \"cpu\", \"stage\": \"host\"}"
#include "zoo.h"
