/* build makes the thread flush subnormal numbers to zero. */
#define ZOO_BUILD flushes
#include "zoo.h"
static int32_t flushes(void *self_, const ChipdockBuildRequest *request, const ChipdockBuildSession *session) {
#if defined __x86_64__
  __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 0x8040);
#else
  unsigned long mode;
  __asm__ volatile("mrs %0, fpcr" : "=r"(mode));
  __asm__ volatile("msr fpcr, %0" : : "r"(mode | 1UL << 24));
#endif
  return zoo_build(self_, request, session);
}
