/* The build id is said to be 2^46 bytes long. */
#define ZOO_BUILD_ID {"b", (size_t)1 << 46}
#include "zoo.h"
