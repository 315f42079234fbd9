/* Unloading the library at the end of the process gives it another exit code. */
#include "zoo.h"
__attribute__((destructor)) static void end(void) { _exit(7); }
