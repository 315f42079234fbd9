/* init makes the thread round up, in both floating-point units. */
#define ZOO_INIT rounds
#include "zoo.h"
static int32_t rounds(const ChipdockHost *host, const ChipdockRegistrar *registrar) {
#if defined __x86_64__
  unsigned short word;
  __asm__ volatile("fnstcw %0" : "=m"(word));
  word = (unsigned short)(word | 0x800);
  __asm__ volatile("fldcw %0" : : "m"(word));
  __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 0x4000);
#else
  unsigned long mode;
  __asm__ volatile("mrs %0, fpcr" : "=r"(mode));
  __asm__ volatile("msr fpcr, %0" : : "r"(mode | 1UL << 22));
#endif
  return zoo_init(host, registrar);
}
