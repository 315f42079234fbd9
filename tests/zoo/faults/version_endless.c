/* The version is said to be 2^46 bytes long. */
#define ZOO_VERSION {"1.0.0", (size_t)1 << 46}
#include "zoo.h"
