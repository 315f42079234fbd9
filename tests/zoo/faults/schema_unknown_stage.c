/* The target kind takes modules at a stage that there is not. */
#define ZOO_SCHEMA_TEXT "{\"schema\": 1, \"name\": \"zoo\", \"doc\": \"\", \"device\": \"zoo\", \"stage\": \"raw\"}"
#include "zoo.h"
