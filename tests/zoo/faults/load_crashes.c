/* load crashes. */
#define ZOO_LOAD crashes
#include "zoo.h"
static int32_t crashes(void *self_, const ChipdockArtifact *artifact, const ChipdockEnv *env,
                       ChipdockModuleHandle *out_module) {
  crash();
  return zoo_load(self_, artifact, env, out_module);
}
