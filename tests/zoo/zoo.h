/*
 * A whole plugin in C11 that is right in every table, and lets one thing be wrong. SPDX-License-Identifier: Apache-2.0
 *
 * A fault is a file that names what it replaces, includes this one, and says how:
 *
 *   #define ZOO_DEVICE_COUNT too_many
 *   #include "zoo.h"
 *   static int32_t too_many(void *self_, int32_t *out_count) { *out_count = INT32_MAX; return CHIPDOCK_OK; }
 *
 * What can be replaced is each `#ifndef ZOO_...` below: a function of a table, a field of the descriptor, a text. A
 * replacement may call what it replaces, which has the same name in small letters (`zoo_device_count`). A change of the
 * boundary's tables is made here and nowhere else.
 *
 * The plugin: the device `zoo` in host memory, the target kind `zoo` that runs on it, a code generator that compiles
 * `vector_add` and nothing else, the loader of what it delivers, the function `zoo.answer`, an interface.
 */
#ifndef ZOO_H
#define ZOO_H

#define _GNU_SOURCE
#include <chipdock.h>

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Not every fault needs everything. */
#define ZOO_UNUSED __attribute__((unused))
#define MIB ((size_t)1 << 20)

/* ---- Texts and values ---- */

ZOO_UNUSED static ChipdockStr text(const char *literal) {
  ChipdockStr view = {literal, strlen(literal)};
  return view;
}

ZOO_UNUSED static int is_text(ChipdockStr view, const char *literal) {
  return view.size == strlen(literal) && (view.size == 0 || memcmp(view.data, literal, view.size) == 0);
}

ZOO_UNUSED static int holds(ChipdockStr view, const char *literal) {
  return memmem(view.data, view.size, literal, strlen(literal)) != NULL;
}

/* A text of that many letters, for the caller to free. */
ZOO_UNUSED static ChipdockStr long_text(size_t size) {
  char *bytes = malloc(size);
  ChipdockStr view = {bytes, size};
  if (bytes == NULL) abort();
  memset(bytes, 'x', size);
  return view;
}

ZOO_UNUSED static void free_text(ChipdockStr view) { free((void *)view.data); }

ZOO_UNUSED static ChipdockAny none(void) {
  ChipdockAny any;
  memset(&any, 0, sizeof any);
  return any;
}

ZOO_UNUSED static ChipdockAny integer(int64_t number) {
  ChipdockAny any = none();
  any.type_index = CHIPDOCK_TYPE_INT;
  any.value.v_int64 = number;
  return any;
}

/* Sixteen zero bytes before each object (V.13). */
#define OBJECT_PREFIX 16

ZOO_UNUSED static void delete_object(void *self_, int32_t flags) {
  if (flags & CHIPDOCK_DELETE_WEAK) free((char *)self_ - OBJECT_PREFIX);
}

/* A new object of that size, header filled in. */
ZOO_UNUSED static void *new_object(size_t size, int32_t type_index) {
  char *memory = calloc(1, OBJECT_PREFIX + size);
  ChipdockObject *object = (ChipdockObject *)(memory + OBJECT_PREFIX);
  if (memory == NULL) abort();
  object->combined_ref_count = CHIPDOCK_NEW_REF_COUNT;
  object->type_index = type_index;
  object->deleter = delete_object;
  return object;
}

ZOO_UNUSED static ChipdockAny object_value(void *object) {
  ChipdockAny any = none();
  any.value.v_object = object;
  any.type_index = any.value.v_object->type_index;
  return any;
}

/* An owned string: up to 7 bytes in the value, more as an object. */
ZOO_UNUSED static ChipdockAny string_value(ChipdockStr of) {
  ChipdockAny any = none();
  ChipdockByteArrayObject *object;
  char *bytes;
  if (of.size <= 7) {
    any.type_index = CHIPDOCK_TYPE_SMALL_STR;
    any.small_length = (uint32_t)of.size;
    if (of.size > 0) memcpy(any.value.v_bytes, of.data, of.size);
    return any;
  }
  object = new_object(sizeof *object + of.size + 1, CHIPDOCK_TYPE_STR);
  bytes = (char *)(object + 1);
  memcpy(bytes, of.data, of.size);
  object->bytes.data = bytes;
  object->bytes.size = of.size;
  return object_value(object);
}

/* An owned string of that many letters. */
ZOO_UNUSED static ChipdockAny long_string(size_t size) {
  ChipdockStr view = long_text(size);
  ChipdockAny any = string_value(view);
  free_text(view);
  return any;
}

/* ---- Ways to go wrong, for faults ---- */

ZOO_UNUSED static void crash(void) { *(volatile int *)(uintptr_t)8 = 1; }

ZOO_UNUSED static void hang(void) {
  for (;;) pause();
}

/* What a plugin would like a person to believe. */
#define FORGED "\x1b[2J\rgood\nerror: forged\n  help: forged"

/* ---- What the plugin is to one host ---- */

typedef struct Zoo {
  const ChipdockHost *host;
  /* The number of calls that are running, and the highest bit once the host has shut the plugin down. */
  uint64_t state;
  struct Zoo *next;
} Zoo;

#define ZOO_CLOSED ((uint64_t)1 << 63)

/* So that a fault's `shutdown`, which is told the host alone, finds what belongs to it. */
static Zoo *zoos;

/* Raises an error with the host, then returns its status. */
ZOO_UNUSED static int32_t fail(void *self_, int32_t status, const char *kind, const char *message) {
  const ChipdockHost *host = ((Zoo *)self_)->host;
  host->raise(host->self_, text(kind), text(message));
  return status;
}

ZOO_UNUSED static void zoo_release(void *self_) { (void)self_; }

ZOO_UNUSED static int zoo_enter(void *self_) {
  Zoo *zoo = self_;
  if (!(__atomic_fetch_add(&zoo->state, 1, __ATOMIC_ACQUIRE) & ZOO_CLOSED)) return 1;
  __atomic_fetch_sub(&zoo->state, 1, __ATOMIC_RELEASE);
  fail(self_, CHIPDOCK_UNAVAILABLE, "Unavailable", "the zoo was shut down for this host: load it with a new host");
  return 0;
}

/* What stands in a table: the call itself, unless the plugin was shut down (P10.5). */
#define ZOO_GUARDED(self_, closed, call)                          \
  {                                                               \
    int32_t status;                                               \
    if (!zoo_enter(self_)) return closed;                         \
    status = call;                                                \
    __atomic_fetch_sub(&((Zoo *)(self_))->state, 1, __ATOMIC_RELEASE); \
    return status;                                                \
  }

/* ---- The device: host memory behind its addresses ---- */

ZOO_UNUSED static int32_t check_device(void *self_, int32_t device_id) {
  if (device_id == 0) return CHIPDOCK_OK;
  return fail(self_, CHIPDOCK_INVALID_ARGUMENT, "ValueError", "expected device 0, there is one");
}

ZOO_UNUSED static int32_t zoo_device_count(void *self_, int32_t *out_count) {
  (void)self_;
  *out_count = 1;
  return CHIPDOCK_OK;
}

ZOO_UNUSED static int32_t zoo_attribute(void *self_, int32_t device_id, ChipdockStr key, ChipdockAny *out_value) {
  *out_value = none();
  if (is_text(key, "exist")) {
    *out_value = integer(device_id == 0);
    out_value->type_index = CHIPDOCK_TYPE_BOOL;
    return CHIPDOCK_OK;
  }
  if (check_device(self_, device_id) != CHIPDOCK_OK) return CHIPDOCK_INVALID_ARGUMENT;
  if (is_text(key, "device_name")) *out_value = string_value(text("a cage in host memory"));
  return CHIPDOCK_OK;
}

ZOO_UNUSED static int32_t zoo_allocate(void *self_, int32_t device_id, const ChipdockDataSpaceRequest *request,
                                       void **out_data) {
  size_t alignment = request->alignment_bytes < 64 ? 64 : (size_t)request->alignment_bytes;
  if (check_device(self_, device_id) != CHIPDOCK_OK) return CHIPDOCK_INVALID_ARGUMENT;
  if (request->kind != CHIPDOCK_DATA_SPACE_DEVICE || !(is_text(request->scope, "") || is_text(request->scope, "global")))
    return fail(self_, CHIPDOCK_UNSUPPORTED, "Unsupported", "the zoo has memory of kind 0 and scope `global` only");
  if (request->alignment_bytes == 0 || (request->alignment_bytes & (request->alignment_bytes - 1)) != 0)
    return fail(self_, CHIPDOCK_INVALID_ARGUMENT, "ValueError", "expected a power of two as alignment");
  if (request->size_bytes > (uint64_t)1 << 40 || posix_memalign(out_data, alignment, (size_t)request->size_bytes + 1) != 0)
    return fail(self_, CHIPDOCK_OUT_OF_MEMORY, "OutOfMemory", "the zoo is full; free something or ask for less");
  return CHIPDOCK_OK;
}

ZOO_UNUSED static int32_t zoo_free(void *self_, int32_t device_id, void *data) {
  if (check_device(self_, device_id) != CHIPDOCK_OK) return CHIPDOCK_INVALID_ARGUMENT;
  free(data);
  return CHIPDOCK_OK;
}

ZOO_UNUSED static int32_t zoo_copy(void *self_, int32_t device_id, const ChipdockCopy *copy, void *stream) {
  (void)stream;
  if (check_device(self_, device_id) != CHIPDOCK_OK) return CHIPDOCK_INVALID_ARGUMENT;
  if (copy->size_bytes == 0) return CHIPDOCK_OK;
  memcpy((char *)copy->to.data + copy->to.offset_bytes, (char *)copy->from.data + copy->from.offset_bytes,
         (size_t)copy->size_bytes);
  return CHIPDOCK_OK;
}

/* Every call is done when it returns: the default stream is all there is. */
ZOO_UNUSED static int32_t zoo_create_stream(void *self_, int32_t device_id, void **out_stream) {
  *out_stream = NULL;
  return check_device(self_, device_id);
}

ZOO_UNUSED static int32_t zoo_free_stream(void *self_, int32_t device_id, void *stream) {
  (void)stream;
  return check_device(self_, device_id);
}

ZOO_UNUSED static int32_t zoo_sync(void *self_, int32_t device_id, void *stream) {
  (void)stream;
  return check_device(self_, device_id);
}

ZOO_UNUSED static int32_t zoo_sync_from_to(void *self_, int32_t device_id, void *from, void *to) {
  (void)from;
  (void)to;
  return check_device(self_, device_id);
}

#ifndef ZOO_DEVICE_COUNT
#define ZOO_DEVICE_COUNT zoo_device_count
#endif
#ifndef ZOO_ATTRIBUTE
#define ZOO_ATTRIBUTE zoo_attribute
#endif
#ifndef ZOO_ALLOCATE
#define ZOO_ALLOCATE zoo_allocate
#endif
#ifndef ZOO_FREE
#define ZOO_FREE zoo_free
#endif
#ifndef ZOO_COPY
#define ZOO_COPY zoo_copy
#endif
#ifndef ZOO_CREATE_STREAM
#define ZOO_CREATE_STREAM zoo_create_stream
#endif
#ifndef ZOO_FREE_STREAM
#define ZOO_FREE_STREAM zoo_free_stream
#endif
#ifndef ZOO_SYNC
#define ZOO_SYNC zoo_sync
#endif
#ifndef ZOO_SYNC_FROM_TO
#define ZOO_SYNC_FROM_TO zoo_sync_from_to
#endif
#ifndef ZOO_DESTROY
#define ZOO_DESTROY zoo_release
#endif
static void ZOO_DESTROY(void *self_);
static int32_t ZOO_DEVICE_COUNT(void *self_, int32_t *out_count);
static int32_t ZOO_ATTRIBUTE(void *self_, int32_t device_id, ChipdockStr key, ChipdockAny *out_value);
static int32_t ZOO_ALLOCATE(void *self_, int32_t device_id, const ChipdockDataSpaceRequest *request, void **out_data);
static int32_t ZOO_FREE(void *self_, int32_t device_id, void *data);
static int32_t ZOO_COPY(void *self_, int32_t device_id, const ChipdockCopy *copy, void *stream);
static int32_t ZOO_CREATE_STREAM(void *self_, int32_t device_id, void **out_stream);
static int32_t ZOO_FREE_STREAM(void *self_, int32_t device_id, void *stream);
static int32_t ZOO_SYNC(void *self_, int32_t device_id, void *stream);
static int32_t ZOO_SYNC_FROM_TO(void *self_, int32_t device_id, void *from, void *to);

ZOO_UNUSED static int32_t in_device_count(void *self_, int32_t *out_count)
  ZOO_GUARDED(self_, CHIPDOCK_UNAVAILABLE, ZOO_DEVICE_COUNT(self_, out_count))
ZOO_UNUSED static int32_t in_attribute(void *self_, int32_t device_id, ChipdockStr key, ChipdockAny *out_value)
  ZOO_GUARDED(self_, CHIPDOCK_UNAVAILABLE, ZOO_ATTRIBUTE(self_, device_id, key, out_value))
ZOO_UNUSED static int32_t in_allocate(void *self_, int32_t device_id, const ChipdockDataSpaceRequest *request,
    void **out_data)
  ZOO_GUARDED(self_, CHIPDOCK_UNAVAILABLE, ZOO_ALLOCATE(self_, device_id, request, out_data))
ZOO_UNUSED static int32_t in_free(void *self_, int32_t device_id, void *data)
  ZOO_GUARDED(self_, CHIPDOCK_UNAVAILABLE, ZOO_FREE(self_, device_id, data))
ZOO_UNUSED static int32_t in_copy(void *self_, int32_t device_id, const ChipdockCopy *copy, void *stream)
  ZOO_GUARDED(self_, CHIPDOCK_UNAVAILABLE, ZOO_COPY(self_, device_id, copy, stream))
ZOO_UNUSED static int32_t in_create_stream(void *self_, int32_t device_id, void **out_stream)
  ZOO_GUARDED(self_, CHIPDOCK_UNAVAILABLE, ZOO_CREATE_STREAM(self_, device_id, out_stream))
ZOO_UNUSED static int32_t in_free_stream(void *self_, int32_t device_id, void *stream)
  ZOO_GUARDED(self_, CHIPDOCK_UNAVAILABLE, ZOO_FREE_STREAM(self_, device_id, stream))
ZOO_UNUSED static int32_t in_sync(void *self_, int32_t device_id, void *stream)
  ZOO_GUARDED(self_, CHIPDOCK_UNAVAILABLE, ZOO_SYNC(self_, device_id, stream))
ZOO_UNUSED static int32_t in_sync_from_to(void *self_, int32_t device_id, void *from, void *to)
  ZOO_GUARDED(self_, CHIPDOCK_UNAVAILABLE, ZOO_SYNC_FROM_TO(self_, device_id, from, to))

ZOO_UNUSED static const ChipdockDeviceApi zoo_device_api = {
    ZOO_DESTROY,     in_device_count, in_attribute, in_allocate,     in_free,       in_copy, in_create_stream,
    in_free_stream, in_sync,         in_sync_from_to,
};

/* ---- The target kind: takes modules as they were read ---- */

#define ZOO_GOOD_SCHEMA                                                                                       \
  "{\"schema\": 1, \"name\": \"zoo\", \"doc\": \"compiles vector_add and nothing else\", \"device\": \"zoo\", "  \
  "\"keys\": [\"zoo\"], \"stage\": \"blocks\", \"is_host\": true, \"host_preference\": 1, "                    \
  "\"options\": [{\"name\": \"bars\", \"type\": \"int\", \"default\": 3, \"doc\": \"how many\"}]}"
#ifndef ZOO_SCHEMA_TEXT
#define ZOO_SCHEMA_TEXT ZOO_GOOD_SCHEMA
#endif

ZOO_UNUSED static ChipdockStr zoo_schema(void) { return text(ZOO_SCHEMA_TEXT); }

#ifndef ZOO_SCHEMA
#define ZOO_SCHEMA zoo_schema
#endif
static ChipdockStr ZOO_SCHEMA(void);

ZOO_UNUSED static int32_t zoo_canonicalize(void *self_, ChipdockStr target_json, ChipdockAny *out_target_json) {
  (void)self_;
  *out_target_json = string_value(target_json);
  return CHIPDOCK_OK;
}

#ifndef ZOO_CANONICALIZE
#define ZOO_CANONICALIZE zoo_canonicalize
#endif
static int32_t ZOO_CANONICALIZE(void *self_, ChipdockStr target_json, ChipdockAny *out_target_json);

ZOO_UNUSED static int32_t in_canonicalize(void *self_, ChipdockStr target_json, ChipdockAny *out_target_json)
  ZOO_GUARDED(self_, CHIPDOCK_UNAVAILABLE, ZOO_CANONICALIZE(self_, target_json, out_target_json))

ZOO_UNUSED static const ChipdockTargetKind zoo_target_kind = {ZOO_DESTROY, in_canonicalize};

/* ---- The code generator: an index, and the name of the function as its code ---- */

#define ZOO_FUNCTION_INFO \
  "{\"name\": \"vector_add\", \"symbol\": \"vector_add\", \"args\": [\"handle\", \"handle\", \"handle\"]}"
#define ZOO_CODEGEN_INFO "{\"ir_min\": \"1.0.0\", \"ir_max\": \"1.99.0\"}"
#ifndef ZOO_INDEX
#define ZOO_INDEX "{\"module_kind\": \"zoo\", \"format\": \"zoo\", \"functions\": [" ZOO_FUNCTION_INFO "]}"
#endif

/* Reports a diagnostic. */
ZOO_UNUSED static int32_t zoo_say(const ChipdockBuildSession *session, int32_t severity, ChipdockStr function,
                                  ChipdockStr node, ChipdockStr message) {
  ChipdockDiagnostic diagnostic;
  memset(&diagnostic, 0, sizeof diagnostic);
  diagnostic.severity = severity;
  diagnostic.function = function;
  diagnostic.node = node;
  diagnostic.message = message;
  return session->diagnostic(session->self_, &diagnostic);
}

ZOO_UNUSED static int32_t zoo_unsupported(void *self_, const ChipdockBuildRequest *request,
                                          const ChipdockBuildSession *session) {
  (void)self_;
  if (holds(request->ir, "\"vector_add\"")) return CHIPDOCK_OK;
  return zoo_say(session, CHIPDOCK_DIAGNOSTIC_ERROR, text(""), text(""),
                 text("the zoo compiles vector_add and nothing else"));
}

ZOO_UNUSED static int32_t zoo_build(void *self_, const ChipdockBuildRequest *request,
                                    const ChipdockBuildSession *session) {
  static const char code[] = "vector_add";
  int32_t status;
  (void)self_;
  (void)request;
  status = session->index(session->self_, text(ZOO_INDEX));
  if (status != CHIPDOCK_OK) return status;
  return session->section(session->self_, text("code"), text("code"), 16, code, sizeof code - 1);
}

#ifndef ZOO_UNSUPPORTED
#define ZOO_UNSUPPORTED zoo_unsupported
#endif
#ifndef ZOO_BUILD
#define ZOO_BUILD zoo_build
#endif
static int32_t ZOO_UNSUPPORTED(void *self_, const ChipdockBuildRequest *request, const ChipdockBuildSession *session);
static int32_t ZOO_BUILD(void *self_, const ChipdockBuildRequest *request, const ChipdockBuildSession *session);

ZOO_UNUSED static int32_t in_unsupported(void *self_, const ChipdockBuildRequest *request,
    const ChipdockBuildSession *session)
  ZOO_GUARDED(self_, CHIPDOCK_UNAVAILABLE, ZOO_UNSUPPORTED(self_, request, session))
ZOO_UNUSED static int32_t in_build(void *self_, const ChipdockBuildRequest *request,
    const ChipdockBuildSession *session)
  ZOO_GUARDED(self_, CHIPDOCK_UNAVAILABLE, ZOO_BUILD(self_, request, session))

/* What it builds is in this file. */
ZOO_UNUSED static int32_t zoo_fingerprint(void *self_, const ChipdockBuildRequest *request,
                                          ChipdockAny *out_fingerprint) {
  (void)self_;
  (void)request;
  memset(out_fingerprint, 0, sizeof *out_fingerprint);
  out_fingerprint->type_index = CHIPDOCK_TYPE_SMALL_STR;
  out_fingerprint->small_length = 5;
  memcpy(&out_fingerprint->value, "zoo 1", 5);
  return CHIPDOCK_OK;
}

ZOO_UNUSED static int32_t in_fingerprint(void *self_, const ChipdockBuildRequest *request, ChipdockAny *out_fingerprint)
  ZOO_GUARDED(self_, CHIPDOCK_UNAVAILABLE, zoo_fingerprint(self_, request, out_fingerprint))

ZOO_UNUSED static const ChipdockCodegen zoo_codegen = {ZOO_DESTROY, in_unsupported, in_build, in_fingerprint};

/* ---- The loaded module, and its function, which really adds ---- */

ZOO_UNUSED static ChipdockTensor *tensor_of(const ChipdockAny *any) {
  if (any->type_index == CHIPDOCK_TYPE_DLTENSOR_PTR) return any->value.v_tensor;
  if (any->type_index == CHIPDOCK_TYPE_TENSOR) return &((ChipdockTensorObject *)any->value.v_object)->tensor;
  return NULL;
}

typedef struct ZooFunction {
  ChipdockFunctionObject object;
  void *zoo;
} ZooFunction;

ZOO_UNUSED static int32_t zoo_vector_add(void *self_, const ChipdockAny *args, int32_t num_args, ChipdockAny *result) {
  void *zoo = ((ZooFunction *)self_)->zoo;
  float *data[3];
  int64_t size = -1, i;
  int32_t argument;
  if (num_args != 3) return fail(zoo, CHIPDOCK_ERROR, "TypeError", "vector_add: expected 3 arguments");
  for (argument = 0; argument < 3; argument++) {
    const ChipdockTensor *tensor = tensor_of(&args[argument]);
    if (tensor == NULL || tensor->ndim != 1 || tensor->dtype.code != CHIPDOCK_DTYPE_FLOAT || tensor->dtype.bits != 32 ||
        tensor->dtype.lanes != 1 || (tensor->strides != NULL && tensor->shape[0] > 1 && tensor->strides[0] != 1))
      return fail(zoo, CHIPDOCK_ERROR, "TypeError", "vector_add: expected compact tensors of float32 [n]");
    if (size >= 0 && tensor->shape[0] != size)
      return fail(zoo, CHIPDOCK_ERROR, "ValueError", "vector_add: expected tensors of one size");
    size = tensor->shape[0];
    data[argument] = (float *)(void *)((char *)tensor->data + tensor->byte_offset);
  }
  for (i = 0; i < size; i++) data[2][i] = data[0][i] + data[1][i];
  *result = none();
  return CHIPDOCK_OK;
}

#ifndef ZOO_VECTOR_ADD
#define ZOO_VECTOR_ADD zoo_vector_add
#endif
static int32_t ZOO_VECTOR_ADD(void *self_, const ChipdockAny *args, int32_t num_args, ChipdockAny *result);

ZOO_UNUSED static int32_t in_vector_add(void *self_, const ChipdockAny *args, int32_t num_args, ChipdockAny *result)
  ZOO_GUARDED(((ZooFunction *)self_)->zoo, CHIPDOCK_ERROR, ZOO_VECTOR_ADD(self_, args, num_args, result))

ZOO_UNUSED static int32_t zoo_get_function(void *self_, ChipdockStr name, ChipdockAny *out_function) {
  ZooFunction *function;
  *out_function = none();
  if (!is_text(name, "vector_add")) return CHIPDOCK_OK;
  function = new_object(sizeof *function, CHIPDOCK_TYPE_FUNCTION);
  function->object.safe_call = in_vector_add;
  function->zoo = self_;
  *out_function = object_value(function);
  return CHIPDOCK_OK;
}

#ifndef ZOO_GET_FUNCTION
#define ZOO_GET_FUNCTION zoo_get_function
#endif
#ifndef ZOO_MODULE_DESTROY
#define ZOO_MODULE_DESTROY ZOO_DESTROY
#endif
static void ZOO_MODULE_DESTROY(void *self_);
static int32_t ZOO_GET_FUNCTION(void *self_, ChipdockStr name, ChipdockAny *out_function);

ZOO_UNUSED static int32_t in_get_function(void *self_, ChipdockStr name, ChipdockAny *out_function)
  ZOO_GUARDED(self_, CHIPDOCK_UNAVAILABLE, ZOO_GET_FUNCTION(self_, name, out_function))

ZOO_UNUSED static int32_t zoo_module_query(void *self_, ChipdockStr name, uint32_t version, ChipdockInterface *out_interface) {
  (void)self_, (void)name, (void)version;
  memset(out_interface, 0, sizeof *out_interface);
  return CHIPDOCK_OK;
}

ZOO_UNUSED static const ChipdockModule zoo_module = {ZOO_MODULE_DESTROY, in_get_function, zoo_module_query};

/* ---- The module loader ---- */

ZOO_UNUSED static int32_t zoo_check(void *self_, const ChipdockArtifact *artifact, ChipdockDevice device,
                                    int32_t *out_verdict, ChipdockAny *out_reason) {
  (void)self_;
  (void)artifact;
  (void)device;
  *out_verdict = CHIPDOCK_ARTIFACT_OK;
  *out_reason = none();
  return CHIPDOCK_OK;
}

ZOO_UNUSED static int32_t zoo_load(void *self_, const ChipdockArtifact *artifact, const ChipdockEnv *env,
                                   ChipdockModuleHandle *out_module) {
  if (env != NULL) env->release(env);
  if (artifact->sections_count == 0 || artifact->sections[0].size_bytes < 10 ||
      memcmp(artifact->sections[0].data, "vector_add", 10) != 0)
    return fail(self_, CHIPDOCK_INVALID_ARGUMENT, "ValueError", "this artifact is not the zoo's");
  out_module->self_ = self_;
  out_module->table = &zoo_module;
  return CHIPDOCK_OK;
}

#ifndef ZOO_CHECK
#define ZOO_CHECK zoo_check
#endif
#ifndef ZOO_LOAD
#define ZOO_LOAD zoo_load
#endif
static int32_t ZOO_CHECK(void *self_, const ChipdockArtifact *artifact, ChipdockDevice device, int32_t *out_verdict,
                         ChipdockAny *out_reason);
static int32_t ZOO_LOAD(void *self_, const ChipdockArtifact *artifact, const ChipdockEnv *env,
                        ChipdockModuleHandle *out_module);

ZOO_UNUSED static int32_t in_check(void *self_, const ChipdockArtifact *artifact, ChipdockDevice device,
    int32_t *out_verdict, ChipdockAny *out_reason)
  ZOO_GUARDED(self_, CHIPDOCK_UNAVAILABLE, ZOO_CHECK(self_, artifact, device, out_verdict, out_reason))
ZOO_UNUSED static int32_t in_load(void *self_, const ChipdockArtifact *artifact, const ChipdockEnv *env,
    ChipdockModuleHandle *out_module)
  ZOO_GUARDED(self_, CHIPDOCK_UNAVAILABLE, ZOO_LOAD(self_, artifact, env, out_module))

ZOO_UNUSED static const ChipdockModuleLoader zoo_module_loader = {ZOO_DESTROY, in_check, in_load};

/* ---- The function and the interface ---- */

ZOO_UNUSED static int32_t zoo_answer(void *self_, const ChipdockAny *args, int32_t num_args, ChipdockAny *result) {
  (void)self_;
  (void)args;
  (void)num_args;
  *result = integer(42);
  return CHIPDOCK_OK;
}

#ifndef ZOO_ANSWER
#define ZOO_ANSWER zoo_answer
#endif
static int32_t ZOO_ANSWER(void *self_, const ChipdockAny *args, int32_t num_args, ChipdockAny *result);
ZOO_UNUSED static int32_t in_answer(void *self_, const ChipdockAny *args, int32_t num_args, ChipdockAny *result)
  ZOO_GUARDED(self_, CHIPDOCK_ERROR, ZOO_ANSWER(self_, args, num_args, result))

ZOO_UNUSED static int64_t zoo_opening_hours(void *self_) {
  (void)self_;
  return 8;
}

ZOO_UNUSED static const struct {
  int64_t (*opening_hours)(void *self_);
} zoo_hours = {zoo_opening_hours};

/* ---- Entry ---- */

/* Registers everything, sorted by name. A refusal has raised its error already. */
ZOO_UNUSED static int32_t zoo_init(const ChipdockHost *host, const ChipdockRegistrar *registrar) {
  ChipdockInterface hours = {NULL, &zoo_hours, sizeof zoo_hours, 0};
  void *const to = registrar->self_;
  int32_t device_type = 0, status;
  Zoo *zoo = calloc(1, sizeof *zoo);
  if (zoo == NULL) abort();
  zoo->host = host;
  zoo->next = __atomic_load_n(&zoos, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(&zoos, &zoo->next, zoo, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {
  }
  if ((status = registrar->device_api(to, text("zoo"), 0, text("{}"), zoo, &zoo_device_api, &device_type)) != CHIPDOCK_OK) return status;
  hours.self_ = zoo;
  if ((status = registrar->extend(to, text("device_api.zoo"), text("zoo.hours"), 1, &hours, zoo_release)) != CHIPDOCK_OK)
    return status;
  if ((status = registrar->function(to, text("zoo.answer"), zoo, in_answer, zoo_release)) != CHIPDOCK_OK) return status;
  if ((status = registrar->module_loader(to, text("zoo"), text("{}"), zoo, &zoo_module_loader)) != CHIPDOCK_OK) return status;
  if ((status = registrar->codegen(to, text("zoo"), text(ZOO_CODEGEN_INFO), zoo, &zoo_codegen)) != CHIPDOCK_OK) return status;
  return registrar->target_kind(to, text("zoo"), ZOO_SCHEMA(), zoo, &zoo_target_kind);
}

ZOO_UNUSED static int32_t zoo_shutdown(const ChipdockHost *host) {
  Zoo *zoo = __atomic_load_n(&zoos, __ATOMIC_ACQUIRE);
  for (; zoo != NULL; zoo = zoo->next) {
    if (zoo->host != host) continue;
    __atomic_fetch_or(&zoo->state, ZOO_CLOSED, __ATOMIC_ACQ_REL);
    while (__atomic_load_n(&zoo->state, __ATOMIC_ACQUIRE) != ZOO_CLOSED) usleep(100);
  }
  return CHIPDOCK_OK;
}

#ifndef ZOO_INIT
#define ZOO_INIT zoo_init
#endif
#ifndef ZOO_SHUTDOWN
#define ZOO_SHUTDOWN zoo_shutdown
#endif
static int32_t ZOO_INIT(const ChipdockHost *host, const ChipdockRegistrar *registrar);
static int32_t ZOO_SHUTDOWN(const ChipdockHost *host);

/* The instance is the host: what a fault writes as `init` and `shutdown` is told no more. */
ZOO_UNUSED static int32_t zoo_entry_init(const ChipdockHost *host, const ChipdockRegistrar *registrar, void **out_instance) {
  int32_t status = ZOO_INIT(host, registrar);
  if (status == CHIPDOCK_OK) *out_instance = (void *)host;
  return status;
}

static int32_t zoo_entry_shutdown(void *instance) { return ZOO_SHUTDOWN((const ChipdockHost *)instance); }

static void zoo_entry_release(void *instance) { (void)instance; }

#ifndef ZOO_NAME
#define ZOO_NAME CHIPDOCK_STR("zoo")
#endif
#ifndef ZOO_VERSION
#define ZOO_VERSION CHIPDOCK_STR("1.0.0")
#endif
#ifndef ZOO_BUILD_ID
#define ZOO_BUILD_ID CHIPDOCK_STR("")
#endif
#ifndef ZOO_INFO
#define ZOO_INFO CHIPDOCK_STR("")
#endif
#ifndef ZOO_MAGIC
#define ZOO_MAGIC CHIPDOCK_MAGIC
#endif
#ifndef ZOO_ABI_MAJOR
#define ZOO_ABI_MAJOR CHIPDOCK_ABI_MAJOR
#endif
#ifndef ZOO_ABI_MINOR
#define ZOO_ABI_MINOR CHIPDOCK_ABI_MINOR
#endif
#ifndef ZOO_LAYOUT_HASH
#define ZOO_LAYOUT_HASH CHIPDOCK_LAYOUT_HASH
#endif
#ifndef ZOO_TABLE_SIZES
#define ZOO_TABLE_SIZES CHIPDOCK_TABLE_SIZES
#endif
#ifndef ZOO_INIT_POINTER
#define ZOO_INIT_POINTER zoo_entry_init
#endif

ZOO_UNUSED static ChipdockPlugin zoo_plugin = {
    ZOO_MAGIC, ZOO_ABI_MAJOR, ZOO_ABI_MINOR, ZOO_LAYOUT_HASH,  ZOO_TABLE_SIZES,
    ZOO_NAME,  ZOO_VERSION,   ZOO_BUILD_ID,  ZOO_INFO,
    ZOO_INIT_POINTER, zoo_entry_shutdown, zoo_entry_release,
};

/* A fault that defines ZOO_ENTRY writes the symbol itself, or leaves it out. */
#ifndef ZOO_ENTRY
const ChipdockPlugin *chipdock_plugin_v1(void) { return &zoo_plugin; }
#endif

#endif
