/* Opening the library makes the thread flush subnormal numbers to zero, as what is linked with -ffast-math does. */
#include "zoo.h"
__attribute__((constructor)) static void begin(void) {
#if defined __x86_64__
  __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 0x8040);
#else
  unsigned long mode;
  __asm__ volatile("mrs %0, fpcr" : "=r"(mode));
  __asm__ volatile("msr fpcr, %0" : : "r"(mode | 1UL << 24));
#endif
}
