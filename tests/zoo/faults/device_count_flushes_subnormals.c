/* device_count makes the thread flush subnormal numbers to zero, as a driver that it opens may. */
#define ZOO_DEVICE_COUNT flushes
#include "zoo.h"
static int32_t flushes(void *self_, int32_t *out_count) {
#if defined __x86_64__
  __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 0x8040);
#else
  unsigned long mode;
  __asm__ volatile("mrs %0, fpcr" : "=r"(mode));
  __asm__ volatile("msr fpcr, %0" : : "r"(mode | 1UL << 24));
#endif
  return zoo_device_count(self_, out_count);
}
