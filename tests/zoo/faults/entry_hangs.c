/* The entry hangs. */
#define ZOO_ENTRY
#include "zoo.h"
const ChipdockPlugin *chipdock_plugin_v1(void) {
  hang();
  return &zoo_plugin;
}
