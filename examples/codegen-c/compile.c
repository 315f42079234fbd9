/*
 * The code generator: nodes of the wire format in, instructions of machine.c out. Part of plugin.c.
 * guide/docs/backend-c.md goes through it step by step. SPDX-License-Identifier: Apache-2.0
 */

/* ---- Writing instructions ---- */

static int32_t emit(Compiler *c, int32_t op, int32_t type, int32_t to, int32_t a, int32_t b, int32_t d) {
  int32_t instr[6];
  int32_t at = (int32_t)(c->code.count / 6);
  instr[0] = op, instr[1] = type < 0 ? 0 : type, instr[2] = to, instr[3] = a, instr[4] = b, instr[5] = d;
  if (c->status != CHIPDOCK_OK) return 0;
  if (at >= CODE_MAX)
    malformed(c, "the module", -1, "expected at most 1048576 instructions");
  else if (!words_put(&c->code, instr, 6))
    malformed(c, "", -1, NULL);
  return at;
}

/* Sets the destination of a jump to the next instruction. */
static void land(Compiler *c, int32_t jump) {
  if (c->status == CHIPDOCK_OK) c->code.data[6 * jump + 4] = (int32_t)(c->code.count / 6);
}

static void land_all(Compiler *c, Words *jumps) {
  size_t at;
  for (at = 0; at < jumps->count; at++) land(c, jumps->data[at]);
  free(jumps->data);
}

static void constant(Compiler *c, int32_t type, int32_t to, uint64_t bits) {
  emit(c, OP_CONST, type, to, 0, (int32_t)(uint32_t)bits, (int32_t)(uint32_t)(bits >> 32));
}

/* Emits one instruction for each lane. An operand is the first cell of a value, or -1 if it is not used. */
static void emit_lanes(Compiler *c, int32_t lanes, int32_t op, int32_t type, int32_t to, int32_t a, int32_t b,
                       int32_t d) {
  int32_t lane;
  for (lane = 0; lane < lanes; lane++)
    emit(c, op, type, to + lane, a < 0 ? 0 : a + lane, b < 0 ? 0 : b + lane, d < 0 ? 0 : d + lane);
}

static void move(Compiler *c, int32_t lanes, int32_t to, int32_t from) {
  emit_lanes(c, lanes, OP_MOVE, 0, to, from, -1, -1);
}

/* ---- Expressions. Each node has cells of its own for its value: there is no other place to look for it ---- */

static int32_t expression(Compiler *c, int32_t id);

/* Evaluates the node of a field and returns the first cell of its value. */
static int32_t operand(Compiler *c, int32_t id, const char *name) { return expression(c, ref(c, id, name)); }

/* Operands of a load or a store. */
typedef struct Access {
  int32_t pointer, index, predicate; /* first cells; -1: no predicate */
  int32_t type, lanes;               /* type and lanes of an element */
  int32_t index_lanes;
} Access;

/* Evaluates the operands of a load or a store. Returns 0 if it is refused. */
static int access_of(Compiler *c, int32_t id, Access *access) {
  const Json *indices = field_of(c, id, "indices");
  int32_t buffer = ref(c, id, "buffer"), predicate = ref(c, id, "predicate");
  if (!is_node(c, buffer, "Buffer")) return malformed(c, "node", id, "expected a buffer"), 0;
  if (indices->count != 1) return refuse(c, id, "expected one index, of a flat buffer", text("")), 0;
  access->type = type_of(c, buffer);
  if (access->type < 0) return 0;
  access->lanes = lanes_of(c, buffer);
  access->pointer = cell_of(c, ref(c, buffer, "data"));
  access->index = expression(c, id_of(indices->first));
  access->index_lanes = lanes_of(c, id_of(indices->first));
  access->predicate = predicate < 0 ? -1 : expression(c, predicate);
  if (predicate >= 0 && lanes_of(c, predicate) != access->index_lanes)
    return malformed(c, "node", id, "expected a predicate of as many lanes as the index"), 0;
  return 1;
}

/* Loads or stores one element for each lane of the index for which the predicate is true. */
static void access_lanes(Compiler *c, const Access *access, int is_store, int32_t value) {
  int32_t lane, part, skip = 0, at = c->cells_count++, number = c->cells_count++;
  for (lane = 0; lane < access->index_lanes; lane++) {
    if (access->predicate >= 0) {
      for (part = 0; part < access->lanes && !is_store; part++)
        constant(c, access->type, value + lane * access->lanes + part, 0);
      skip = emit(c, OP_JUMP_UNLESS, BOOL, 0, access->predicate + lane, 0, 0);
    }
    for (part = 0; part < access->lanes; part++) {
      int32_t index = access->index + lane, cell = value + lane * access->lanes + part;
      if (access->lanes > 1) {
        constant(c, I64, number, (uint64_t)access->lanes);
        emit(c, OP_MUL, I64, at, index, number, 0);
        constant(c, I64, number, (uint64_t)part);
        emit(c, OP_ADD, I64, at, at, number, 0);
        index = at;
      }
      if (is_store)
        emit(c, OP_STORE, access->type, 0, access->pointer, index, cell);
      else
        emit(c, OP_LOAD, access->type, cell, access->pointer, index, 0);
    }
    if (access->predicate >= 0) land(c, skip);
  }
}

static void literal(Compiler *c, int32_t id, int32_t type) {
  uint64_t bits = 0;
  double wide;
  float narrow;
  if (is_node(c, id, "Int")) {
    if (!parse_integer(string(c, id, "value"), &bits)) malformed(c, "node", id, "expected a decimal integer");
  } else {
    char digits[20] = "";
    char *end = digits;
    ChipdockStr hex = string(c, id, "bits");
    if (hex.size == 18) memcpy(digits, hex.data, 18);
    bits = strtoull(digits, &end, 16);
    if (end != digits + 18) malformed(c, "node", id, "expected 0x and 16 hexadecimal digits");
    memcpy(&wide, &bits, sizeof wide);
    narrow = (float)wide;
    bits = 0;
    memcpy(&bits, &narrow, sizeof narrow);
  }
  constant(c, type, cell_of(c, id), bits);
}

/* Compiles `and`, `or` and `if_then_else` of a scalar condition, which evaluate one branch (IR-E4). A negative `then`
 * is the constant true, a negative `otherwise` false. */
static void decide(Compiler *c, int32_t id, int32_t condition, int32_t then, int32_t otherwise) {
  int32_t skip, end, to = cell_of(c, id), lanes = lanes_of(c, id);
  skip = emit(c, OP_JUMP_UNLESS, BOOL, 0, expression(c, condition), 0, 0);
  if (then < 0)
    constant(c, BOOL, to, 1);
  else
    move(c, lanes, to, expression(c, then));
  end = emit(c, OP_JUMP, 0, 0, 0, 0, 0);
  land(c, skip);
  if (otherwise < 0)
    constant(c, BOOL, to, 0);
  else
    move(c, lanes, to, expression(c, otherwise));
  land(c, end);
}

/* Compiles a select, which evaluates all operands and selects lane by lane (IR-E4). */
static void compile_select(Compiler *c, int32_t id) {
  int32_t condition = operand(c, id, "condition"), then = operand(c, id, "then"),
          otherwise = operand(c, id, "otherwise");
  int32_t lane, skip;
  for (lane = 0; lane < lanes_of(c, id); lane++) {
    emit(c, OP_MOVE, 0, cell_of(c, id) + lane, otherwise + lane, 0, 0);
    skip = emit(c, OP_JUMP_UNLESS, BOOL, 0, condition + (lanes_of(c, ref(c, id, "condition")) == 1 ? 0 : lane), 0, 0);
    emit(c, OP_MOVE, 0, cell_of(c, id) + lane, then + lane, 0, 0);
    land(c, skip);
  }
}

/* Compiles `Ramp`, `Broadcast` and `Shuffle`. */
static void vector(Compiler *c, int32_t id) {
  int32_t lanes = lanes_of(c, id), to = cell_of(c, id), lane, from;
  const Json *item, *index;
  if (is_node(c, id, "Shuffle")) {
    for (item = field_of(c, id, "vectors")->first; item != NULL; item = item->next) expression(c, id_of(item));
    index = field_of(c, id, "indices")->first;
    for (lane = 0; lane < lanes && json_is(index, 'i'); lane++, index = index->next) {
      from = id_of(index);
      for (item = field_of(c, id, "vectors")->first; item != NULL && from >= lanes_of(c, id_of(item));
           item = item->next)
        from -= lanes_of(c, id_of(item));
      if (item == NULL || from < 0) break;
      emit(c, OP_MOVE, 0, to + lane, cell_of(c, id_of(item)) + from, 0, 0);
    }
    if (lane < lanes) malformed(c, "node", id, "expected the number of a lane for each lane");
  } else if (is_node(c, id, "Broadcast")) {
    from = operand(c, id, "value");
    for (lane = 0; lane < lanes; lane++) emit(c, OP_MOVE, 0, to + lane, from, 0, 0);
  } else {
    emit(c, OP_MOVE, 0, to, operand(c, id, "base"), 0, 0);
    from = operand(c, id, "stride");
    for (lane = 1; lane < lanes; lane++) emit(c, OP_ADD, type_of(c, id), to + lane, to + lane - 1, from, 0);
  }
}

/* Ops that are one instruction. The host lowers all others to these; `native_ops` of the target kind adds `fmod`. */
static const struct {
  const char *name;
  int32_t op;
} plain_ops[] = {
    {"bitwise_and", OP_BIT_AND},
    {"bitwise_or", OP_BIT_OR},
    {"bitwise_xor", OP_BIT_XOR},
    {"bitwise_not", OP_BIT_NOT},
    {"shift_left", OP_SHIFT_LEFT},
    {"shift_right", OP_SHIFT_RIGHT},
    {"abs", OP_ABS},
    {"sqrt", OP_SQRT},
    {"floor", OP_FLOOR},
    {"ceil", OP_CEIL},
    {"trunc", OP_TRUNC},
    {"nearbyint", OP_NEARBYINT},
    {"copysign", OP_COPYSIGN},
    {"fmod", OP_FMOD},
    {"fma", OP_FMA},
    {"reinterpret", OP_REINTERPRET},
    {"likely", OP_MOVE},
    {"isnullptr", OP_IS_NULL},
    {"handle_add_byte_offset", OP_OFFSET},
};

/* Compiles `address_of`: the data pointer plus the offset of the element in bytes. */
static void address(Compiler *c, int32_t id, int32_t element) {
  int32_t bytes = c->cells_count++, size = c->cells_count++;
  Access access;
  if (!is_node(c, element, "Load")) {
    malformed(c, "node", id, "expected a load as the argument");
    return;
  }
  if (!access_of(c, element, &access)) return;
  constant(c, I64, size, (uint64_t)(type_sizes[access.type] * access.lanes));
  emit(c, OP_MUL, I64, bytes, access.index, size, 0);
  emit(c, OP_OFFSET, HANDLE, cell_of(c, id), access.pointer, bytes, 0);
}

/* Compiles `atomic_add` as a load, an addition and a store: no other thread runs in between. */
static void atomic_add(Compiler *c, int32_t id, int32_t place, int32_t value) {
  int32_t zero = c->cells_count++, sum = c->cells_count++, type = type_of(c, id);
  place = expression(c, place);
  value = expression(c, value);
  constant(c, I32, zero, 0);
  emit(c, OP_LOAD, type, cell_of(c, id), place, zero, 0);
  emit(c, OP_ADD, type, sum, cell_of(c, id), value, 0);
  emit(c, OP_STORE, type, 0, place, zero, sum);
}

/* Refuses a call, and searches its arguments for more. */
static void refuse_call(Compiler *c, int32_t id, const char *what, ChipdockStr detail) {
  const Json *arg;
  refuse(c, id, what, detail);
  for (arg = field_of(c, id, "args")->first; arg != NULL; arg = arg->next)
    if (!is_node(c, id_of(arg), "Str")) expression(c, id_of(arg));
}

static void call_op(Compiler *c, int32_t id) {
  ChipdockStr op = string(c, id, "op");
  const Json *args = field_of(c, id, "args"), *arg;
  int32_t at = 0, count = 0, cells[3] = {-1, -1, -1};
  const char *wants;
  if (is_text(op, "if_then_else") && args->count == 3) {
    decide(c, id, id_of(args->first), id_of(args->first->next), id_of(args->first->next->next));
    return;
  }
  if (is_text(op, "address_of") && args->count == 1) {
    address(c, id, id_of(args->first));
    return;
  }
  if (is_text(op, "atomic_add") && args->count == 2) {
    atomic_add(c, id, id_of(args->first), id_of(args->first->next));
    return;
  }
  if (is_text(op, "tvm_storage_sync") && args->count == 1 && !is_text(string(c, id_of(args->first), "value"), "warp")) {
    emit(c, OP_BARRIER, 0, 0, 0, 0, 0);
    return;
  }
  if (is_text(op, "thread_return")) {
    emit(c, OP_END, 0, 0, 0, 0, 0);
    return;
  }
  while (at < COUNT(plain_ops) && !is_text(op, plain_ops[at].name)) at++;
  if (at == COUNT(plain_ops)) {
    refuse_call(c, id, "expected an op that this chip has, found ", op);
    return;
  }
  for (arg = args->first; arg != NULL && count < 3; arg = arg->next) {
    cells[count++] = expression(c, id_of(arg));
    if (lanes_of(c, id_of(arg)) != lanes_of(c, id)) {
      refuse(c, id, "expected arguments of as many lanes as the result", text(""));
      return;
    }
  }
  for (wants = op_cells[plain_ops[at].op] + 1; *wants != '\0'; wants++) count -= *wants != '-';
  if (count != 0 || arg != NULL)
    malformed(c, "node", id, "expected as many arguments as the op has");
  else
    emit_lanes(c, lanes_of(c, id), plain_ops[at].op, type_of(c, id), cell_of(c, id), cells[0], cells[1], cells[2]);
}

static Function *function_named(Compiler *c, ChipdockStr name) {
  int32_t at;
  for (at = 0; at < c->functions_count; at++)
    if (c->functions[at].name.size == name.size && memcmp(c->functions[at].name.data, name.data, name.size) == 0)
      return &c->functions[at];
  return NULL;
}

static void call_function(Compiler *c, int32_t id) {
  Function *callee = function_named(c, string(c, id, "function"));
  const Json *arg, *param;
  if (callee == NULL) {
    malformed(c, "node", id, "expected a function of the module");
    return;
  }
  /* No function calls itself (IR-E8), so its cells are fixed. All arguments are evaluated before the first is passed.
   */
  for (arg = field_of(c, id, "args")->first; arg != NULL; arg = arg->next) expression(c, id_of(arg));
  param = json_get(callee->json, "params")->first;
  for (arg = field_of(c, id, "args")->first; arg != NULL && param != NULL; arg = arg->next, param = param->next)
    emit(c, OP_MOVE, 0, cell_of(c, id_of(param)), cell_of(c, id_of(arg)), 0, 0);
  if (arg != NULL || param != NULL) malformed(c, "node", id, "expected as many arguments as the function has");
  emit(c, OP_CALL, 0, callee->return_address, 0, (int32_t)(callee - c->functions),
       0); /* the number of the function; `compile` replaces it by the entry */
  emit(c, OP_MOVE, 0, cell_of(c, id), callee->result, 0, 0);
}

/* Nodes of two operands, in the order of their instructions. */
static const char *const pair_names[] = {"Add", "Sub", "Mul", "Div", "Mod", "FloorDiv", "FloorMod", "Min",
                                         "Max", "EQ",  "NE",  "LT",  "LE",  "GT",       "GE"};

static void expression_of(Compiler *c, int32_t id) {
  int32_t pair = find(string(c, id, "node"), pair_names, COUNT(pair_names));
  int32_t type, to = cell_of(c, id), lanes = lanes_of(c, id);
  Access access;
  if (is_text(string(c, id, "dtype"), "") || is_node(c, id, "Buffer")) {
    malformed(c, "node", id, "expected an expression");
    return;
  }
  type = type_of(c, id);
  if (is_node(c, id, "Var") || type < 0) return; /* the cells of a variable hold its value */
  if (pair >= 0) {
    int32_t a = operand(c, id, "a"), b = operand(c, id, "b");
    if (lanes_of(c, ref(c, id, "a")) != lanes || lanes_of(c, ref(c, id, "b")) != lanes)
      malformed(c, "node", id, "expected operands of as many lanes as the result");
    /* The type of a comparison's instruction is that of the operands. */
    emit_lanes(c, lanes, OP_ADD + pair, OP_ADD + pair >= OP_EQ ? type_of(c, ref(c, id, "a")) : type, to, a, b, -1);
  } else if (is_node(c, id, "Int") || is_node(c, id, "Float")) {
    literal(c, id, type);
  } else if (is_node(c, id, "Cast")) {
    int32_t lane, value = operand(c, id, "value");
    for (lane = 0; lane < lanes; lane++)
      emit(c, OP_CAST, type, to + lane, value + lane, type_of(c, ref(c, id, "value")), 0);
  } else if (is_node(c, id, "Not")) {
    emit_lanes(c, lanes, OP_NOT, BOOL, to, operand(c, id, "value"), -1, -1);
  } else if (is_node(c, id, "And") || is_node(c, id, "Or")) {
    int is_and = is_node(c, id, "And");
    if (lanes == 1) {
      decide(c, id, ref(c, id, "a"), is_and ? ref(c, id, "b") : -1, is_and ? -1 : ref(c, id, "b"));
    } else {
      int32_t a = operand(c, id, "a"), b = operand(c, id, "b");
      emit_lanes(c, lanes, is_and ? OP_BIT_AND : OP_BIT_OR, BOOL, to, a, b, -1);
    }
  } else if (is_node(c, id, "Select")) {
    compile_select(c, id);
  } else if (is_node(c, id, "Load")) {
    if (access_of(c, id, &access)) access_lanes(c, &access, 0, to);
  } else if (is_node(c, id, "Let")) {
    move(c, lanes_of(c, ref(c, id, "var")), cell_of(c, ref(c, id, "var")), operand(c, id, "value"));
    move(c, lanes, to, operand(c, id, "body"));
  } else if (is_node(c, id, "Ramp") || is_node(c, id, "Broadcast") || is_node(c, id, "Shuffle")) {
    vector(c, id);
  } else if (is_node(c, id, "CallOp")) {
    call_op(c, id);
  } else if (is_node(c, id, "CallGlobal")) {
    call_function(c, id);
  } else if (is_node(c, id, "CallExtern")) {
    refuse_call(c, id, "expected no C function, found ", string(c, id, "name"));
  } else {
    refuse(c, id, "expected an expression that this chip has", text(""));
  }
}

static int32_t expression(Compiler *c, int32_t id) {
  if (++c->depth > DEPTH_MAX) malformed(c, "node", id, "expected fewer levels of nodes");
  if (c->status == CHIPDOCK_OK) expression_of(c, id);
  c->depth--;
  return cell_of(c, id);
}

/* ---- Statements ---- */

static void statement(Compiler *c, int32_t id);

static void allocate_buffer(Compiler *c, int32_t id) {
  static const char *const scopes[] = {"local", "shared", "shared.dyn"};
  int32_t buffer = ref(c, id, "buffer");
  const Json *shape;
  uint64_t count = 1;
  int32_t memory[2], type;
  if (!is_node(c, buffer, "Buffer")) {
    malformed(c, "node", id, "expected a buffer");
    return;
  }
  memory[0] = find(string(c, buffer, "scope"), scopes, COUNT(scopes));
  type = type_of(c, buffer);
  shape = field_of(c, buffer, "shape");
  if (memory[0] < 0) refuse(c, id, "expected a scope that this chip has, found ", string(c, buffer, "scope"));
  if (memory[0] < 0 || type < 0) return;
  /* The size of dynamic shared memory is a launch parameter. */
  if (memory[0] != MEMORY_SHARED_DYNAMIC &&
      (shape->count != 1 || !is_node(c, id_of(shape->first), "Int") ||
       !parse_integer(string(c, id_of(shape->first), "value"), &count) || count > 1 << 24)) {
    refuse(c, id, "expected one extent, constant and at most 16777216", text(""));
    return;
  }
  memory[1] = (int32_t)count * type_sizes[type] * lanes_of(c, buffer);
  emit(c, OP_MEMORY, HANDLE, cell_of(c, ref(c, buffer, "data")), 0, (int32_t)(c->memories.count / 2), 0);
  if (!words_put(&c->memories, memory, 2)) malformed(c, "", -1, NULL);
}

static const char *const loop_kinds[] = {"serial", "parallel", "unrolled"};

/* Compiles a loop: a test, the body, and a jump back to the test. */
static void loop(Compiler *c, int32_t id) {
  int is_for = is_node(c, id, "For");
  int32_t var = 0, type = I32, end = c->cells_count++, step = c->cells_count++, test = c->cells_count++;
  int32_t start, leave_loop;
  Loop inner;
  memset(&inner, 0, sizeof inner);
  inner.outer = c->loop;
  if (is_for) {
    var = ref(c, id, "var");
    if (!is_node(c, var, "Var")) {
      malformed(c, "node", id, "expected a variable");
      return;
    }
    /* The iterations of a parallel loop may run in any order (IR-S4). */
    if (find(string(c, id, "kind"), loop_kinds, COUNT(loop_kinds)) < 0)
      refuse(c, id, "expected a serial, parallel or unrolled loop, found one that is ", string(c, id, "kind"));
    type = type_of(c, var);
    /* The bounds are evaluated once. Iterations are counted down, since the last value plus a step may overflow. */
    var = cell_of(c, var);
    emit(c, OP_MOVE, type, var, operand(c, id, "min"), 0, 0);
    emit(c, OP_MOVE, type, end, operand(c, id, "extent"), 0, 0);
    if (ref(c, id, "step") >= 0)
      emit(c, OP_MOVE, type, step, operand(c, id, "step"), 0, 0);
    else
      constant(c, type, step, 1);
  }
  c->loop = &inner;
  start = (int32_t)(c->code.count / 6);
  if (is_for) {
    constant(c, type, test, 0);
    emit(c, OP_LT, type, test, test, end, 0);
  } else {
    emit(c, OP_MOVE, BOOL, test, operand(c, id, "condition"), 0, 0);
  }
  leave_loop = emit(c, OP_JUMP_UNLESS, BOOL, 0, test, 0, 0);
  statement(c, ref(c, id, "body"));
  land_all(c, &inner.continues);
  if (is_for) {
    emit(c, OP_ADD, type, var, var, step, 0);
    constant(c, type, test, 1);
    emit(c, OP_SUB, type, end, end, test, 0);
  }
  emit(c, OP_JUMP, 0, 0, 0, start, 0);
  land(c, leave_loop);
  land_all(c, &inner.breaks);
  c->loop = inner.outer;
}

static void branch(Compiler *c, int32_t id) {
  int32_t otherwise = ref(c, id, "otherwise");
  int32_t skip = emit(c, OP_JUMP_UNLESS, BOOL, 0, operand(c, id, "condition"), 0, 0), end = -1;
  statement(c, ref(c, id, "then"));
  if (otherwise >= 0) end = emit(c, OP_JUMP, 0, 0, 0, 0, 0);
  land(c, skip);
  if (otherwise < 0) return;
  statement(c, otherwise);
  land(c, end);
}

static void statement_of(Compiler *c, int32_t id) {
  Access access;
  const Json *item;
  if (is_node(c, id, "Seq")) {
    for (item = field_of(c, id, "stmts")->first; item != NULL; item = item->next) statement(c, id_of(item));
  } else if (is_node(c, id, "Bind")) {
    move(c, lanes_of(c, ref(c, id, "var")), cell_of(c, ref(c, id, "var")), operand(c, id, "value"));
  } else if (is_node(c, id, "Store")) {
    int32_t value = operand(c, id, "value");
    if (access_of(c, id, &access)) access_lanes(c, &access, 1, value);
  } else if (is_node(c, id, "AllocBuffer")) {
    allocate_buffer(c, id);
  } else if (is_node(c, id, "DeclBuffer")) {
    if (!is_node(c, ref(c, id, "buffer"), "Buffer"))
      malformed(c, "node", id, "expected a buffer");
    else if (ref(c, id, "data") >= 0)
      move(c, 1, cell_of(c, ref(c, ref(c, id, "buffer"), "data")), operand(c, id, "data"));
  } else if (is_node(c, id, "For") || is_node(c, id, "While")) {
    loop(c, id);
  } else if (is_node(c, id, "If")) {
    branch(c, id);
  } else if (is_node(c, id, "Evaluate")) {
    operand(c, id, "value");
  } else if (is_node(c, id, "Attr")) {
    statement(c, ref(c, id, "body")); /* the attribute may be ignored (STAGE-H2) */
  } else if (is_node(c, id, "LaunchThread")) {
    int32_t axis = find(string(c, id, "axis"), axis_names, COUNT(axis_names));
    if (axis < 0) refuse(c, id, "expected blockIdx.x to threadIdx.z, found ", string(c, id, "axis"));
    emit(c, OP_POSITION, I32, cell_of(c, ref(c, id, "var")), 0, axis < 0 ? 0 : axis, 0);
    statement(c, ref(c, id, "body"));
  } else if (is_node(c, id, "Break") || is_node(c, id, "Continue")) {
    int32_t jump = emit(c, OP_JUMP, 0, 0, 0, 0, 0);
    if (c->loop == NULL)
      malformed(c, "node", id, "expected a loop around it");
    else if (!words_put(is_node(c, id, "Break") ? &c->loop->breaks : &c->loop->continues, &jump, 1))
      malformed(c, "", -1, NULL);
  } else if (is_node(c, id, "Return")) {
    if (ref(c, id, "value") >= 0) emit(c, OP_MOVE, 0, c->current->result, operand(c, id, "value"), 0, 0);
    emit(c, c->current->is_kernel ? OP_END : OP_RETURN, 0, 0, c->current->return_address, 0, 0);
  } else if (is_node(c, id, "BlockRealize") || is_node(c, id, "Assert")) {
    refuse(c, id, "expected a statement of stage `device`", text(""));
  } else {
    malformed(c, "node", id, "expected a statement");
  }
}

static void statement(Compiler *c, int32_t id) {
  if (++c->depth > DEPTH_MAX) malformed(c, "node", id, "expected fewer levels of nodes");
  if (c->status == CHIPDOCK_OK && c->session->is_cancelled(c->session->self_))
    c->status = fail(c->instance, CHIPDOCK_CANCELLED, "Cancelled", "the build was given up by its caller");
  if (c->status == CHIPDOCK_OK) statement_of(c, id);
  c->depth--;
}
