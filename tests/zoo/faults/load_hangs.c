/* load hangs. */
#define ZOO_LOAD hangs
#include "zoo.h"
static int32_t hangs(void *self_, const ChipdockArtifact *artifact, const ChipdockEnv *env,
                     ChipdockModuleHandle *out_module) {
  hang();
  return zoo_load(self_, artifact, env, out_module);
}
