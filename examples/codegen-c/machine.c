/*
 * The chip of this example, in software: types, instructions, and their execution. For a chip in hardware this is its
 * manual. Part of plugin.c. SPDX-License-Identifier: Apache-2.0
 *
 * A thread has cells and memories. An instruction reads the cells `a`, `b` and `c` and writes the cell `to`; `type` is
 * the type of its result. Threads run one after the other, each until it ends or reaches a barrier.
 */

#include <math.h>

/* clang-format off */
/* type, its name in the IR, bytes */
#define MACHINE_TYPES(X)                                                                            \
  X(BOOL, "bool", 1) X(I8, "int8", 1) X(I16, "int16", 2) X(I32, "int32", 4) X(I64, "int64", 8)      \
  X(U8, "uint8", 1) X(U16, "uint16", 2) X(U32, "uint32", 4) X(U64, "uint64", 8)                     \
  X(F32, "float32", 4) X(HANDLE, "handle", 8)

/* instruction, and its operands that are cells, in the order `to` (t), `a`, `b`, `c`; `-` is a number or unused */
#define MACHINE_OPS(X)                                                                              \
  X(CONST, "t---") X(MOVE, "ta--") X(POSITION, "t---") X(MEMORY, "t---") X(OFFSET, "tab-")          \
  X(IS_NULL, "ta--") X(LOAD, "tab-") X(STORE, "-abc") X(CAST, "ta--") X(REINTERPRET, "ta--")        \
  X(NOT, "ta--") X(ADD, "tab-") X(SUB, "tab-") X(MUL, "tab-") X(DIV, "tab-") X(MOD, "tab-")         \
  X(FLOOR_DIV, "tab-") X(FLOOR_MOD, "tab-") X(MIN, "tab-") X(MAX, "tab-")                           \
  X(EQ, "tab-") X(NE, "tab-") X(LT, "tab-") X(LE, "tab-") X(GT, "tab-") X(GE, "tab-")               \
  X(BIT_AND, "tab-") X(BIT_OR, "tab-") X(BIT_XOR, "tab-") X(BIT_NOT, "ta--")                        \
  X(SHIFT_LEFT, "tab-") X(SHIFT_RIGHT, "tab-") X(ABS, "ta--") X(SQRT, "ta--") X(FLOOR, "ta--")      \
  X(CEIL, "ta--") X(TRUNC, "ta--") X(NEARBYINT, "ta--") X(COPYSIGN, "tab-") X(FMOD, "tab-")         \
  X(FMA, "tabc") X(JUMP, "----") X(JUMP_UNLESS, "-a--") X(CALL, "t---") X(RETURN, "-a--")           \
  X(BARRIER, "----") X(END, "----")
/* clang-format on */

#define MACHINE_NAME(name, ...) name,
enum { MACHINE_TYPES(MACHINE_NAME) TYPES_COUNT };
#define MACHINE_OP_NAME(name, ...) OP_##name,
enum { MACHINE_OPS(MACHINE_OP_NAME) OPS_COUNT };

#define MACHINE_TEXT(name, text, ...) text,
#define MACHINE_SIZE(name, text, size) size,
#define MACHINE_CELLS(name, cells) cells,
static const char *const type_names[] = {MACHINE_TYPES(MACHINE_TEXT)};
static const uint8_t type_sizes[] = {MACHINE_TYPES(MACHINE_SIZE)};
static const char *const op_cells[] = {MACHINE_OPS(MACHINE_CELLS)};

/* An instruction. If `b` is no cell it is a number: the low half of a constant (`c` is the high half), the destination
 * of a jump, or the source type of a cast. */
typedef struct Instr {
  int32_t op, type, to, a, b, c;
} Instr;

/* A memory that a kernel allocates. */
enum { MEMORY_LOCAL, MEMORY_SHARED, MEMORY_SHARED_DYNAMIC };
typedef struct Memory {
  int32_t where;
  int32_t size_bytes;
} Memory;

/* A value: integers are extended to 64 bits by their type. A pointer is a data space and an offset. */
typedef struct Cell {
  union {
    int64_t i;
    uint64_t u;
    float f;
    Block *block;
  } v;
  int64_t offset_bytes;
} Cell;

typedef struct Thread {
  Cell *cells;
  Block *memories;
  int32_t position[6]; /* blockIdx.x to threadIdx.z */
  int32_t at;          /* the next instruction, or -1 when it has ended */
} Thread;

static int is_signed(int32_t type) { return type >= I8 && type <= I64; }

/* Truncates a value to the width of its type and extends it to 64 bits, so that integers wrap (IR-N1). */
static int64_t extend(int32_t type, uint64_t bits) {
  switch (type) {
    case BOOL: return (int64_t)(bits & 1);
    case I8: return (int8_t)bits;
    case I16: return (int16_t)bits;
    case I32: return (int32_t)bits;
    case U8: return (uint8_t)bits;
    case U16: return (uint16_t)bits;
    case U32: return (uint32_t)bits;
    default: return (int64_t)bits;
  }
}

/* Returns the address of an element, or NULL if it is outside of its data space. */
static char *place_of(const Cell *pointer, int64_t index, int32_t type) {
  const Block *block = pointer->v.block;
  int64_t at, size = type_sizes[type];
  if (block == NULL || __builtin_mul_overflow(index, size, &at) ||
      __builtin_add_overflow(at, pointer->offset_bytes, &at))
    return NULL;
  return at < 0 || (uint64_t)size > block->size_bytes || (uint64_t)at > block->size_bytes - (uint64_t)size
             ? NULL
             : block->bytes + at;
}

static Cell load(const char *from, int32_t type) {
  Cell cell;
  memset(&cell, 0, sizeof cell);
  memcpy(&cell.v, from, type_sizes[type]);
  if (type != F32) cell.v.i = extend(type, type == BOOL ? cell.v.u != 0 : cell.v.u);
  return cell;
}

/* Divides, rounding towards zero or down. x / 0 is x; the least integer divided by -1 is itself (IR-N2, IR-N3). */
static int64_t divide(int32_t type, int64_t a, int64_t b, int is_floor) {
  int64_t quotient;
  if (b == 0) return a;
  if (!is_signed(type)) return (int64_t)((uint64_t)a / (uint64_t)b);
  if (b == -1) return (int64_t)(0 - (uint64_t)a);
  quotient = a / b;
  return is_floor && a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

static int64_t remain(int32_t type, int64_t a, int64_t b, int is_floor) {
  int64_t rest;
  if (b == 0 || (is_signed(type) && b == -1)) return 0;
  if (!is_signed(type)) return (int64_t)((uint64_t)a % (uint64_t)b);
  rest = a % b;
  return is_floor && rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

static int64_t integer_op(const Instr *instr, int64_t a, int64_t b) {
  int32_t type = instr->type;
  uint64_t x = (uint64_t)a, y = (uint64_t)b;
  unsigned bits = 8u * type_sizes[type], amount = (unsigned)(y & (bits - 1)); /* IR-N4 */
  int is_less = type == U64 ? x < y : a < b;
  switch (instr->op) {
    case OP_ADD: return (int64_t)(x + y);
    case OP_SUB: return (int64_t)(x - y);
    case OP_MUL: return (int64_t)(x * y);
    case OP_DIV: return divide(type, a, b, 0);
    case OP_MOD: return remain(type, a, b, 0);
    case OP_FLOOR_DIV: return divide(type, a, b, 1);
    case OP_FLOOR_MOD: return remain(type, a, b, 1);
    case OP_MIN: return is_less ? a : b;
    case OP_MAX: return is_less ? b : a;
    case OP_EQ: return a == b;
    case OP_NE: return a != b;
    case OP_LT: return is_less;
    case OP_LE: return is_less || a == b;
    case OP_GT: return !is_less && a != b;
    case OP_GE: return !is_less;
    case OP_BIT_AND: return a & b;
    case OP_BIT_OR: return a | b;
    case OP_BIT_XOR: return a ^ b;
    case OP_BIT_NOT: return ~a;
    case OP_SHIFT_LEFT: return (int64_t)(x << amount);
    case OP_SHIFT_RIGHT: return is_signed(type) ? a >> amount : (int64_t)(x >> amount);
    case OP_ABS: return a < 0 && is_signed(type) ? (int64_t)(0 - x) : a;
    default: return 0;
  }
}

static Cell float_op(const Instr *instr, float a, float b, float c) {
  Cell to;
  memset(&to, 0, sizeof to);
  switch (instr->op) {
    case OP_ADD: to.v.f = a + b; break;
    case OP_SUB: to.v.f = a - b; break;
    case OP_MUL: to.v.f = a * b; break;
    case OP_DIV: to.v.f = a / b; break;
    case OP_MIN: to.v.f = a < b ? a : b; break; /* a NaN as in IR-N7 */
    case OP_MAX: to.v.f = a > b ? a : b; break;
    case OP_EQ: to.v.i = a == b; break;
    case OP_NE: to.v.i = a != b; break;
    case OP_LT: to.v.i = a < b; break;
    case OP_LE: to.v.i = a <= b; break;
    case OP_GT: to.v.i = a > b; break;
    case OP_GE: to.v.i = a >= b; break;
    case OP_ABS: to.v.f = fabsf(a); break;
    case OP_SQRT: to.v.f = sqrtf(a); break;
    case OP_FLOOR: to.v.f = floorf(a); break;
    case OP_CEIL: to.v.f = ceilf(a); break;
    case OP_TRUNC: to.v.f = truncf(a); break;
    case OP_NEARBYINT: to.v.f = nearbyintf(a); break;
    case OP_COPYSIGN: to.v.f = copysignf(a, b); break;
    case OP_FMOD: to.v.f = fmodf(a, b); break;
    case OP_FMA: to.v.f = fmaf(a, b, c); break;
  }
  return to;
}

/* Converts a float to an integer: truncates and saturates; NaN gives 0 (IR-N9). */
static int64_t saturate(int32_t type, float value) {
  int bits = 8 * type_sizes[type] - is_signed(type);
  float end = ldexpf(1, bits);         /* the least value that is too large */
  if (type == BOOL) return value != 0; /* a NaN is true */
  if (value != value) return 0;
  if (value >= end) return (int64_t)(~(uint64_t)0 >> (64 - bits));
  if (is_signed(type)) return value < -end ? (int64_t)(0 - ((uint64_t)1 << bits)) : (int64_t)value;
  return value <= 0 ? 0 : (int64_t)(uint64_t)value;
}

static Cell cast(int32_t to, int32_t from, const Cell *value) {
  Cell cell;
  memset(&cell, 0, sizeof cell);
  if (to == F32) {
    cell.v.f = from == F32 ? value->v.f : from == U64 ? (float)value->v.u : (float)value->v.i;
  } else if (from == F32) {
    cell.v.i = saturate(to, value->v.f);
  } else {
    cell.v.i = to == BOOL ? value->v.i != 0 : extend(to, value->v.u);
  }
  return cell;
}

/* Runs a thread until it ends or reaches a barrier. Returns NULL, or the error. */
static const char *run_thread(Thread *thread, const Instr *code) {
  Cell *cells = thread->cells;
  for (;;) {
    const Instr *instr = &code[thread->at++];
    const Cell *a = &cells[instr->a];
    Cell *to = &cells[instr->to];
    char *place;
    switch (instr->op) {
      case OP_CONST: to->v.u = (uint64_t)(uint32_t)instr->c << 32 | (uint32_t)instr->b; break;
      case OP_MOVE: *to = *a; break;
      case OP_POSITION: to->v.i = thread->position[instr->b]; break;
      case OP_MEMORY:
        to->v.block = &thread->memories[instr->b];
        to->offset_bytes = 0;
        break;
      case OP_OFFSET: {
        int64_t bytes = cells[instr->b].v.i;
        *to = *a;
        to->offset_bytes = (int64_t)((uint64_t)to->offset_bytes + (uint64_t)bytes);
        break;
      }
      case OP_IS_NULL: to->v.i = a->v.block == NULL; break;
      case OP_LOAD:
        place = place_of(a, cells[instr->b].v.i, instr->type);
        if (place == NULL) return "a load outside of its data space";
        *to = load(place, instr->type);
        break;
      case OP_STORE:
        place = place_of(a, cells[instr->b].v.i, instr->type);
        if (place == NULL) return "a store outside of its data space";
        memcpy(place, &cells[instr->c].v, type_sizes[instr->type]);
        break;
      case OP_CAST: *to = cast(instr->type, instr->b, a); break;
      case OP_REINTERPRET:
        *to = *a;
        if (instr->type != F32) to->v.i = extend(instr->type, to->v.u);
        break;
      case OP_NOT: to->v.i = !a->v.i; break;
      case OP_JUMP: thread->at = instr->b; break;
      case OP_JUMP_UNLESS:
        if (a->v.i == 0) thread->at = instr->b;
        break;
      case OP_CALL:
        to->v.i = thread->at;
        thread->at = instr->b;
        break;
      case OP_RETURN: thread->at = (int32_t)a->v.i; break;
      case OP_BARRIER: return NULL;
      case OP_END: thread->at = -1; return NULL;
      default:
        if (instr->type == F32) {
          *to = float_op(instr, a->v.f, cells[instr->b].v.f, cells[instr->c].v.f);
        } else {
          int64_t value = integer_op(instr, a->v.i, cells[instr->b].v.i);
          to->v.i = instr->op >= OP_EQ && instr->op <= OP_GE ? value : extend(instr->type, (uint64_t)value);
        }
    }
  }
}
