/* Opening the library lowers the number of files that may be open to 12. */
#include "zoo.h"

#include <sys/resource.h>
__attribute__((constructor)) static void begin(void) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) abort();
  limit.rlim_cur = 12;
  if (setrlimit(RLIMIT_NOFILE, &limit) != 0) abort();
}
