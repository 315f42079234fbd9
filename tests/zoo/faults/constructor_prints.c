/* Opening the library prints to both streams. */
#include "zoo.h"
__attribute__((constructor)) static void begin(void) {
  puts("{\"schema\": \"chipdock.forged/1\"}");
  fflush(stdout);
  fputs("hello\n", stderr);
}
