/* The index says that the function takes other arguments than were compiled. */
#define ZOO_INDEX                                                            \
  "{\"module_kind\": \"zoo\", \"format\": \"zoo\", \"functions\": ["         \
  "{\"name\": \"vector_add\", \"symbol\": \"vector_add\", \"args\": [\"int32\"]}]}"
#include "zoo.h"
