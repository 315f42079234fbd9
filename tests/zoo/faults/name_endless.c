/* The name is said to be 2^63 bytes long. */
#define ZOO_NAME {"zoo", (size_t)1 << 63}
#include "zoo.h"
