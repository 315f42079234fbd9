/* The library exports no entry. */
#define ZOO_ENTRY
#include "zoo.h"
