//! Functions as values: how a function of one side is called by another.
//!
//! * **VALUE-F1 Sides.** A side is whom an error is raised with: a host, or the libtvm_ffi of a
//!   process. A function belongs to one side: its errors are there, and whoever calls it takes them
//!   from there.
//! * **VALUE-F2 Across.** [`across`] makes of a function of one side one that belongs to another:
//!   it passes the same arguments and the same result. The error of a failure is moved to the side
//!   that called, the same object: kind, message, traceback and cause are as they were.
//! * **VALUE-F3 Within.** Functions among arguments and results, and in arrays among them, are
//!   carried across as well, each in its own direction. A function within another object is passed
//!   as it is.

use chipdock_abi::{CHIPDOCK_TYPE_ARRAY, CHIPDOCK_TYPE_FUNCTION};
use chipdock_plugin_api as api;
use chipdock_plugin_api::{Any, AnyView, HostRef};

use crate::host::Host;

/// Greatest depth of arrays in which functions are looked for.
const DEPTH_MAX: usize = 4;

impl Host {
    /// Returns this host as a side: whom the functions that are made for it raise errors with
    /// (VALUE-F1).
    #[must_use]
    pub fn side(&self) -> HostRef {
        // SAFETY: the table lives as long as the process and keeps the rules of a host.
        unsafe { HostRef::new(self.0.services.table()) }
    }
}

/// Makes of a function that belongs to `home` one that belongs to `caller` (VALUE-F2).
///
/// # Examples
///
/// ```
/// use chipdock_host::{Any, AnyView, Host, HostOptions, values};
/// use chipdock_plugin_api::{Error, ErrorKind, Function};
///
/// let (host, other) = (Host::new(HostOptions::isolated())?, Host::new(HostOptions::isolated())?);
/// let fails = Function::from_fn(host.side(), |_: &[AnyView<'_>]| -> Result<Any, Error> {
///     Err(Error::new(ErrorKind::VALUE_ERROR, "no"))
/// });
/// let carried = values::across(fails, host.side(), other.side());
/// let error = carried.call(other.side(), &[]).unwrap_err();
/// assert_eq!((error.kind(), error.message().as_ref()), (ErrorKind::VALUE_ERROR, "no"));
/// # Ok::<(), chipdock_host::Error>(())
/// ```
#[must_use]
pub fn across(function: api::Function, home: HostRef, caller: HostRef) -> api::Function {
    if home == caller {
        return function;
    }
    api::Function::from_fn(caller, move |args: &[AnyView<'_>]| {
        carrying(args, caller, home, |args| function.call(home, args))
    })
}

/// Runs a call of a function that belongs to `home`, for a caller of the side `caller`: functions
/// among the arguments belong to `home` in the call, and those in the result belong to `caller`
/// (VALUE-F3).
///
/// # Errors
///
/// Those of the call.
pub fn carrying(
    args: &[AnyView<'_>],
    caller: HostRef,
    home: HostRef,
    call: impl FnOnce(&[AnyView<'_>]) -> Result<Any, api::Error>,
) -> Result<Any, api::Error> {
    let result = match Carried::of(args, caller, home) {
        Some(carried) => call(&carried.views(args))?,
        None => call(args)?,
    };
    Ok(moved(result.view(), home, caller, 0).unwrap_or(result))
}

/// Arguments of a call, with what stands for those that the other side cannot call.
pub(crate) struct Carried(Vec<Option<Any>>);

impl Carried {
    /// Carries functions among the arguments of a caller to the side `home`; `None` where there are
    /// none.
    pub(crate) fn of(args: &[AnyView<'_>], caller: HostRef, home: HostRef) -> Option<Self> {
        args.iter()
            .any(|arg| has_function(*arg, 0))
            .then(|| Self(args.iter().map(|arg| moved(*arg, caller, home, 0)).collect()))
    }

    /// Returns the arguments of the call.
    pub(crate) fn views<'a>(&'a self, args: &[AnyView<'a>]) -> Vec<AnyView<'a>> {
        args.iter().zip(&self.0).map(|(arg, moved)| moved.as_ref().map_or(*arg, Any::view)).collect()
    }
}

/// Returns a result for the side that called; `None` where it is the same.
#[must_use]
pub fn carried_back(result: AnyView<'_>, home: HostRef, caller: HostRef) -> Option<Any> {
    moved(result, home, caller, 0)
}

fn has_function(value: AnyView<'_>, depth: usize) -> bool {
    match value.type_index() {
        CHIPDOCK_TYPE_FUNCTION => true,
        CHIPDOCK_TYPE_ARRAY if depth < DEPTH_MAX => value
            .to::<api::Array>()
            .is_ok_and(|array| array.as_slice().iter().any(|element| has_function(*element, depth + 1))),
        _ => false,
    }
}

/// Returns the value for the other side; `None` where it is the same.
fn moved(value: AnyView<'_>, home: HostRef, caller: HostRef, depth: usize) -> Option<Any> {
    if home == caller || !has_function(value, depth) {
        return None;
    }
    if let Ok(function) = value.to::<api::Function>() {
        return Some(across(function, home, caller).into());
    }
    let array = value.to::<api::Array>().ok()?;
    let elements = array.as_slice().iter().map(|element| {
        let moved = moved(*element, home, caller, depth + 1);
        // An element of an array is never borrowed.
        moved.or_else(|| AnyView::to_owned(*element).ok()).unwrap_or(Any::NONE)
    });
    Some(api::Array::new(elements).into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::HostOptions;

    fn two() -> (Host, Host) {
        let host = || Host::new(HostOptions::isolated()).unwrap();
        (host(), host())
    }

    fn failing(side: HostRef, text: &'static str) -> api::Function {
        api::Function::from_fn(side, move |_: &[AnyView<'_>]| -> Result<Any, api::Error> {
            let error = api::Error::with_cause(
                api::ErrorKind::new("Odd"),
                text,
                api::Error::new(api::ErrorKind::KEY_ERROR, "within"),
            );
            Err(error.frame("here.rs", 7, "failing"))
        })
    }

    /// VALUE-F2: the same error object reaches the side that called, and no error is left on the
    /// other.
    #[test]
    fn value_f2_an_error_moves_whole() {
        let (home, caller) = two();
        let carried = across(failing(home.side(), "went wrong"), home.side(), caller.side());
        let error = carried.call(caller.side(), &[]).unwrap_err();
        assert_eq!((error.kind().as_str(), error.message().as_ref()), ("Odd", "went wrong"));
        assert!(error.backtrace().contains("line 7, in failing"), "{}", error.backtrace());
        assert_eq!(error.cause().unwrap().message(), "within");
        assert!(home.side().take_error().is_none() && caller.side().take_error().is_none());
    }

    /// VALUE-F3: a callback is called from the other side, and its error comes back to the side
    /// that called.
    #[test]
    fn value_f3_a_callback_is_carried_and_so_is_its_error() {
        let (home, caller) = two();
        let (home_side, caller_side) = (home.side(), caller.side());
        let apply = api::Function::from_fn(home_side, move |args: &[AnyView<'_>]| {
            let callback = args[0].to::<api::Function>()?;
            callback.call(home_side, &args[1..])
        });
        let apply = across(apply, home_side, caller_side);
        let double = api::Function::from_fn(caller_side, |args: &[AnyView<'_>]| {
            Ok(Any::from(args[0].to::<i64>()? * 2))
        });
        let double = Any::from(double);
        let result = apply.call(caller_side, &[double.view(), AnyView::from(21)]).unwrap();
        assert_eq!(result.to::<i64>().unwrap(), 42);
        let fails = Any::from(failing(caller_side, "in the callback"));
        let error = apply.call(caller_side, &[fails.view()]).unwrap_err();
        assert_eq!(error.message(), "in the callback");
        assert!(home_side.take_error().is_none());
    }

    /// VALUE-F3: functions in an array, and a function that is returned.
    #[test]
    fn value_f3_functions_in_arrays_and_results_are_carried() {
        let (home, caller) = two();
        let (home_side, caller_side) = (home.side(), caller.side());
        let made = api::Function::from_fn(home_side, move |args: &[AnyView<'_>]| {
            let given = args[0].to::<api::Array>()?;
            let inner = given.at(1)?.to::<api::Function>()?;
            let error = inner.call(home_side, &[]).unwrap_err();
            Ok(api::Array::new([failing(home_side, "made").into(), Any::from(&*error.message())]).into())
        });
        let made = across(made, home_side, caller_side);
        let given = Any::from(api::Array::new([Any::from(1), failing(caller_side, "given").into()]));
        let result = made.call(caller_side, &[given.view()]).unwrap().to::<api::Array>().unwrap();
        assert_eq!(result.at(1).unwrap().to::<String>().unwrap(), "given");
        let function = result.at(0).unwrap().to::<api::Function>().unwrap();
        assert_eq!(function.call(caller_side, &[]).unwrap_err().message(), "made");
    }
}
