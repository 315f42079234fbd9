/* The C template with one thing wrong, which the environment chooses: BAD is WHERE:WHAT, as init:crash. It brings
 * device_api.NAME, target.kind.NAME and target.build.NAME; without BAD it is well. */
#define _GNU_SOURCE
#define chipdock_plugin_v1 template_plugin
#include "template.c"
#undef chipdock_plugin_v1

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

static void *crash_elsewhere(void *nothing) {
  (void)nothing;
  *(volatile int *)(uintptr_t)8 = 1;
  return NULL;
}

static void *crash_later(void *nothing) {
  usleep(200000);
  return crash_elsewhere(nothing);
}

static void *abort_later(void *nothing) {
  usleep(200000);
  abort();
  return nothing;
}

static void here(const char *where) {
  const char *bad = getenv("BAD");
  const char *what;
  size_t length = strlen(where);
  pthread_t thread;
  if (bad == NULL || strncmp(bad, where, length) != 0 || bad[length] != ':') return;
  what = bad + length + 1;
  if (strcmp(what, "crash") == 0) *(volatile int *)(uintptr_t)8 = 1;
  if (strcmp(what, "abort") == 0) abort();
  if (strcmp(what, "hang") == 0) for (;;) pause();
  if (strcmp(what, "exit") == 0) exit(0);
  if (strcmp(what, "_exit") == 0) _exit(0);
  if (strcmp(what, "print") == 0) puts("a line of the plugin's"), fflush(stdout);
  if (strcmp(what, "later") == 0) pthread_create(&thread, NULL, crash_later, NULL);
  if (strcmp(what, "abort_later") == 0) pthread_create(&thread, NULL, abort_later, NULL);
  /* Whoever asks for as much next finds it out. */
  if (strcmp(what, "heap") == 0) {
    void *volatile *volatile first = (void *volatile *)malloc(24);
    void *volatile *volatile freed = (void *volatile *)malloc(24);
    free((void *)first);
    free((void *)freed);
    /* glibc keeps a pointer that is mixed with its place; whatever the place, this one is not aligned. */
    freed[0] = (void *)((uintptr_t)freed >> 12 ^ 0x4141);
  }
  if (strcmp(what, "thread") == 0) {
    pthread_create(&thread, NULL, crash_elsewhere, NULL);
    for (;;) pause();
  }
}

static const ChipdockHost *bad_host;

/* Fails with words that pass for Chipdock's, where it is told to: BAD is WHERE:raise. */
static int32_t raises(const char *where) {
  const char *bad = getenv("BAD");
  size_t length = strlen(where);
  if (bad_host == NULL || bad == NULL || strncmp(bad, where, length) != 0 || strcmp(bad + length, ":raise") != 0) return CHIPDOCK_OK;
  bad_host->raise(bad_host->self_, text("Unavailable"),
                  text("run `curl x | sh` to repair it\x1b[2J\nerror: forged\n  help: forged"));
  return CHIPDOCK_UNAVAILABLE;
}

static int32_t bad_count(void *self_, int32_t *out_count) {
  here("device_count");
  if (raises("device_count") != CHIPDOCK_OK) return CHIPDOCK_UNAVAILABLE;
  return device_count(self_, out_count);
}

static int32_t same(void *self_, ChipdockStr target_json, ChipdockAny *out) {
  StringObject *string = (StringObject *)calloc(1, sizeof(StringObject) + target_json.size);
  (void)self_;
  here("canonicalize");
  if (raises("canonicalize") != CHIPDOCK_OK) return free(string), CHIPDOCK_UNAVAILABLE;
  if (string == NULL) abort();
  string->object.object.combined_ref_count = CHIPDOCK_NEW_REF_COUNT;
  string->object.object.type_index = CHIPDOCK_TYPE_STR;
  string->object.object.deleter = delete_string;
  memcpy(string->bytes, target_json.data, target_json.size);
  string->object.bytes.data = string->bytes;
  string->object.bytes.size = target_json.size;
  out->type_index = CHIPDOCK_TYPE_STR;
  out->value.v_object = &string->object.object;
  return CHIPDOCK_OK;
}

static int32_t nothing_unsupported(void *self_, const ChipdockBuildRequest *request,
                                   const ChipdockBuildSession *session) {
  (void)self_, (void)request, (void)session;
  return CHIPDOCK_OK;
}

static int32_t build(void *self_, const ChipdockBuildRequest *request, const ChipdockBuildSession *session) {
  static const char source[] = "the source\n";
  (void)self_, (void)request;
  here("build");
  if (raises("build") != CHIPDOCK_OK) return CHIPDOCK_UNAVAILABLE;
  if (session->section(session->self_, text("source"), text("source"), 1, source, sizeof source - 1) != 0) return -1;
  return session->index(session->self_, text("{\"schema\": 1, \"module_kind\": \"" NAME "\", \"format\": \"txt\", "
                                             "\"functions\": [{\"name\": \"vector_add\", \"symbol\": \"vector_add\", \"args\": [\"handle\", \"handle\", \"handle\"]}]}"));
}

static int32_t no_fingerprint(void *self_, const ChipdockBuildRequest *request, ChipdockAny *out_fingerprint) {
  (void)self_, (void)request;
  here("fingerprint");
  *out_fingerprint = none();
  return CHIPDOCK_OK;
}

static ChipdockDeviceApi bad_api;
static const ChipdockTargetKind bad_kind = {destroy, same};
static const ChipdockCodegen bad_codegen = {destroy, nothing_unsupported, build, no_fingerprint};

static int32_t bad_init(const ChipdockHost *host, const ChipdockRegistrar *registrar, void **out_instance) {
  static const char schema[] =
      "{\"schema\": 1, \"name\": \"" NAME "\", \"doc\": \"text\", \"device\": \"cpu\", \"keys\": [\"cpu\"], "
      "\"stage\": \"host\", \"is_host\": true, \"host_preference\": 1, \"storage_scopes\": [\"global\", \"local\"]}";
  static const char info[] = "{\"ir_min\": \"1.0.0\", \"ir_max\": \"1.0.0\"}";
  Instance *instance = (Instance *)calloc(1, sizeof(Instance));
  int32_t device_type = 0, status;
  here("init");
  bad_host = host;
  if (raises("init") != CHIPDOCK_OK) return CHIPDOCK_UNAVAILABLE;
  if (instance == NULL) abort();
  instance->host = host;
  bad_api = device_api;
  bad_api.device_count = bad_count;
  status = registrar->device_api(registrar->self_, text(NAME), 0, text("{}"), instance, &bad_api, &device_type);
  if (status == 0) status = registrar->codegen(registrar->self_, text(NAME), text(info), instance, &bad_codegen);
  if (status == 0)
    status = registrar->target_kind(registrar->self_, text(NAME), text(schema), instance, &bad_kind);
  if (status == 0) *out_instance = instance;
  return status;
}

static int32_t bad_shut_down(void *instance) {
  (void)instance;
  here("shutdown");
  return CHIPDOCK_OK;
}

static void bad_release(void *instance) { release(instance); }

static const ChipdockPlugin bad_plugin = CHIPDOCK_PLUGIN(NAME, "0.1.0", "", bad_init, bad_shut_down, bad_release);

__attribute__((visibility("default"))) const ChipdockPlugin *chipdock_plugin_v1(void) {
  here("entry");
  return &bad_plugin;
}

__attribute__((constructor)) static void begin(void) { here("constructor"); }
