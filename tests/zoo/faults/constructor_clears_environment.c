/* Opening the library clears the environment. */
#include "zoo.h"
__attribute__((constructor)) static void begin(void) { clearenv(); }
