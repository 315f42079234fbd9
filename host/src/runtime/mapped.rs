//! Elements in place: the host's addresses of tensors, and mappings (MEMORY-K7 to MEMORY-K9).

use std::fmt;
use std::marker::PhantomData;
use std::ptr::{self, NonNull};
use std::sync::Arc;

use chipdock_abi::ChipdockCopyEnd;
use chipdock_plugin_api as api;

use super::device_state::DeviceState;
use super::mappings::{self, Access};
use super::memory_kind::MemoryKind;
use super::tensor::Tensor;
use super::turns;
use crate::error::{Error, ErrorKind};

/// The elements of a tensor in place, compact and row-major. While it lives, reads and writes of
/// the tensor by other threads wait (MEMORY-K8).
pub struct Mapped<'a> {
    tensor: &'a Tensor,
    address: NonNull<u8>,
    size_bytes: usize,
    access: Access,
    /// Ends on the thread on which it began.
    _of_thread: PhantomData<*const ()>,
}

impl Mapped<'_> {
    /// Returns the address of the first element; dangling where there is none.
    #[must_use]
    pub fn address(&self) -> NonNull<u8> {
        self.address
    }

    /// Returns the size of the elements, in bytes.
    #[must_use]
    pub fn size_bytes(&self) -> usize {
        self.size_bytes
    }

    /// Returns true if the elements may be written.
    #[must_use]
    pub fn is_writable(&self) -> bool {
        self.access == Access::Write
    }

    /// Returns the elements as bytes.
    ///
    /// # Safety
    ///
    /// * As long as the bytes are borrowed, no call and no queued work writes the tensor.
    #[must_use]
    pub unsafe fn as_bytes(&self) -> &[u8] {
        // SAFETY: memory that the tensor keeps, of that size, which nobody writes meanwhile.
        unsafe { std::slice::from_raw_parts(self.address.as_ptr(), self.size_bytes) }
    }

    /// Returns the elements as bytes, to be written too; `None` for a mapping of
    /// [`Tensor::map`].
    ///
    /// # Safety
    ///
    /// * As long as the bytes are borrowed, no call and no queued work reads or writes the tensor.
    #[must_use]
    pub unsafe fn as_bytes_mut(&mut self) -> Option<&mut [u8]> {
        // SAFETY: memory that the tensor keeps, of that size, which nobody uses meanwhile.
        self.is_writable()
            .then(|| unsafe { std::slice::from_raw_parts_mut(self.address.as_ptr(), self.size_bytes) })
    }
}

impl Drop for Mapped<'_> {
    fn drop(&mut self) {
        mappings::end(self.tensor.view().data(), self.access);
    }
}

impl fmt::Debug for Mapped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Mapped({} bytes at {:p} of {:?})", self.size_bytes, self.address, self.tensor)
    }
}

impl Tensor {
    /// Returns the address at which the host finds the first element, without waiting for work that
    /// uses it: of host memory, pinned memory included, and of host-visible and unified memory.
    /// `None` where the host does not reach it, where that is not known (MEMORY-K7), and for a null
    /// data pointer.
    ///
    /// # Errors
    ///
    /// `WrongState` in a child of `fork`.
    pub fn host_address(&self) -> Result<Option<NonNull<u8>>, Error> {
        self.device().state().services.check_process()?;
        let view = self.view();
        let data = if self.device().is_host_memory() {
            view.data().cast::<u8>()
        } else {
            match self.known().and_then(|known| known.address) {
                Some(address) => ptr::with_exposed_provenance_mut(address),
                None => return Ok(None),
            }
        };
        let offset = usize::try_from(view.byte_offset()).unwrap_or(usize::MAX);
        Ok(NonNull::new(data).and_then(|data| NonNull::new(data.as_ptr().wrapping_add(offset))))
    }

    /// Waits for the work of the current stream, and returns the address of the first element, for
    /// code that cannot hold a [`Mapped`]: other threads' reads and writes are its own to order.
    /// `None` where there are no elements.
    ///
    /// # Errors
    ///
    /// `Unsupported` where the host does not reach the memory ([`Self::host_address`]); the first
    /// failure of that work.
    pub fn mapped_address(&self) -> Result<Option<NonNull<u8>>, Error> {
        self.check_description()?;
        let address = match self.host_address()? {
            None if self.numel() != 0 => return Err(self.not_reached()),
            address => address.filter(|_| self.numel() != 0),
        };
        self.wait_for_work()?;
        Ok(address)
    }

    /// Waits for the work that the current stream has for this tensor's memory: its device's, and
    /// for pinned memory that of the device that copies it.
    fn wait_for_work(&self) -> Result<(), Error> {
        let own = self.device().state();
        own.services.check_process()?;
        own.sync_raw(own.current_stream())?;
        self.wait_for_copies()
    }

    /// Waits for the copies that the device has queued on the current stream from and to pinned
    /// memory, which are not work of `cpu`.
    pub(super) fn wait_for_copies(&self) -> Result<(), Error> {
        let worker = self.worker();
        worker.map_or(Ok(()), |worker| worker.sync_raw(worker.current_stream()))
    }

    fn worker(&self) -> Option<Arc<DeviceState>> {
        let spaces = &self.device().state().spaces;
        let data = self.view().data();
        let worker = spaces.may_be_placed(data).then(|| self.known()?.worker).flatten()?;
        self.device().host().0.devices.by_number(worker)
    }

    /// Maps the elements to be read in place, after the work of the current stream; see
    /// [`Mapped`].
    ///
    /// # Errors
    ///
    /// `Unsupported` where the host does not reach the memory ([`Self::host_address`]);
    /// `ValueError` where the elements are not compact; `WrongState` where this thread maps them to
    /// be written already; the first failure of that work.
    pub fn map(&self) -> Result<Mapped<'_>, Error> {
        self.mapped(Access::Read)
    }

    /// Maps the elements to be read and written in place, as [`Self::map`].
    ///
    /// # Errors
    ///
    /// As [`Self::map`]; `WrongState` where this thread maps them already; `ValueError` for a
    /// read-only tensor.
    pub fn map_mut(&self) -> Result<Mapped<'_>, Error> {
        self.check_writable()?;
        self.mapped(Access::Write)
    }

    fn mapped(&self, access: Access) -> Result<Mapped<'_>, Error> {
        if !self.is_compact() {
            let message =
                format!("expected compact elements, found strides {:?} in {self:?}", self.strides());
            return Err(Error::new(ErrorKind::Value, message).hint("copy it, or use its address"));
        }
        let size_bytes = usize::try_from(self.size_bytes()).unwrap_or(usize::MAX);
        let address = self.mapped_address()?.unwrap_or(NonNull::dangling());
        // The turn waits for reads and writes that have begun; later ones see the mapping.
        let begun = match access {
            Access::Read => {
                let _turn = turns::to_read(self);
                mappings::begin(self.view().data(), access)
            }
            Access::Write => {
                let _turn = turns::to_write(self);
                mappings::begin(self.view().data(), access)
            }
        };
        if !begun {
            let message = format!("this thread has mapped {self:?} already");
            return Err(Error::new(ErrorKind::WrongState, message).hint("end that mapping first"));
        }
        Ok(Mapped { tensor: self, address, size_bytes, access, _of_thread: PhantomData })
    }

    fn not_reached(&self) -> Error {
        let kind = self.memory_kind().map_or("another's", MemoryKind::name);
        let message = format!("the host does not reach the elements of {self:?}, which are in {kind} memory");
        Error::new(ErrorKind::Unsupported, message)
            .hint("copy its bytes, or make it in host-visible or unified memory")
    }

    /// Copies between two kinds of devices where the host has the address of one end (MEMORY-K9);
    /// `None` where it has none. The caller has the turns, and both are compact.
    pub(super) fn copy_in_place(&self, from: &Self) -> Option<Result<(), Error>> {
        let target = self.host_address().ok()?;
        let source = if target.is_none() { from.host_address().ok()? } else { None };
        if target.is_none() && source.is_none() {
            return None;
        }
        let copied = || {
            self.check_description().and_then(|()| from.check_description())?;
            self.wait_for_work()?;
            from.wait_for_work()?;
            let end = |address: NonNull<u8>| ChipdockCopyEnd {
                device: api::CPU,
                data: address.as_ptr().cast(),
                offset_bytes: 0,
            };
            let of = |tensor: &Self| {
                let view = tensor.view();
                ChipdockCopyEnd { device: view.device(), data: view.data(), offset_bytes: view.byte_offset() }
            };
            let (state, from_end, to_end) = match (target, source) {
                (Some(target), _) => (from.device().state(), of(from), end(target)),
                (None, Some(source)) => (self.device().state(), end(source), of(self)),
                (None, None) => return Ok(()),
            };
            // SAFETY: compact elements of two tensors, equally long, which their owners keep, on
            // devices of two kinds, so that they do not overlap; one end is the device's, the other
            // host memory.
            unsafe { state.copy_now(from_end, to_end, self.size_bytes(), self.view().dtype()) }
        };
        Some(copied())
    }
}

#[cfg(test)]
mod tests {
    use chipdock_ir::DType;

    use super::*;
    use crate::runtime::MemoryOptions;
    use crate::{Host, HostOptions};

    /// MEMORY-K9: direct where either end has an address, and not where none has.
    #[test]
    fn memory_k9_a_copy_in_place_needs_the_address_of_one_end() {
        let host = Host::new(HostOptions::isolated()).unwrap();
        let device = host.device("toy", 0).unwrap();
        let made = |kind, byte| {
            let options = MemoryOptions { kind, ..MemoryOptions::default() };
            let tensor = Tensor::empty_in(&device, &[16], DType::UINT8, &options).unwrap();
            tensor.copy_from_bytes(&[byte; 16]).unwrap();
            tensor
        };
        let (plain, mapped) = (made(MemoryKind::Device, 1), made(MemoryKind::HostVisible, 2));
        plain.copy_in_place(&mapped).expect("the source has an address").unwrap();
        assert_eq!(plain.to_bytes().unwrap(), [2; 16]);
        let plain = made(MemoryKind::Device, 3);
        mapped.copy_in_place(&plain).expect("the destination has an address").unwrap();
        assert_eq!(mapped.to_bytes().unwrap(), [3; 16]);
        assert!(plain.copy_in_place(&made(MemoryKind::Device, 4)).is_none());
    }
}
