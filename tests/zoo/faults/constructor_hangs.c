/* Opening the library hangs. */
#include "zoo.h"
__attribute__((constructor)) static void begin(void) { hang(); }
