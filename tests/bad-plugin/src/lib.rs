//! A Rust plugin that panics: in `init` if its file is called `panics_in_init.so`, else in each of
//! its functions.

use std::ffi::{CStr, c_void};

use chipdock_plugin_api::{
    Any, AnyView, Context, CopyRequest, DataSpaceRequest, DeviceApi, Error, export_plugin,
    register_device_api, register_function,
};

export_plugin! { name: "bad-plugin" }

register_device_api!("panics", 0, create);
register_function!("panics.call", call);

#[expect(clippy::panic, reason = "what this plugin is for")]
fn create(_context: &Context) -> Box<dyn DeviceApi> {
    if own_file().ends_with("panics_in_init.so") {
        panic!("in init, as the file's name says");
    }
    Box::new(Panics)
}

/// Returns the name of the file from which this code was loaded; each copy of the plugin behaves by
/// its name.
fn own_file() -> String {
    // SAFETY: the struct is plain data; `dladdr` fills it in for an address of this library.
    let info = unsafe {
        let mut info: libc::Dl_info = std::mem::zeroed();
        libc::dladdr(create as *const c_void, &mut info);
        info
    };
    if info.dli_fname.is_null() {
        return String::new();
    }
    // SAFETY: `dli_fname` is not null, is NUL-terminated, and lives as long as the library.
    unsafe { CStr::from_ptr(info.dli_fname) }.to_string_lossy().into_owned()
}

#[expect(clippy::panic, reason = "what this plugin is for")]
fn call(_context: &Context, _args: &[AnyView<'_>]) -> Result<Any, Error> {
    panic!("in a packed function");
}

struct Panics;

impl DeviceApi for Panics {
    fn device_count(&self) -> Result<i32, Error> {
        Ok(1)
    }

    #[expect(clippy::panic, reason = "what this plugin is for")]
    fn attribute(&self, _device_id: i32, _key: &str) -> Result<Option<Any>, Error> {
        panic!("in a table's function");
    }

    #[expect(clippy::panic, reason = "what this plugin is for")]
    fn allocate_data_space(&self, _id: i32, _request: &DataSpaceRequest<'_>) -> Result<*mut c_void, Error> {
        panic!("in a table's function");
    }

    unsafe fn free_data_space(&self, _id: i32, _data: *mut c_void) -> Result<(), Error> {
        Ok(())
    }

    unsafe fn copy_data(
        &self,
        _id: i32,
        _copy: &CopyRequest,
        _stream: chipdock_plugin_api::Stream,
    ) -> Result<(), Error> {
        Ok(())
    }
}
