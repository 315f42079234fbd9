/* The index does not have the function that was compiled. */
#define ZOO_INDEX                                                            \
  "{\"module_kind\": \"zoo\", \"format\": \"zoo\", \"functions\": ["         \
  "{\"name\": \"lion\", \"symbol\": \"vector_add\", \"args\": [\"handle\"]}]}"
#include "zoo.h"
