/* Opening the library crashes. */
#include "zoo.h"
__attribute__((constructor)) static void begin(void) { crash(); }
