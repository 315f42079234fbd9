/*
 * The table `target.build.template_c`: reads a request, compiles its functions, delivers an index and a section. Part
 * of plugin.c. SPDX-License-Identifier: Apache-2.0
 */

/* ---- The request ---- */

static int32_t check_object(Compiler *c, const char *what, ChipdockStr document, const Json **out) {
  const char *wrong;
  *out = json_read(&c->pool, document, &wrong);
  if (*out == NULL) return malformed(c, what, -1, wrong);
  return (*out)->kind == 'o' ? CHIPDOCK_OK : malformed(c, what, -1, "expected a JSON object");
}

static int is_blank(ChipdockStr document) {
  size_t at = 0;
  while (at < document.size && document.data[at] != '\0' && strchr(" \t\r\n", document.data[at]) != NULL) at++;
  return at == document.size;
}

/* Returns whether a version is between `ir_min` and `ir_max`, which are both 1.0.0. */
static int is_version_read(const Json *version) { return json_is(version, 's') && is_text(version->text, "1.0.0"); }

static int32_t read_nodes(Compiler *c, const Json *nodes) {
  const Json *node = nodes->first;
  int32_t id;
  c->nodes_count = (int32_t)nodes->count;
  c->cells_count = 1; /* cell 0 stands for operands that an instruction does not use */
  c->nodes = (const Json **)take(&c->pool, nodes->count * sizeof(Json *) + 1);
  c->places = (const Json **)take(&c->pool, nodes->count * sizeof(Json *) + 1);
  c->is_refused = (uint8_t *)take(&c->pool, nodes->count + 1);
  c->shapes = (Shape *)take(&c->pool, (nodes->count + 1) * sizeof(Shape));
  if (c->nodes == NULL || c->places == NULL || c->is_refused == NULL || c->shapes == NULL)
    return malformed(c, "", -1, NULL);
  for (id = 0; id < c->nodes_count && c->status == CHIPDOCK_OK; id++, node = node->next) {
    c->nodes[id] = node;
    if (check_node(c, node, id) != CHIPDOCK_OK) return c->status;
    c->shapes[id] = shape_of_text(string(c, id, "dtype"));
    c->shapes[id].cell = c->cells_count;
    c->cells_count += c->shapes[id].lanes;
    if (c->cells_count > CELLS_MAX) return malformed(c, "the module", -1, "expected at most 16777216 values");
  }
  return c->status;
}

static int32_t read_positions(Compiler *c, const Json *positions) {
  const Json *list = json_get(positions, "nodes"), *place;
  if (positions == NULL) return CHIPDOCK_OK;
  if (!json_is(list, 'l')) return malformed(c, "positions", -1, "expected a list `nodes`");
  for (place = list->first; place != NULL; place = place->next) {
    if (place->kind != 'l' || place->count != 3 || !is_id(place->first, c->nodes_count) ||
        place->first->next->kind != 'i' || place->first->next->next->kind != 'i')
      return malformed(c, "positions", -1, "expected an id, a line and a column");
    c->places[id_of(place->first)] = place;
  }
  return CHIPDOCK_OK;
}

static int is_name(ChipdockStr name) {
  size_t at;
  for (at = 0; at < name.size; at++) {
    char low = name.data[at] | 32;
    if (!(low >= 'a' && low <= 'z') && !(name.data[at] >= '0' && name.data[at] <= '9') && name.data[at] != '_')
      return 0;
  }
  return name.size > 0 && name.size <= 256;
}

/* Returns the launch parameters of a kernel, or NULL for a function that is no kernel. */
static const Json *launch_params(const Compiler *c, const Function *function) {
  const Json *attribute = json_get(function->json, "attrs")->first;
  for (; attribute != NULL; attribute = attribute->next)
    if (is_text(attribute->first->text, "tirx.kernel_launch_params"))
      return field_of(c, id_of(attribute->first->next), "items");
  return NULL;
}

static int32_t read_function(Compiler *c, const Json *json, Function *function) {
  const Json *name = json_get(json, "name"), *params = json_get(json, "params"), *attrs = json_get(json, "attrs"),
             *item;
  if (!json_is(name, 's') || !is_name(name->text)) return malformed(c, "a function", -1, "expected a name");
  if (json->count != 7 || !json_is(params, 'l') || !json_is(attrs, 'l') || json_get(json, "body") == NULL ||
      !is_id(json_get(json, "body"), c->nodes_count))
    return malformed(c, "a function", -1, "expected the seven fields that the wire format has");
  for (item = params->first; item != NULL; item = item->next)
    if (!is_id(item, c->nodes_count)) return malformed(c, "a function", -1, "expected ids of nodes as parameters");
  for (item = attrs->first; item != NULL; item = item->next)
    if (item->kind != 'l' || item->count != 2 || item->first->kind != 's' || !is_id(item->first->next, c->nodes_count))
      return malformed(c, "a function", -1, "expected names and ids as attributes");
  function->json = json;
  function->name = name->text;
  function->result = c->cells_count++;
  function->return_address = c->cells_count++;
  params = launch_params(c, function);
  function->is_kernel = params != NULL;
  for (item = params == NULL ? NULL : params->first; item != NULL; item = item->next)
    if (!is_node(c, id_of(item), "AttrStr")) return malformed(c, "a function", -1, "expected names of thread axes");
  return CHIPDOCK_OK;
}

static int32_t read_module(Compiler *c, const Json *root) {
  const Json *nodes = json_get(root, "nodes"), *functions = json_get(root, "functions"), *function;
  const Json *positions = json_get(root, "positions");
  int32_t at = 0;
  if (!is_version_read(json_get(root, "chipdock_ir")))
    return malformed(c, "the module", -1, "expected version 1.0.0");
  if (!json_is(nodes, 'l') || !json_is(functions, 'l') || !json_is(json_get(root, "attrs"), 'l') ||
      root->count != 4u + (positions != NULL) || nodes->count > 1 << 26)
    return malformed(c, "the module", -1, "expected chipdock_ir, nodes, functions, attrs and perhaps positions");
  if (read_nodes(c, nodes) != CHIPDOCK_OK || read_positions(c, positions) != CHIPDOCK_OK) return c->status;
  c->functions_count = (int32_t)functions->count;
  c->functions = (Function *)take(&c->pool, (functions->count + 1) * sizeof(Function));
  if (c->functions == NULL) return malformed(c, "", -1, NULL);
  for (function = functions->first; function != NULL; function = function->next)
    if (read_function(c, function, &c->functions[at++]) != CHIPDOCK_OK) return c->status;
  return CHIPDOCK_OK;
}

static int32_t read_request(Compiler *c, const ChipdockBuildRequest *request) {
  const Json *root, *target, *kind;
  if ((request->ir.data == NULL && request->ir.size != 0) ||
      (request->target_json.data == NULL && request->target_json.size != 0) ||
      (request->options_json.data == NULL && request->options_json.size != 0))
    return c->status = fail_null(c->instance, "a text of the request");
  c->status = check_extensions(c->instance, request->next);
  if (c->status != CHIPDOCK_OK || check_object(c, "the target", request->target_json, &target) != CHIPDOCK_OK)
    return c->status;
  kind = json_get(target, "kind");
  if (!json_is(kind, 's') || kind->text.size == 0) return malformed(c, "the target", -1, "expected `kind`, a name");
  if (!is_blank(request->options_json) && check_object(c, "the options", request->options_json, &root) != CHIPDOCK_OK)
    return c->status;
  if (check_object(c, "the module", request->ir, &root) != CHIPDOCK_OK) return c->status;
  return read_module(c, root);
}

/* Returns the number of a launch parameter: 0 to 5 for a thread axis, DYNAMIC_SHARED, or -1 if it is unknown (K.1). */
static int32_t launch_param(ChipdockStr name) {
  return is_text(name, "tirx.use_dyn_shared_memory") ? DYNAMIC_SHARED : find(name, axis_names, COUNT(axis_names));
}

/* ---- Compiling ---- */

static void compile_function(Compiler *c, Function *function) {
  const Json *param;
  c->current = function;
  function->entry = (int32_t)(c->code.count / 6);
  for (param = json_get(function->json, "params")->first; param != NULL; param = param->next) {
    if (is_node(c, id_of(param), "Var") && lanes_of(c, id_of(param)) == 1)
      type_of(c, id_of(param));
    else
      refuse(c, id_of(param), "expected a scalar or a pointer as a parameter, as at stage `device`", text(""));
  }
  param = launch_params(c, function);
  for (param = param == NULL ? NULL : param->first; param != NULL; param = param->next)
    if (launch_param(string(c, id_of(param), "value")) < 0)
      refuse(c, id_of(param), "expected a thread axis or dynamic shared memory, found ",
             string(c, id_of(param), "value"));
  statement(c, id_of(json_get(function->json, "body")));
  emit(c, function->is_kernel ? OP_END : OP_RETURN, 0, 0, function->return_address, 0, 0);
}

static int32_t compile(Compiler *c, const ChipdockBuildRequest *request) {
  int32_t at;
  size_t word;
  if (read_request(c, request) != CHIPDOCK_OK) return c->status;
  for (at = 0; at < c->functions_count; at++) compile_function(c, &c->functions[at]);
  for (word = 0; word + 6 <= c->code.count; word += 6) /* replace the function's number by its entry */
    if (c->code.data[word] == OP_CALL) c->code.data[word + 4] = c->functions[c->code.data[word + 4]].entry;
  return c->status;
}

/* ---- The artifact ---- */

typedef struct Text {
  char *data;
  size_t size, room;
  int is_short; /* an allocation failed */
} Text;

static void append(Text *to, ChipdockStr part) {
  if (to->room - to->size < part.size) {
    size_t room = (to->room + part.size) * 2;
    char *data = (char *)realloc(to->data, room);
    to->is_short |= data == NULL;
    if (data == NULL) return;
    to->data = data;
    to->room = room;
  }
  if (part.size > 0) memcpy(to->data + to->size, part.data, part.size);
  to->size += part.size;
}

/* Appends a list of strings: the field `field` of each node. */
static void append_list(const Compiler *c, Text *to, const char *name, const Json *ids, const char *field) {
  const Json *item = ids == NULL ? NULL : ids->first;
  append(to, text(name));
  for (; item != NULL; item = item->next) {
    append(to, text("\""));
    append(to, string(c, id_of(item), field));
    append(to, text(item->next == NULL ? "\"" : "\","));
  }
  append(to, text("]"));
}

/* Delivers the index, from which the host learns how to call each function (C.8, K.3). */
static int32_t deliver_index(Compiler *c) {
  Text index;
  ChipdockStr view;
  int32_t at;
  memset(&index, 0, sizeof index);
  append(&index, text("{\"module_kind\":\"" KIND_NAME "\",\"format\":\"" FORMAT_NAME "\",\"functions\":["));
  for (at = 0; at < c->functions_count; at++) {
    const Function *function = &c->functions[at];
    append(&index, text(at == 0 ? "{\"name\":\"" : ",{\"name\":\""));
    append(&index, function->name);
    append(&index, text("\",\"symbol\":\""));
    append(&index, function->name);
    append_list(c, &index, "\",\"args\":[", json_get(function->json, "params"), "dtype");
    append_list(c, &index, ",\"launch_params\":[", launch_params(c, function), "value");
    append(&index, text("}"));
  }
  append(&index, text("]}"));
  view.data = index.data;
  view.size = index.size;
  if (index.is_short)
    malformed(c, "", -1, NULL);
  else
    c->status = c->session->index(c->session->self_, view);
  free(index.data);
  return c->status;
}

/* FNV-1a. It detects damage and is no protection against forged artifacts. */
static uint64_t checksum(const int32_t *words, size_t count) {
  uint64_t hash = 14695981039346656037u;
  size_t at;
  for (at = 0; at < count; at++) hash = (hash ^ (uint32_t)words[at]) * 1099511628211u;
  return hash;
}

/* Appends the record of a kernel: name, entry, types and cells of its arguments, launch parameters. */
static int put_kernel(Compiler *c, Words *to, const Function *function) {
  int32_t name[65] = {0}, pair[2];
  const Json *params = json_get(function->json, "params"), *item;
  int is_good;
  name[0] = (int32_t)function->name.size;
  memcpy(&name[1], function->name.data, function->name.size);
  is_good = words_put(to, name, 1 + (function->name.size + 3) / 4);
  pair[0] = function->entry;
  pair[1] = (int32_t)params->count;
  is_good = is_good && words_put(to, pair, 2);
  for (item = params->first; item != NULL; item = item->next) {
    pair[0] = type_of(c, id_of(item));
    pair[1] = cell_of(c, id_of(item));
    is_good = is_good && words_put(to, pair, 2);
  }
  params = launch_params(c, function);
  pair[0] = (int32_t)params->count;
  is_good = is_good && words_put(to, pair, 1);
  for (item = params->first; item != NULL; item = item->next) {
    pair[0] = launch_param(string(c, id_of(item), "value"));
    is_good = is_good && words_put(to, pair, 1);
  }
  return is_good;
}

/* Delivers the section: a header of seven words, then memories, kernels and instructions. */
static int32_t deliver_program(Compiler *c) {
  Words words;
  int32_t head[7] = {PROGRAM_MAGIC, 0, 0, 0, 0, 0, 0};
  int32_t at;
  uint64_t sum;
  int is_good;
  memset(&words, 0, sizeof words);
  head[3] = c->cells_count;
  head[4] = (int32_t)(c->memories.count / 2);
  head[6] = (int32_t)(c->code.count / 6);
  for (at = 0; at < c->functions_count; at++) head[5] += c->functions[at].is_kernel;
  is_good = words_put(&words, head, 7) && words_put(&words, c->memories.data, c->memories.count);
  for (at = 0; at < c->functions_count; at++)
    if (c->functions[at].is_kernel) is_good = is_good && put_kernel(c, &words, &c->functions[at]);
  is_good = is_good && words_put(&words, c->code.data, c->code.count);
  if (is_good) {
    sum = checksum(words.data + 3, words.count - 3);
    words.data[1] = (int32_t)(uint32_t)sum;
    words.data[2] = (int32_t)(uint32_t)(sum >> 32);
  } else {
    malformed(c, "", -1, NULL);
  }
  if (c->status == CHIPDOCK_OK && c->refused_count == 0)
    c->status =
        c->session->section(c->session->self_, text(SECTION_NAME), text("code"), 8, words.data, words.count * 4);
  free(words.data);
  return c->status;
}

/* ---- The table ---- */

static int32_t run_codegen(void *self_, const ChipdockBuildRequest *request, const ChipdockBuildSession *session,
                           int is_build) {
  Instance *instance = (Instance *)self_;
  Compiler c;
  int32_t status = enter(instance);
  if (status != CHIPDOCK_OK) return status;
  if (request == NULL) return leave(instance, fail_null(instance, "the request"));
  if (session == NULL) return leave(instance, fail_null(instance, "the session"));
  memset(&c, 0, sizeof c);
  c.instance = instance;
  c.session = session;
  status = compile(&c, request);
  if (status == CHIPDOCK_OK && is_build && c.refused_count == 0) status = deliver_program(&c);
  if (status == CHIPDOCK_OK && is_build) {
    if (c.refused_count == 0)
      status = deliver_index(&c);
    else
      status = fail(instance, CHIPDOCK_UNSUPPORTED, "Unsupported",
                    "the module has nodes that " KIND_NAME " does not build: see the diagnostics");
  }
  free(c.code.data);
  free(c.memories.data);
  free_pool(&c.pool);
  return leave(instance, status);
}

static int32_t unsupported(void *self_, const ChipdockBuildRequest *request, const ChipdockBuildSession *session) {
  return run_codegen(self_, request, session, 0);
}

static int32_t build(void *self_, const ChipdockBuildRequest *request, const ChipdockBuildSession *session) {
  return run_codegen(self_, request, session, 1);
}

/* Returns name and version: the bytes depend on the request and on this code alone (C.35). */
static int32_t fingerprint(void *self_, const ChipdockBuildRequest *request, ChipdockAny *out_fingerprint) {
  Instance *instance = (Instance *)self_;
  int32_t status = enter(instance);
  if (status != CHIPDOCK_OK) return status;
  if (request == NULL) return leave(instance, fail_null(instance, "the request"));
  if (out_fingerprint == NULL) return leave(instance, fail_null(instance, "the place for the fingerprint"));
  status = check_extensions(instance, request->next);
  if (status != CHIPDOCK_OK) return leave(instance, status);
  *out_fingerprint = long_string(PLUGIN_NAME " 0.1.0, " FORMAT_NAME);
  return leave(instance, CHIPDOCK_OK);
}

static const ChipdockCodegen codegen = {destroy, unsupported, build, fingerprint};
