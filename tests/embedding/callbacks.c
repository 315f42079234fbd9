/*
 * A plugin whose functions call functions that they are given.
 *
 * callbacks.apply(f, ...) returns f(...), and fails as f does; callbacks.recover(f, ...) returns the error instead of failing.
 */

#include "chipdock.h"

#include <stdlib.h>

typedef struct {
  const ChipdockHost *host;
} Instance;

static int32_t fail(const ChipdockHost *host, const char *kind, const char *message) {
  ChipdockStr kind_text = {kind, 0}, text = {message, 0};
  while (kind[kind_text.size]) kind_text.size++;
  while (message[text.size]) text.size++;
  host->raise(host->self_, kind_text, text);
  return -1;
}

static ChipdockFunctionObject *function_of(const ChipdockAny *args, int32_t num_args) {
  if (num_args < 1 || args[0].type_index != CHIPDOCK_TYPE_FUNCTION) return NULL;
  return (ChipdockFunctionObject *)(void *)args[0].value.v_object;
}

static int32_t apply(void *self_, const ChipdockAny *args, int32_t num_args, ChipdockAny *result) {
  Instance *instance = (Instance *)self_;
  ChipdockFunctionObject *function = function_of(args, num_args);
  if (!function) return fail(instance->host, "TypeError", "callbacks.apply: expected a function first");
  return function->safe_call(function, args + 1, num_args - 1, result);
}

static int32_t recover(void *self_, const ChipdockAny *args, int32_t num_args, ChipdockAny *result) {
  Instance *instance = (Instance *)self_;
  ChipdockFunctionObject *function = function_of(args, num_args);
  if (!function) return fail(instance->host, "TypeError", "callbacks.recover: expected a function first");
  if (function->safe_call(function, args + 1, num_args - 1, result) == 0) return 0;
  /* The error is the result: it is an object like any other. */
  instance->host->take_error(instance->host->self_, result);
  return 0;
}

static void keep(void *self_) { (void)self_; }

static int32_t init(const ChipdockHost *host, const ChipdockRegistrar *registrar, void **out_instance) {
  const ChipdockStr apply_name = {"callbacks.apply", 15}, recover_name = {"callbacks.recover", 17};
  Instance *instance = (Instance *)calloc(1, sizeof(Instance));
  int32_t status;
  if (!instance) return fail(host, "OutOfMemory", "no memory for the instance"), CHIPDOCK_OUT_OF_MEMORY;
  instance->host = host;
  *out_instance = instance;
  status = registrar->function(registrar->self_, apply_name, instance, apply, keep);
  if (status == CHIPDOCK_OK) status = registrar->function(registrar->self_, recover_name, instance, recover, keep);
  return status;
}

static int32_t shut_down(void *instance) { return (void)instance, CHIPDOCK_OK; }
static void release(void *instance) { free(instance); }

static const ChipdockPlugin plugin = CHIPDOCK_PLUGIN("callbacks", "0.1.0", "", init, shut_down, release);

#if defined(__GNUC__)
__attribute__((visibility("default")))
#endif
const ChipdockPlugin *chipdock_plugin_v1(void);
const ChipdockPlugin *chipdock_plugin_v1(void) { return &plugin; }
