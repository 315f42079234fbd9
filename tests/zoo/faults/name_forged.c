/* The name clears the screen and says what it likes. */
#define ZOO_NAME CHIPDOCK_STR("zoo" FORGED)
#include "zoo.h"
