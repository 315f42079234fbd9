//! The macros that a plugin is made of.

/// Exports the plugin: its descriptor, and the one symbol that a host looks for.
///
/// `name` is what the manifest says: lower-case letters, digits, `-` and `_`. `version` is the package's unless given;
/// `build_id` tells two builds of one version apart and is empty unless given. To be used once in a cdylib.
///
/// # Examples
///
/// ```
/// use chipdock_plugin_api::{Any, AnyView, Error, HostRef, export_plugin, register_function};
///
/// export_plugin! { name: "answer" }
///
/// register_function!("answer.ask", |_host: HostRef, _args: &[AnyView<'_>]| Ok(Any::from(42)));
/// # fn main() {}
/// ```
#[macro_export]
macro_rules! export_plugin {
    (name: $name:expr $(, version: $version:expr)? $(, build_id: $build_id:expr)? $(,)?) => {
        const _: () = {
            const NAME: &str = $name;
            const VERSION: &str =
                $crate::__private::or(&[$($version,)?], ::core::env!("CARGO_PKG_VERSION"));
            const BUILD_ID: &str = $crate::__private::or(&[$($build_id,)?], "");

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
                init,
                shutdown,
            };

            unsafe extern "C" fn init(
                host: *const $crate::abi::ChipdockHost,
                registrar: *const $crate::abi::ChipdockRegistrar,
            ) -> i32 {
                // SAFETY: P10.2, called by a host with its table and a registrar that is valid for the call.
                unsafe { $crate::__private::init(NAME, host, registrar) }
            }

            unsafe extern "C" fn shutdown(host: *const $crate::abi::ChipdockHost) -> i32 {
                // SAFETY: P10.5, called by a host that called `init`.
                unsafe { $crate::__private::shutdown(host) }
            }

            /// What a host looks for (P1).
            #[unsafe(no_mangle)]
            extern "C" fn chipdock_plugin_v1() -> *const $crate::abi::ChipdockPlugin {
                &DESCRIPTOR
            }

            $crate::__export_attestation!(DESCRIPTOR);
        };
    };
}

/// Exports the layouts of the frozen tables for a host to compare (P4); nothing without the feature `layout-check`.
#[cfg(not(feature = "layout-check"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __export_attestation {
    ($descriptor:ident) => {};
}

/// Registers `device_api.<name>`: `register_device_api!("npu", 0, |host| Box::new(Npu::new(host)))`.
///
/// The second argument is DLPack's device type, or 0 to be given a number by the host. The factory runs during `init`,
/// once for each host, and opens nothing.
#[macro_export]
macro_rules! register_device_api {
    ($name:expr, $device_type:expr, $create:expr $(,)?) => {
        $crate::__private::inventory::submit! {
            $crate::Registration::DeviceApi { name: $name, device_type: $device_type, create: $create }
        }
    };
}

/// Registers `target.kind.<name>`: `register_target_kind!("npu", include_str!("npu.json"), |_| Box::new(SchemaOnly))`.
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

/// Registers `target.build.<kind>`: `register_codegen!("npu", "1.0.0", "1.1.0", |host| Box::new(NpuCodegen::new(host)))`.
///
/// The second and third argument are the oldest and the newest version of the IR's wire format that it reads.
#[macro_export]
macro_rules! register_codegen {
    ($kind:expr, $ir_min:expr, $ir_max:expr, $create:expr $(,)?) => {
        $crate::__private::inventory::submit! {
            $crate::Registration::Codegen { kind: $kind, ir_min: $ir_min, ir_max: $ir_max, create: $create }
        }
    };
}

/// Registers `module.load.<kind>`: `register_module_loader!("npu", |host| Box::new(NpuLoader::new(host)))`.
#[macro_export]
macro_rules! register_module_loader {
    ($kind:expr, $create:expr $(,)?) => {
        $crate::__private::inventory::submit! {
            $crate::Registration::ModuleLoader { kind: $kind, create: $create }
        }
    };
}

/// Registers a plain function: `register_function!("npu.version", version)`, where
/// `fn version(host: HostRef, args: &[AnyView<'_>]) -> Result<Any, Error>`.
#[macro_export]
macro_rules! register_function {
    ($name:expr, $call:expr $(,)?) => {
        $crate::__private::inventory::submit! {
            $crate::Registration::Function { name: $name, call: $call }
        }
    };
}

/// Registers a named interface: `register_interface!("device_api.npu/timer", 1, 0, |host| timer(host))`, where the
/// factory answers an [`Interface`](crate::Interface) and the third argument are its feature bits.
#[macro_export]
macro_rules! register_interface {
    ($name:expr, $version:expr, $features:expr, $create:expr $(,)?) => {
        $crate::__private::inventory::submit! {
            $crate::Registration::Interface {
                name: $name,
                version: $version,
                features: $features,
                create: $create,
            }
        }
    };
}
