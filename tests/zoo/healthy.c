/* Nothing is wrong: what a fault is told apart from. */
#include "zoo.h"
