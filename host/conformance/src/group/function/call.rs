//! Calls a plain function through the raw ABI, so that every effect of the call is visible.

use chipdock_abi::{CHIPDOCK_OK, ChipdockAny};
use chipdock_plugin_api::{Any, Error, Function};
use chipdock_raw_host::Plugin;

use super::arguments::Argument;
use crate::{Context, Stop, Verdict};

/// Result of a call.
pub(super) struct Answer {
    pub(super) status: i32,
    pub(super) result: Result<Any, Error>,
    /// Description of the value that a failed call wrote to its result.
    pub(super) written: Option<String>,
}

impl Answer {
    /// Describes the result for messages.
    pub(super) fn in_full(&self) -> String {
        match &self.result {
            Ok(value) => format!("success: {value:?}"),
            Err(error) => format!("{}: {}", error.kind(), error.message()),
        }
    }
}

/// Returns the function that a case is about.
pub(super) fn function(c: &Context) -> Verdict<Function> {
    let found = c.plugin()?.functions().into_iter().find(|(name, _)| name == c.registration());
    let found = found.map(|(_, function)| function);
    found.ok_or_else(|| Stop::suite(format!("no function {}", c.registration())))
}

/// Calls a function of the plugin under test with an argument, repeated as its count says.
pub(super) fn call(c: &Context, function: &Function, argument: &Argument) -> Verdict<Answer> {
    on(c.plugin()?, function, argument)
}

/// Calls a function with an argument; takes the plugin, so that threads can use it.
pub(super) fn on(plugin: &Plugin, function: &Function, argument: &Argument) -> Verdict<Answer> {
    let made = argument.make();
    let views = vec![made.view(); argument.count];
    // SAFETY: `made` keeps alive what the views point to.
    Ok(unsafe { run(plugin, function, &views) })
}

/// Calls a function with raw values.
///
/// # Safety
///
/// * V.10: what the values point to lives for the call.
pub(super) unsafe fn call_raw(c: &Context, function: &Function, args: &[ChipdockAny]) -> Verdict<Answer> {
    // SAFETY: `args` point to values that live for the call (V.10), as this function requires.
    Ok(unsafe { run(c.plugin()?, function, args) })
}

/// # Safety
///
/// * As for [`call_raw`].
unsafe fn run(plugin: &Plugin, function: &Function, args: &[ChipdockAny]) -> Answer {
    let host = plugin.host();
    drop(host.take_error());
    let before = Any::NONE.into_raw();
    let mut raw = before;
    let count = i32::try_from(args.len()).unwrap_or(i32::MAX);
    let data = if args.is_empty() { std::ptr::null() } else { args.as_ptr() };
    let call = function.safe_call().0;
    // SAFETY: by V.10, the caller guarantees live arguments, and the result is `None` before the
    // call.
    let status = unsafe { call(function.object().as_ptr().cast(), data, count, &raw mut raw) };
    if status == CHIPDOCK_OK {
        // SAFETY: by V.10, the caller owns the result of a successful call.
        return Answer { status, result: Ok(unsafe { Any::from_raw(raw) }), written: None };
    }
    // SAFETY: eight bytes of plain data for every type. A written value is not released, because it
    // may not be ours.
    let payload = unsafe { raw.value.v_int64 };
    let is_same = raw.type_index == before.type_index && raw.small_length == 0 && payload == 0;
    let written = (!is_same).then(|| format!("type {}, payload {payload:#x}", raw.type_index));
    let error = host.check(status, "a packed function").err();
    let error = error.unwrap_or_else(|| Error::new(chipdock_plugin_api::ErrorKind::INTERNAL, "no failure"));
    Answer { status, result: Err(error), written }
}
