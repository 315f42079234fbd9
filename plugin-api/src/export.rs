//! The macros that define a plugin.

/// Exports the plugin: its descriptor, and the one symbol that a host looks up.
///
/// `name` is the manifest's: lower-case letters, digits, `-` and `_`. `version` is the package's
/// version by default. `build_id` distinguishes two builds of one version; by default it is empty,
/// which leaves it to the linker (P1.15). `settings` are the [`Setting`](crate::Setting)s that the
/// plugin asks its host for. Use it once in a cdylib.
///
/// # Examples
///
/// ```
/// use chipdock_plugin_api::{Any, AnyView, Context, Error, export_plugin, register_function};
///
/// export_plugin! { name: "answer" }
///
/// register_function!("answer.ask", |_context: &Context, _args: &[AnyView<'_>]| Ok(Any::from(42)));
/// # fn main() {}
/// ```
#[macro_export]
macro_rules! export_plugin {
    (
        name: $name:expr
        $(, version: $version:expr)?
        $(, build_id: $build_id:expr)?
        $(, settings: [$($setting:expr),* $(,)?])?
        $(,)?
    ) => {
        const _: () = {
            const NAME: &str = $name;
            const VERSION: &str =
                $crate::__private::or(&[$($version,)?], ::core::env!("CARGO_PKG_VERSION"));
            const BUILD_ID: &str = $crate::__private::or(&[$($build_id,)?], "");

            const SETTINGS: &[$crate::setting::Declaration] = &[$($($setting.declaration()),*)?];
            const INFO_JSON: [u8; $crate::setting::info_size(SETTINGS)] = $crate::setting::info_json(SETTINGS);

            const _: () = ::core::assert!(
                $crate::setting::are_declarations(SETTINGS),
                "a setting's name has lower-case letters, digits and `-` only and stands once; its doc is one line; a \
                 float's default is a number of JSON; variables have letters, digits and `_` only (S.2)"
            );

            const _: () = ::core::assert!(
                $crate::__private::is_plugin_name(NAME),
                "a plugin's name has lower-case letters, digits, `-` and `_` only"
            );

            static DESCRIPTOR: $crate::abi::ChipdockPlugin = $crate::abi::ChipdockPlugin {
                magic: $crate::abi::CHIPDOCK_MAGIC,
                abi_major: $crate::abi::CHIPDOCK_ABI_MAJOR,
                abi_minor: $crate::abi::CHIPDOCK_ABI_MINOR,
                layout_hash: $crate::abi::CHIPDOCK_LAYOUT_HASH,
                table_sizes: $crate::abi::ChipdockTableSizes::current(),
                name: $crate::text::static_str(NAME),
                version: $crate::text::static_str(VERSION),
                build_id: $crate::text::static_str(BUILD_ID),
                info_json: $crate::__private::static_bytes(&INFO_JSON),
                init,
                shutdown: $crate::__private::shutdown,
                release: $crate::__private::release,
            };

            unsafe extern "C" fn init(
                host: *const $crate::abi::ChipdockHost,
                registrar: *const $crate::abi::ChipdockRegistrar,
                out_instance: *mut *mut ::core::ffi::c_void,
            ) -> i32 {
                // SAFETY: P10.2, called by a host with its table, a registrar that is valid for the
                // call, and a place for the instance.
                unsafe { $crate::__private::init(NAME, host, registrar, out_instance) }
            }

            /// The entry symbol that a host looks up (P1).
            #[unsafe(no_mangle)]
            extern "C" fn chipdock_plugin_v1() -> *const $crate::abi::ChipdockPlugin {
                &DESCRIPTOR
            }

            $crate::__export_attestation!(DESCRIPTOR);
        };
    };
}

/// Exports the layouts of the frozen tables for a host to compare (P4); without the feature
/// `layout-check`, nothing.
#[cfg(not(feature = "layout-check"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __export_attestation {
    ($descriptor:ident) => {};
}

/// Registers `device_api.<name>`:
/// `register_device_api!("npu", 0, |context| Box::new(Npu(context.state::<Chips>())))`.
///
/// The second argument is DLPack's device type, or 0 to have the host assign a number. The factory
/// runs during `init`, once for each host, and opens nothing.
#[macro_export]
macro_rules! register_device_api {
    ($name:expr, $device_type:expr, $create:expr $(,)?) => {
        $crate::__private::inventory::submit! {
            $crate::Registration::DeviceApi { name: $name, device_type: $device_type, create: $create }
        }
    };
}

/// Registers `target.kind.<name>`:
/// `register_target_kind!("npu", include_str!("npu.json"), |_| Box::new(SchemaOnly))`.
///
/// The second argument is the schema, JSON as `chipdock_ir::TargetKind` reads it.
#[macro_export]
macro_rules! register_target_kind {
    ($name:expr, $schema_json:expr, $create:expr $(,)?) => {
        $crate::__private::inventory::submit! {
            $crate::Registration::TargetKind { name: $name, schema_json: $schema_json, create: $create }
        }
    };
}

/// Registers `target.build.<kind>`:
/// `register_codegen!("npu", "1.0.0", "1.0.0", |context| Box::new(NpuCodegen(context.host())))`.
///
/// The second and third arguments are the oldest and the newest version of the IR's wire format
/// that it reads.
#[macro_export]
macro_rules! register_codegen {
    ($kind:expr, $ir_min:expr, $ir_max:expr, $create:expr $(,)?) => {
        $crate::__private::inventory::submit! {
            $crate::Registration::Codegen { kind: $kind, ir_min: $ir_min, ir_max: $ir_max, create: $create }
        }
    };
}

/// Registers `module.load.<kind>`:
/// `register_module_loader!("npu", |context| Box::new(NpuLoader(context.host())))`.
#[macro_export]
macro_rules! register_module_loader {
    ($kind:expr, $create:expr $(,)?) => {
        $crate::__private::inventory::submit! {
            $crate::Registration::ModuleLoader { kind: $kind, create: $create }
        }
    };
}

/// Registers a plain function: `register_function!("npu.version", version)`, where
/// `fn version(context: &Context, args: &[AnyView<'_>]) -> Result<Any, Error>`.
#[macro_export]
macro_rules! register_function {
    ($name:expr, $call:expr $(,)?) => {
        $crate::__private::inventory::submit! {
            $crate::Registration::Function { name: $name, call: $call }
        }
    };
}

/// Registers a plain function with which the conformance suite makes a device fail (I.1 to I.3), as
/// [`register_function!`] does; only with a host that runs the suite (I.4).
#[macro_export]
macro_rules! register_test_hook {
    ($name:expr, $call:expr $(,)?) => {
        $crate::__private::inventory::submit! {
            $crate::Registration::TestHook { name: $name, call: $call }
        }
    };
}

/// Extends a registered key of the plugin by a named interface:
/// `register_interface!("device_api.npu", RESET, |context| Box::new(NpuReset(context.state())))`.
///
/// The second argument is an [`InterfaceKind`](crate::InterfaceKind); the factory returns the
/// interface's implementation. Feature bits, if any, are the third argument.
#[macro_export]
macro_rules! register_interface {
    ($key:expr, $kind:expr, $create:expr $(,)?) => {
        $crate::register_interface!($key, $kind, 0, $create);
    };
    ($key:expr, $kind:expr, $features:expr, $create:expr $(,)?) => {
        $crate::__private::inventory::submit! {
            $crate::Registration::Interface {
                key: $key,
                name: $kind.name(),
                version: $kind.version(),
                features: $features,
                create: |context| $kind.of(($create)(context)),
            }
        }
    };
}
