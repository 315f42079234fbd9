/*
 * A reader of JSON, for requests and indexes: strict, without recursion past LEVELS_MAX, and one allocation pool for
 * all values of a document. Part of plugin.c. SPDX-License-Identifier: Apache-2.0
 */

#define LEVELS_MAX 64
#define POOL_BYTES 65536

/* A block of a memory pool. */
typedef struct Chunk {
  struct Chunk *next;
  size_t used, size;
} Chunk;

typedef struct Pool {
  Chunk *first;
} Pool;

/* Allocates zeroed memory from a pool. Returns NULL if there is none. */
static void *take(Pool *pool, size_t size) {
  Chunk *chunk = pool->first;
  size = (size + 15) & ~(size_t)15;
  if (chunk == NULL || chunk->size - chunk->used < size) {
    size_t room = size > POOL_BYTES ? size : POOL_BYTES;
    chunk = (Chunk *)calloc(1, sizeof(Chunk) + room);
    if (chunk == NULL) return NULL;
    chunk->size = room;
    chunk->next = pool->first;
    pool->first = chunk;
  }
  chunk->used += size;
  return (char *)(chunk + 1) + chunk->used - size;
}

static void free_pool(Pool *pool) {
  while (pool->first != NULL) {
    Chunk *chunk = pool->first;
    pool->first = chunk->next;
    free(chunk);
  }
}

/* A value. The members of a list or an object hang on `first`, in order; a member of an object has its name in `key`.
 */
typedef struct Json {
  char kind; /* n(ull), b(ool), i(nteger), f(loat), s(tring), l(ist), o(bject) */
  ChipdockStr key;
  ChipdockStr text; /* of a string, its bytes; of a number or a word, as it was written */
  struct Json *first, *next;
  uint32_t count; /* members */
} Json;

typedef struct JsonReader {
  Pool *pool;
  const char *at, *end;
  const char *wrong; /* description of the first error, or NULL */
} JsonReader;

static Json *json_fail(JsonReader *reader, const char *expected) {
  if (reader->wrong == NULL) reader->wrong = expected;
  return NULL;
}

static void json_skip(JsonReader *reader) {
  while (reader->at < reader->end && strchr(" \t\r\n", *reader->at) != NULL && *reader->at != '\0') reader->at++;
}

/* Returns the next byte, or 0 at the end. */
static char json_peek(const JsonReader *reader) { return reader->at < reader->end ? *reader->at : '\0'; }

static int json_hex(JsonReader *reader, uint32_t *out) {
  int digits;
  *out = 0;
  for (digits = 0; digits < 4; digits++) {
    char c = json_peek(reader);
    uint32_t value = c >= '0' && c <= '9'                 ? (uint32_t)(c - '0')
                     : (c | 32) >= 'a' && (c | 32) <= 'f' ? (uint32_t)((c | 32) - 'a') + 10
                                                          : 16;
    if (value == 16) return 0;
    *out = *out << 4 | value;
    reader->at++;
  }
  return 1;
}

/* Appends a character as UTF-8. */
static char *json_put(char *to, uint32_t c) {
  if (c < 0x80) {
    *to++ = (char)c;
  } else if (c < 0x800) {
    *to++ = (char)(0xC0 | c >> 6);
    *to++ = (char)(0x80 | (c & 63));
  } else {
    if (c < 0x10000) {
      *to++ = (char)(0xE0 | c >> 12);
    } else {
      *to++ = (char)(0xF0 | c >> 18);
      *to++ = (char)(0x80 | (c >> 12 & 63));
    }
    *to++ = (char)(0x80 | (c >> 6 & 63));
    *to++ = (char)(0x80 | (c & 63));
  }
  return to;
}

/* Returns the size of the UTF-8 character at `at`, or 0 if it is overlong, a surrogate, or beyond U+10FFFF. */
static size_t utf8_size(const char *at, const char *end) {
  const unsigned char *c = (const unsigned char *)at;
  size_t size = c[0] < 0x80                   ? 1
                : c[0] >= 0xC2 && c[0] < 0xE0 ? 2
                : (c[0] & 0xF0) == 0xE0       ? 3
                : c[0] >= 0xF0 && c[0] < 0xF5 ? 4
                                              : 0;
  size_t index;
  if (size == 0 || (size_t)(end - at) < size) return 0;
  for (index = 1; index < size; index++)
    if ((c[index] & 0xC0) != 0x80) return 0;
  if ((c[0] == 0xE0 && c[1] < 0xA0) || (c[0] == 0xED && c[1] > 0x9F)) return 0;
  if ((c[0] == 0xF0 && c[1] < 0x90) || (c[0] == 0xF4 && c[1] > 0x8F)) return 0;
  return size;
}

/* Reads a string. */
static int json_string(JsonReader *reader, ChipdockStr *out) {
  const char *scan;
  char *to;
  if (json_peek(reader) != '"') return json_fail(reader, "expected a string"), 0;
  for (scan = ++reader->at; scan < reader->end && *scan != '"'; scan++)
    if (*scan == '\\' && scan + 1 < reader->end) scan++;
  to = (char *)take(reader->pool, (size_t)(scan - reader->at) + 1); /* an escape is never shorter than its character */
  if (to == NULL) return json_fail(reader, NULL), 0;
  out->data = to;
  while (json_peek(reader) != '"') {
    size_t size;
    if (reader->at >= reader->end || (unsigned char)*reader->at < 0x20)
      return json_fail(reader, "expected the end of a string"), 0;
    if (*reader->at != '\\') {
      size = utf8_size(reader->at, reader->end);
      if (size == 0) return json_fail(reader, "expected UTF-8"), 0;
      memcpy(to, reader->at, size);
      to += size;
      reader->at += size;
    } else {
      static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
      uint32_t c, low;
      const char *name;
      reader->at++;
      name = json_peek(reader) == '\0' ? NULL : strchr(names, json_peek(reader));
      if (name != NULL) {
        *to++ = values[name - names];
        reader->at++;
        continue;
      }
      if (json_peek(reader) != 'u') return json_fail(reader, "expected an escape"), 0;
      reader->at++;
      if (!json_hex(reader, &c)) return json_fail(reader, "expected four hexadecimal digits"), 0;
      if (c >= 0xD800 && c < 0xE000) {
        int paired = c < 0xDC00 && reader->end - reader->at >= 6 && reader->at[0] == '\\' && reader->at[1] == 'u';
        if (paired) reader->at += 2;
        if (!paired || !json_hex(reader, &low) || low < 0xDC00 || low >= 0xE000)
          return json_fail(reader, "expected a pair of surrogates"), 0;
        c = 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00);
      }
      to = json_put(to, c);
    }
  }
  reader->at++;
  out->size = (size_t)(to - out->data);
  return 1;
}

static size_t json_digits(JsonReader *reader) {
  size_t count = 0;
  for (; json_peek(reader) >= '0' && json_peek(reader) <= '9'; reader->at++) count++;
  return count;
}

static Json *json_number(JsonReader *reader, Json *value) {
  const char *start = reader->at;
  int leading_zero;
  value->kind = 'i';
  if (json_peek(reader) == '-') reader->at++;
  leading_zero = json_peek(reader) == '0';
  switch (json_digits(reader)) {
    case 0: return json_fail(reader, "expected a value");
    case 1: break;
    default:
      if (leading_zero) return json_fail(reader, "expected a number without leading zeros");
  }
  if (json_peek(reader) == '.') {
    value->kind = 'f';
    reader->at++;
    if (json_digits(reader) == 0) return json_fail(reader, "expected digits");
  }
  if ((json_peek(reader) | 32) == 'e') {
    value->kind = 'f';
    reader->at++;
    if (json_peek(reader) == '+' || json_peek(reader) == '-') reader->at++;
    if (json_digits(reader) == 0) return json_fail(reader, "expected digits");
  }
  value->text.data = start;
  value->text.size = (size_t)(reader->at - start);
  return value;
}

static Json *json_value(JsonReader *reader, unsigned level);

/* Reads a list or an object. */
static Json *json_members(JsonReader *reader, Json *value, char close, unsigned level) {
  Json **last = &value->first;
  reader->at++;
  json_skip(reader);
  if (json_peek(reader) == close) {
    reader->at++;
    return value;
  }
  for (;;) {
    ChipdockStr key = text("");
    json_skip(reader);
    if (close == '}') {
      if (!json_string(reader, &key)) return NULL;
      json_skip(reader);
      if (json_peek(reader) != ':') return json_fail(reader, "expected `:`");
      reader->at++;
    }
    *last = json_value(reader, level + 1);
    if (*last == NULL) return NULL;
    (*last)->key = key;
    last = &(*last)->next;
    value->count++;
    json_skip(reader);
    if (json_peek(reader) == close) break;
    if (json_peek(reader) != ',') return json_fail(reader, "expected `,` or the end of a list or an object");
    reader->at++;
  }
  reader->at++;
  return value;
}

static Json *json_value(JsonReader *reader, unsigned level) {
  static const char *const words[] = {"null", "true", "false"};
  size_t index;
  Json *value = (Json *)take(reader->pool, sizeof(Json));
  if (value == NULL) return json_fail(reader, NULL);
  if (level > LEVELS_MAX) return json_fail(reader, "expected at most 64 levels");
  json_skip(reader);
  for (index = 0; index < 3; index++) {
    size_t size = strlen(words[index]);
    if ((size_t)(reader->end - reader->at) >= size && memcmp(reader->at, words[index], size) == 0) {
      value->kind = index == 0 ? 'n' : 'b';
      value->text = text(words[index]);
      reader->at += size;
      return value;
    }
  }
  switch (json_peek(reader)) {
    case '{': value->kind = 'o'; return json_members(reader, value, '}', level);
    case '[': value->kind = 'l'; return json_members(reader, value, ']', level);
    case '"': value->kind = 's'; return json_string(reader, &value->text) ? value : NULL;
    default: return json_number(reader, value);
  }
}

/* Reads a document. On failure returns NULL and sets `*wrong` to the reason, or to NULL if memory is exhausted. */
static Json *json_read(Pool *pool, ChipdockStr document, const char **wrong) {
  JsonReader reader;
  Json *value;
  reader.pool = pool;
  reader.at = document.size == 0 ? "" : document.data;
  reader.end = reader.at + document.size;
  reader.wrong = NULL;
  value = json_value(&reader, 0);
  if (value != NULL) json_skip(&reader);
  if (value != NULL && reader.at != reader.end) value = json_fail(&reader, "expected the end of the document");
  *wrong = reader.wrong;
  return value;
}

/* Returns the member of an object by its name, or NULL. */
static const Json *json_get(const Json *object, const char *key) {
  const Json *member = object != NULL && object->kind == 'o' ? object->first : NULL;
  for (; member != NULL; member = member->next)
    if (is_text(member->key, key)) return member;
  return NULL;
}

static int json_is(const Json *value, char kind) { return value != NULL && value->kind == kind; }

/* Parses a decimal integer of at most 64 bits, signed or unsigned. Returns 0 if the text is none. */
static int parse_integer(ChipdockStr digits, uint64_t *out) {
  size_t at = digits.size > 0 && digits.data[0] == '-';
  size_t start = at;
  uint64_t value = 0;
  for (; at < digits.size; at++) {
    if (digits.data[at] < '0' || digits.data[at] > '9') return 0;
    if (__builtin_mul_overflow(value, (uint64_t)10, &value)) return 0;
    if (__builtin_add_overflow(value, (uint64_t)(digits.data[at] - '0'), &value)) return 0;
  }
  if (start == 1 && value > (uint64_t)1 << 63) return 0;
  *out = start == 1 ? (uint64_t)0 - value : value;
  return at > start;
}
