/* Built with other layouts. */
#define ZOO_LAYOUT_HASH (CHIPDOCK_LAYOUT_HASH ^ 1)
#include "zoo.h"
