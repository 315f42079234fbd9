/* The index has functions that nobody compiled, which is allowed. */
#define ZOO_INDEX                                                                           \
  "{\"module_kind\": \"zoo\", \"format\": \"zoo\", \"functions\": [" ZOO_FUNCTION_INFO ", " \
  "{\"name\": \"lion\", \"symbol\": \"lion\", \"args\": []}]}"
#include "zoo.h"
