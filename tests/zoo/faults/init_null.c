/* There is no init. */
#define ZOO_INIT_POINTER NULL
#include "zoo.h"
