/*
 * A plugin to start from, in C99 that is also C++11: one device in host memory, and one function.
 * It includes only chipdock.h of Chipdock, and links nothing of it. SPDX-License-Identifier: Apache-2.0
 */
#include <chipdock.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PLUGIN_NAME "template-c"
#define DEVICE_NAME "template_c"
#define FUNCTION_NAME "template_c.element_count"
#define AXES_MAX_NAME "axes-max"
#define AXES_MAX_DEFAULT 64

/* A setting for users: `chipdock plugins template-c`, `--config template-c.axes-max=8`. */
#define INFO_JSON \
  "{\"settings\": [{\"name\": \"axes-max\", \"type\": \"int\", \"default\": 64, " \
  "\"doc\": \"How many axes a tensor may have whose elements are counted.\"}]}"

/* Registers more than the device and the function; examples/codegen-c includes this file and defines it. */
#ifndef REGISTER_MORE
#define REGISTER_MORE(registrar, instance) CHIPDOCK_OK
#endif

/* The state of the plugin for one host. There may be several hosts, each with its own. */
typedef struct Instance {
  const ChipdockHost *host;
  int32_t device_type; /* the number that the host assigned to the device */
  /* The number of running calls, and the highest bit after the host has shut the plugin down. */
  uint64_t state;
} Instance;

#define CLOSED ((uint64_t)1 << 63)

static ChipdockStr text(const char *literal) {
  ChipdockStr view;
  view.data = literal;
  view.size = strlen(literal);
  return view;
}

static int is_text(ChipdockStr view, const char *literal) {
  return view.size == strlen(literal) && (view.size == 0 || memcmp(view.data, literal, view.size) == 0);
}

/* Raises an error with the host, then returns its status. */
static int32_t fail(const Instance *instance, int32_t status, const char *kind, const char *message) {
  instance->host->raise(instance->host->self_, text(kind), text(message));
  return status;
}

/* The error for a null pointer (D.2). */
static int32_t fail_null(const Instance *instance, const char *what) {
  char message[96];
  snprintf(message, sizeof message, "%s is null: pass a valid pointer", what);
  return fail(instance, CHIPDOCK_INVALID_ARGUMENT, "ValueError", message);
}

/* Begins a call: returns 0, or "unavailable" after shutdown. */
static int32_t enter(Instance *instance) {
  if (__atomic_fetch_add(&instance->state, 1, __ATOMIC_ACQUIRE) & CLOSED) {
    __atomic_fetch_sub(&instance->state, 1, __ATOMIC_RELEASE);
    return fail(instance, CHIPDOCK_UNAVAILABLE, "Unavailable",
                "the plugin `" PLUGIN_NAME "` was shut down for this host: load it with a new host");
  }
  return CHIPDOCK_OK;
}

/* Ends a call and returns its status. */
static int32_t leave(Instance *instance, int32_t status) {
  __atomic_fetch_sub(&instance->state, 1, __ATOMIC_RELEASE);
  return status;
}

/* Destroys a registration, which owns nothing: the instance is freed last (`release`). */
static void destroy(void *self_) { (void)self_; }

static int32_t check_device(const Instance *instance, int32_t device_id) {
  char message[96];
  if (device_id == 0) return CHIPDOCK_OK;
  snprintf(message, sizeof message, "device " DEVICE_NAME ":%d: expected id 0, there is 1 device", (int)device_id);
  return fail(instance, CHIPDOCK_INVALID_ARGUMENT, "ValueError", message);
}

/* This plugin knows no extension of a request: each is ignored, unless it must be understood. */
static int32_t check_extensions(const Instance *instance, const ChipdockExtension *extension) {
  char message[160];
  uint32_t count = 0;
  for (; extension != NULL; extension = extension->next) {
    if (count++ == CHIPDOCK_EXTENSIONS_MAX)
      return fail(instance, CHIPDOCK_INVALID_ARGUMENT, "ValueError", "expected 64 extensions at most, found more");
    if (extension->flags & CHIPDOCK_EXTENSION_MUST_BE_UNDERSTOOD) {
      snprintf(message, sizeof message, "the extension `%.*s` must be understood and is not known here: do without it",
               extension->name.size < 64 ? (int)extension->name.size : 64, extension->name.data);
      return fail(instance, CHIPDOCK_UNSUPPORTED, "Unsupported", message);
    }
  }
  return CHIPDOCK_OK;
}

/* ---- Values ---- */

static ChipdockAny none(void) {
  ChipdockAny any;
  memset(&any, 0, sizeof any); /* also the bytes that are not used */
  return any;
}

static ChipdockAny integer(int32_t type_index, int64_t number) {
  ChipdockAny any = none();
  any.type_index = type_index;
  any.value.v_int64 = number;
  return any;
}

/* A string of at most 7 bytes is stored in the value; a longer one is an object with its deleter. */
typedef struct StringObject {
  uint64_t prefix[2]; /* sixteen zero bytes before each object (V.13) */
  ChipdockByteArrayObject object;
  char bytes[64];
} StringObject;

static void delete_string(void *self_, int32_t flags) {
  /* There is nothing to destroy but the memory, which is freed with the last weak reference. */
  if (flags & CHIPDOCK_DELETE_WEAK) free((char *)self_ - offsetof(StringObject, object));
}

/* An owned string of 8 to 63 bytes; None if memory runs out. */
static ChipdockAny long_string(const char *literal) {
  ChipdockAny any = none();
  StringObject *string = (StringObject *)calloc(1, sizeof(StringObject));
  if (string == NULL) return any;
  string->object.object.combined_ref_count = CHIPDOCK_NEW_REF_COUNT;
  string->object.object.type_index = CHIPDOCK_TYPE_STR;
  string->object.object.deleter = delete_string;
  strncpy(string->bytes, literal, sizeof string->bytes - 1);
  string->object.bytes.data = string->bytes;
  string->object.bytes.size = strlen(string->bytes);
  any.type_index = CHIPDOCK_TYPE_STR;
  any.value.v_object = &string->object.object;
  return any;
}

/* ---- The device: blocks of host memory behind opaque handles ---- */

/* A data space: its handle points to this struct, not to the bytes, like the buffers of a real device. */
typedef struct Block {
  uint64_t size_bytes;
  char *bytes;
} Block;

static int32_t device_count(void *self_, int32_t *out_count) {
  Instance *instance = (Instance *)self_;
  int32_t status = enter(instance);
  if (status != CHIPDOCK_OK) return status;
  if (out_count == NULL) return leave(instance, fail_null(instance, "the place for the count"));
  *out_count = 1;
  return leave(instance, CHIPDOCK_OK);
}

static int32_t attribute(void *self_, int32_t device_id, ChipdockStr key, ChipdockAny *out_value) {
  Instance *instance = (Instance *)self_;
  int32_t status = enter(instance);
  if (status != CHIPDOCK_OK) return status;
  if (out_value == NULL) return leave(instance, fail_null(instance, "the place for the attribute"));
  if (key.data == NULL && key.size != 0) return leave(instance, fail_null(instance, "the attribute's key"));
  if (is_text(key, "exist")) {
    *out_value = integer(CHIPDOCK_TYPE_BOOL, device_id == 0);
  } else {
    status = check_device(instance, device_id);
    /* An unknown attribute is None, and not an error. */
    if (status == CHIPDOCK_OK)
      *out_value = is_text(key, "device_name") ? long_string("Template device in host memory") : none();
  }
  return leave(instance, status);
}

static int32_t allocate(Instance *instance, const ChipdockDataSpaceRequest *request, void **out_data) {
  Block *block;
  uint64_t alignment;
  int32_t status;
  char message[128];
  if (request == NULL) return fail_null(instance, "the request");
  if (out_data == NULL) return fail_null(instance, "the place for the data space");
  if (request->scope.data == NULL && request->scope.size != 0) return fail_null(instance, "the memory scope");
  status = check_extensions(instance, request->next);
  if (status != CHIPDOCK_OK) return status;
  alignment = request->alignment_bytes;
  if (alignment == 0 || (alignment & (alignment - 1)) != 0) {
    snprintf(message, sizeof message, "alignment: expected a power of two, found %llu", (unsigned long long)alignment);
    return fail(instance, CHIPDOCK_INVALID_ARGUMENT, "ValueError", message);
  }
  if (request->kind != CHIPDOCK_DATA_SPACE_DEVICE ||
      !(is_text(request->scope, "") || is_text(request->scope, "global"))) {
    snprintf(message, sizeof message, DEVICE_NAME " has memory of kind 0 and scope `global` only, found kind %d",
             (int)request->kind);
    return fail(instance, CHIPDOCK_UNSUPPORTED, "Unsupported", message);
  }
  block = (Block *)malloc(sizeof(Block));
  if (block != NULL) {
    block->size_bytes = request->size_bytes;
    block->bytes = request->size_bytes < SIZE_MAX / 2 ? (char *)malloc((size_t)request->size_bytes + 1) : NULL;
    if (block->bytes != NULL) {
      *out_data = block;
      return CHIPDOCK_OK;
    }
    free(block);
  }
  /* The state is unchanged. */
  return fail(instance, CHIPDOCK_OUT_OF_MEMORY, "OutOfMemory",
              DEVICE_NAME ": no memory of that size is left; free something or ask for less");
}

static int32_t allocate_data_space(void *self_, int32_t device_id, const ChipdockDataSpaceRequest *request,
                                   void **out_data) {
  Instance *instance = (Instance *)self_;
  int32_t status = enter(instance);
  if (status != CHIPDOCK_OK) return status;
  status = check_device(instance, device_id);
  if (status == CHIPDOCK_OK) status = allocate(instance, request, out_data);
  return leave(instance, status);
}

static int32_t free_data_space(void *self_, int32_t device_id, void *data) {
  Instance *instance = (Instance *)self_;
  Block *block = (Block *)data;
  int32_t status = enter(instance);
  if (status != CHIPDOCK_OK) return status;
  status = check_device(instance, device_id);
  if (status == CHIPDOCK_OK && block != NULL) {
    free(block->bytes);
    free(block);
  }
  return leave(instance, status);
}

/* The address of an end of a copy, or NULL if the range is not within the data space. For host memory the caller
 * guarantees the address. */
static char *range(const ChipdockCopyEnd *end, uint64_t size_bytes) {
  Block *block;
  if (end->device.device_type == CHIPDOCK_DEVICE_CPU) return (char *)end->data + end->offset_bytes;
  block = (Block *)end->data;
  if (end->offset_bytes > block->size_bytes || size_bytes > block->size_bytes - end->offset_bytes) return NULL;
  return block->bytes + end->offset_bytes;
}

static int32_t copy(Instance *instance, const ChipdockCopy *request) {
  char *from;
  char *to;
  int32_t status;
  if (request == NULL) return fail_null(instance, "the copy");
  status = check_extensions(instance, request->next);
  if (status != CHIPDOCK_OK) return status;
  if (request->size_bytes == 0) return CHIPDOCK_OK;
  if (request->from.data == NULL) return fail_null(instance, "the source of the copy");
  if (request->to.data == NULL) return fail_null(instance, "the destination of the copy");
  from = range(&request->from, request->size_bytes);
  to = range(&request->to, request->size_bytes);
  if (from == NULL || to == NULL)
    return fail(instance, CHIPDOCK_OUT_OF_RANGE, "IndexError", "the copy reaches past the end of a data space");
  memcpy(to, from, (size_t)request->size_bytes);
  return CHIPDOCK_OK;
}

static int32_t copy_data(void *self_, int32_t device_id, const ChipdockCopy *request, void *stream) {
  Instance *instance = (Instance *)self_;
  int32_t status = enter(instance);
  (void)stream;
  if (status != CHIPDOCK_OK) return status;
  status = check_device(instance, device_id);
  if (status == CHIPDOCK_OK) status = copy(instance, request);
  return leave(instance, status);
}

/* Every call is done when it returns, so there is only the default stream and nothing to wait for. */
static int32_t create_stream(void *self_, int32_t device_id, void **out_stream) {
  Instance *instance = (Instance *)self_;
  int32_t status = enter(instance);
  if (status != CHIPDOCK_OK) return status;
  status = check_device(instance, device_id);
  if (status == CHIPDOCK_OK && out_stream == NULL) status = fail_null(instance, "the place for the stream");
  if (status == CHIPDOCK_OK) *out_stream = NULL;
  return leave(instance, status);
}

static int32_t on_stream(void *self_, int32_t device_id, void *stream) {
  Instance *instance = (Instance *)self_;
  int32_t status = enter(instance);
  (void)stream;
  if (status != CHIPDOCK_OK) return status;
  return leave(instance, check_device(instance, device_id));
}

static int32_t sync_stream_from_to(void *self_, int32_t device_id, void *from, void *to) {
  (void)from;
  return on_stream(self_, device_id, to);
}

static const ChipdockDeviceApi device_api = {
    destroy,     device_count,  attribute, allocate_data_space, free_data_space, copy_data,
    create_stream, on_stream /* free_stream */, on_stream /* sync_stream */, sync_stream_from_to,
};

/* ---- The setting ---- */

/* Reads the setting from the host; a host without settings leaves the default. A failure has already raised its error. */
static int32_t axes_max(const Instance *instance, int64_t *out_axes) {
  const ChipdockHost *host = instance->host;
  ChipdockInterface config;
  ChipdockAny value = none();
  int32_t status = host->query(host->self_, text("config"), 1, &config);
  *out_axes = AXES_MAX_DEFAULT;
  if (status != CHIPDOCK_OK) return status;
  if (config.table == NULL) return CHIPDOCK_OK;
  status = ((const ChipdockConfig1 *)config.table)->get(config.self_, text(AXES_MAX_NAME), &value);
  if (status == CHIPDOCK_OK) *out_axes = value.value.v_int64;
  return status;
}

/* ---- The function: template_c.element_count(tensor) -> int ---- */

/* The tensor of a value: borrowed (type 7) or an object (type 70), whose ChipdockTensor follows its header. */
static const ChipdockTensor *tensor_of(const ChipdockAny *any) {
  if (any->type_index == CHIPDOCK_TYPE_DLTENSOR_PTR) return any->value.v_tensor;
  if (any->type_index == CHIPDOCK_TYPE_TENSOR) return &((const ChipdockTensorObject *)any->value.v_object)->tensor;
  return NULL;
}

static int32_t element_count(void *self_, const ChipdockAny *args, int32_t num_args, ChipdockAny *result) {
  Instance *instance = (Instance *)self_;
  const ChipdockTensor *tensor;
  int64_t count = 1, axes;
  int32_t axis;
  if (enter(instance) != CHIPDOCK_OK) return CHIPDOCK_ERROR;
  if (axes_max(instance, &axes) != CHIPDOCK_OK) return leave(instance, CHIPDOCK_ERROR);
  tensor = num_args > 0 ? tensor_of(&args[0]) : NULL;
  if (tensor == NULL) {
    fail(instance, CHIPDOCK_ERROR, "TypeError", "argument 0 (`tensor`): expected Tensor, found something else");
    return leave(instance, CHIPDOCK_ERROR);
  }
  if (tensor->ndim > axes) {
    fail(instance, CHIPDOCK_ERROR, "ValueError", "the tensor has more axes than the setting " AXES_MAX_NAME " allows");
    return leave(instance, CHIPDOCK_ERROR);
  }
  for (axis = 0; axis < tensor->ndim; axis++) {
    if (__builtin_mul_overflow(count, tensor->shape[axis], &count)) {
      fail(instance, CHIPDOCK_ERROR, "ValueError", "the number of elements does not fit 64 bits");
      return leave(instance, CHIPDOCK_ERROR);
    }
  }
  *result = integer(CHIPDOCK_TYPE_INT, count); /* written on success only */
  return leave(instance, CHIPDOCK_OK);
}

static const ChipdockSafeCall element_count_call = element_count;
static const ChipdockDeleter function_deleter = destroy;

/* ---- The entry ---- */

static int32_t init(const ChipdockHost *host, const ChipdockRegistrar *registrar, void **out_instance) {
  int32_t device_type = 0; /* 0: the host gives the device a number of its own */
  int32_t status;
  Instance *instance = (Instance *)calloc(1, sizeof(Instance));
  if (instance == NULL) {
    host->raise(host->self_, text("OutOfMemory"), text("no memory for the plugin `" PLUGIN_NAME "`"));
    return CHIPDOCK_OUT_OF_MEMORY;
  }
  instance->host = host;
  /* Sorted by name. A failure has already raised its error. */
  status = registrar->device_api(registrar->self_, text(DEVICE_NAME), device_type, text("{}"), instance, &device_api,
                                 &device_type);
  if (status == CHIPDOCK_OK)
    status = registrar->function(registrar->self_, text(FUNCTION_NAME), instance, element_count_call, function_deleter);
  instance->device_type = device_type;
  if (status == CHIPDOCK_OK) status = REGISTER_MORE(registrar, instance);
  if (status != CHIPDOCK_OK) {
    free(instance); /* after a failure `release` is not called, and `destroy` does not access it */
    return status;
  }
  *out_instance = instance; /* the argument of the two functions below */
  return CHIPDOCK_OK;
}

static int32_t shut_down(void *self_) {
  Instance *instance = (Instance *)self_;
  __atomic_fetch_or(&instance->state, CLOSED, __ATOMIC_ACQ_REL);
  /* Calls are short here; a plugin with long ones must wait in another way. */
  while (__atomic_load_n(&instance->state, __ATOMIC_ACQUIRE) != CLOSED) {
  }
  return CHIPDOCK_OK;
}

/* Called once, after all registrations are destroyed. */
static void release(void *self_) { free(self_); }

static const ChipdockPlugin plugin = CHIPDOCK_PLUGIN_WITH_INFO(PLUGIN_NAME, "0.1.0", "", INFO_JSON, init, shut_down, release);

const ChipdockPlugin *chipdock_plugin_v1(void) { return &plugin; }
