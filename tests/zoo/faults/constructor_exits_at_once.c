/* Opening the library ends the process without a word to anybody. */
#include "zoo.h"
__attribute__((constructor)) static void begin(void) { _exit(0); }
