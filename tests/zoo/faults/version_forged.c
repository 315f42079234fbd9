/* The version clears the screen and says what it likes. */
#define ZOO_VERSION CHIPDOCK_STR("1.0.0" FORGED)
#include "zoo.h"
