/*
 * A reader of the wire format: checks the table of nodes, and reports malformed and unsupported nodes. Part of
 * plugin.c. SPDX-License-Identifier: Apache-2.0
 */

#define DEPTH_MAX 600
#define CODE_MAX (1 << 20)
#define LANES_MAX 1024
#define CELLS_MAX (1 << 24)

/* ---- What is known of the wire format ---- */

/*
 * Each node with its fields. r: the id of an earlier node, R: that or null, l: a list of ids, s: a string, S: that or
 * null, n: a number, x: anything. An unknown node, and one with other fields, is an error: a kernel
 * without one of its parts is another kernel.
 */
#define PAIR "dtype:s a:r b:r"
/* clang-format off */
static const char *const node_fields[][2] = {
    {"Var", "name:s dtype:s pointer:x"},
    {"Buffer", "name:s dtype:s shape:l strides:l elem_offset:R data:r scope:s data_alignment_bytes:n offset_factor:n"},
    {"Int", "dtype:s value:s"}, {"Float", "dtype:s bits:s"}, {"Str", "value:s"},
    {"ConstantData", "section:s size_bytes:s"},
    {"Cast", "dtype:s value:r"}, {"Not", "dtype:s value:r"},
    {"Add", PAIR}, {"Sub", PAIR}, {"Mul", PAIR}, {"Div", PAIR}, {"Mod", PAIR}, {"FloorDiv", PAIR}, {"FloorMod", PAIR},
    {"Min", PAIR}, {"Max", PAIR}, {"EQ", PAIR}, {"NE", PAIR}, {"LT", PAIR}, {"LE", PAIR}, {"GT", PAIR}, {"GE", PAIR},
    {"And", PAIR}, {"Or", PAIR},
    {"Select", "dtype:s condition:r then:r otherwise:r"},
    {"Load", "dtype:s buffer:r indices:l predicate:R"},
    {"Ramp", "dtype:s base:r stride:r lanes:n"}, {"Broadcast", "dtype:s value:r lanes:n"},
    {"Shuffle", "dtype:s vectors:l indices:x"},
    {"Let", "dtype:s var:r value:r body:r"},
    {"CallOp", "dtype:s op:s args:l"}, {"CallGlobal", "dtype:s function:s args:l"},
    {"CallExtern", "dtype:s name:s pure:x args:l"},
    {"Seq", "stmts:l"}, {"Bind", "var:r value:r"},
    {"Store", "buffer:r indices:l value:r predicate:R"},
    {"AllocBuffer", "buffer:r annotations:x"}, {"DeclBuffer", "buffer:r data:R"},
    {"For", "var:r min:r extent:r kind:s thread:S step:R annotations:x body:r"},
    {"While", "condition:r body:r"}, {"If", "condition:r then:r otherwise:R"},
    {"BlockRealize", "iter_values:l predicate:r name:s iter_vars:x reads:x writes:x init:R alloc_buffers:l "
                     "match_buffers:x annotations:x body:r"},
    {"Evaluate", "value:r"}, {"Return", "value:R"}, {"Break", ""}, {"Continue", ""},
    {"Assert", "condition:r kind:s message:l"},
    {"Attr", "about:R key:s value:r body:r"}, {"LaunchThread", "var:r axis:s extent:r body:r"},
    {"Reducer", "lhs:l rhs:l result:l identity:l"},
    {"AttrNone", ""}, {"AttrBool", "value:x"}, {"AttrInt", "value:s"}, {"AttrFloat", "bits:s"}, {"AttrStr", "value:s"},
    {"AttrList", "items:l"}, {"AttrMap", "items:x"}, {"AttrTarget", "target:x"}, {"AttrExpr", "value:r"},
};
/* clang-format on */

static const char *const axis_names[] = {"blockIdx.x",  "blockIdx.y",  "blockIdx.z",
                                         "threadIdx.x", "threadIdx.y", "threadIdx.z"};

#define COUNT(array) ((int32_t)(sizeof(array) / sizeof((array)[0])))

/* Returns the index of a text in a list of names, or -1. */
static int32_t find(ChipdockStr name, const char *const *names, int32_t count) {
  int32_t at = 0;
  while (at < count && !is_text(name, names[at])) at++;
  return at < count ? at : -1;
}

/* A growing list of 32-bit words. */
typedef struct Words {
  int32_t *data;
  size_t count, room;
} Words;

static int words_put(Words *words, const int32_t *from, size_t count) {
  if (words->room - words->count < count) {
    size_t room = (words->room + count) * 2;
    int32_t *data = (int32_t *)realloc(words->data, room * sizeof(int32_t));
    if (data == NULL) return 0;
    words->data = data;
    words->room = room;
  }
  if (count > 0) memcpy(words->data + words->count, from, count * sizeof(int32_t));
  words->count += count;
  return 1;
}

/* A function of the module. */
typedef struct Function {
  const Json *json;
  ChipdockStr name;
  int32_t entry;                  /* first instruction */
  int32_t result, return_address; /* cells */
  int is_kernel;
} Function;

/* Jumps of a loop whose destination is not known yet: those of `break` and of `continue`. */
typedef struct Loop {
  struct Loop *outer;
  Words breaks, continues;
} Loop;

/* Type of a node's value (-1: unsupported), its lanes, and the first of its cells, one for each lane. */
typedef struct Shape {
  int32_t type, lanes, cell;
} Shape;

typedef struct Compiler {
  const Instance *instance;
  const ChipdockBuildSession *session;
  Pool pool;
  const Json **nodes, **places; /* by id: the node, and its line and column or NULL */
  Shape *shapes;                /* by id */
  uint8_t *is_refused;
  int32_t nodes_count, cells_count, functions_count;
  Function *functions;
  Function *current;
  Loop *loop;
  Words code, memories;
  int depth;
  int32_t refused_count;
  int32_t status; /* of the first failure, whose error is raised */
} Compiler;

/* ---- Errors and diagnostics ---- */

/* Reports a request that violates the format as the caller's mistake, and ends the build. */
static int32_t malformed(Compiler *c, const char *where, int64_t id, const char *expected) {
  char message[200];
  if (c->status != CHIPDOCK_OK) return c->status;
  if (expected == NULL)
    return c->status = fail(c->instance, CHIPDOCK_OUT_OF_MEMORY, "OutOfMemory", "no memory for the module");
  if (id < 0)
    snprintf(message, sizeof message, "%s: %s", where, expected);
  else
    snprintf(message, sizeof message, "%s %lld: %s", where, (long long)id, expected);
  return c->status = fail(c->instance, CHIPDOCK_INVALID_ARGUMENT, "ValueError", message);
}

/* Reports a valid node that is not supported, once for each node. The search for others continues. */
static void refuse(Compiler *c, int32_t id, const char *what, ChipdockStr detail) {
  ChipdockDiagnostic diagnostic;
  const Json *place = c->places[id];
  char message[200], node[64];
  uint64_t line = 0, column = 0;
  const Json *name = json_get(c->nodes[id], "node");
  if (c->is_refused[id] || c->status != CHIPDOCK_OK) return;
  c->is_refused[id] = 1;
  c->refused_count++;
  if (place != NULL) {
    parse_integer(place->first->next->text, &line);
    parse_integer(place->first->next->next->text, &column);
  }
  snprintf(node, sizeof node, "%.*s (node %d)", (int)name->text.size, name->text.data, (int)id);
  snprintf(message, sizeof message, "%s%.*s", what, detail.size < 80 ? (int)detail.size : 80, detail.data);
  memset(&diagnostic, 0, sizeof diagnostic);
  diagnostic.severity = CHIPDOCK_DIAGNOSTIC_ERROR;
  diagnostic.line = (uint32_t)line;
  diagnostic.column = (uint32_t)column;
  diagnostic.function = c->current->name;
  diagnostic.node = text(node);
  diagnostic.message = text(message);
  c->status = c->session->diagnostic(c->session->self_, &diagnostic);
}

/* ---- Reading the table of nodes ---- */

static int is_id(const Json *value, int32_t below) {
  uint64_t id;
  return json_is(value, 'i') && parse_integer(value->text, &id) && id < (uint64_t)below;
}

static int is_field(const Json *value, char kind, int32_t id) {
  const Json *item;
  if (value->kind == 'n' && (kind == 'R' || kind == 'S')) return 1;
  switch (kind) {
    case 'r':
    case 'R': return is_id(value, id);
    case 's':
    case 'S': return value->kind == 's';
    case 'n': return value->kind == 'i';
    case 'l':
      if (value->kind != 'l') return 0;
      for (item = value->first; item != NULL; item = item->next)
        if (!is_id(item, id)) return 0;
      return 1;
    default: return 1;
  }
}

/* Checks that a node is known, has exactly its fields, and refers to earlier nodes only. */
static int32_t check_node(Compiler *c, const Json *node, int32_t id) {
  const Json *name = json_get(node, "node");
  const char *field;
  uint32_t count = 1;
  int32_t at = 0;
  if (!json_is(name, 's')) return malformed(c, "node", id, "expected an object with `node`, the name of a node");
  while (at < COUNT(node_fields) && !is_text(name->text, node_fields[at][0])) at++;
  if (at == COUNT(node_fields)) return malformed(c, "node", id, "expected a node of the wire format 1.0");
  for (field = node_fields[at][1]; *field != '\0'; count++) {
    char key[32];
    size_t size = strcspn(field, ":");
    const Json *value;
    memcpy(key, field, size);
    key[size] = '\0';
    value = json_get(node, key);
    if (value == NULL || !is_field(value, field[size + 1], id)) {
      char expected[96];
      snprintf(expected, sizeof expected, "expected a field `%s` as the wire format has it", key);
      return malformed(c, "node", id, expected);
    }
    field += size + 2;
    field += *field == ' ';
  }
  return count == node->count ? CHIPDOCK_OK : malformed(c, "node", id, "expected no other fields");
}

static const Json *field_of(const Compiler *c, int32_t id, const char *name) { return json_get(c->nodes[id], name); }

static int32_t id_of(const Json *value) {
  uint64_t id = 0;
  parse_integer(value->text, &id);
  return (int32_t)id;
}

/* Returns the id in a field, or -1 for null. */
static int32_t ref(const Compiler *c, int32_t id, const char *name) {
  const Json *value = field_of(c, id, name);
  return value->kind == 'n' ? -1 : id_of(value);
}

/* Returns the string in a field, or an empty string if the node has no such field. */
static ChipdockStr string(const Compiler *c, int32_t id, const char *name) {
  const Json *value = field_of(c, id, name);
  return json_is(value, 's') ? value->text : text("");
}

static int is_node(const Compiler *c, int32_t id, const char *name) { return is_text(string(c, id, "node"), name); }

/* Parses a type such as `float32x4`. A node without a type has one lane. */
static Shape shape_of_text(ChipdockStr dtype) {
  Shape shape = {-1, 1, 0};
  const char *x = dtype.size == 0 ? NULL : (const char *)memchr(dtype.data, 'x', dtype.size);
  ChipdockStr lanes;
  uint64_t count;
  if (x != NULL) {
    lanes.data = x + 1;
    lanes.size = (size_t)(dtype.data + dtype.size - lanes.data);
    dtype.size = (size_t)(x - dtype.data);
    if (!parse_integer(lanes, &count) || count < 2 || count > LANES_MAX) return shape;
    shape.lanes = (int32_t)count;
  }
  shape.type = find(dtype, type_names, TYPES_COUNT);
  return shape;
}

/* Returns the type of a node's value or of a buffer's elements. Refuses the node and returns -1 if it is unsupported.
 */
static int32_t type_of(Compiler *c, int32_t id) {
  if (c->shapes[id].type < 0) refuse(c, id, "expected bool, integers or float32, found ", string(c, id, "dtype"));
  return c->shapes[id].type;
}

static int32_t lanes_of(const Compiler *c, int32_t id) { return c->shapes[id].lanes; }
static int32_t cell_of(const Compiler *c, int32_t id) { return c->shapes[id].cell; }
