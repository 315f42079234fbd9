/* The session of a build is used when its artifact is loaded. */
#define ZOO_BUILD keeps
#define ZOO_LOAD uses
#include "zoo.h"
static ChipdockBuildSession kept;
static int32_t keeps(void *self_, const ChipdockBuildRequest *request, const ChipdockBuildSession *session) {
  kept = *session;
  return zoo_build(self_, request, session);
}
static int32_t uses(void *self_, const ChipdockArtifact *artifact, const ChipdockEnv *env,
                    ChipdockModuleHandle *out_module) {
  int32_t status = kept.section(kept.self_, text("late"), text("code"), 1, "late", 4);
  if (status == CHIPDOCK_OK) return zoo_load(self_, artifact, env, out_module);
  if (env != NULL) env->release(env);
  return status;
}
