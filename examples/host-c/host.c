/*
 * A host of Chipdock plugins in C11, over chipdock.h and the contract alone. SPDX-License-Identifier: Apache-2.0
 *
 *   cc -std=c11 -O2 -Wall -Wextra -I ROOT/plugin-api/abi/include host.c -o host-c -ldl -lm
 *
 * It opens a plugin, lists what it registers, loads an artifact, calls a function of it with tensors on its device, and
 * shuts down. Numbers such as P7.4 are clauses of the contract. Each part uses only what is above it; `main` is last.
 */
#define _GNU_SOURCE
#include "tools.h"
#include <dlfcn.h>

enum { ENTRIES_MAX = 4096, LOGGED_MAX = 100, DEVICES_SHOWN = 4, ARGS_MAX = 32 };

typedef struct Entry { /* a registration */
  char *key; /* null where it was refused: nobody finds it, and its `self_` is released with the others (P5.4) */
  void *self_;
  const void *table; /* null for a function */
  ChipdockSafeCall call;
  void (*release)(void *self_); /* the table's `destroy`, or the deleter */
  int32_t device_type;          /* of a device API */
  char version[16];             /* of an interface, as it ends the key: `/1` */
  char *json;                   /* the schema of a target kind; of others, what is said about them */
  struct Entry *next;
} Entry;

/* What is known of the plugin. A host of several would have a struct of these for each. */
static Entry *entries, **entries_end = &entries;
static const char *last_key = "";
static int is_registering, is_refused, is_initialised, entries_count, logged_count;

/* ---- The host's table ---- */

static void host_raise(void *self_, Str kind, Str message) {
  (void)self_;
  drop(&error);
  error = new_error(readable(kind), readable(message));
}
static int32_t refuse(int32_t status, const char *kind, const char *message) {
  host_raise(NULL, str(kind), str(message));
  return status;
}
static void host_raise_object(void *self_, const ChipdockAny *raised) {
  (void)self_;
  drop(&error);
  if (raised->type_index != CHIPDOCK_TYPE_ERROR || raised->value.v_object == NULL) return;
  __atomic_fetch_add(&raised->value.v_object->combined_ref_count, 1, __ATOMIC_RELAXED);
  error = *raised;
}
static void host_take_error(void *self_, ChipdockAny *out_error) {
  (void)self_;
  *out_error = error;
  error = none;
}
static void host_log(void *self_, int32_t level, Str message) {
  (void)self_;
  if (level > CHIPDOCK_LOG_WARNING || __atomic_add_fetch(&logged_count, 1, __ATOMIC_RELAXED) > LOGGED_MAX) return;
  fprintf(stderr, "log of plugin \"%s\": %s\n", name_of_plugin(), shown(message)); /* H.8 */
}
static const Entry *find(const char *prefix, Str name) {
  const Entry *it = entries;
  size_t size = strlen(prefix);
  for (; it != NULL; it = it->next)
    if (it->key != NULL && strncmp(it->key, prefix, size) == 0 && is(name, it->key + size)) break;
  return it;
}
/* This host works on default streams (D.7) of host memory and of registered devices (H.10). */
static int32_t host_current_stream(void *self_, ChipdockDevice device, void **out_stream) {
  const Entry *it = entries;
  (void)self_;
  while (it != NULL && it->device_type != device.device_type) it = it->next;
  *out_stream = NULL;
  if (it != NULL || device.device_type == CHIPDOCK_DEVICE_CPU) return CHIPDOCK_OK;
  return refuse(CHIPDOCK_INVALID_ARGUMENT, CHIPDOCK_KIND_VALUE_ERROR, "this host knows no such device");
}
typedef struct Wrapped { /* a registered function as an object */
  ChipdockFunctionObject object;
  const Entry *entry;
} Wrapped;
static int32_t call_wrapped(void *self_, const ChipdockAny *args, int32_t num_args, ChipdockAny *result) {
  const Entry *entry = ((Wrapped *)self_)->entry;
  return entry->call(entry->self_, args, num_args, result);
}
static int32_t host_function(void *self_, Str name, ChipdockAny *out_function) {
  Wrapped wrapped = {.object.safe_call = call_wrapped, .entry = is_readable(name) ? find("function.", name) : NULL};
  (void)self_;
  *out_function = none; /* H.4: an unknown name is no error */
  if (wrapped.entry == NULL) return CHIPDOCK_OK;
  *out_function = new_object(sizeof wrapped, CHIPDOCK_TYPE_FUNCTION);
  wrapped.object.object = *out_function->value.v_object;
  memcpy(out_function->value.v_object, &wrapped, sizeof wrapped);
  return CHIPDOCK_OK;
}
/* No named interface: plugins work without (P3.8), and settings have other sources then (S.11). */
static int32_t host_query(void *self_, Str name, uint32_t version, ChipdockInterface *out_interface) {
  (void)self_, (void)name, (void)version;
  memset(out_interface, 0, sizeof *out_interface);
  return CHIPDOCK_OK;
}

/* ---- The registrar ---- */

/* Returns why a registration is refused, or gives it its key. */
static const char *accept(Entry *entry, const char *prefix, Str name, Str json, size_t table_size) {
  char key[600];
  if (!is_registering) return "P5: the registrar is valid during `init` only";
  if (++entries_count > ENTRIES_MAX) return "this host takes 4096 registrations";
  if (!is_name(name)) return "P5.9: a name has 1 to 128 letters, digits, `_`, `.` and `-`";
  if (strcmp(prefix, "device_api.") == 0 && entry->device_type == 0) return "P5.12: that device type is not for it";
  if (entry->call == NULL && has_hole(entry->table, table_size)) return "P3.1: a table or one of its slots is null";
  if (entry->release == NULL) return "P3.1: a deleter is null";
  if (!is_readable(json)) return "P9.2: a text is nowhere, or of absurd size";
  if (strcmp(prefix, "target.kind.") == 0 && !is_schema_of(json, name)) return "T.1: its schema is not of that name";
  snprintf(key, sizeof key, "%s%.*s%s", prefix, (int)name.size, name.data, entry->version);
  if (strcmp(last_key, key) >= 0) return "P5.2: keys are sorted by their bytes, and none is there twice";
  last_key = entry->key = copy_of(str(key));
  entry->json = copy_of(json);
  return NULL;
}
/* Takes over `self_`, whatever becomes of the registration (P5.1): what was refused is released after `init`. */
static int32_t enter(Entry given, const char *prefix, Str name, Str json, size_t table_size) {
  Entry *entry = *entries_end = zeroed(sizeof *entry);
  const char *why;
  *entry = given;
  entries_end = &entry->next;
  /* The first slot of each table is `destroy`; a function and an interface have a deleter. */
  if (given.release == NULL && given.call == NULL && given.table != NULL)
    memcpy(&entry->release, given.table, sizeof entry->release);
  if ((why = accept(entry, prefix, name, json, table_size)) == NULL) return CHIPDOCK_OK;
  is_refused = 1;
  return refuse(CHIPDOCK_INVALID_ARGUMENT, CHIPDOCK_KIND_VALUE_ERROR, why);
}
static int32_t add_device_api(void *to, Str name, int32_t type, Str info, void *self_, const ChipdockDeviceApi *api,
                              int32_t *out_type) {
  Entry entry = {.self_ = self_, .table = api};
  unsigned digits = 0;
  if (type == 0 && is(name, "cpu")) type = CHIPDOCK_DEVICE_CPU;
  if (type == 0 && is_name(name) && sscanf(sha256(name.data, name.size), "%8x", &digits) == 1)
    entry.device_type = CHIPDOCK_DEVICE_FIRST_ASSIGNED + (int32_t)(digits >> 2); /* P5.14 */
  else if (type > 0 && type < CHIPDOCK_DEVICE_FIRST_ASSIGNED && (type == CHIPDOCK_DEVICE_CPU) == is(name, "cpu"))
    entry.device_type = type; /* P5.12 */
  *out_type = entry.device_type;
  return (void)to, enter(entry, "device_api.", name, info, sizeof *api);
}
static int32_t add_target_kind(void *to, Str name, Str schema, void *self_, const ChipdockTargetKind *kind) {
  return (void)to, enter((Entry){.self_ = self_, .table = kind}, "target.kind.", name, schema, sizeof *kind);
}
static int32_t add_codegen(void *to, Str name, Str info, void *self_, const ChipdockCodegen *codegen) {
  return (void)to, enter((Entry){.self_ = self_, .table = codegen}, "target.build.", name, info, sizeof *codegen);
}
static int32_t add_module_loader(void *to, Str name, Str info, void *self_, const ChipdockModuleLoader *loader) {
  return (void)to, enter((Entry){.self_ = self_, .table = loader}, "module.load.", name, info, sizeof *loader);
}
static int32_t add_function(void *to, Str name, void *self_, ChipdockSafeCall call, ChipdockDeleter deleter) {
  return (void)to, enter((Entry){.self_ = self_, .call = call, .release = deleter}, "function.", name, str(""), 0);
}
/* An interface extends what was registered before, or the plugin itself (P3.14). */
static int32_t add_interface(void *to, Str key, Str name, uint32_t version, const ChipdockInterface *what,
                             ChipdockDeleter deleter) {
  Entry entry = {.self_ = what->self_, .table = what->table, .release = deleter};
  char prefix[300] = "";
  snprintf(entry.version, sizeof entry.version, "/%u", (unsigned)version);
  if (!is_readable(key) || (find("", key) == NULL && !is(key, name_of_plugin()))) name = str("");
  else snprintf(prefix, sizeof prefix, "%s/", shown(key));
  return (void)to, enter(entry, prefix, name, str(""), what->table_size_bytes);
}

/* ---- Opening and closing ---- */

/* Returns why a descriptor is refused. Nothing after the layout is read before the layout is right (P4.1). */
static const char *check_descriptor(const ChipdockPlugin *it) {
  static const ChipdockTableSizes sizes = CHIPDOCK_TABLE_SIZES;
  if (it == NULL) return "P1.2: `chipdock_plugin_v1` returned null";
  if (it->magic != CHIPDOCK_MAGIC) return "P1.3: another magic number";
  if (it->abi_major != CHIPDOCK_ABI_MAJOR) return "P1.3: built for another major of the ABI"; /* P3.3: any minor does */
  if (memcmp(&it->table_sizes, &sizes, sizeof sizes) != 0) return "P1.3: its tables have other sizes";
  if (it->layout_hash != CHIPDOCK_LAYOUT_HASH) return "P1.3: its tables have another layout";
  if (!has_only(it->name, 64, SMALL)) return "P1.4: its name is not 1 to 64 lower-case letters, digits, `-` and `_`";
  if (!has_only(it->version, 64, LETTERS "+")) return "P1.4: its version is not semver";
  if (!is_readable(it->build_id) || !is_readable(it->info_json)) return "P9.2: a text is nowhere, or of absurd size";
  return it->init == NULL || it->shutdown == NULL || it->release == NULL ? "P3.1: a function of it is null" : NULL;
}
static int open_plugin(void) {
  const ChipdockPlugin *(*entry)(void), *found;
  const char *why = check_library(path);
  void *library;
  if (why != NULL) return complain(why[0] == 'P' ? BROKEN : MISUSED, "%s", why);
  begin("dlopen");
  library = dlopen(path, RTLD_NOW | RTLD_LOCAL); /* never closed (P11.1) */
  end(0);
  if (library == NULL) return complain(FAILED, "%s", dlerror());
  *(void **)&entry = dlsym(library, "chipdock_plugin_v1");
  if (entry == NULL) return complain(BROKEN, "P1.1: it exports no symbol `chipdock_plugin_v1`");
  begin("chipdock_plugin_v1");
  found = entry();
  why = check_descriptor(found);
  end(0);
  if (why != NULL) return complain(BROKEN, "%s", why);
  plugin = found;
  return GOOD;
}
/* Calls `init` (P10.2), and checks what must be true after it. The host's table lives as long as the process (H.1). */
static int initialise(void **out_instance) {
  static const ChipdockHost host = {CHIPDOCK_ABI_MAJOR, CHIPDOCK_ABI_MINOR, CHIPDOCK_STR("1.0.0"), NULL, host_raise,
                                    host_raise_object, host_take_error, host_log, host_function, host_current_stream,
                                    host_query};
  static const ChipdockRegistrar registrar = {NULL, add_device_api, add_target_kind, add_codegen, add_module_loader,
                                              add_function, add_interface};
  is_registering = 1;
  begin("init");
  is_initialised = end(plugin->init(&host, &registrar, out_instance)) == CHIPDOCK_OK;
  is_registering = 0;
  if (!is_initialised) return failed("init") == FAILED && !is_refused ? FAILED : BROKEN; /* the host's own refusal */
  if (is_refused) return complain(BROKEN, "P5.10: `init` went on after a registration was refused");
  return entries_count == 0 ? complain(BROKEN, "P5.2: `init` registered nothing") : GOOD;
}
/* Releases what was registered, the newest first: an interface before what it extends. */
static void release_entries(Entry *entry) {
  if (entry == NULL) return;
  release_entries(entry->next);
  begin(entry->key != NULL ? entry->key : "what was refused");
  if (entry->release != NULL) entry->release(entry->self_);
  end(0);
  free(entry->key), free(entry->json), free(entry);
}
/* `shutdown`, what was registered, `release` (P10.13, P10.14); only the second where `init` failed (P5.4). */
static int close_plugin(void *instance) {
  int code = is_initialised ? CALL("shutdown", plugin->shutdown(instance)) : GOOD;
  release_entries(entries);
  entries = NULL;
  if (!is_initialised) return code;
  begin("release");
  plugin->release(instance);
  end(0);
  return code;
}

/* ---- Listing ---- */

static int list_device(const Entry *entry, int32_t id) {
  const ChipdockDeviceApi *api = entry->table;
  ChipdockAny name = none;
  Str text = str("without a name");
  int code = CALL("attribute", api->attribute(entry->self_, id, str(CHIPDOCK_ATTRIBUTE_DEVICE_NAME), &name));
  if (code != GOOD) return code;
  if (name.type_index == CHIPDOCK_TYPE_NONE || is_string(&name, &text)) printf("    device %d: %s\n", id, shown(text));
  else code = complain(BROKEN, "D.11: `device_name` is no string");
  drop(&name);
  return code;
}
static int list_devices(const Entry *entry) {
  const ChipdockDeviceApi *api = entry->table;
  int32_t count = 0, id;
  int code = GOOD;
  begin("device_count");
  int32_t status = end(api->device_count(entry->self_, &count));
  if (status != CHIPDOCK_OK) {
    code = failed("device_count");
    return code == FAILED && status == CHIPDOCK_UNAVAILABLE ? GOOD : code; /* it says why there is no device */
  }
  if (count < 0) return complain(BROKEN, "D.14: `device_count` wrote %d", count);
  for (id = 0; id < count && id < DEVICES_SHOWN && code == GOOD; id++) code = list_device(entry, id);
  if (count > id) printf("    and %d more\n", count - id);
  return code;
}
static int list(void) {
  const Entry *entry;
  int code = GOOD;
  printf("%s %s, ABI %u.%u", name_of_plugin(), shown(plugin->version), plugin->abi_major, plugin->abi_minor);
  printf(plugin->build_id.size > 0 ? ", build %s\n" : "\n", shown(plugin->build_id));
  for (entry = entries; entry != NULL && code == GOOD; entry = entry->next) {
    Str device = inside_of(member(str(entry->json), "device"), '"'); /* that of a target kind */
    printf("  %s", entry->key);
    if (device.size > 0) printf(" for device %s", shown(device));
    if (entry->device_type != 0) printf(" of type %d", entry->device_type);
    putchar('\n');
    if (entry->device_type != 0) code = list_devices(entry);
  }
  return code;
}

/* ---- Running: C = A + B ---- */

typedef struct Run {
  const char *name; /* of the function */
  int64_t n;        /* elements */
  int is_host;      /* a function of tensors, otherwise a kernel of pointers and scalars (K.3) */
  ChipdockDevice device;
  const Entry *api; /* of that device; null for host memory that the plugin does not manage */
  const Entry *loader;
  Str args, launch_params; /* lists in JSON */
  void *data[3];
} Run;

static int32_t allocate(const Run *run, void **out) {
  const ChipdockDeviceApi *api = run->api != NULL ? run->api->table : NULL;
  /* The scope is global, and the memory the device's own (D.29). */
  ChipdockDataSpaceRequest request = {.size_bytes = (uint64_t)run->n * 4, .alignment_bytes = 64};
  if (api != NULL) return api->allocate_data_space(run->api->self_, 0, &request, out);
  *out = aligned_alloc(64, (request.size_bytes | 63) + 1);
  return *out != NULL ? CHIPDOCK_OK : refuse(CHIPDOCK_OUT_OF_MEMORY, CHIPDOCK_KIND_OUT_OF_MEMORY, "no memory is left");
}
static int32_t copy(const Run *run, void *data, float *host_data, int is_to_device) {
  const ChipdockDeviceApi *api = run->api != NULL ? run->api->table : NULL;
  ChipdockCopyEnd here = {{CHIPDOCK_DEVICE_CPU, 0}, host_data, 0}, there = {run->device, data, 0};
  ChipdockCopy request = {.from = is_to_device ? here : there, .to = is_to_device ? there : here};
  request.size_bytes = (uint64_t)run->n * 4;
  if (api != NULL) return api->copy_data(run->api->self_, 0, &request, NULL);
  memcpy(request.to.data, request.from.data, request.size_bytes);
  return CHIPDOCK_OK;
}
/* Waits for all work: copies are only queued (D.8), and failures come to light here (P7.5). */
static int32_t finish(const Run *run) {
  const ChipdockDeviceApi *api = run->api != NULL ? run->api->table : NULL;
  return api != NULL ? api->sync_stream(run->api->self_, 0, NULL) : CHIPDOCK_OK;
}

/* Fills in the arguments. A kernel gets handles, N as its first scalar, 0 as the others (where tensors begin, K.3), and
 * then its extents: N blocks of one thread. Returns their number, or -1 for a function of another shape. */
static int fill(const Run *run, ChipdockTensor tensors[3], ChipdockAny *args) {
  Str types = inside_of(run->args, '['), params = inside_of(run->launch_params, '['), it;
  int count = 0, buffers = 0, scalars = 0;
  for (; next_value(&types, &it) && count < ARGS_MAX - 8; count++) {
    args[count] = none;
    if (!is(it, "\"handle\"")) {
      args[count].type_index = CHIPDOCK_TYPE_INT;
      args[count].value.v_int64 = scalars++ == 0 ? run->n : 0;
    } else if (buffers < 3) {
      args[count].type_index = run->is_host ? CHIPDOCK_TYPE_DLTENSOR_PTR : CHIPDOCK_TYPE_OPAQUE_PTR;
      args[count].value.v_ptr = run->is_host ? (void *)&tensors[buffers] : run->data[buffers];
      buffers++;
    } else {
      return -1;
    }
  }
  for (; next_value(&params, &it) && count < ARGS_MAX; count++) {
    if (it.size < 12 || strchr("bt", it.data[1]) == NULL) return -1; /* no thread axis (K.1) */
    args[count] = (ChipdockAny){CHIPDOCK_TYPE_INT, 0, {is(it, "\"blockIdx.x\"") ? run->n : 1}};
  }
  return buffers == 3 && (scalars == 0 || !run->is_host) ? count : -1;
}
static int call(const Run *run, ChipdockFunctionObject *function) {
  const ChipdockDataType float32 = {CHIPDOCK_DTYPE_FLOAT, 32, 1};
  int64_t stride = 1, shape[3] = {run->n, run->n, run->n};
  ChipdockTensor tensors[3];
  ChipdockAny args[ARGS_MAX], result = none; /* V.10 */
  int at, count;
  for (at = 0; at < 3; at++)
    tensors[at] = (ChipdockTensor){run->data[at], run->device, 1, float32, shape + at, &stride, 0};
  count = fill(run, tensors, args);
  if (count < 0) return complain(MISUSED, "`%s` is no function of three buffers", run->name);
  if ((at = CALL(run->name, function->safe_call(function, args, count, &result))) != GOOD) return at;
  if (result.type_index >= CHIPDOCK_TYPE_DLTENSOR_PTR && result.type_index <= CHIPDOCK_TYPE_OBJECT_RVALUE_REF)
    return complain(BROKEN, "V.2: `%s` returned what is borrowed", run->name);
  drop(&result);
  return CALL("sync_stream", finish(run));
}
/* Gives A, B and C memory on the device and A and B values, calls, and compares what C got. */
static int compute(Run *run, ChipdockFunctionObject *function, float *values) {
  const float *a = values, *b = a + run->n, *c = b + run->n;
  int code = GOOD, at;
  int64_t i, right = 0;
  for (i = 0; i < run->n; i++) values[i] = (float)i, values[run->n + i] = (float)(10 * i);
  for (at = 0; at < 3 && code == GOOD; at++) {
    code = CALL("allocate_data_space", allocate(run, &run->data[at]));
    if (code == GOOD && run->data[at] == NULL) code = complain(BROKEN, "D.22: `allocate_data_space` wrote null");
    if (code == GOOD) code = CALL("copy_data", copy(run, run->data[at], values + at * run->n, 1));
  }
  if (code == GOOD) code = CALL("sync_stream", finish(run));
  if (code == GOOD) code = call(run, function);
  if (code == GOOD) code = CALL("copy_data", copy(run, run->data[2], values + 2 * run->n, 0));
  if (code == GOOD) code = CALL("sync_stream", finish(run));
  if (code != GOOD) return code;
  for (i = 0; i < run->n; i++) {
    right += c[i] == a[i] + b[i];
    if (i < 8) printf("%g ", (double)c[i]);
  }
  printf("%sC = A + B: %lld of %lld right\n", run->n > 8 ? "... " : "", (long long)right, (long long)run->n);
  return right == run->n ? GOOD : complain(BROKEN, "C.30: `%s` computed something else", run->name);
}
/* Frees the memory after the work that uses it (D.5). */
static int free_data(const Run *run, int code) {
  const ChipdockDeviceApi *api = run->api != NULL ? run->api->table : NULL;
  int at, freed = api != NULL && code != GOOD ? CALL("sync_stream", finish(run)) : GOOD;
  for (at = 0; at < 3; at++) {
    if (api == NULL) free(run->data[at]);
    else freed = CALL("free_data_space", api->free_data_space(run->api->self_, 0, run->data[at])); /* null too (D.25) */
    if (freed > code) code = freed;
  }
  return code;
}
static int is_stage(Str stage) {
  static const char *const known[] = {"blocks", "scheduled", "flattened", "device", "host"};
  size_t at = 0;
  while (at < 5 && !is(stage, known[at])) at++;
  return at < 5;
}
/* Finds who loads a module and where it runs: its index names a loader, its target a kind, and that kind a device. */
static int plan(Run *run, Str module, Str index) {
  char *target = unquoted(member(module, "target"));
  const Entry *kind = find("target.kind.", inside_of(member(str(target), "kind"), '"'));
  Str schema = str(kind != NULL ? kind->json : ""), device = inside_of(member(schema, "device"), '"');
  free(target);
  run->is_host = is(member(schema, "is_host"), "true");
  run->api = find("device_api.", device);
  run->device.device_type = run->api != NULL ? run->api->device_type : CHIPDOCK_DEVICE_CPU;
  run->loader = find("module.load.", inside_of(member(index, "module_kind"), '"'));
  if (kind != NULL && (number(schema, "schema", 1) > 1 || !is_stage(inside_of(member(schema, "stage"), '"'))))
    return complain(FAILED, "P3.10: its target kind needs a newer host");
  if (kind == NULL || run->loader == NULL) return complain(MISUSED, "it does not load modules of `%s`", run->name);
  if (run->api == NULL && !is(device, "cpu")) return complain(MISUSED, "it has no device `%s`", shown(device));
  if (number(index, "schema", 1) > 1 || number(index, "env", 1) > CHIPDOCK_ENV_VERSION)
    return complain(FAILED, "P3.9, X.12: the artifact needs a newer host");
  return GOOD;
}
/* Loads an artifact without an environment: code of host memory has fallbacks (M.12), kernels need none. */
static int load(const Run *run, const ChipdockArtifact *artifact, ChipdockModuleHandle *out) {
  const ChipdockModuleLoader *loader = run->loader->table;
  int32_t verdict = CHIPDOCK_ARTIFACT_OK;
  ChipdockAny reason = none;
  Str text;
  int code = CALL("verdict", loader->verdict(run->loader->self_, artifact, run->device, &verdict, &reason));
  if (code != GOOD) return code;
  if (!is_string(&reason, &text)) text = str("for no reason");
  if (verdict != CHIPDOCK_ARTIFACT_OK) code = complain(FAILED, "M.2: the artifact does not run here: %s", shown(text));
  drop(&reason);
  if (code != GOOD) return code;
  if ((code = CALL("load", loader->load(run->loader->self_, artifact, NULL, out))) != GOOD) return code;
  if (has_hole(out->table, sizeof *out->table)) return complain(BROKEN, "P3.1: the module's table has a hole");
  return GOOD;
}
static int run_module(Run *run, const ChipdockArtifact *artifact) {
  ChipdockModuleHandle module = {NULL, NULL};
  ChipdockAny value = none;
  float *values = zeroed((size_t)run->n * 3 * sizeof *values);
  int code = load(run, artifact, &module);
  if (code == GOOD) {
    code = CALL("function", module.table->function(module.self_, str(run->name), &value));
    ChipdockFunctionObject *function = value.type_index == CHIPDOCK_TYPE_FUNCTION ? (void *)value.value.v_object : NULL;
    if (code == GOOD && (function == NULL || function->safe_call == NULL))
      code = complain(BROKEN, "C.8: `%s` is in the index and is no function of the module", run->name);
    if (code == GOOD) code = free_data(run, compute(run, function, values));
    drop(&value);
    begin("destroy of the module");
    module.table->destroy(module.self_);
    end(0);
  }
  free(values);
  return code;
}
static int run_file(const char *file_path, Run *run) {
  File file = {NULL, {NULL, 0}, NULL, 0};
  ChipdockArtifact artifact = {{NULL, 0}, NULL, 0, NULL};
  Str module, function;
  const char *why = read_file(file_path, &file);
  int code = GOOD;
  if (why == NULL) why = read_artifact(&file, run->name, &module, &artifact, &function);
  if (why != NULL) code = complain(MISUSED, "%s: %s", file_path, why);
  if (code == GOOD) {
    run->args = member(function, "args");
    run->launch_params = member(function, "launch_params");
    code = plan(run, module, artifact.index_json);
  }
  if (code == GOOD) code = run_module(run, &artifact);
  free_artifact(&artifact);
  free(file.bytes);
  return code;
}

/* ---- The command ---- */

static const char help[] =
    "host-c PLUGIN.so                        lists what a plugin registers, and its devices\n"
    "host-c PLUGIN.so ARTIFACT FUNCTION N    calls a function with A, B, C of N numbers each, and checks C = A + B\n\n"
    "  chipdock build vector_add.py --target c -o add.chipdock\n"
    "  host-c plugins/chipdock_plugin_c.so add.chipdock vector_add 8\n\n"
    "A kernel is launched with N blocks of one thread, as vector_add_kernel of blocks.py, which is beside host.c.\n"
    "Exit codes: 0 all well, 1 a call failed, 2 a wrong command line or artifact, 3 the plugin breaks the contract.\n";

int main(int argc, char **argv) {
  static const int crashes[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL};
  Run run = {.name = argc == 5 ? argv[3] : "", .n = argc == 5 ? strtoll(argv[4], NULL, 10) : 0};
  static char whole[2][PATH_MAX];
  void *instance = NULL;
  size_t at;
  int code, closed;
  if (argc == 2 && strcmp(argv[1], "--help") == 0) return fputs(help, stdout), GOOD;
  if ((argc != 2 && argc != 5) || (argc == 5 && (run.n < 1 || run.n > 1 << 20))) return fputs(help, stderr), MISUSED;
  path = realpath(argv[1], whole[0]) != NULL ? whole[0] : argv[1]; /* a plugin may change the working folder */
  if (argc == 5 && realpath(argv[2], whole[1]) == NULL) return complain(MISUSED, "%s: there is no such file", argv[2]);
  for (at = 0; at < sizeof crashes / sizeof *crashes; at++) signal(crashes[at], on_crash);
  atexit(on_exit_of_process);
  if ((code = open_plugin()) == GOOD) {
    code = initialise(&instance);
    if (code == GOOD) code = argc == 2 ? list() : run_file(whole[1], &run);
    if ((closed = close_plugin(instance)) > code) code = closed;
  }
  return code;
}
