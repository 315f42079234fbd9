//! Plain functions, and values that cross the ABI.
//!
//! The suite does not know what a function does, so it calls each one with every kind of value. The
//! function may accept or refuse the value; in both cases, values, errors and counts must be as the
//! contract says.

mod arguments;
mod call;
mod memory;

use std::ptr;

use chipdock_abi as abi;
use chipdock_abi::{CHIPDOCK_TYPE_OBJECT_RVALUE_REF, ChipdockAny, ChipdockAnyValue};
use chipdock_plugin_api::{Any, AnyView, Error, ErrorKind, Fault, ObjectRef, Shape};
use chipdock_raw_host::Plugin;

use self::arguments::{ARGUMENTS, Argument};
use self::call::{Answer, call, call_raw, function};
use super::value::{type_name, well_formed};
use crate::stop::ensure;
use crate::{Cases, Context, Group, Stop, Subject, Verdict};

const N_THREADS: usize = 8;
const N_ROUNDS: usize = 50;

pub(super) fn add(cases: &mut Cases) {
    for argument in ARGUMENTS {
        let name = format!("takes-or-refuses/{}", argument.name);
        let draft = cases.case(Group::Function, name, "V.17", Subject::Function);
        draft.run(|c| takes_or_refuses(c, argument));
        if argument.has_object {
            let name = format!("counts/{}", argument.name);
            let draft = cases.case(Group::Function, name, "V.16", Subject::Function);
            draft.run(|c| counts(c, argument));
        }
    }
    for (name, clause) in [
        ("holds/unused-bytes-are-zero", "V.1"),
        ("holds/no-borrowed-results", "V.2"),
        ("holds/texts", "V.5"),
        ("holds/objects", "V.6"),
        ("holds/error-objects", "V.7"),
        ("holds/status-and-result", "V.11"),
        ("holds/counts-of-results", "V.12"),
        ("holds/an-error-with-every-failure", "P7.1"),
        ("holds/kinds-and-messages", "P7.3"),
        ("holds/no-panic", "P8.4"),
    ] {
        let draft = cases.case(Group::Function, name, clause, Subject::Function);
        draft.run(move |c| holds(c, clause));
    }
    let mut case = |name, clause, body: fn(&Context) -> Verdict| {
        cases.case(Group::Function, name, clause, Subject::Function).run(body);
    };
    case("same/tensor-borrowed-or-object", "V.4", |c| alike(c, "tensor-borrowed", "tensor"));
    case("same/tensor-without-strides", "V.4", |c| alike(c, "tensor-borrowed-without-strides", "tensor"));
    case("same/text-borrowed-or-object", "V.5", |c| alike(c, "text-borrowed", "text-of-20-bytes"));
    case("same/object-that-may-be-taken", "V.3", may_be_taken);
    case("same/again", "V.10", same_again);
    case("threads/8-at-once", "P10.1", on_threads);
    case("threads/result-released-on-another", "V.9", released_on_another);
    case("threads/argument-released-on-another", "V.9", argument_released_on_another);
    case("host/same-answers", "V.10", through_a_host);
    let draft = cases.case(Group::Function, "memory/10000-calls", "V.18", Subject::Function);
    draft.deadline(30).run(memory::no_growth);
    // The failure injection hooks are among these functions: the process ends with their effects.
    let draft = cases.case(Group::Function, "integers/that-do-not-fit", "V.15", Subject::Function);
    draft.ends_process().run(integers_that_do_not_fit);
}

/// Checks the duties of every call, whatever the function does: see [`Answer::hold`].
fn takes_or_refuses(c: &Context, argument: &Argument) -> Verdict {
    let function = function(c)?;
    let answer = call(c, &function, argument)?;
    answer.hold(&format!("{} with {}", c.registration(), argument.what))
}

/// Checks one clause over calls with every argument; violations of other clauses are left to their
/// own cases.
fn holds(c: &Context, clause: &str) -> Verdict {
    let function = function(c)?;
    for argument in ARGUMENTS {
        let answer = call(c, &function, argument)?;
        match answer.hold(&format!("{} with {}", c.registration(), argument.what)) {
            Err(Stop::Failed(failure)) if failure.clause.as_deref() == Some(clause) => {
                return Err(Stop::Failed(failure));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Describes an answer by its contents, without addresses.
fn word(answer: &Answer) -> String {
    match &answer.result {
        Ok(value) => format!("success, {}", type_name(value.type_index())),
        Err(error) => format!("{}", error.kind()),
    }
}

fn named(name: &str) -> Verdict<&'static Argument> {
    let found = ARGUMENTS.iter().find(|argument| argument.name == name);
    found.ok_or_else(|| Stop::suite(format!("there is no argument {name}")))
}

/// Checks that two forms of one value get the same answer. A function that returns its argument may
/// refuse a borrowed value, which cannot be kept (V.2).
fn alike(c: &Context, borrowed: &str, object: &str) -> Verdict {
    let function = function(c)?;
    let (borrowed, object) = (named(borrowed)?, named(object)?);
    let (found, expected) = (call(c, &function, borrowed)?, call(c, &function, object)?);
    let is_alike = match (&found.result, &expected.result) {
        (Ok(_), Ok(_)) => true,
        (Err(found), Err(expected)) => found.kind() == expected.kind(),
        (Err(found), Ok(value)) => {
            let keeps = value.type_index() >= abi::CHIPDOCK_TYPE_OBJECT_BEGIN;
            keeps && found.kind() == ErrorKind::TYPE_ERROR
        }
        (Ok(_), Err(_)) => false,
    };
    let what = format!("{} with {}", c.registration(), borrowed.what);
    let expected = format!("{what}: {}, as with {}", word(&expected), object.what);
    ensure(is_alike, expected, found.in_full())
}

fn same_again(c: &Context) -> Verdict {
    let function = function(c)?;
    for argument in ARGUMENTS {
        let (first, again) = (call(c, &function, argument)?, call(c, &function, argument)?);
        let expected = format!("{} with {}, again: {}", c.registration(), argument.what, word(&first));
        ensure(word(&first) == word(&again), expected, again.in_full())?;
    }
    Ok(())
}

/// Passes an object that the callee may take (V.3): afterwards the slot still holds it, or null.
fn may_be_taken(c: &Context) -> Verdict {
    let function = function(c)?;
    let object: ObjectRef = Shape::new(&[2, 3, 5]).object().clone();
    let mut slot = object.clone().into_raw().as_ptr();
    let view = ChipdockAny {
        type_index: CHIPDOCK_TYPE_OBJECT_RVALUE_REF,
        small_length: 0,
        value: ChipdockAnyValue { v_ptr: ptr::from_mut(&mut slot).cast() },
    };
    // SAFETY: by V.3, the slot holds an object of ours and lives for the call.
    let answer = unsafe { call_raw(c, &function, &[view]) }?;
    let what = format!("{} with a shape object that it may take", c.registration());
    let is_known = slot.is_null() || slot == object.as_ptr();
    ensure(is_known, format!("{what}: the object or null in its place"), format!("{slot:p}"))?;
    if let Some(left) = ptr::NonNull::new(slot) {
        // SAFETY: the object was not taken, so the reference is still ours.
        drop(unsafe { ObjectRef::from_raw(left) });
    }
    answer.hold(&what)?;
    drop(answer);
    let count = object.strong_count();
    ensure((1..=2).contains(&count), format!("{what}: one reference left, or two if it keeps it"), count)
}

/// Compares the reference counts of the argument before and after calls whose results are released
/// (V.16).
fn counts(c: &Context, argument: &Argument) -> Verdict {
    let function = function(c)?;
    let made = argument.make();
    let count = || made.strong_count().ok_or_else(|| Stop::suite("an argument without an object"));
    let before = count()?;
    for number in 1..=N_ROUNDS {
        // SAFETY: `made` keeps alive what the view points to.
        let answer = unsafe { call_raw(c, &function, &[made.view()]) }?;
        drop(answer);
        let after = count()?;
        let what = format!("{} with {}, call {number}", c.registration(), argument.what);
        ensure(
            after >= before,
            format!("{what}: no reference given back that is not its own"),
            format!("{before}, then {after}"),
        )?;
        // A function may keep one reference, until the next call or permanently, but not one more
        // at each call.
        let expected = format!(
            "{what}: {before} references when its result is released, or {} if it keeps one",
            before + 1
        );
        ensure(after <= before + 1, expected, after)?;
    }
    Ok(())
}

fn on_threads(c: &Context) -> Verdict {
    let function = &function(c)?;
    let plugin = c.plugin()?;
    let name = c.registration();
    let expected: Vec<Answer> =
        ARGUMENTS.iter().map(|argument| call(c, function, argument)).collect::<Verdict<_>>()?;
    let expected: &Vec<String> = &expected.iter().map(word).collect();
    let ask = move || -> Verdict {
        for _ in 0..N_ROUNDS / 5 {
            for (argument, expected) in ARGUMENTS.iter().zip(expected) {
                let answer = call::on(plugin, function, argument)?;
                let what = format!("{name} with {} on 8 threads at once: {expected}", argument.what);
                ensure(word(&answer) == *expected, what, answer.in_full())?;
            }
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let handles: Vec<_> = (0..N_THREADS).map(|_| scope.spawn(ask)).collect();
        let join = |handle: std::thread::ScopedJoinHandle<'_, Verdict>| {
            handle.join().unwrap_or_else(|_| Err(Stop::suite("a thread of the suite panicked")))
        };
        handles.into_iter().try_for_each(join)
    })
}

fn released_on_another(c: &Context) -> Verdict {
    let function = function(c)?;
    for argument in ARGUMENTS {
        let answer = call(c, &function, argument)?;
        let what = format!(
            "{} with {}: what it answered, looked at on another thread",
            c.registration(),
            argument.what
        );
        let there = std::thread::spawn(move || {
            let verdict = answer.hold(&what);
            drop(answer);
            verdict
        });
        there.join().map_err(|_| Stop::suite("a thread of the suite panicked"))??;
    }
    Ok(())
}

fn argument_released_on_another(c: &Context) -> Verdict {
    let function = function(c)?;
    for argument in ARGUMENTS.iter().filter(|argument| argument.has_object) {
        let made = argument.make();
        // SAFETY: `made` keeps alive what the view points to.
        let answer = unsafe { call_raw(c, &function, &[made.view()]) }?;
        let owner = made.into_owner();
        std::thread::spawn(move || drop(owner))
            .join()
            .map_err(|_| Stop::suite("a thread of the suite panicked"))?;
        answer.hold(&format!("{} with {}, which its caller released", c.registration(), argument.what))?;
    }
    Ok(())
}

/// Checks that a host of this repository finds the function, and that its calls there have the same
/// results.
fn through_a_host(c: &Context) -> Verdict {
    let name = c.registration();
    let found = c.host()?.function(name)?;
    let Some(there) = found else {
        return Err(Stop::failed(format!("a host finds the function {name}"), "it does not"));
    };
    let own = function(c)?;
    let expected =
        call(c, &own, named("nothing")?)?.result.map(drop).map_err(|error| error.kind().to_string());
    let answer = there.call(&[]).map(drop).map_err(|error| error.kind().as_str().to_owned());
    let what = format!("{name} without arguments through a host: {expected:?}, as with the suite's own");
    ensure(answer == expected, what, format!("{answer:?}"))
}

/// Checks that a number of more than 32 bits is not truncated: it must not be accepted like 0 if a
/// smaller one is refused.
fn integers_that_do_not_fit(c: &Context) -> Verdict {
    const TOO_LARGE: i64 = 1 << 32;
    let (function, host, name) = (function(c)?, c.plugin()?.host(), c.registration());
    let ask = |number: i64| function.call(host.reference(), &[AnyView::from(number)]).map(drop);
    // The order matters, because the last call may have side effects.
    let (large, wrapped, zero) = (ask(i64::from(i32::MAX)), ask(TOO_LARGE), ask(0));
    let wraps = zero.is_ok() && large.is_err() && wrapped.is_ok();
    let expected =
        format!("{name}({TOO_LARGE}): an error with value and range, as it takes 0 and refuses {}", i32::MAX);
    ensure(!wraps, expected, "success, as for 0: the number was cut off at 32 bits")
}

/// Returns true if the error kind says that the plugin is at fault.
fn is_a_bug(error: &Error) -> bool {
    let kind = error.kind();
    let known = [ErrorKind::PANIC, ErrorKind::INTERNAL, ErrorKind::BROKEN_PLUGIN];
    kind.class() == Fault::Bug && known.contains(&kind)
}

impl Answer {
    /// Checks the duties of every call: status, result and error (V.1 to V.7, V.11, V.17, P7.1,
    /// P7.3).
    fn hold(&self, what: &str) -> Verdict {
        let is_known = matches!(self.status, abi::CHIPDOCK_OK | abi::CHIPDOCK_ERROR);
        ensure(is_known, format!("{what}: 0, or -1 with an error"), self.status)
            .map_err(|stop| stop.clause("V.11"))?;
        let error = match &self.result {
            Ok(value) => return well_formed(&format!("the result of {what}"), value),
            Err(error) => error,
        };
        let as_before = self.written.is_none();
        let found = self.written.as_deref().unwrap_or_default();
        ensure(as_before, format!("{what}, which failed: the result as it was"), found)
            .map_err(|stop| stop.clause("V.11"))?;
        let (kind, message) = (error.kind(), error.message());
        let is_raised = !Plugin::is_silent(error);
        ensure(is_raised, format!("{what}: -1 with an error raised"), "none")
            .map_err(|stop| stop.clause("P7.1"))?;
        well_formed(&format!("the error of {what}"), &Any::from(error.clone()))?;
        ensure(
            !message.is_empty() && !kind.as_str().is_empty(),
            format!("{what}: an error with kind and message"),
            format!("{kind}: {message:?}"),
        )
        .map_err(|stop| stop.clause("P7.3"))?;
        let panicked = kind == ErrorKind::PANIC;
        ensure(
            !panicked,
            format!("{what}: the caller's mistake, told as such"),
            format!("{kind}: {message}"),
        )
        .map_err(|stop| stop.clause("P8.4"))?;
        let expected = format!("{what}: TypeError, ValueError or another mistake of the caller's");
        ensure(!is_a_bug(error), expected, format!("{kind}: {message}"))
    }
}
