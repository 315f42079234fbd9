/* The compiled function closes the three streams. */
#define ZOO_VECTOR_ADD closes
#include "zoo.h"
static int32_t closes(void *self_, const ChipdockAny *args, int32_t num_args, ChipdockAny *result) {
  int fd;
  for (fd = 0; fd < 3; fd++) close(fd);
  return zoo_vector_add(self_, args, num_args, result);
}
