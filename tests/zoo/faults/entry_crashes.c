/* The entry crashes. */
#define ZOO_ENTRY
#include "zoo.h"
const ChipdockPlugin *chipdock_plugin_v1(void) {
  crash();
  return &zoo_plugin;
}
