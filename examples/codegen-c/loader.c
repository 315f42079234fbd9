/*
 * The table `module.load.template_c`: checks an artifact, makes a program of it, and runs its kernels. Part of
 * plugin.c. SPDX-License-Identifier: Apache-2.0
 */

/* An argument of a kernel, and the cell in which a thread expects it. */
typedef struct Argument {
  int32_t type, cell;
} Argument;

typedef struct Kernel {
  const int32_t *name; /* size in bytes, followed by the bytes */
  int32_t entry, args_count, params_count;
  const Argument *args;
  const int32_t *params; /* thread axes, and DYNAMIC_SHARED */
} Kernel;

/* A loaded artifact. Its module and each of its functions keep it alive (M.5). */
typedef struct Program {
  uint64_t references;
  Instance caller;        /* the host alone, whose table lives as long as the process; the plugin's instance may not */
  const ChipdockEnv *env; /* may be null */
  int32_t cells_count, memories_count, kernels_count, code_count;
  const Memory *memories;
  const Instr *code;
  Kernel *kernels;
  int32_t *words; /* a copy of the section, into which the pointers above point */
} Program;

static void drop_program(Program *program) {
  if (__atomic_sub_fetch(&program->references, 1, __ATOMIC_ACQ_REL) != 0) return;
  if (program->env != NULL) program->env->release(program->env);
  free(program->kernels);
  free(program->words);
  free(program);
}

/* ---- Reading a section: every number in it is checked ---- */

typedef struct Cursor {
  const int32_t *at, *end;
} Cursor;

/* Returns the next words, or NULL if fewer are left. */
static const int32_t *next_words(Cursor *cursor, int64_t count) {
  const int32_t *at = cursor->at;
  if (count < 0 || count > cursor->end - at) return NULL;
  cursor->at += count;
  return at;
}

static int read_kernel(const Program *program, Cursor *cursor, Kernel *kernel) {
  const int32_t *words = next_words(cursor, 1);
  int32_t at;
  kernel->name = words;
  if (words == NULL || words[0] < 1 || next_words(cursor, ((int64_t)words[0] + 3) / 4) == NULL) return 0;
  words = next_words(cursor, 2);
  if (words == NULL || words[0] < 0 || words[0] >= program->code_count) return 0;
  kernel->entry = words[0];
  kernel->args_count = words[1];
  kernel->args = (const Argument *)next_words(cursor, 2 * (int64_t)words[1]);
  words = kernel->args == NULL ? NULL : next_words(cursor, 1);
  if (words == NULL) return 0;
  kernel->params_count = words[0];
  kernel->params = next_words(cursor, words[0]);
  if (kernel->params == NULL) return 0;
  for (at = 0; at < kernel->args_count; at++)
    if (kernel->args[at].type < 0 || kernel->args[at].type >= TYPES_COUNT || kernel->args[at].cell < 0 ||
        kernel->args[at].cell >= program->cells_count)
      return 0;
  for (at = 0; at < kernel->params_count; at++)
    if (kernel->params[at] < 0 || kernel->params[at] > DYNAMIC_SHARED) return 0;
  return 1;
}

/* Returns whether an instruction is known and its operands are in range. */
static int is_instr_good(const Program *program, const Instr *instr) {
  const int32_t operands[4] = {instr->to, instr->a, instr->b, instr->c};
  int32_t at, limit;
  if (instr->op < 0 || instr->op >= OPS_COUNT || instr->type < 0 || instr->type >= TYPES_COUNT) return 0;
  for (at = 0; at < 4; at++) {
    if (at < 2 || op_cells[instr->op][at] != '-')
      if (operands[at] < 0 || operands[at] >= program->cells_count) return 0;
  }
  switch (instr->op) {
    case OP_POSITION: limit = 6; break;
    case OP_MEMORY: limit = program->memories_count; break;
    case OP_CAST: limit = TYPES_COUNT; break;
    case OP_JUMP:
    case OP_JUMP_UNLESS:
    case OP_CALL: limit = program->code_count; break;
    default: return 1;
  }
  return instr->b >= 0 && instr->b < limit;
}

/* Reads a section. Returns 1, 0 if it is damaged or of another format, or -1 if memory is exhausted. */
static int read_program(Program *program, const ChipdockSection *section) {
  Cursor cursor;
  const int32_t *head;
  int32_t at;
  if (section->size_bytes % 4 != 0 || section->size_bytes < 28 || section->size_bytes > (uint64_t)1 << 31) return 0;
  program->words = (int32_t *)malloc((size_t)section->size_bytes);
  if (program->words == NULL) return -1;
  memcpy(program->words, section->data, (size_t)section->size_bytes);
  cursor.at = program->words;
  cursor.end = program->words + section->size_bytes / 4;
  head = next_words(&cursor, 7);
  if (head[0] != PROGRAM_MAGIC) return 0;
  if (checksum(head + 3, (size_t)(cursor.end - head) - 3) != ((uint64_t)(uint32_t)head[2] << 32 | (uint32_t)head[1]))
    return 0;
  program->cells_count = head[3];
  program->memories_count = head[4];
  program->kernels_count = head[5];
  program->code_count = head[6];
  program->memories = (const Memory *)next_words(&cursor, 2 * (int64_t)head[4]);
  if (head[3] < 1 || head[5] < 0 || program->memories == NULL || cursor.end - cursor.at < head[5]) return 0;
  for (at = 0; at < head[4]; at++)
    if (program->memories[at].where < MEMORY_LOCAL || program->memories[at].where > MEMORY_SHARED_DYNAMIC ||
        program->memories[at].size_bytes < 0)
      return 0;
  program->kernels = (Kernel *)calloc((size_t)head[5] + 1, sizeof(Kernel));
  if (program->kernels == NULL) return -1;
  for (at = 0; at < head[5]; at++)
    if (!read_kernel(program, &cursor, &program->kernels[at])) return 0;
  program->code = (const Instr *)next_words(&cursor, 6 * (int64_t)head[6]);
  if (program->code == NULL || cursor.at != cursor.end) return 0;
  for (at = 0; at < head[6]; at++)
    if (!is_instr_good(program, &program->code[at])) return 0;
  /* The last instruction ends a function, so that no thread runs past it. */
  return head[6] == 0 || program->code[head[6] - 1].op == OP_END || program->code[head[6] - 1].op == OP_RETURN;
}

/* ---- A launch ---- */

typedef struct Launch {
  int64_t extents[7]; /* extents of blockIdx.x to threadIdx.z, and bytes of dynamic shared memory */
  Cell *args;
} Launch;

/* Raises the error of a packed call, which returns -1 for every kind. */
static int32_t call_fails(const Program *program, const char *kind, const char *message) {
  return fail(&program->caller, CHIPDOCK_ERROR, kind, message);
}

/* Converts an argument of a packed call to the type of its parameter. Returns NULL, or the expected type. */
static const char *read_argument(const ChipdockAny *value, int32_t type, Cell *out) {
  double wide = value->type_index == CHIPDOCK_TYPE_FLOAT ? value->value.v_float64 : (double)value->value.v_int64;
  int is_int = value->type_index == CHIPDOCK_TYPE_INT || value->type_index == CHIPDOCK_TYPE_BOOL;
  memset(out, 0, sizeof *out);
  if (type == HANDLE) {
    if (value->type_index == CHIPDOCK_TYPE_OPAQUE_PTR) out->v.block = (Block *)value->value.v_ptr;
    return value->type_index == CHIPDOCK_TYPE_OPAQUE_PTR || value->type_index == CHIPDOCK_TYPE_NONE ? NULL
                                                                                                    : "a data space";
  }
  if (type == F32) {
    out->v.f = (float)wide;
    return is_int || value->type_index == CHIPDOCK_TYPE_FLOAT ? NULL : "a number";
  }
  out->v.i = value->value.v_int64;
  return is_int && extend(type, out->v.u) == out->v.i ? NULL : type_names[type];
}

/* Allocates one piece of memory for all threads of a block: cells, tables of memories, and the memories. */
static char *lay_out(const Program *program, const Launch *launch, int64_t threads, Thread **out_threads) {
  uint64_t size = 0, cells = sizeof(Cell) * (uint64_t)program->cells_count,
           tables = sizeof(Block) * (uint64_t)program->memories_count;
  uint64_t local = 0, shared = 0;
  int64_t thread;
  int32_t at;
  char *piece, *next, *shared_next;
  for (at = 0; at < program->memories_count; at++) {
    const Memory *memory = &program->memories[at];
    uint64_t bytes = memory->where == MEMORY_SHARED_DYNAMIC ? (uint64_t)launch->extents[DYNAMIC_SHARED]
                                                            : (uint64_t)memory->size_bytes;
    *(memory->where == MEMORY_LOCAL ? &local : &shared) += (bytes + 15) & ~(uint64_t)15;
  }
  if (__builtin_mul_overflow(sizeof(Thread) + cells + tables + local, (uint64_t)threads, &size) ||
      __builtin_add_overflow(size, shared, &size))
    return NULL;
  piece = (char *)calloc(1, (size_t)size + 1);
  if (piece == NULL) return NULL;
  *out_threads = (Thread *)piece;
  next = piece + sizeof(Thread) * (size_t)threads;
  shared_next = piece + size - shared;
  for (thread = 0; thread < threads; thread++) {
    char *shared_at = shared_next;
    Thread *one = &(*out_threads)[thread];
    one->cells = (Cell *)next;
    one->memories = (Block *)(next + cells);
    next += cells + tables;
    for (at = 0; at < program->memories_count; at++) {
      const Memory *memory = &program->memories[at];
      Block *block = &one->memories[at];
      char **from = memory->where == MEMORY_LOCAL ? &next : &shared_at;
      block->size_bytes = memory->where == MEMORY_SHARED_DYNAMIC ? (uint64_t)launch->extents[DYNAMIC_SHARED]
                                                                 : (uint64_t)memory->size_bytes;
      block->bytes = *from;
      *from += (block->size_bytes + 15) & ~(uint64_t)15;
    }
  }
  return piece;
}

/* Runs a block: each thread up to its next barrier, repeatedly, until all have ended. Returns NULL, or the error. */
static const char *run_block(const Program *program, Thread *threads, int64_t count) {
  const char *wrong = NULL;
  int64_t at;
  int is_running = 1;
  while (is_running && wrong == NULL) {
    is_running = 0;
    for (at = 0; at < count && wrong == NULL; at++) {
      if (threads[at].at < 0) continue;
      wrong = run_thread(&threads[at], program->code);
      is_running = 1;
    }
  }
  return wrong;
}

static int32_t run_grid(const Program *program, const Kernel *kernel, const Launch *launch) {
  const int64_t *of = launch->extents;
  int64_t count = 1, block, thread, blocks = 1;
  Thread *threads;
  char *piece;
  const char *wrong = NULL;
  int32_t at;
  for (at = 0; at < 6; at++) {
    if (of[at] == 0) return CHIPDOCK_OK; /* launches nothing (K.2) */
    if (of[at] > INT32_MAX || __builtin_mul_overflow(at < 3 ? blocks : count, of[at], at < 3 ? &blocks : &count))
      return call_fails(program, "ValueError", "the extents of the launch do not fit 64 bits");
  }
  piece = lay_out(program, launch, count, &threads);
  if (piece == NULL) return call_fails(program, "OutOfMemory", "no memory for the threads of a block");
  for (block = 0; block < blocks && wrong == NULL; block++) {
    for (thread = 0; thread < count; thread++) {
      Thread *one = &threads[thread];
      one->at = kernel->entry;
      one->position[0] = (int32_t)(block % of[0]);
      one->position[1] = (int32_t)(block / of[0] % of[1]);
      one->position[2] = (int32_t)(block / of[0] / of[1]);
      one->position[3] = (int32_t)(thread % of[3]);
      one->position[4] = (int32_t)(thread / of[3] % of[4]);
      one->position[5] = (int32_t)(thread / of[3] / of[4]);
      for (at = 0; at < kernel->args_count; at++) one->cells[kernel->args[at].cell] = launch->args[at];
    }
    wrong = run_block(program, threads, count);
  }
  free(piece);
  return wrong == NULL ? CHIPDOCK_OK : call_fails(program, "IndexError", wrong);
}

/* Checks that the current device is device 0. There is no stream to ask for: a launch is complete when it returns. */
static int32_t check_current_device(const Program *program) {
  int32_t device_id = 0;
  if (program->env != NULL && program->env->current_device(program->env, program->caller.device_type, &device_id) != 0)
    return CHIPDOCK_ERROR;
  return device_id == 0 ? 0 : call_fails(program, "ValueError", DEVICE_NAME " has the device 0 only");
}

/* ---- A function of a module ---- */

typedef struct KernelObject {
  uint64_t prefix[2]; /* sixteen zero bytes before each object (V.13) */
  ChipdockFunctionObject object;
  Program *program;
  const Kernel *kernel;
} KernelObject;

/* Reads the integers after the arguments, one for each launch parameter (K.3). */
static int32_t read_extents(const Program *program, const Kernel *kernel, const ChipdockAny *values, Launch *launch) {
  int32_t at;
  for (at = 0; at < 6; at++) launch->extents[at] = 1;
  launch->extents[DYNAMIC_SHARED] = 0;
  for (at = 0; at < kernel->params_count; at++) {
    if (values[at].type_index != CHIPDOCK_TYPE_INT)
      return call_fails(program, "TypeError", "an extent of the launch: expected int");
    if (values[at].value.v_int64 < 0)
      return call_fails(program, "ValueError", "an extent of the launch: expected at least 0");
    launch->extents[kernel->params[at]] = values[at].value.v_int64;
  }
  return 0;
}

/* Runs a kernel by a packed call. `self_` is the function object. */
static int32_t call_kernel(void *self_, const ChipdockAny *args, int32_t num_args, ChipdockAny *result) {
  const KernelObject *object =
      (const KernelObject *)(const void *)((const char *)self_ - offsetof(KernelObject, object));
  const Program *program = object->program;
  const Kernel *kernel = object->kernel;
  char message[128];
  Launch launch;
  int32_t at, status = CHIPDOCK_OK;
  if (num_args != kernel->args_count + kernel->params_count) {
    snprintf(message, sizeof message, "expected %d arguments, found %d",
             (int)(kernel->args_count + kernel->params_count), (int)num_args);
    return call_fails(program, "TypeError", message);
  }
  if (check_current_device(program) != 0 || read_extents(program, kernel, args + kernel->args_count, &launch) != 0)
    return CHIPDOCK_ERROR;
  launch.args = (Cell *)calloc((size_t)kernel->args_count + 1, sizeof(Cell));
  if (launch.args == NULL) return call_fails(program, "OutOfMemory", "no memory for the arguments");
  for (at = 0; at < kernel->args_count && status == CHIPDOCK_OK; at++) {
    const char *expected = read_argument(&args[at], kernel->args[at].type, &launch.args[at]);
    if (expected == NULL) continue;
    snprintf(message, sizeof message, "argument %d: expected %s", (int)at, expected);
    status = call_fails(program, args[at].type_index == CHIPDOCK_TYPE_INT ? "ValueError" : "TypeError", message);
  }
  if (status == CHIPDOCK_OK) status = run_grid(program, kernel, &launch);
  free(launch.args);
  if (status == CHIPDOCK_OK) *result = none();
  return status;
}

static void delete_kernel(void *self_, int32_t flags) {
  KernelObject *object = (KernelObject *)(void *)((char *)self_ - offsetof(KernelObject, object));
  if (flags & CHIPDOCK_DELETE_STRONG) drop_program(object->program);
  if (flags & CHIPDOCK_DELETE_WEAK) free(object);
}

/* Returns the kernel of that name, or NULL. */
static const Kernel *kernel_named(const Program *program, ChipdockStr name) {
  int32_t at;
  for (at = 0; at < program->kernels_count; at++) {
    const Kernel *kernel = &program->kernels[at];
    if (name.size == (size_t)kernel->name[0] && memcmp(name.data, kernel->name + 1, name.size) == 0) return kernel;
  }
  return NULL;
}

static int32_t module_function(void *self_, ChipdockStr name, ChipdockAny *out_function) {
  Program *program = (Program *)self_;
  const Kernel *kernel = kernel_named(program, name);
  KernelObject *object;
  if (out_function == NULL) return fail_null(&program->caller, "the place for the function");
  *out_function = none();
  if (kernel == NULL) return CHIPDOCK_OK; /* an unknown function is None, and no error (M.6) */
  object = (KernelObject *)calloc(1, sizeof(KernelObject));
  if (object == NULL) return fail(&program->caller, CHIPDOCK_OUT_OF_MEMORY, "OutOfMemory", "no memory for a function");
  object->object.object.combined_ref_count = CHIPDOCK_NEW_REF_COUNT;
  object->object.object.type_index = CHIPDOCK_TYPE_FUNCTION;
  object->object.object.deleter = delete_kernel;
  object->object.safe_call = call_kernel;
  object->program = program;
  object->kernel = kernel;
  __atomic_add_fetch(&program->references, 1, __ATOMIC_RELAXED);
  out_function->type_index = CHIPDOCK_TYPE_FUNCTION;
  out_function->value.v_object = &object->object.object;
  return CHIPDOCK_OK;
}

static void module_destroy(void *self_) { drop_program((Program *)self_); }

/* ---- Interface `launch` 1: the same without a packed call ---- */

static int32_t launch_entry(void *self_, ChipdockStr name, ChipdockEntry *out_entry) {
  Program *program = (Program *)self_;
  const Kernel *kernel = kernel_named(program, name);
  if (out_entry == NULL) return fail_null(&program->caller, "the place for the entry");
  memset(out_entry, 0, sizeof *out_entry);
  out_entry->entry = (void *)kernel; /* null where there is none, which is no error (K.5) */
  out_entry->device_type = program->caller.device_type;
  return CHIPDOCK_OK;
}

/* Checks a request against the device and the kernel, and reads its extents (K.8). */
static int32_t read_launch(const Program *program, const Kernel *kernel, const ChipdockLaunchRequest *request,
                           Launch *launch) {
  uint64_t extents[7];
  int has_param[7] = {0, 0, 0, 0, 0, 0, 0};
  char message[128];
  int32_t at;
  memcpy(extents, request->grid, sizeof request->grid);
  memcpy(extents + 3, request->block, sizeof request->block);
  extents[DYNAMIC_SHARED] = request->dynamic_shared_bytes;
  for (at = 0; at < kernel->params_count; at++) has_param[kernel->params[at]] = 1;
  for (at = 0; at < 7; at++) {
    /* An axis that the kernel does not have must be 1; 0 on any axis launches nothing (K.2). */
    int is_good = has_param[at] ? extents[at] <= INT64_MAX : extents[at] <= (at < DYNAMIC_SHARED);
    launch->extents[at] = (int64_t)extents[at];
    snprintf(message, sizeof message, "%s of the launch: found %llu, which the kernel does not take",
             at < DYNAMIC_SHARED ? axis_names[at] : "dynamic shared memory", (unsigned long long)extents[at]);
    if (!is_good) return fail(&program->caller, CHIPDOCK_INVALID_ARGUMENT, "ValueError", message);
  }
  if (request->stream != NULL)
    return fail(&program->caller, CHIPDOCK_INVALID_ARGUMENT, "ValueError", DEVICE_NAME " has the default stream only");
  snprintf(message, sizeof message, "expected %d arguments, found %llu", (int)kernel->args_count,
           (unsigned long long)request->args_count);
  if (request->args_count != (uint64_t)kernel->args_count)
    return fail(&program->caller, CHIPDOCK_WRONG_TYPE, "TypeError", message);
  if (request->args == NULL && request->args_count != 0) return fail_null(&program->caller, "the list of arguments");
  at = check_device(&program->caller, request->device_id);
  return at != CHIPDOCK_OK ? at : check_extensions(&program->caller, request->next);
}

static int32_t launch_kernel(void *self_, void *entry, const ChipdockLaunchRequest *request) {
  const Program *program = (const Program *)self_;
  const Kernel *kernel = (const Kernel *)entry;
  Launch launch;
  int32_t at, status;
  if (kernel == NULL) return fail_null(&program->caller, "the kernel");
  if (request == NULL) return fail_null(&program->caller, "the request");
  status = read_launch(program, kernel, request, &launch);
  if (status != CHIPDOCK_OK) return status;
  launch.args = (Cell *)calloc((size_t)kernel->args_count + 1, sizeof(Cell));
  if (launch.args == NULL)
    return fail(&program->caller, CHIPDOCK_OUT_OF_MEMORY, "OutOfMemory", "no memory for the arguments");
  for (at = 0; at < kernel->args_count && status == CHIPDOCK_OK; at++) {
    if (request->args[at] == NULL)
      status = fail_null(&program->caller, "an argument");
    else
      launch.args[at] = load((const char *)request->args[at], kernel->args[at].type);
  }
  if (status == CHIPDOCK_OK) status = run_grid(program, kernel, &launch);
  free(launch.args);
  return status;
}

static const ChipdockLaunch1 launch_table = {launch_entry, launch_kernel};

static int32_t module_query(void *self_, ChipdockStr name, uint32_t version, ChipdockInterface *out_interface) {
  if (out_interface == NULL) return fail_null(&((Program *)self_)->caller, "the place for the interface");
  memset(out_interface, 0, sizeof *out_interface);
  if (!is_text(name, "launch") || version != 1) return CHIPDOCK_OK; /* a missing interface is no error */
  out_interface->self_ = self_;
  out_interface->table = &launch_table;
  out_interface->table_size_bytes = sizeof launch_table;
  return CHIPDOCK_OK;
}

static const ChipdockModule module_table = {module_destroy, module_function, module_query};

/* ---- The table ---- */

/* Returns the section of an artifact of this kind and format, or NULL with the reason in `*why`. */
static const ChipdockSection *section_of(const ChipdockArtifact *artifact, const char **why) {
  Pool pool = {NULL};
  const Json *index = json_read(&pool, artifact->index_json, why), *functions = json_get(index, "functions"), *one;
  uint64_t at;
  *why = NULL;
  if (!json_is(json_get(index, "module_kind"), 's') || !is_text(json_get(index, "module_kind")->text, KIND_NAME))
    *why = "expected an index with the module_kind " KIND_NAME;
  else if (!json_is(json_get(index, "format"), 's') || !is_text(json_get(index, "format")->text, FORMAT_NAME))
    *why = "expected an index with the format " FORMAT_NAME;
  else if (!json_is(functions, 'l'))
    *why = "expected an index with a list `functions`";
  for (one = *why == NULL ? functions->first : NULL; one != NULL; one = one->next)
    if (!json_is(json_get(one, "name"), 's') || !json_is(json_get(one, "symbol"), 's'))
      *why = "expected functions with `name` and `symbol`";
  free_pool(&pool);
  if (*why != NULL) return NULL;
  for (at = 0; at < artifact->sections_count; at++)
    if (is_text(artifact->sections[at].name, SECTION_NAME)) return &artifact->sections[at];
  *why = "expected a section " SECTION_NAME;
  return NULL;
}

/* Of an index of a later version nothing else is read: all of it may mean something else (P3.19). */
static int32_t check_version(const Instance *instance, const ChipdockArtifact *artifact) {
  char message[160];
  const char *why;
  Pool pool = {NULL};
  const Json *schema = json_get(json_read(&pool, artifact->index_json, &why), "schema");
  uint64_t version = 1;
  int is_number = schema == NULL || (json_is(schema, 'i') && schema->text.data[0] != '-' &&
                                     parse_integer(schema->text, &version) && version > 0);
  free_pool(&pool);
  if (!is_number)
    return fail(instance, CHIPDOCK_INVALID_ARGUMENT, "ValueError",
                "expected a whole number from 1 up as `schema` of the index");
  if (version == 1) return CHIPDOCK_OK;
  snprintf(message, sizeof message,
           "the artifact has an index of version %llu; expected one up to 1: use a newer plugin, or build it again",
           (unsigned long long)version);
  return fail(instance, CHIPDOCK_UNAVAILABLE, "Unavailable", message);
}

static int32_t check_artifact(const Instance *instance, const ChipdockArtifact *artifact) {
  uint64_t at;
  int32_t status;
  if (artifact == NULL) return fail_null(instance, "the artifact");
  if (artifact->index_json.data == NULL && artifact->index_json.size != 0) return fail_null(instance, "the index");
  if (artifact->sections == NULL && artifact->sections_count != 0) return fail_null(instance, "the list of sections");
  for (at = 0; at < artifact->sections_count; at++)
    if (artifact->sections[at].data == NULL && artifact->sections[at].size_bytes != 0)
      return fail_null(instance, "the bytes of a section");
  status = check_extensions(instance, artifact->next);
  return status == CHIPDOCK_OK ? check_version(instance, artifact) : status;
}

static int32_t verdict(void *self_, const ChipdockArtifact *artifact, ChipdockDevice device, int32_t *out_verdict,
                       ChipdockAny *out_reason) {
  Instance *instance = (Instance *)self_;
  const char *why = NULL;
  int32_t status = enter(instance);
  if (status != CHIPDOCK_OK) return status;
  status = check_artifact(instance, artifact);
  if (status == CHIPDOCK_OK && (out_verdict == NULL || out_reason == NULL))
    status = fail_null(instance, "the place for the verdict");
  if (status != CHIPDOCK_OK) return leave(instance, status);
  if (section_of(artifact, &why) != NULL && (device.device_type != instance->device_type || device.device_id != 0))
    why = "it runs on " DEVICE_NAME ":0 alone";
  *out_verdict = why == NULL ? CHIPDOCK_ARTIFACT_OK : CHIPDOCK_ARTIFACT_UNSUPPORTED;
  *out_reason = why == NULL ? none() : long_string(why);
  return leave(instance, CHIPDOCK_OK);
}

static int32_t load_artifact(const Instance *instance, const ChipdockArtifact *artifact, const ChipdockEnv *env,
                             ChipdockModuleHandle *out_module) {
  const char *why;
  const ChipdockSection *section;
  Program *program;
  int is_good;
  int32_t status = check_artifact(instance, artifact);
  if (status != CHIPDOCK_OK) return status;
  if (out_module == NULL) return fail_null(instance, "the place for the module");
  section = section_of(artifact, &why);
  if (section == NULL) return fail(instance, CHIPDOCK_INVALID_ARGUMENT, "ValueError", why);
  program = (Program *)calloc(1, sizeof(Program));
  if (program == NULL) return fail(instance, CHIPDOCK_OUT_OF_MEMORY, "OutOfMemory", "no memory for the program");
  program->references = 1;
  program->caller.host = instance->host;
  program->caller.device_type = instance->device_type;
  is_good = read_program(program, section);
  if (is_good == 1) {
    program->env = env; /* owned by the program from here on */
    out_module->self_ = program;
    out_module->table = &module_table;
    return CHIPDOCK_OK;
  }
  drop_program(program);
  if (is_good < 0) return fail(instance, CHIPDOCK_OUT_OF_MEMORY, "OutOfMemory", "no memory for the program");
  return fail(instance, CHIPDOCK_INVALID_ARGUMENT, "ValueError",
              "the section " SECTION_NAME " is damaged: build the artifact again");
}

static int32_t load_module(void *self_, const ChipdockArtifact *artifact, const ChipdockEnv *env,
                           ChipdockModuleHandle *out_module) {
  Instance *instance = (Instance *)self_;
  int32_t status = enter(instance);
  if (status == CHIPDOCK_OK) status = leave(instance, load_artifact(instance, artifact, env, out_module));
  /* The loader owns the environment even if it fails (M.4). */
  if (status != CHIPDOCK_OK && env != NULL) env->release(env);
  return status;
}

static const ChipdockModuleLoader module_loader = {destroy, verdict, load_module};
