/* Opening the library starts a timer that ends the process soon. */
#include "zoo.h"

#include <sys/time.h>
__attribute__((constructor)) static void begin(void) {
  struct itimerval soon = {{0, 20000}, {0, 20000}};
  if (setitimer(ITIMER_REAL, &soon, NULL) != 0) abort();
}
