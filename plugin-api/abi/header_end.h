/* A text from a string literal, as an initialiser. */
#define CHIPDOCK_STR(literal) { (literal), sizeof(literal) - 1 }

/* The sizes of the tables as this translation unit sees them, as an initialiser of ChipdockTableSizes. */
#define CHIPDOCK_TABLE_SIZES                                                                                  \
  { (uint32_t)sizeof(ChipdockHost),       (uint32_t)sizeof(ChipdockRegistrar),                                \
    (uint32_t)sizeof(ChipdockEnv),        (uint32_t)sizeof(ChipdockDeviceApi),                                \
    (uint32_t)sizeof(ChipdockTargetKind), (uint32_t)sizeof(ChipdockCodegen),                                  \
    (uint32_t)sizeof(ChipdockModuleLoader), (uint32_t)sizeof(ChipdockModule),                                 \
    (uint32_t)sizeof(ChipdockAny),        (uint32_t)sizeof(ChipdockTensor) }

/*
 * The descriptor, as an initialiser; names are string literals. The whole entry of a plugin:
 *
 *   static const ChipdockPlugin plugin = CHIPDOCK_PLUGIN("npu", "1.0.0", "", npu_init, npu_shutdown, npu_release);
 *   const ChipdockPlugin *chipdock_plugin_v1(void) { return &plugin; }
 */
#define CHIPDOCK_PLUGIN(name, version, build_id, init, shutdown, release)                                     \
  CHIPDOCK_PLUGIN_WITH_INFO(name, version, build_id, "", init, shutdown, release)

/* As CHIPDOCK_PLUGIN, with further information, for instance the settings: `info_json` is a JSON object. */
#define CHIPDOCK_PLUGIN_WITH_INFO(name, version, build_id, info_json, init, shutdown, release)                \
  { CHIPDOCK_MAGIC, CHIPDOCK_ABI_MAJOR, CHIPDOCK_ABI_MINOR, CHIPDOCK_LAYOUT_HASH, CHIPDOCK_TABLE_SIZES,       \
    CHIPDOCK_STR(name), CHIPDOCK_STR(version), CHIPDOCK_STR(build_id), CHIPDOCK_STR(info_json), (init),       \
    (shutdown), (release) }

#if defined(_WIN32)
#define CHIPDOCK_EXPORT __declspec(dllexport)
#elif defined(__GNUC__)
#define CHIPDOCK_EXPORT __attribute__((visibility("default")))
#else
#define CHIPDOCK_EXPORT
#endif

/* The entry symbol of a plugin, which a host looks up; returns the same at every call, never null. */
CHIPDOCK_EXPORT const ChipdockPlugin *chipdock_plugin_v1(void);

#ifdef __cplusplus
} /* extern "C" */
#endif

/* The layouts, checked by the compiler that reads this: an array of a negative size does not compile. */
#define CHIPDOCK_ASSERT(name, condition) typedef char chipdock_assert_##name[(condition) ? 1 : -1]
#define CHIPDOCK_ASSERT_SIZE(type, bytes) CHIPDOCK_ASSERT(size_of_##type, sizeof(type) == (bytes))
#define CHIPDOCK_ASSERT_OFFSET(type, field, bytes) \
  CHIPDOCK_ASSERT(offset_of_##type##_##field, offsetof(type, field) == (bytes))

CHIPDOCK_ASSERT(pointers_are_64_bits, sizeof(void *) == 8);
