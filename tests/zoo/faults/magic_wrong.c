/* Another magic number. */
#define ZOO_MAGIC 1
#include "zoo.h"
