/* The name is no UTF-8. */
#define ZOO_NAME CHIPDOCK_STR("zoo\xff\xfe")
#include "zoo.h"
