/* load fails and raises nothing. */
#define ZOO_LOAD fails
#include "zoo.h"
static int32_t fails(void *self_, const ChipdockArtifact *artifact, const ChipdockEnv *env,
                     ChipdockModuleHandle *out_module) {
  (void)self_;
  (void)artifact;
  if (env != NULL) env->release(env);
  (void)out_module;
  return CHIPDOCK_ERROR;
}
