/*
 * The template in C with a target kind, a code generator and a loader, for a chip in software (machine.c). C99 and
 * C++11. guide/docs/backend-c.md goes through it step by step. SPDX-License-Identifier: Apache-2.0
 *
 * All files are one translation unit, so that nothing but the entry is exported: compile this one alone.
 *
 * With -DTHREADS=0 the chip has no threads, as many that are no GPU: its kind declares no thread axes, and each launch is one
 * thread that runs the loops of the function (T.9). Nothing else changes: such kernels have no launch parameters.
 */
#include <chipdock.h>

#ifndef THREADS
#define THREADS 1
#endif

struct Instance;
static int32_t register_codegen(const ChipdockRegistrar *registrar, struct Instance *instance);
#define REGISTER_MORE register_codegen

#include "template.c"

#define KIND_NAME "template_c"
#define FORMAT_NAME "template_c-program-1"
#define SECTION_NAME "program"
#define PROGRAM_MAGIC 0x43505443 /* CTPC */
#define DYNAMIC_SHARED 6         /* the launch parameter after the six thread axes */

#include "json.c"
#include "machine.c"
#include "wire.c"
#include "compile.c"
#include "codegen.c"
#include "loader.c"

/* ---- The target kind ---- */

#if THREADS
#define KIND_OF_THREADS                                                                                             \
  " \"thread_axes\": [\"blockIdx.x\", \"blockIdx.y\", \"blockIdx.z\", \"threadIdx.x\", \"threadIdx.y\", "              \
  "\"threadIdx.z\"],"                                                                                               \
  " \"storage_scopes\": [\"global\", \"shared\", \"shared.dyn\", \"local\"],"                                         \
  " \"capabilities\": {\"threads_per_block_max\": \"max_num_threads\", \"warp_size\": \"thread_warp_size\","           \
  "   \"shared_memory_bytes_max\": \"max_shared_memory_per_block\"},"                                               \
  " \"options\": ["                                                                                                 \
  "   {\"name\": \"max_num_threads\", \"type\": \"int\", \"default\": 1024, \"min\": 1, \"max\": 1024,"                 \
  "    \"doc\": \"threads of a block at most\"},"                                                                   \
  "   {\"name\": \"thread_warp_size\", \"type\": \"int\", \"default\": 1, \"min\": 1, \"max\": 1,"                      \
  "    \"doc\": \"threads that run in step: none do\"},"                                                            \
  "   {\"name\": \"max_shared_memory_per_block\", \"type\": \"int\", \"default\": 65536, \"min\": 0, \"max\": "         \
  "1048576,"                                                                                                        \
  "    \"doc\": \"shared memory of a block at most, in bytes\"}],"
#else
#define KIND_OF_THREADS " \"storage_scopes\": [\"global\", \"local\"],"
#endif

static const char target_kind_json[] =
    "{\"schema\": 1, \"name\": \"" KIND_NAME
    "\", \"doc\": \"programs for the chip of the template in C\","
    " \"device\": \"" DEVICE_NAME "\", \"opaque_handles\": true, \"keys\": [\"" KIND_NAME
    "\"], \"stage\": \"device\","
    KIND_OF_THREADS
    " \"native_ops\": [\"fmod\"], \"missing_types\": [\"float64\"]}";

/* Makes an owned string of 8 bytes or more from a copy of a text. */
static int32_t owned_text(const Instance *instance, ChipdockStr copied, ChipdockAny *out) {
  StringObject *string = (StringObject *)calloc(1, sizeof(StringObject) + copied.size);
  if (string == NULL) return fail(instance, CHIPDOCK_OUT_OF_MEMORY, "OutOfMemory", "no memory for a text");
  string->object.object.combined_ref_count = CHIPDOCK_NEW_REF_COUNT;
  string->object.object.type_index = CHIPDOCK_TYPE_STR;
  string->object.object.deleter = delete_string;
  memcpy(string->bytes, copied.data, copied.size);
  string->object.bytes.data = string->bytes;
  string->object.bytes.size = copied.size;
  *out = none();
  out->type_index = CHIPDOCK_TYPE_STR;
  out->value.v_object = &string->object.object;
  return CHIPDOCK_OK;
}

/* Returns the target unchanged: the host has checked the options against the schema. Refuses other texts. */
static int32_t canonical_target(void *self_, ChipdockStr target_json, ChipdockAny *out_target_json) {
  Instance *instance = (Instance *)self_;
  Pool pool = {NULL};
  const char *wrong;
  const Json *kind;
  int32_t status = enter(instance);
  if (status != CHIPDOCK_OK) return status;
  if (out_target_json == NULL) return leave(instance, fail_null(instance, "the place for the target"));
  if (target_json.data == NULL && target_json.size != 0) return leave(instance, fail_null(instance, "the target"));
  kind = json_get(json_read(&pool, target_json, &wrong), "kind");
  if (!json_is(kind, 's') || !is_text(kind->text, KIND_NAME))
    status = fail(instance, CHIPDOCK_INVALID_ARGUMENT, "ValueError",
                  "expected a target, a JSON object of the kind " KIND_NAME);
  else
    status = owned_text(instance, target_json, out_target_json);
  free_pool(&pool);
  return leave(instance, status);
}

static const ChipdockTargetKind target_kind = {destroy, canonical_target};

/* ---- Registration ---- */

static int32_t register_codegen(const ChipdockRegistrar *registrar, struct Instance *instance) {
  static const char versions[] = "{\"ir_min\": \"1.0.0\", \"ir_max\": \"1.0.0\"}";
  void *self_ = registrar->self_;
  int32_t status = registrar->module_loader(self_, text(KIND_NAME), text("{}"), instance, &module_loader);
  if (status == CHIPDOCK_OK) status = registrar->codegen(self_, text(KIND_NAME), text(versions), instance, &codegen);
  if (status == CHIPDOCK_OK)
    status = registrar->target_kind(self_, text(KIND_NAME), text(target_kind_json), instance, &target_kind);
  return status;
}
