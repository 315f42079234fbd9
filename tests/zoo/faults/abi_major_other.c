/* Built for another major of the boundary. */
#define ZOO_ABI_MAJOR 2
#include "zoo.h"
