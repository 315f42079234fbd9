//! Objects of the library: hosts, targets, modules, streams, timelines and graphs (FFI-2).

use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};

use chipdock_abi::CHIPDOCK_TYPE_OBJECT_BEGIN;
use chipdock_host::library::TvmFfi;
use chipdock_host::{Compiled, Graph, Host, Module, ResolvedTarget, Stream, Timeline};
use chipdock_plugin_api::{Any, AnyView, Error, ErrorKind, held};

/// A target.
#[derive(Clone)]
pub(crate) struct TargetObject(pub(crate) Arc<ResolvedTarget>);

/// A module, with the compilation that it comes from, if it was compiled here.
#[derive(Clone)]
pub(crate) struct ModuleObject {
    pub(crate) host: Host,
    pub(crate) module: Module,
    pub(crate) compiled: Option<Arc<Compiled>>,
}

/// A stream of a device.
#[derive(Clone)]
pub(crate) struct StreamObject(pub(crate) Arc<Stream>);

/// A timeline of a device.
pub(crate) struct TimelineObject(pub(crate) Timeline);

/// A graph of a device.
pub(crate) struct GraphObject(pub(crate) Graph);

/// A sort of object, by its key in TVM-FFI's registry of types.
pub(crate) trait ObjectType: Send + Sync + 'static {
    /// The key.
    const KEY: &'static str;
    /// The type index, once it is known.
    fn index() -> &'static AtomicI32;
}

macro_rules! object_types {
    ($($type:ty: $key:literal;)*) => {
        $(
            impl ObjectType for $type {
                const KEY: &'static str = $key;

                fn index() -> &'static AtomicI32 {
                    static INDEX: AtomicI32 = AtomicI32::new(0);
                    &INDEX
                }
            }
        )*

        /// Keys of the types of objects, each with what remembers its index.
        pub(crate) fn types() -> [(&'static str, &'static AtomicI32); [$($key),*].len()] {
            [$(($key, <$type as ObjectType>::index())),*]
        }
    };
}

object_types! {
    Host: "chipdock.Host";
    TargetObject: "chipdock.Target";
    ModuleObject: "chipdock.Module";
    StreamObject: "chipdock.Stream";
    TimelineObject: "chipdock.Timeline";
    GraphObject: "chipdock.Graph";
}

/// Returns the index of a type in TVM-FFI's registry, where it is registered by the first call;
/// that of any object where the process has no libtvm_ffi.
pub(crate) fn type_index(key: &str, known: &AtomicI32) -> i32 {
    let index = known.load(Ordering::Relaxed);
    if index != 0 {
        return index;
    }
    let Some(tvm_ffi) = TvmFfi::present() else { return CHIPDOCK_TYPE_OBJECT_BEGIN };
    let index = tvm_ffi.type_index(key);
    known.store(index, Ordering::Relaxed);
    index
}

/// Makes an object of a value.
pub(crate) fn object<T: ObjectType>(value: T) -> Any {
    held::object(type_index(T::KEY, T::index()), value)
}

/// Returns the value of an argument that is an object of the type.
///
/// # Errors
///
/// `TypeError` for anything else; `at` is the argument's name.
pub(crate) fn of<'a, T: ObjectType>(view: AnyView<'a>, at: &str) -> Result<&'a T, Error> {
    held::value::<T>(view).ok_or_else(|| {
        let index = T::index().load(Ordering::Relaxed);
        let found = if index != 0 && view.type_index() == index {
            format!("one of another copy of libchipdock, which this copy cannot use ({})", T::KEY)
        } else {
            view.type_name().into_owned()
        };
        Error::new(ErrorKind::TYPE_ERROR, format!("{at}: expected a {}, found {found}", T::KEY))
    })
}

/// Converts an argument.
///
/// # Errors
///
/// That of the conversion, with the argument's name.
pub(crate) fn arg<'a, T: chipdock_plugin_api::FromAny<'a>>(view: AnyView<'a>, at: &str) -> Result<T, Error> {
    view.to::<T>().map_err(|error| error.context(at))
}

/// As [`chipdock_host::Error::to_api`].
pub(crate) fn raised(error: chipdock_host::Error) -> Error {
    error.to_api()
}
