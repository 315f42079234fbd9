/* The index has the function twice. */
#define ZOO_INDEX                                                                           \
  "{\"module_kind\": \"zoo\", \"format\": \"zoo\", \"functions\": [" ZOO_FUNCTION_INFO ", " \
  ZOO_FUNCTION_INFO "]}"
#include "zoo.h"
