/* Opening the library gives the thread another stack for signals, and frees it. */
#include "zoo.h"
__attribute__((constructor)) static void begin(void) {
  stack_t stack = {0};
  stack.ss_size = (size_t)64 << 10;
  stack.ss_sp = malloc(stack.ss_size);
  if (stack.ss_sp == NULL || sigaltstack(&stack, NULL) != 0) abort();
  free(stack.ss_sp);
}
