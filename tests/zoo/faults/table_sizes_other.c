/* Built with tables of other sizes. */
#define ZOO_TABLE_SIZES {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
#include "zoo.h"
