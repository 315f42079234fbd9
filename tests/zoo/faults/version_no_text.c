/* The version is no UTF-8. */
#define ZOO_VERSION CHIPDOCK_STR("1.0.0-\xff")
#include "zoo.h"
