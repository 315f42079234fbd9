/* Opening the library sets the locale, of the process and of the thread. */
#include "zoo.h"

#include <locale.h>
__attribute__((constructor)) static void begin(void) {
  locale_t own = newlocale(LC_ALL_MASK, "POSIX", NULL);
  if (setlocale(LC_CTYPE, "C.UTF-8") == NULL || own == NULL) abort();
  uselocale(own);
}
