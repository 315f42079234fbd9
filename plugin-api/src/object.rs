//! Reference-counted objects: the header, its two counts, and the allocation of our objects.

use core::ffi::c_void;
use core::mem::{offset_of, size_of};
use core::ptr::{NonNull, addr_of_mut};
use core::sync::atomic::{AtomicU64, Ordering, fence};
use std::alloc::{Layout, dealloc};

use chipdock_abi::{CHIPDOCK_DELETE_STRONG, CHIPDOCK_DELETE_WEAK, CHIPDOCK_NEW_REF_COUNT, ChipdockObject};

use crate::trampoline;

const STRONG_ONE: u64 = 1;
const WEAK_ONE: u64 = 1 << 32;
const STRONG_MASK: u64 = 0xffff_ffff;
const DELETE_BOTH: i32 = CHIPDOCK_DELETE_STRONG | CHIPDOCK_DELETE_WEAK;

/// An owned reference to an object, ours or another library's.
///
/// Cloning adds a reference, dropping releases it; the object's own deleter frees it.
#[derive(Debug)]
#[repr(transparent)]
pub struct ObjectRef(NonNull<ChipdockObject>);

// SAFETY: the counts are atomic, and rule V.9 lets any thread use and release an object.
unsafe impl Send for ObjectRef {}
// SAFETY: the counts are atomic, and rule V.9 lets any thread use and release an object.
unsafe impl Sync for ObjectRef {}

impl ObjectRef {
    /// Takes over one strong reference.
    ///
    /// # Safety
    ///
    /// * `object` points to a live object whose layout is that of its type index.
    /// * The caller owns one strong reference and gives it up.
    #[must_use]
    pub unsafe fn from_raw(object: NonNull<ChipdockObject>) -> Self {
        Self(object)
    }

    /// Adds a strong reference to an object that somebody else owns.
    ///
    /// # Safety
    ///
    /// * `object` points to an object that is live during this call and whose layout is that of its
    ///   type index.
    #[must_use]
    pub unsafe fn from_borrowed(object: NonNull<ChipdockObject>) -> Self {
        // SAFETY: the caller guarantees that `object` is live.
        unsafe { increment(object) };
        Self(object)
    }

    /// Returns the object, which this reference still owns.
    #[must_use]
    pub fn as_ptr(&self) -> *mut ChipdockObject {
        self.0.as_ptr()
    }

    /// Returns the object with its strong reference, which the caller now owns.
    #[must_use]
    pub fn into_raw(self) -> NonNull<ChipdockObject> {
        let object = self.0;
        core::mem::forget(self);
        object
    }

    /// Returns the type index, one of `CHIPDOCK_TYPE_*`, 64 or more.
    #[must_use]
    pub fn type_index(&self) -> i32 {
        // SAFETY: we hold a strong reference; the type index never changes.
        unsafe { (*self.0.as_ptr()).type_index }
    }

    /// Returns the current number of strong references; for tests and reports, not for decisions.
    #[must_use]
    pub fn strong_count(&self) -> u32 {
        // SAFETY: we hold a strong reference.
        let count = unsafe { counter(self.0) }.load(Ordering::Relaxed);
        (count & STRONG_MASK) as u32
    }

    /// Makes a weak reference, which keeps the memory but not the content.
    #[must_use]
    pub fn downgrade(&self) -> WeakRef {
        // SAFETY: we hold a strong reference, so the object is live.
        unsafe { counter(self.0) }.fetch_add(WEAK_ONE, Ordering::Relaxed);
        WeakRef(self.0)
    }
}

impl Clone for ObjectRef {
    fn clone(&self) -> Self {
        // SAFETY: we hold a strong reference, so the object is live.
        unsafe { increment(self.0) };
        Self(self.0)
    }
}

impl Drop for ObjectRef {
    fn drop(&mut self) {
        // SAFETY: we own the strong reference that this releases.
        unsafe { decrement(self.0) };
    }
}

/// A weak reference to an object: it can be upgraded as long as a strong reference is left.
#[derive(Debug)]
pub struct WeakRef(NonNull<ChipdockObject>);

// SAFETY: as for `ObjectRef`.
unsafe impl Send for WeakRef {}
// SAFETY: as for `ObjectRef`.
unsafe impl Sync for WeakRef {}

impl WeakRef {
    /// Returns a strong reference, or `None` if the object's content is gone.
    #[must_use]
    pub fn upgrade(&self) -> Option<ObjectRef> {
        // SAFETY: our weak reference keeps the header's memory.
        let count = unsafe { counter(self.0) };
        let mut seen = count.load(Ordering::Relaxed);
        while seen & STRONG_MASK != 0 {
            match count.compare_exchange_weak(seen, seen + STRONG_ONE, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => return Some(ObjectRef(self.0)),
                Err(now) => seen = now,
            }
        }
        None
    }
}

impl Clone for WeakRef {
    fn clone(&self) -> Self {
        // SAFETY: our weak reference keeps the header's memory.
        unsafe { counter(self.0) }.fetch_add(WEAK_ONE, Ordering::Relaxed);
        Self(self.0)
    }
}

impl Drop for WeakRef {
    fn drop(&mut self) {
        // SAFETY: we own the weak reference that this releases.
        let old = unsafe { counter(self.0) }.fetch_sub(WEAK_ONE, Ordering::Release);
        if old == WEAK_ONE {
            fence(Ordering::Acquire);
            // SAFETY: no reference of either sort is left, so nobody but us can call the deleter.
            unsafe { delete(self.0, CHIPDOCK_DELETE_WEAK) };
        }
    }
}

/// # Safety
///
/// `object`'s header is allocated for as long as the result is used.
unsafe fn counter<'a>(object: NonNull<ChipdockObject>) -> &'a AtomicU64 {
    // SAFETY: the header is allocated and 8-aligned, and its count is changed by atomic operations
    // alone.
    unsafe { AtomicU64::from_ptr(addr_of_mut!((*object.as_ptr()).combined_ref_count)) }
}

/// Adds a strong reference.
///
/// # Safety
///
/// `object` is live.
pub(crate) unsafe fn increment(object: NonNull<ChipdockObject>) {
    // SAFETY: the caller guarantees that `object` is live.
    unsafe { counter(object) }.fetch_add(STRONG_ONE, Ordering::Relaxed);
}

/// Releases a strong reference, in C++'s memory order: release for the decrement, acquire before
/// the deleter.
///
/// # Safety
///
/// `object` is live and the caller owns the reference.
pub(crate) unsafe fn decrement(object: NonNull<ChipdockObject>) {
    // SAFETY: the caller guarantees that `object` is live; after the subtraction only what the
    // counts allow is touched.
    unsafe {
        let old = counter(object).fetch_sub(STRONG_ONE, Ordering::Release);
        if old == CHIPDOCK_NEW_REF_COUNT {
            fence(Ordering::Acquire);
            delete(object, DELETE_BOTH);
        } else if old & STRONG_MASK == STRONG_ONE {
            // Weak references are left: the content goes now, the memory with the last of them. All
            // strong references together hold one weak reference, which is released here.
            fence(Ordering::Acquire);
            delete(object, CHIPDOCK_DELETE_STRONG);
            if counter(object).fetch_sub(WEAK_ONE, Ordering::Release) == WEAK_ONE {
                fence(Ordering::Acquire);
                delete(object, CHIPDOCK_DELETE_WEAK);
            }
        }
    }
}

/// # Safety
///
/// The counts allow what `flags` request.
unsafe fn delete(object: NonNull<ChipdockObject>, flags: i32) {
    // SAFETY: the header is allocated until the weak flag has been passed.
    if let Some(deleter) = unsafe { (*object.as_ptr()).deleter } {
        // SAFETY: the object's own deleter, with the flags that the counts allow.
        unsafe { deleter(object.as_ptr().cast(), flags) };
    }
}

/// The body of one of our objects.
///
/// # Safety
///
/// The type is `#[repr(C)]`, starts with the ABI's struct for `TYPE_INDEX`, and needs no more than
/// 16-byte alignment.
pub(crate) unsafe trait ObjectBody: Sized {
    /// One of `CHIPDOCK_TYPE_*`.
    const TYPE_INDEX: i32;
}

/// A body with sixteen zero bytes before it, which TVM-FFI's object tying reads (reference: its
/// trap 10).
#[repr(C, align(16))]
struct Allocation<T> {
    prefix: [u64; 2],
    body: T,
}

/// Makes the header of a new object with one reference.
pub(crate) fn header<T: ObjectBody>() -> ChipdockObject {
    ChipdockObject {
        combined_ref_count: CHIPDOCK_NEW_REF_COUNT,
        type_index: T::TYPE_INDEX,
        padding: 0,
        deleter: Some(delete_ours::<T>),
    }
}

/// Moves `body` to the heap, after the prefix. The caller owns its one reference.
pub(crate) fn allocate<T: ObjectBody>(body: T) -> NonNull<T> {
    const {
        assert!(offset_of!(Allocation<T>, body) == 16, "an object needs at most 16-byte alignment");
        assert!(size_of::<T>() >= size_of::<ChipdockObject>(), "an object starts with its header");
    }
    let allocation = Box::into_raw(Box::new(Allocation { prefix: [0; 2], body }));
    // SAFETY: a box's pointer is not null, and the body lies within it.
    unsafe { NonNull::new_unchecked(addr_of_mut!((*allocation).body)) }
}

/// Makes an owned reference to a new object.
pub(crate) fn own<T: ObjectBody>(body: NonNull<T>) -> ObjectRef {
    ObjectRef(body.cast())
}

unsafe extern "C" fn delete_ours<T: ObjectBody>(self_: *mut c_void, flags: i32) {
    // SAFETY: the deleter of an object that `allocate` made of a `T`, with the flags that it was
    // called with.
    unsafe { delete_body::<T>(self_, flags) };
}

/// Drops the content of an object of ours, frees its memory, or both.
///
/// # Safety
///
/// * `self_` is an object that [`allocate`] made of a `T`; each flag comes once, as the counts
///   allow.
pub(crate) unsafe fn delete_body<T: ObjectBody>(self_: *mut c_void, flags: i32) {
    let body = self_.cast::<T>();
    if flags & CHIPDOCK_DELETE_STRONG != 0 {
        // SAFETY: the last strong reference is gone, so the content is ours alone, and this flag
        // comes once.
        trampoline::guard_release(|| unsafe { core::ptr::drop_in_place(body) });
    }
    if flags & CHIPDOCK_DELETE_WEAK != 0 {
        // SAFETY: `allocate` made the memory with this layout, 16 bytes before the body, and this
        // flag comes once.
        unsafe { dealloc(self_.cast::<u8>().sub(16), Layout::new::<Allocation<T>>()) };
    }
}
