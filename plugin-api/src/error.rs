//! Errors: the boundary's error object, its kinds, and the side that each kind blames.

use core::ffi::c_void;
use core::fmt;
use core::ptr::{NonNull, addr_of, addr_of_mut};
use std::borrow::Cow;

use chipdock_abi as abi;
use chipdock_abi::{CHIPDOCK_TYPE_ERROR, ChipdockErrorObject, ChipdockStr};

use crate::object::{ObjectBody, allocate, header, own};
use crate::text::{bytes_in, str_out};
use crate::{AnyView, ObjectRef, trampoline};

/// The side that is at fault for an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fault {
    /// The caller asked for something that is not allowed; a different call may succeed.
    Caller,
    /// Something outside the program is missing or failed; the same call may succeed later.
    Environment,
    /// A defect of the code that raised the error; report it.
    Bug,
}

impl Fault {
    /// Returns the side at fault for a status, by its range (P7.11): the environment where the
    /// range does not say, as for `CHIPDOCK_ERROR`, which means that the work failed.
    #[must_use]
    pub const fn of_status(status: i32) -> Self {
        match status {
            1..=15 => Self::Caller,
            32..=47 => Self::Bug,
            _ => Self::Environment,
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Caller => "the caller's mistake",
            Self::Environment => "the environment's fault",
            Self::Bug => "a bug",
        })
    }
}

macro_rules! error_kinds {
    ($($(#[doc = $doc:literal])* $variant:ident, $name:ident = $text:literal, $fault:ident, $status:expr;)*) => {
        /// The kind of an error: an open set of names, as in TVM-FFI. Each known kind is a variant,
        /// and a constant that is called as the kind is.
        ///
        /// Python maps the name to an exception class. An unknown kind has the status
        /// `CHIPDOCK_ERROR`; the status that came with it determines the side at fault
        /// ([`ErrorKind::class_with`]).
        #[derive(Clone, Debug, PartialEq, Eq, Hash)]
        pub enum ErrorKind {
            $($(#[doc = $doc])* $variant,)*
            /// A kind that is not known here, by its name; [`ErrorKind::new`] makes it.
            #[non_exhaustive]
            Other(Cow<'static, str>),
        }

        impl ErrorKind {
            $(
                #[doc = concat!("`", $text, "`: [`ErrorKind::", stringify!($variant), "`].")]
                pub const $name: Self = Self::$variant;
            )*

            const KNOWN: &'static [Self] = &[$(Self::$variant,)*];

            /// Returns the name, the side at fault and the status of a known kind.
            const fn known(&self) -> Option<(&'static str, Fault, i32)> {
                match self {
                    $(Self::$variant => Some(($text, Fault::$fault, $status)),)*
                    Self::Other(_) => None,
                }
            }
        }
    };
}

// The first kind of a status is the one that [`ErrorKind::from_status`] returns.
error_kinds! {
    /// A value that is not allowed.
    Value, VALUE_ERROR = "ValueError", Caller, abi::CHIPDOCK_INVALID_ARGUMENT;
    /// A value of the wrong type.
    Type, TYPE_ERROR = "TypeError", Caller, abi::CHIPDOCK_WRONG_TYPE;
    /// An index or a range out of bounds.
    Index, INDEX_ERROR = "IndexError", Caller, abi::CHIPDOCK_OUT_OF_RANGE;
    /// A name that does not exist.
    NotFound, NOT_FOUND = "NotFound", Caller, abi::CHIPDOCK_NOT_FOUND;
    /// A feature that is not supported.
    Unsupported, UNSUPPORTED = "Unsupported", Caller, abi::CHIPDOCK_UNSUPPORTED;
    /// A call in the wrong state: freed, shut down, already present.
    WrongState, WRONG_STATE = "WrongState", Caller, abi::CHIPDOCK_WRONG_STATE;
    /// A library, a driver or a device that is missing.
    Unavailable, UNAVAILABLE = "Unavailable", Environment, abi::CHIPDOCK_UNAVAILABLE;
    /// No memory left; the state is as before the call.
    OutOfMemory, OUT_OF_MEMORY = "OutOfMemory", Environment, abi::CHIPDOCK_OUT_OF_MEMORY;
    /// The device is gone until it is opened again.
    DeviceLost, DEVICE_LOST = "DeviceLost", Environment, abi::CHIPDOCK_DEVICE_LOST;
    /// A file or a process failed.
    Io, IO = "IoError", Environment, abi::CHIPDOCK_IO;
    /// The work was cancelled by the caller.
    Cancelled, CANCELLED = "Cancelled", Environment, abi::CHIPDOCK_CANCELLED;
    /// The work took longer than its caller allowed; Python's name for that.
    Timeout, TIMEOUT_ERROR = "TimeoutError", Environment, abi::CHIPDOCK_CANCELLED;
    /// A bug of the code that raised it.
    Internal, INTERNAL = "InternalError", Bug, abi::CHIPDOCK_INTERNAL;
    /// A panic or an exception, caught at the boundary.
    Panic, PANIC = "Panic", Bug, abi::CHIPDOCK_PANIC;
    /// A plugin broke a rule of the boundary.
    BrokenPlugin, BROKEN_PLUGIN = "BrokenPlugin", Bug, abi::CHIPDOCK_BROKEN_PLUGIN;
    /// Python's name for something that does not exist.
    Key, KEY_ERROR = "KeyError", Caller, abi::CHIPDOCK_NOT_FOUND;
    /// Python's name for a member that does not exist.
    Attribute, ATTRIBUTE_ERROR = "AttributeError", Caller, abi::CHIPDOCK_NOT_FOUND;
    /// Python's name for a feature that is not supported.
    NotImplemented, NOT_IMPLEMENTED = "NotImplementedError", Caller, abi::CHIPDOCK_UNSUPPORTED;
    /// Python's name for no memory left.
    Memory, MEMORY_ERROR = "MemoryError", Environment, abi::CHIPDOCK_OUT_OF_MEMORY;
    /// Python's name for a file or a process that failed.
    Os, OS_ERROR = "OSError", Environment, abi::CHIPDOCK_IO;
    /// TVM's name for any other error.
    Runtime, RUNTIME_ERROR = "RuntimeError", Environment, abi::CHIPDOCK_ERROR;
}

impl ErrorKind {
    /// Lists the names of the known kinds, each with its status.
    pub fn known_names() -> impl Iterator<Item = (&'static str, i32)> {
        Self::KNOWN.iter().filter_map(Self::known).map(|(name, _, status)| (name, status))
    }

    /// Makes a kind from its name.
    #[must_use]
    pub fn new(name: impl Into<Cow<'static, str>>) -> Self {
        let name = name.into();
        Self::of_name(&name).unwrap_or(Self::Other(name))
    }

    fn of_name(name: &str) -> Option<Self> {
        Self::KNOWN.iter().find(|kind| kind.as_str() == name).cloned()
    }

    /// Returns the name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Other(name) => name,
            known => known.known().map_or("", |(name, _, _)| name),
        }
    }

    /// Returns the side at fault: for an unknown kind, the environment.
    #[must_use]
    pub fn class(&self) -> Fault {
        self.class_with(abi::CHIPDOCK_ERROR)
    }

    /// Returns the side at fault, given the status that a function returned with the error (P7.11):
    /// for an unknown kind the status determines it.
    ///
    /// ```
    /// use chipdock_plugin_api::{ErrorKind, Fault};
    ///
    /// assert_eq!(ErrorKind::new("Timeout").class_with(21), Fault::Environment);
    /// assert_eq!(ErrorKind::new("BadStride").class_with(7), Fault::Caller);
    /// assert_eq!(ErrorKind::VALUE_ERROR.class_with(21), Fault::Caller);
    /// ```
    #[must_use]
    pub fn class_with(&self, status: i32) -> Fault {
        self.known().map_or(Fault::of_status(status), |(_, fault, _)| fault)
    }

    /// Returns the status that a table's function returns with an error of this kind.
    #[must_use]
    pub fn status(&self) -> i32 {
        self.known().map_or(abi::CHIPDOCK_ERROR, |(_, _, status)| status)
    }

    /// Returns the kind that a status means; `None` for success, for `CHIPDOCK_ERROR` and for an
    /// unknown number.
    #[must_use]
    pub fn from_status(status: i32) -> Option<Self> {
        if status == abi::CHIPDOCK_ERROR {
            return None;
        }
        Self::KNOWN.iter().find(|kind| kind.status() == status).cloned()
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// An error of the boundary: an owned reference to an error object.
///
/// It is one pointer wide, so that a `Result` costs nothing. Cloning shares the object.
#[derive(Clone)]
#[repr(transparent)]
pub struct Error(ObjectRef);

#[repr(C)]
struct ErrorBody {
    object: ChipdockErrorObject,
    /// Kind and message, each with a NUL after it.
    texts: String,
    /// With a NUL after it, unless it was never set.
    backtrace: String,
}

// SAFETY: repr(C), starts with the ABI's error object, 8-aligned.
unsafe impl ObjectBody for ErrorBody {
    const TYPE_INDEX: i32 = CHIPDOCK_TYPE_ERROR;
}

impl Drop for ErrorBody {
    fn drop(&mut self) {
        for owned in [self.object.cause_chain, self.object.extra_context] {
            if let Some(owned) = NonNull::new(owned) {
                // SAFETY: V.7, both are owned references.
                drop(unsafe { ObjectRef::from_raw(owned) });
            }
        }
    }
}

impl Error {
    /// Makes an error of `kind`; the message states what was expected, what was found, and what to
    /// do.
    ///
    /// It captures no backtrace: an expected error costs as much as two small allocations.
    #[must_use]
    pub fn new(kind: ErrorKind, message: impl Into<Cow<'static, str>>) -> Self {
        Self::with_cause_object(kind, message.into(), None)
    }

    /// Makes an error with the error that caused it.
    #[must_use]
    pub fn with_cause(kind: ErrorKind, message: impl Into<Cow<'static, str>>, cause: Self) -> Self {
        Self::with_cause_object(kind, message.into(), Some(cause.0))
    }

    fn with_cause_object(kind: ErrorKind, message: Cow<'static, str>, cause: Option<ObjectRef>) -> Self {
        let (nothing, kind_bytes) = (terminated("\0"), kind.as_str().len());
        let body = allocate(ErrorBody {
            object: ChipdockErrorObject {
                object: header::<ErrorBody>(),
                kind: nothing,
                message: nothing,
                backtrace: nothing,
                update_backtrace,
                cause_chain: cause.map_or(core::ptr::null_mut(), |cause| cause.into_raw().as_ptr()),
                extra_context: core::ptr::null_mut(),
            },
            texts: [kind.as_str(), "\0", &*message, "\0"].concat(),
            backtrace: String::new(),
        });
        let pointer = body.as_ptr();
        // SAFETY: just allocated and not shared yet; the texts do not move while the object lives.
        unsafe {
            let (kind, message) = (*addr_of!((*pointer).texts)).split_at(kind_bytes + 1);
            (*pointer).object.kind = terminated(kind);
            (*pointer).object.message = terminated(message);
        }
        Self(own(body))
    }

    /// Takes over an error object.
    ///
    /// # Safety
    ///
    /// * `object` is an owned reference to an object of type `CHIPDOCK_TYPE_ERROR`.
    #[must_use]
    pub unsafe fn from_object(object: ObjectRef) -> Self {
        Self(object)
    }

    /// Returns the object, which this error still owns.
    #[must_use]
    pub fn object(&self) -> &ObjectRef {
        &self.0
    }

    /// Returns the object, which the caller now owns.
    #[must_use]
    pub fn into_object(self) -> ObjectRef {
        self.0
    }

    /// Returns the error as a borrowed value.
    #[must_use]
    pub fn as_any_view(&self) -> AnyView<'_> {
        AnyView::from_object(&self.0)
    }

    /// Returns an error of the same kind, message and backtrace, in an object of ours without cause
    /// and context. For errors of releases of TVM-FFI before 0.1.8, whose objects end before these
    /// fields.
    #[must_use]
    pub fn without_links(&self) -> Self {
        let copy = Self::new(self.kind(), self.message().into_owned());
        let backtrace = self.backtrace();
        if !backtrace.is_empty() {
            copy.append_backtrace(&backtrace);
        }
        copy
    }

    fn fields(&self) -> *const ChipdockErrorObject {
        self.0.as_ptr().cast()
    }

    fn field_text(&self, text: ChipdockStr) -> Cow<'_, str> {
        // SAFETY: V.7, the error's texts live as long as the error.
        String::from_utf8_lossy(unsafe { bytes_in(text) })
    }

    /// Returns the kind of the error.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        // SAFETY: V.7, the layout of an error object.
        let kind = self.field_text(unsafe { (*self.fields()).kind });
        ErrorKind::of_name(&kind).unwrap_or_else(|| ErrorKind::Other(kind.into_owned().into()))
    }

    /// Returns the message, for users.
    #[must_use]
    pub fn message(&self) -> Cow<'_, str> {
        // SAFETY: V.7, the layout of an error object.
        self.field_text(unsafe { (*self.fields()).message })
    }

    /// Returns the backtrace: lines `File "f", line 1, in g`, most recent last; often empty.
    #[must_use]
    pub fn backtrace(&self) -> Cow<'_, str> {
        // SAFETY: V.7, the layout of an error object.
        self.field_text(unsafe { (*self.fields()).backtrace })
    }

    /// Returns the error that caused this one.
    #[must_use]
    pub fn cause(&self) -> Option<Self> {
        // SAFETY: V.7, null or an object that the error owns.
        let cause = NonNull::new(unsafe { (*self.fields()).cause_chain })?;
        // SAFETY: live as long as this error.
        let cause = unsafe { ObjectRef::from_borrowed(cause) };
        (cause.type_index() == CHIPDOCK_TYPE_ERROR).then_some(Self(cause))
    }

    /// Returns the same error with `text` before its message: `text: message`. The cause is kept.
    #[must_use]
    pub fn context(self, text: impl fmt::Display) -> Self {
        let cause = self.cause().map(|cause| cause.0);
        let located =
            Self::with_cause_object(self.kind(), format!("{text}: {}", self.message()).into(), cause);
        let backtrace = self.backtrace();
        if !backtrace.is_empty() {
            located.append_backtrace(&backtrace);
        }
        located
    }

    /// Appends a frame to the backtrace.
    #[must_use]
    pub fn frame(self, file: &str, line: u32, function: &str) -> Self {
        self.append_backtrace(&format!("File \"{file}\", line {line}, in {function}\n"));
        self
    }

    fn append_backtrace(&self, lines: &str) {
        let lines = str_out(lines);
        // SAFETY: V.7, never null in an error object; the text is borrowed for the call.
        unsafe { ((*self.fields()).update_backtrace)(self.0.as_ptr().cast(), &lines, UPDATE_APPEND) };
    }
}

const UPDATE_APPEND: i32 = 1;

/// Makes a string of the boundary of a text with a NUL after it, which is not counted: some readers
/// of TVM-FFI's errors, such as jax-tvm-ffi 0.1.3, look for it.
fn terminated(text: &str) -> ChipdockStr {
    str_out(text.strip_suffix('\0').unwrap_or(text))
}

/// Replaces the backtrace of one of our errors, or appends to it. As in TVM-FFI, it must not be
/// called while another thread reads the same error.
unsafe extern "C" fn update_backtrace(self_: *mut c_void, backtrace: *const ChipdockStr, update_mode: i32) {
    trampoline::guard_release(|| {
        let body = self_.cast::<ErrorBody>();
        // SAFETY: V.7, called with one of our errors and a live text, by one thread at a time.
        unsafe {
            let (Some(body), Some(lines)) = (NonNull::new(body), backtrace.as_ref()) else { return };
            let body = body.as_ptr();
            let own_text = &mut *addr_of_mut!((*body).backtrace);
            // The NUL.
            own_text.pop();
            if update_mode != UPDATE_APPEND {
                own_text.clear();
            }
            own_text.push_str(&String::from_utf8_lossy(bytes_in(*lines)));
            own_text.push('\0');
            (*body).object.backtrace = terminated(own_text);
        }
    });
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind(), self.message())?;
        let mut cause = self.cause();
        while let Some(error) = cause {
            write!(f, "; caused by {}: {}", error.kind(), error.message())?;
            cause = error.cause();
        }
        Ok(())
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Error {}

/// Returns early with an [`Error`]:
/// `bail!(ErrorKind::VALUE_ERROR, "expected a size, found {size}")`.
#[macro_export]
macro_rules! bail {
    ($kind:expr, $($message:tt)+) => {
        return ::core::result::Result::Err($crate::Error::new($kind, ::std::format!($($message)+)))
    };
}

/// Returns early with an [`Error`] unless the condition holds:
/// `ensure!(n > 0, ErrorKind::VALUE_ERROR, "...")`.
#[macro_export]
macro_rules! ensure {
    ($condition:expr, $kind:expr, $($message:tt)+) => {
        if !$condition {
            $crate::bail!($kind, $($message)+);
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_back_as_their_kinds() {
        for kind in ErrorKind::KNOWN {
            assert_eq!(&ErrorKind::new(kind.as_str().to_owned()), kind);
            assert_eq!(&Error::new(kind.clone(), "").kind(), kind);
            assert!(!matches!(kind, ErrorKind::Other(_)) && !kind.as_str().is_empty(), "{kind:?}");
        }
        let unknown = ErrorKind::new("Timeout");
        assert_eq!((&unknown, unknown.as_str()), (&ErrorKind::Other("Timeout".into()), "Timeout"));
        assert_eq!(Error::new(unknown.clone(), "").kind(), unknown);
    }
}
