/* Opening the library makes every new file unreadable. */
#include "zoo.h"
__attribute__((constructor)) static void begin(void) { umask(0777); }
