/* The build id clears the screen and says what it likes. */
#define ZOO_BUILD_ID CHIPDOCK_STR(FORGED)
#include "zoo.h"
