/*
 * What host.c needs around its calls of a plugin: texts, values, reports, JSON, SHA-256, and the files that it reads. A
 * program has most of this already. SPDX-License-Identifier: Apache-2.0
 */
#include <chipdock.h>
#include <elf.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef ChipdockStr Str;

#define SMALL "abcdefghijklmnopqrstuvwxyz0123456789_-"
#define LETTERS SMALL "ABCDEFGHIJKLMNOPQRSTUVWXYZ."

/* ---- Texts: those of others are neither NUL-terminated nor trusted ---- */

static Str str(const char *text) { return (Str){text, strlen(text)}; }

static int is(Str text, const char *other) {
  return text.size == strlen(other) && (text.size == 0 || memcmp(text.data, other, text.size) == 0);
}

static int has_only(Str text, size_t size_max, const char *letters) {
  size_t at = 0;
  if (text.size < 1 || text.size > size_max || text.data == NULL) return 0;
  while (at < text.size && text.data[at] != '\0' && strchr(letters, text.data[at]) != NULL) at++;
  return at == text.size;
}

/* Whether a registration may have that name (P5.9). */
static int is_name(Str text) {
  return has_only(text, 128, LETTERS) && strchr(".-", text.data[0]) == NULL &&
         !(text.size >= 9 && memcmp(text.data, "chipdock.", 9) == 0);
}

static void *zeroed(size_t size) {
  void *memory = calloc(1, size);
  if (memory == NULL) abort();
  return memory;
}

static char *copy_of(Str text) { return memcpy(zeroed(text.size + 1), text.size > 0 ? text.data : "", text.size); }

/* A text that lies nowhere, or claims to be longer than 1 GiB, is not read: its size may be absurd (P9.2). */
static int is_readable(Str text) { return text.size == 0 || (text.data != NULL && text.size <= (size_t)1 << 30); }

static Str readable(Str text) {
  if (text.size == 0) return str("");
  return is_readable(text) ? text : str("(a text that cannot be read)");
}

/* Returns the beginning of a text on one line, in which nothing steers the terminal. The eighth call overwrites it. */
static const char *shown(Str text) {
  static _Thread_local char places[8][600];
  static _Thread_local unsigned turn;
  char *place = places[turn++ % 8], *to = place;
  size_t at;
  text = readable(text);
  for (at = 0; at < text.size && to < place + 590; at++)
    to += sprintf(to, text.data[at] >= ' ' && text.data[at] <= '~' ? "%c" : "\\x%02x", (unsigned char)text.data[at]);
  strcpy(to, at < text.size ? "..." : "");
  return place;
}

/* ---- Values and tables ---- */

static const ChipdockAny none = {CHIPDOCK_TYPE_NONE, 0, {0}};

/* One strong reference less. All strong ones together hold one weak one: at 1 and 1 both end (V.12). */
static void drop(ChipdockAny *value) {
  const uint64_t one_weak = (uint64_t)1 << 32;
  ChipdockObject *object = value->type_index >= CHIPDOCK_TYPE_OBJECT_BEGIN ? value->value.v_object : NULL;
  uint64_t before = object != NULL ? __atomic_fetch_sub(&object->combined_ref_count, 1, __ATOMIC_RELEASE) : 0;
  int is_whole = before == CHIPDOCK_NEW_REF_COUNT;
  *value = none;
  if ((uint32_t)before != 1 || object->deleter == NULL) return;
  __atomic_thread_fence(__ATOMIC_ACQUIRE);
  object->deleter(object, is_whole ? CHIPDOCK_DELETE_STRONG | CHIPDOCK_DELETE_WEAK : CHIPDOCK_DELETE_STRONG);
  if (!is_whole && __atomic_fetch_sub(&object->combined_ref_count, one_weak, __ATOMIC_ACQ_REL) >> 32 == 1)
    object->deleter(object, CHIPDOCK_DELETE_WEAK);
}

/* Sixteen zero bytes lie before an object (V.13). */
enum { BEFORE_OBJECT = 16 };

static void delete_object(void *self_, int32_t flags) {
  if (flags & CHIPDOCK_DELETE_WEAK) free((char *)self_ - BEFORE_OBJECT);
}

static ChipdockAny new_object(size_t size_bytes, int32_t type_index) {
  ChipdockAny value = {type_index, 0, {0}};
  value.value.v_ptr = (char *)zeroed(BEFORE_OBJECT + size_bytes) + BEFORE_OBJECT;
  *value.value.v_object = (ChipdockObject){CHIPDOCK_NEW_REF_COUNT, type_index, 0, delete_object};
  return value;
}

static void keep_backtrace(void *self_, const Str *backtrace, int32_t mode) {
  (void)self_, (void)backtrace, (void)mode;
}

/* A new error object: its texts lie behind it, and it owns nothing else. */
static ChipdockAny new_error(Str kind, Str message) {
  ChipdockAny value = new_object(sizeof(ChipdockErrorObject) + kind.size + message.size, CHIPDOCK_TYPE_ERROR);
  ChipdockErrorObject *made = (void *)value.value.v_object;
  made->kind = (Str){memcpy(made + 1, kind.data, kind.size), kind.size};
  made->message = (Str){memcpy((char *)(made + 1) + kind.size, message.data, message.size), message.size};
  made->update_backtrace = keep_backtrace; /* V.7: never null */
  return value;
}

/* Whether a result is a string (V.5), and which; what no result may be (V.2) is none. */
static int is_string(const ChipdockAny *value, Str *out) {
  *out = (Str){(const char *)value->value.v_bytes, value->small_length};
  if (value->type_index == CHIPDOCK_TYPE_SMALL_STR) return value->small_length <= 7;
  if (value->type_index != CHIPDOCK_TYPE_STR || value->value.v_object == NULL) return 0;
  *out = ((const ChipdockByteArrayObject *)(const void *)value->value.v_object)->bytes;
  return 1;
}

static int has_hole(const void *table, size_t size_bytes) { /* P3.1, P3.11: function pointers only, none null */
  static const char null[sizeof(void *)];
  size_t at = 0;
  if (table == NULL || size_bytes % sizeof null != 0) return 1;
  while (at < size_bytes && memcmp((const char *)table + at, null, sizeof null) != 0) at += sizeof null;
  return at < size_bytes;
}

/* ---- Reports: each names the plugin, and the call or the clause ---- */

/* Exit codes: all is well; a call failed; the caller's mistake; the plugin breaks a clause. */
enum { GOOD, FAILED, MISUSED, BROKEN };

static const char *path;
static const ChipdockPlugin *plugin; /* null until its descriptor was checked */
static _Thread_local ChipdockAny error; /* this thread's: None or an error object (H.3) */


static const char *name_of_plugin(void) { return plugin == NULL ? path : shown(plugin->name); }

/* Says what is wrong with the plugin, or what it says; returns the exit code. */
static int complain(int code, const char *format, ...) {
  va_list args;
  va_start(args, format);
  fflush(stdout);
  fprintf(stderr, "error: plugin \"%s\": ", name_of_plugin());
  vfprintf(stderr, format, args);
  fputc('\n', stderr);
  va_end(args);
  return code;
}

static char doing[800]; /* empty while this host is not in the plugin */

static void begin(const char *call) {
  drop(&error); /* one that was raised before a success counts for nothing */
  snprintf(doing, sizeof doing, "plugin \"%.300s\": `%s`\n", name_of_plugin(), call);
}

static int32_t end(int32_t status) {
  doing[0] = '\0';
  return status;
}

static void on_crash(int number) {
  ssize_t written = write(STDERR_FILENO, "error: P8.4: crashed: ", 22) + write(STDERR_FILENO, doing, strlen(doing));
  signal(number, written < 0 ? SIG_IGN : SIG_DFL);
  raise(number);
}

static void on_exit_of_process(void) {
  if (doing[0] == '\0') return;
  fprintf(stderr, "error: P8.4: ended the process: %s", doing);
  fflush(NULL);
  _exit(BROKEN);
}

/* Reports a failure with the error that was raised (P7.1); without one it is the plugin's fault (P7.2). */
static int failed(const char *call) {
  const ChipdockErrorObject *raised = (const void *)error.value.v_object;
  if (error.type_index != CHIPDOCK_TYPE_ERROR) return complain(BROKEN, "P7.1: `%s` failed and raised no error", call);
  complain(FAILED, "`%s`: %s: %s", call, shown(raised->kind), shown(raised->message));
  drop(&error);
  return FAILED;
}

/* Makes a call and returns the exit code. */
#define CALL(name, call) (begin(name), end(call) == CHIPDOCK_OK ? GOOD : failed(name))

/* ---- JSON: a value is the part of the document where it stands ---- */

/* Returns the end of the value at `at`, or NULL if there is none. */
static const char *end_of_value(const char *at, const char *end) {
  int depth = 0;
  for (; at < end; at++) {
    if (*at == '"') {
      for (at++; at < end && *at != '"'; at++) at += *at == '\\';
      if (at >= end) return NULL;
    } else if (*at == '[' || *at == '{') {
      depth++;
    } else if (*at == ']' || *at == '}') {
      if (--depth < 0) return NULL;
    }
    if (depth == 0 && (at + 1 == end || (at[1] != '\0' && strchr(" \t\r\n,:]}", at[1]) != NULL))) return at + 1;
  }
  return NULL;
}

/* Takes the next value off the inside of a list or an object, in which names are values too. */
static int next_value(Str *inside, Str *value) {
  const char *at = inside->data, *end = at + inside->size, *past;
  while (at < end && *at != '\0' && strchr(" \t\r\n,:", *at) != NULL) at++;
  if (at >= end || (past = end_of_value(at, end)) == NULL) return 0;
  *value = (Str){at, (size_t)(past - at)};
  *inside = (Str){past, (size_t)(end - past)};
  return 1;
}

/* Returns what is between the brackets or quotes of a value; nothing if it is of another type. */
static Str inside_of(Str value, char open) {
  return value.size >= 2 && value.data[0] == open ? (Str){value.data + 1, value.size - 2} : str("");
}

/* Returns a member of an object as it is written; an empty text if there is none. */
static Str member(Str object, const char *name) {
  Str rest = inside_of(object, '{'), key, value;
  while (next_value(&rest, &key) && next_value(&rest, &value))
    if (is(inside_of(key, '"'), name)) return value;
  return str("");
}

/* Whether a text is the schema of a target kind, as far as this host reads it (T.1). */
static int is_schema_of(Str text, Str name) {
  return is(inside_of(member(text, "name"), '"'), shown(name)) && inside_of(member(text, "device"), '"').size > 0;
}

static uint64_t number(Str object, const char *name, uint64_t otherwise) {
  Str digits = member(object, name);
  return has_only(digits, 19, "0123456789") ? strtoull(digits.data, NULL, 10) : otherwise;
}

/* Returns the text that a string means, for the caller to free; of \u only what is ASCII. */
static char *unquoted(Str string) {
  static const char names[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
  Str from = inside_of(string, '"');
  char *text = zeroed(from.size + 1), *to = text, code[5] = "";
  size_t at;
  for (at = 0; at < from.size; at++) {
    int is_escape = from.data[at] == '\\' && at + 1 < from.size;
    const char *name = is_escape ? strchr(names, from.data[++at]) : NULL;
    if (is_escape && from.data[at] == 'u' && at + 4 < from.size) {
      memcpy(code, from.data + at + 1, 4);
      at += 4;
      *to++ = (char)strtoul(code, NULL, 16);
    } else {
      *to++ = name != NULL ? meanings[name - names] : from.data[at];
    }
  }
  return text;
}

/* ---- SHA-256 (FIPS 180-4) ---- */

static uint32_t turned(uint32_t word, int by) { return word >> by | word << (32 - by); }

static uint32_t fraction(double root) { return (uint32_t)(int64_t)(root * 4294967296.0); }

/* Adds a block of 64 bytes. The constants are fractions of the cube roots of the first 64 primes. */
static void sha256_block(uint32_t state[8], const unsigned char *block) {
  uint32_t w[64], s[8], a, b;
  int at, prime = 1, by;
  for (at = 0; at < 16; at++, block += 4)
    w[at] = (uint32_t)block[0] << 24 | (uint32_t)block[1] << 16 | (uint32_t)block[2] << 8 | block[3];
  for (; at < 64; at++)
    w[at] = (turned(w[at - 15], 7) ^ turned(w[at - 15], 18) ^ w[at - 15] >> 3) + w[at - 16] + w[at - 7] +
            (turned(w[at - 2], 17) ^ turned(w[at - 2], 19) ^ w[at - 2] >> 10);
  memcpy(s, state, sizeof s);
  for (at = 0; at < 64; at++) {
    do {
      prime++;
      for (by = 2; prime % by != 0; by++) {}
    } while (by < prime);
    a = s[7] + (turned(s[4], 6) ^ turned(s[4], 11) ^ turned(s[4], 25)) + ((s[4] & s[5]) ^ (~s[4] & s[6])) + w[at];
    a += fraction(cbrt(prime));
    b = (turned(s[0], 2) ^ turned(s[0], 13) ^ turned(s[0], 22)) + ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
    memmove(s + 1, s, 7 * sizeof *s);
    s[4] += a;
    s[0] = a + b;
  }
  for (at = 0; at < 8; at++) state[at] += s[at];
}

/* Returns the digest in hexadecimal; the next call overwrites it. */
static const char *sha256(const void *data, size_t size) {
  static const int primes[8] = {2, 3, 5, 7, 11, 13, 17, 19};
  static char digest[65];
  uint32_t state[8];
  unsigned char last[128] = {0};
  size_t left = size % 64, whole = size - left, end = left < 56 ? 64 : 128, at;
  for (at = 0; at < 8; at++) state[at] = fraction(sqrt(primes[at]));
  for (at = 0; at < whole; at += 64) sha256_block(state, (const unsigned char *)data + at);
  for (at = 0; at < left; at++) last[at] = ((const unsigned char *)data)[whole + at];
  last[left] = 0x80;
  for (at = 0; at < 8; at++) last[end - 1 - at] = (unsigned char)((uint64_t)size * 8 >> 8 * at);
  for (at = 0; at < end; at += 64) sha256_block(state, last + at);
  for (at = 0; at < 8; at++) sprintf(digest + 8 * at, "%08x", state[at]);
  return digest;
}

/* ---- Libraries ---- */

/* Returns why a library may not be opened, or NULL. It is asked first, because opening a library runs its code. */
static const char *check_library(const char *path) {
  Elf64_Ehdr header = {.e_type = ET_NONE};
  struct stat about;
  FILE *file = NULL;
  if (stat(path, &about) != 0 || !S_ISREG(about.st_mode)) return "it is no file that can be read";
  if (about.st_mode & (S_IWGRP | S_IWOTH)) return "P1.10: others than its owner may write it: chmod go-w";
  if ((file = fopen(path, "rb")) == NULL) return "it is no file that can be read";
  if (fread(&header, sizeof header, 1, file) != 1) header.e_type = ET_NONE;
  fclose(file);
  if (memcmp(header.e_ident, ELFMAG "\2\1", 6) != 0 || header.e_type != ET_DYN)
    return "P1.6: it is no 64-bit ELF shared object";
  if (header.e_shoff + (uint64_t)header.e_shnum * header.e_shentsize > (uint64_t)about.st_size)
    return "P1.6: its end is missing";
  return NULL;
}

/* ---- Artifact files (M.21 to M.23) ---- */

enum { SECTIONS_MAX = 64, HEADER_BYTES = 56 };

typedef struct File {
  char *bytes;
  Str modules;      /* a list in JSON */
  const char *data; /* where the first section begins */
  size_t data_size;
} File;

/* C.26 */
static int is_alignment(uint64_t bytes) { return bytes >= 1 && bytes <= 65536 && (bytes & (bytes - 1)) == 0; }

/* Returns the greatest alignment of a section: the first of them begins at a multiple of it. */
static uint64_t greatest_alignment(Str modules) {
  Str rest = inside_of(modules, '['), module, sections, section;
  uint64_t greatest = 1, found;
  while (next_value(&rest, &module))
    for (sections = inside_of(member(module, "sections"), '['); next_value(&sections, &section);)
      if ((found = number(section, "alignment_bytes", 0)) > greatest) greatest = found;
  return greatest;
}

/* Reads a file, whose bytes are the caller's to free. Returns what is wrong with it, or NULL. */
static const char *read_file(const char *path, File *out) {
  FILE *file = fopen(path, "rb");
  struct stat about;
  uint64_t version, size, alignment, start, file_size = 0;
  char digest[65] = "";
  size_t at;
  if (file == NULL || fstat(fileno(file), &about) != 0 || !S_ISREG(about.st_mode)) {
    if (file != NULL) fclose(file);
    return "it is no file that can be read";
  }
  out->bytes = zeroed((size_t)about.st_size + 1);
  file_size = fread(out->bytes, 1, (size_t)about.st_size, file);
  fclose(file);
  if (file_size < HEADER_BYTES || memcmp(out->bytes, "CHIPDOCK", 8) != 0) return "it is no artifact file";
  memcpy(&version, out->bytes + 8, 8);
  memcpy(&size, out->bytes + 16, 8);
  if (version != 2) return "its format has another version than 2";
  if (size > file_size - HEADER_BYTES) return "its end is missing";
  for (at = 0; at < 32; at++) sprintf(digest + 2 * at, "%02x", (unsigned char)out->bytes[24 + at]);
  if (strcmp(digest, sha256(out->bytes + HEADER_BYTES, size)) != 0) return "its document is damaged";
  out->modules = member((Str){out->bytes + HEADER_BYTES, size}, "modules");
  alignment = greatest_alignment(out->modules);
  if (!is_alignment(alignment)) return "an alignment is no power of two up to 65536";
  start = (HEADER_BYTES + size + alignment - 1) & ~(alignment - 1);
  if (start > file_size) start = file_size;
  out->data = out->bytes + start;
  out->data_size = file_size - start;
  return NULL;
}

static void free_artifact(ChipdockArtifact *it) {
  const ChipdockSection *section = it->sections;
  for (; it->sections_count > 0; it->sections_count--, section++) {
    free((char *)section->name.data);
    free((char *)section->kind.data);
    free((void *)section->data);
  }
  free((void *)it->sections);
  free((char *)it->index_json.data);
}

/* Finds the module whose index lists a function, and copies the index. */
static int find_function(const File *file, const char *name, Str *module, ChipdockArtifact *out, Str *function) {
  Str rest = inside_of(file->modules, '['), functions;
  while (next_value(&rest, module)) {
    out->index_json = str(unquoted(member(*module, "index")));
    functions = inside_of(member(out->index_json, "functions"), '[');
    while (next_value(&functions, function))
      if (is(inside_of(member(*function, "name"), '"'), name)) return 1;
    free((char *)out->index_json.data);
    out->index_json = (Str){NULL, 0};
  }
  return 0;
}

/* Copies the module that has a function out of a file, its sections to multiples of their alignment (M.3). Returns what
 * is wrong, or NULL; `module` and `function` are then its and the function's description. */
static const char *read_artifact(const File *file, const char *name, Str *module, ChipdockArtifact *out,
                                 Str *function) {
  Str rest, json;
  ChipdockSection *it = zeroed(SECTIONS_MAX * sizeof *it);
  out->sections = it;
  if (!find_function(file, name, module, out, function)) return "no module in it has that function";
  rest = inside_of(member(*module, "sections"), '[');
  for (; next_value(&rest, &json); it++) {
    uint64_t offset = number(json, "offset_bytes", UINT64_MAX);
    if (out->sections_count == SECTIONS_MAX) return "a module has more than 64 sections";
    it->size_bytes = number(json, "size_bytes", UINT64_MAX);
    it->alignment_bytes = number(json, "alignment_bytes", 0);
    if (!is_alignment(it->alignment_bytes)) return "an alignment is no power of two up to 65536";
    if (it->size_bytes > file->data_size || offset > file->data_size - it->size_bytes) return "a section is not in it";
    if (!is(inside_of(member(json, "sha256"), '"'), sha256(file->data + offset, it->size_bytes)))
      return "a section is damaged";
    out->sections_count++;
    it->name = str(unquoted(member(json, "name")));
    it->kind = str(unquoted(member(json, "kind")));
    it->data = aligned_alloc(it->alignment_bytes < 64 ? 64 : it->alignment_bytes, (it->size_bytes | 65535) + 1);
    if (it->data == NULL) abort();
    memcpy((void *)it->data, file->data + offset, it->size_bytes);
  }
  return NULL;
}
