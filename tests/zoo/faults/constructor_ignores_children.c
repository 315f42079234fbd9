/* Opening the library ignores SIGCHLD, so that nobody can wait for a child. */
#include "zoo.h"
__attribute__((constructor)) static void begin(void) { signal(SIGCHLD, SIG_IGN); }
