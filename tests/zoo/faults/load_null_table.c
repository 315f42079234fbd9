/* A loaded module has no table. */
#define ZOO_LOAD null_table
#include "zoo.h"
static int32_t null_table(void *self_, const ChipdockArtifact *artifact, const ChipdockEnv *env,
                          ChipdockModuleHandle *out_module) {
  int32_t status = zoo_load(self_, artifact, env, out_module);
  out_module->table = NULL;
  return status;
}
