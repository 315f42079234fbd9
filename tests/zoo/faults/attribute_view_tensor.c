/* A name is a borrowed tensor, which no owned value may be. */
#define ZOO_ATTRIBUTE view
#include "zoo.h"
static int32_t view(void *self_, int32_t device_id, ChipdockStr key, ChipdockAny *out_value) {
  static ChipdockTensor tensor;
  int32_t status = zoo_attribute(self_, device_id, key, out_value);
  if (!is_text(key, "device_name")) return status;
  *out_value = none();
  out_value->type_index = CHIPDOCK_TYPE_DLTENSOR_PTR;
  out_value->value.v_tensor = &tensor;
  return CHIPDOCK_OK;
}
