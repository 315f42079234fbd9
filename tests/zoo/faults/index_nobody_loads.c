/* The artifact is of a kind that nobody loads. */
#define ZOO_INDEX "{\"module_kind\": \"unicorn\", \"format\": \"zoo\", \"functions\": [" ZOO_FUNCTION_INFO "]}"
#include "zoo.h"
