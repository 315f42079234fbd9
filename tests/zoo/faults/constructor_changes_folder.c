/* Opening the library changes the current folder. */
#include "zoo.h"
__attribute__((constructor)) static void begin(void) {
  if (chdir("/") != 0) abort();
}
