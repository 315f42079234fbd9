/* The index clears the screen and says what it likes. */
#define ZOO_INDEX                                                                                       \
  "{\"module_kind\": \"zoo\", \"format\": \"zoo\\u001b[2J\\nerror: forged\", \"functions\": ["          \
  ZOO_FUNCTION_INFO "]}"
#include "zoo.h"
