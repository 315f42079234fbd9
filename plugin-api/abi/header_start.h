#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
