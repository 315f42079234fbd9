//! The device: blocks of host memory behind opaque handles, as a real device has buffers of its own.

use std::collections::HashMap;
use std::ffi::c_void;
use std::ptr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use chipdock_plugin_api::{
    Any, CopyEnd, CopyRequest, DataSpaceKind, DataSpaceRequest, DeviceApi, Error, ErrorKind, Stream,
    attribute, bail, ensure,
};

/// The name of the device: `device_api.template`, and `--device template:0`.
pub(crate) const NAME: &str = "template";

/// What this device has, in bytes. A real one asks its driver.
const MEMORY_BYTES: u64 = 1 << 30;

/// One device with a memory of its own. Streams are trivial: every call is done when it returns.
#[derive(Debug, Default)]
pub(crate) struct TemplateDeviceApi {
    memory: Mutex<Memory>,
}

/// The device's memory: blocks by handle. A handle is a number, no address; 0 stands for no block.
#[derive(Debug, Default)]
struct Memory {
    blocks: HashMap<usize, Vec<u8>>,
    last_handle: usize,
    used_bytes: u64,
}

impl Memory {
    /// The bytes of one end of a copy, checked.
    fn range(&self, end: &CopyEnd, size_bytes: u64) -> Result<std::ops::Range<usize>, Error> {
        let length = self.block(end.data)?.len() as u64;
        let past = end.offset_bytes.checked_add(size_bytes).filter(|past| *past <= length);
        let Some(past) = past else {
            bail!(
                ErrorKind::INDEX_ERROR,
                "expected a range within the {length} bytes of the data space, found {size_bytes} bytes at {}",
                end.offset_bytes
            );
        };
        Ok(end.offset_bytes as usize..past as usize)
    }

    fn block(&self, data: *mut c_void) -> Result<&Vec<u8>, Error> {
        self.blocks.get(&data.addr()).ok_or_else(|| unknown(data))
    }

    fn block_mut(&mut self, data: *mut c_void) -> Result<&mut Vec<u8>, Error> {
        self.blocks.get_mut(&data.addr()).ok_or_else(|| unknown(data))
    }
}

fn unknown(data: *mut c_void) -> Error {
    Error::new(
        ErrorKind::WRONG_STATE,
        format!("{data:p} is no data space of {NAME}: it was freed, or is another device's"),
    )
}

fn check_device(device_id: i32) -> Result<(), Error> {
    ensure!(
        device_id == 0,
        ErrorKind::VALUE_ERROR,
        "device {NAME}:{device_id}: expected id 0, there is 1 device"
    );
    Ok(())
}

impl TemplateDeviceApi {
    fn memory(&self) -> MutexGuard<'_, Memory> {
        // Every change is whole before anything can panic.
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl DeviceApi for TemplateDeviceApi {
    fn device_count(&self) -> Result<i32, Error> {
        Ok(1)
    }

    fn attribute(&self, device_id: i32, key: &str) -> Result<Option<Any>, Error> {
        if key == attribute::EXIST {
            return Ok(Some(Any::from(device_id == 0)));
        }
        check_device(device_id)?;
        Ok(match key {
            attribute::DEVICE_NAME => Some(Any::from("Template device in host memory")),
            attribute::TOTAL_GLOBAL_MEMORY_BYTES => Some(Any::try_from(MEMORY_BYTES)?),
            attribute::AVAILABLE_GLOBAL_MEMORY_BYTES => {
                Some(Any::try_from(MEMORY_BYTES - self.memory().used_bytes)?)
            }
            // What is not known here is no error.
            _ => None,
        })
    }

    fn allocate_data_space(
        &self,
        device_id: i32,
        request: &DataSpaceRequest<'_>,
    ) -> Result<*mut c_void, Error> {
        check_device(device_id)?;
        ensure!(
            request.kind == DataSpaceKind::Device && matches!(request.scope, "" | "global"),
            ErrorKind::UNSUPPORTED,
            "{NAME} has device memory of scope `global` only, found {:?} of scope `{}`",
            request.kind,
            request.scope
        );
        let mut memory = self.memory();
        let left = MEMORY_BYTES - memory.used_bytes;
        // Reserved first and checked: on failure nothing has changed.
        let mut block = Vec::new();
        if request.size_bytes > left || block.try_reserve_exact(request.size_bytes as usize).is_err() {
            bail!(
                ErrorKind::OUT_OF_MEMORY,
                "{NAME}: {} bytes asked for, {left} are left",
                request.size_bytes
            );
        }
        block.resize(request.size_bytes as usize, 0);
        memory.used_bytes += request.size_bytes;
        memory.last_handle += 1;
        let handle = memory.last_handle;
        memory.blocks.insert(handle, block);
        Ok(ptr::without_provenance_mut(handle))
    }

    unsafe fn free_data_space(&self, device_id: i32, data: *mut c_void) -> Result<(), Error> {
        check_device(device_id)?;
        let mut memory = self.memory();
        let block = memory.blocks.remove(&data.addr()).ok_or_else(|| unknown(data))?;
        memory.used_bytes -= block.len() as u64;
        Ok(())
    }

    unsafe fn copy_data(&self, device_id: i32, copy: &CopyRequest, _stream: Stream) -> Result<(), Error> {
        check_device(device_id)?;
        let (from, to) = (&copy.from, &copy.to);
        let size = copy.size_bytes as usize;
        let mut memory = self.memory();
        match (from.is_host(), to.is_host()) {
            (true, false) => {
                let range = memory.range(to, copy.size_bytes)?;
                let block = memory.block_mut(to.data)?;
                // SAFETY: the source is live host memory of that size, and no block of ours.
                unsafe { ptr::copy_nonoverlapping(from.address(), block[range].as_mut_ptr(), size) };
            }
            (false, true) => {
                let range = memory.range(from, copy.size_bytes)?;
                // SAFETY: the destination is live host memory of that size, and no block of ours.
                unsafe {
                    ptr::copy_nonoverlapping(memory.block(from.data)?[range].as_ptr(), to.address(), size)
                };
            }
            (false, false) => {
                let source = memory.range(from, copy.size_bytes)?;
                let target = memory.range(to, copy.size_bytes)?;
                let bytes = memory.block(from.data)?[source].to_vec();
                memory.block_mut(to.data)?[target].copy_from_slice(&bytes);
            }
            (true, true) => bail!(ErrorKind::UNSUPPORTED, "neither end of the copy lives on {NAME}"),
        }
        Ok(())
    }
}
