/* The target kind's schema is not the one that the manifest shows. */
#define ZOO_SCHEMA_TEXT                                                                                       \
  "{\"schema\": 1, \"name\": \"zoo\", \"doc\": \"\", \"device\": \"zoo\", \"keys\": [\"zoo\"], \"stage\": \"blocks\", "  \
  "\"is_host\": true, \"host_preference\": 1000000, "                                                         \
  "\"options\": [{\"name\": \"bars\", \"type\": \"int\", \"default\": 4, \"doc\": \"\"}]}"
#include "zoo.h"
