/* The entry answers null. */
#define ZOO_ENTRY
#include "zoo.h"
const ChipdockPlugin *chipdock_plugin_v1(void) { return NULL; }
