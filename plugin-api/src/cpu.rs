//! Host memory as a device: the CPU device API, for the host and for every plugin that offers it.

mod facts;

pub use facts::{cache_options, vector_registers};

use core::ffi::c_void;

use crate::{Any, CopyRequest, DataSpaceRequest, DeviceApi, Error, ErrorKind, HostRef, Stream, attribute};

/// The name under which the device API is registered: DLPack's name for host memory.
pub const NAME: &str = "cpu";

/// The least alignment of every data space, in bytes: that of a cache line and of the widest
/// vector.
pub const ALIGNMENT_BYTES_MIN: u64 = 64;

/// The device API of host memory: one device, id 0.
///
/// A data space is an address, whatever its kind: device, pinned, host-visible and unified memory
/// are the same here. It is aligned to 64 bytes or more. The only scope is `global`. Copies are
/// complete when they return, so the default stream is the only one, and there is nothing to wait
/// for.
///
/// # Source
///
/// TVM's `CPUDeviceAPI`. Ours differs: one device instead of any id, an error where TVM fails with
/// `InternalError` on a failed allocation, and some attributes without a value.
///
/// # Examples
///
/// ```
/// use chipdock_plugin_api::{DataSpaceKind, DataSpaceRequest, DeviceApi, HostRef, cpu::CpuDeviceApi};
///
/// let cpu = CpuDeviceApi::new(HostRef::standalone());
/// let data = cpu.allocate_data_space(0, &DataSpaceRequest::new(1000, 4, DataSpaceKind::Device))?;
/// assert_eq!(data as usize % 64, 0);
/// // SAFETY: allocated above, and freed once.
/// unsafe { cpu.free_data_space(0, data)? };
/// # Ok::<(), chipdock_plugin_api::Error>(())
/// ```
#[derive(Debug)]
pub struct CpuDeviceApi(());

impl CpuDeviceApi {
    /// Makes the device API of host memory for one host.
    #[must_use]
    pub fn new(host: HostRef) -> Self {
        // Nothing here is asynchronous and nothing asks the host, so the host is not used yet.
        let _ = host;
        Self(())
    }
}

fn check_device(device_id: i32) -> Result<(), Error> {
    crate::ensure!(
        device_id == 0,
        ErrorKind::VALUE_ERROR,
        "device {NAME}:{device_id}: expected id 0, there is 1 device"
    );
    Ok(())
}

impl DeviceApi for CpuDeviceApi {
    fn device_count(&self) -> Result<i32, Error> {
        Ok(1)
    }

    fn attribute(&self, device_id: i32, key: &str) -> Result<Option<Any>, Error> {
        if key == attribute::EXIST {
            return Ok(Some(Any::from(device_id == 0)));
        }
        check_device(device_id)?;
        Ok(facts::attribute(key))
    }

    fn allocate_data_space(
        &self,
        device_id: i32,
        request: &DataSpaceRequest<'_>,
    ) -> Result<*mut c_void, Error> {
        check_device(device_id)?;
        crate::ensure!(
            matches!(request.scope, "" | "global"),
            ErrorKind::UNSUPPORTED,
            "memory scope `{}`: {NAME} has `global` only",
            request.scope
        );
        crate::ensure!(
            request.alignment_bytes.is_power_of_two(),
            ErrorKind::VALUE_ERROR,
            "alignment: expected a power of two, found {}",
            request.alignment_bytes
        );
        let alignment_bytes = request.alignment_bytes.max(ALIGNMENT_BYTES_MIN);
        allocate(request.size_bytes, alignment_bytes).ok_or_else(|| {
            Error::new(
                ErrorKind::OUT_OF_MEMORY,
                format!(
                    "{NAME}:{device_id}: no {} bytes aligned to {alignment_bytes} are left; free something or ask for \
                     less",
                    request.size_bytes
                ),
            )
        })
    }

    unsafe fn free_data_space(&self, device_id: i32, data: *mut c_void) -> Result<(), Error> {
        check_device(device_id)?;
        // SAFETY: `data` came from `allocate`, which called posix_memalign, and is freed once.
        unsafe { libc::free(data) };
        Ok(())
    }

    unsafe fn copy_data(&self, device_id: i32, copy: &CopyRequest, _stream: Stream) -> Result<(), Error> {
        check_device(device_id)?;
        for (end, name) in [(copy.from, "source"), (copy.to, "destination")] {
            crate::ensure!(
                end.is_host(),
                ErrorKind::UNSUPPORTED,
                "the {name} lives on device type {}: {NAME} copies within host memory only, use the other device's API",
                end.device.device_type
            );
        }
        // SAFETY: both ranges are live host memory and do not overlap, by the trait's contract; the
        // size fits the address space because the ranges do.
        unsafe {
            core::ptr::copy_nonoverlapping(copy.from.address(), copy.to.address(), copy.size_bytes as usize);
        }
        Ok(())
    }
}

/// Allocates at least one byte, or returns `None` if no memory of that size or alignment is
/// available.
fn allocate(size_bytes: u64, alignment_bytes: u64) -> Option<*mut c_void> {
    let size = usize::try_from(size_bytes).ok()?.max(1);
    let alignment = usize::try_from(alignment_bytes).ok()?;
    // No object is larger than this: pointers within it could not be subtracted.
    if size > isize::MAX as usize || alignment > isize::MAX as usize {
        return None;
    }
    let mut data = core::ptr::null_mut();
    // SAFETY: the alignment is a power of two and a multiple of a pointer's size (64 or more).
    let status = unsafe { libc::posix_memalign(&mut data, alignment, size) };
    (status == 0 && !data.is_null()).then_some(data)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// D.11: a CPU has no blocks of threads, and no warps.
    #[test]
    fn attributes_without_meaning_are_none() {
        let cpu = CpuDeviceApi::new(HostRef::standalone());
        let of_gpus = [
            attribute::MAX_THREADS_PER_BLOCK,
            attribute::WARP_SIZE,
            attribute::MAX_SHARED_MEMORY_PER_BLOCK_BYTES,
            attribute::MAX_THREAD_DIMENSIONS,
            attribute::MAX_GRID_DIMENSIONS,
            attribute::MAX_REGISTERS_PER_BLOCK,
            attribute::IMAGE_PITCH_ALIGNMENT,
        ];
        for key in of_gpus {
            assert!(cpu.attribute(0, key).unwrap().is_none(), "{key}");
        }
        assert!(cpu.attribute(0, attribute::MULTI_PROCESSOR_COUNT).unwrap().is_some());
    }

    /// D.3: the calls that the trait implements, because the CPU has nothing to do there, check the
    /// device's id too.
    #[test]
    fn calls_that_do_nothing_refuse_a_device_that_is_not_there() {
        let cpu = CpuDeviceApi::new(HostRef::standalone());
        for device_id in [-1, 1, i32::MAX] {
            // SAFETY: the default stream.
            let answers = unsafe {
                [
                    cpu.create_stream(device_id).map(drop),
                    cpu.free_stream(device_id, Stream::DEFAULT),
                    cpu.sync_stream(device_id, Stream::DEFAULT),
                    cpu.sync_stream_from_to(device_id, Stream::DEFAULT, Stream::DEFAULT),
                ]
            };
            for answer in answers {
                let error = answer.unwrap_err();
                assert_eq!(error.kind(), ErrorKind::VALUE_ERROR);
                assert!(error.message().contains(&device_id.to_string()), "{error}");
            }
        }
    }
}
