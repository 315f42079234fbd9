/* A loaded module's table has a null slot. */
#define ZOO_LOAD null_slot
#include "zoo.h"
static int32_t null_slot(void *self_, const ChipdockArtifact *artifact, const ChipdockEnv *env,
                         ChipdockModuleHandle *out_module) {
  static const ChipdockModule holed = {zoo_release, NULL, zoo_module_query};
  int32_t status = zoo_load(self_, artifact, env, out_module);
  out_module->table = &holed;
  return status;
}
