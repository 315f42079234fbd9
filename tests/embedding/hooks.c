/*
 * A program in C that brings functions to its host and composes modules: what chipdock_host.h promises of them.
 * usage: hooks KERNEL.py
 */

#include <chipdock_host.h>

#include <stdio.h>
#include <stdlib.h>

static void expect(int holds, const char *what) {
  ChipdockAny error;
  if (holds) return;
  chipdock_take_error(&error);
  if (error.type_index == CHIPDOCK_TYPE_ERROR) {
    const ChipdockErrorObject *object = (const ChipdockErrorObject *)error.value.v_object;
    fprintf(stderr, "%.*s: ", (int)object->message.size, object->message.data);
  }
  fprintf(stderr, "not so: %s\n", what);
  exit(1);
}

/* The hook: a line before the source. */
static int32_t notice(void *self, const ChipdockAny *args, int32_t num_args, ChipdockAny *result) {
  const char *line = "// of the program in C\n";
  ChipdockStr source, text;
  char *joined;
  *(int *)self += 1;
  if (num_args != 2) {
    const ChipdockStr kind = {"TypeError", 9}, message = {"expected two arguments", 22};
    chipdock_raise(kind, message);
    return -1;
  }
  source = chipdock_str_of(&args[0]);
  text.size = strlen(line) + source.size;
  joined = malloc(text.size);
  if (!joined) return -1;
  memcpy(joined, line, strlen(line));
  memcpy(joined + strlen(line), source.data, source.size);
  text.data = joined;
  chipdock_str(text, result);
  free(joined);
  return 0;
}

static void nothing(void *self) { (void)self; }

static ChipdockAny compiled(ChipdockAny host, const char *text) {
  ChipdockAny args[4], module = chipdock_value(CHIPDOCK_TYPE_NONE);
  args[0] = host;
  args[1] = chipdock_text(text);
  args[2] = chipdock_text("c");
  args[3] = chipdock_text("{\"cache\": false}");
  expect(__tvm_ffi_compile(NULL, args, 4, &module) == 0, "a kernel is compiled");
  return module;
}

static int source_has(ChipdockAny module, const char *words) {
  ChipdockAny source = chipdock_value(CHIPDOCK_TYPE_NONE);
  ChipdockStr text;
  int has;
  expect(__tvm_ffi_module_source(NULL, &module, 1, &source) == 0, "a source");
  text = chipdock_str_of(&source);
  has = text.size > strlen(words) && memcmp(text.data, words, strlen(words)) == 0;
  chipdock_release(&source);
  return has;
}

int main(int argc, char **argv) {
  static char text[1 << 16];
  int calls = 0;
  ChipdockAny host = chipdock_value(CHIPDOCK_TYPE_NONE), args[5], result = host, module, import;
  FILE *file = argc > 1 ? fopen(argv[1], "rb") : NULL;
  expect(file != NULL, "a kernel");
  text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
  fclose(file);
  expect(__tvm_ffi_host(NULL, NULL, 0, &host) == 0, "a host");

  args[0] = host;
  args[1] = chipdock_text("c.postprocess_source");
  chipdock_function(&calls, notice, nothing, &args[2]);
  args[3] = chipdock_text("hooks.c 1");
  expect(__tvm_ffi_register_function(NULL, args, 4, &result) == 0, "a function is registered");
  expect(__tvm_ffi_register_function(NULL, args, 4, &result) != 0, "once");
  chipdock_take_error(&result);
  chipdock_release(&result);
  module = compiled(host, text);
  expect(calls == 1 && source_has(module, "// of the program in C\n"), "the hook is called");
  expect(__tvm_ffi_unregister_function(NULL, args, 2, &result) == 0 && result.value.v_int64 == 1, "it is taken back");
  chipdock_release(&args[2]);

  import = compiled(host, text);
  expect(calls == 1 && !source_has(import, "// of the program"), "and called no more");
  args[0] = module;
  args[1] = import;
  expect(__tvm_ffi_import_module(NULL, args, 2, &result) == 0, "a module is imported");
  args[0] = import;
  args[1] = module;
  expect(__tvm_ffi_import_module(NULL, args, 2, &result) != 0, "in one direction");
  chipdock_take_error(&result);
  chipdock_release(&result);
  chipdock_release(&import);
  chipdock_release(&module);
  chipdock_release(&host);
  printf("as promised\n");
  return 0;
}
