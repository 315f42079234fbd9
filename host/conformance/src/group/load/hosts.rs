//! Several hosts, older and newer hosts, threads, and calls after `shutdown` (P3.8, P7.1, P9.1,
//! P10.4, P10.5, P10.7).

use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::ScopedJoinHandle;

use chipdock_abi::ChipdockCopy;
use chipdock_plugin_api::ErrorKind;
use chipdock_raw_host::{NO_HINT, Plugin, host_end};

use super::session::{Answers, Session, call_everything, descriptor, same_answers};
use crate::stop::{ensure, equal};
use crate::{Cases, Context, Group, Stop, Subject, Verdict, hosts};

const N_HOSTS: usize = 50;
const N_THREADS: usize = 8;
const N_ROUNDS: usize = 20;

pub(super) fn add(cases: &mut Cases) {
    for minor in [7, u32::MAX] {
        let name = format!("host-minor/{minor}");
        cases.case(Group::Load, name, "P3.8", Subject::Plugin).run(move |c| host_minor(c, minor));
    }
    let mut case = |name, clause, body: fn(&Context) -> Verdict| {
        cases.case(Group::Load, name, clause, Subject::Plugin).run(body);
    };
    case("hosts/50-in-a-row", "P10.7", many_in_a_row);
    case("hosts/8-threads-at-once", "P10.7", many_at_once);
    case("hosts/same-registrations", "P5.2", same_registrations);
    case("hosts/errors-go-to-the-caller", "P10.4", errors_go_to_the_caller);
    case("hosts/second-outlives-first", "P10.4", |c| outlives(c, false));
    case("hosts/first-outlives-second", "P10.4", |c| outlives(c, true));
    case("hosts/calls-while-others-come-and-go", "P10.4", calls_while_others_come_and_go);
    case("errors/with-every-failure", "P7.1", errors_with_every_failure);
    case("errors/on-the-thread-that-called", "P7.1", errors_on_the_thread);
    case("errors/kind-and-message", "P7.3", kind_and_message);
    case("errors/no-panic", "P8.4", no_panic);
    case("shutdown/succeeds", "P10.5", |c| Session::new(c)?.end());
    case("shutdown/on-another-thread", "P10.5", on_another_thread);
    case("shutdown/waits-for-calls", "P10.5", waits_for_calls);
    case("shutdown/then-unavailable", "P10.5", then_unavailable);
    case("shutdown/then-unavailable-on-8-threads", "P10.5", then_unavailable_on_threads);
    case("destroy/on-another-thread", "P9.1", destroy_on_another_thread);
    let draft = cases.case(Group::Load, "shutdown/drains", "P10.5", Subject::DeviceApi);
    draft.run(drains);
}

/// Calls everything with the worker's own host, for comparison.
fn expected(c: &Context) -> Verdict<Answers> {
    Ok(call_everything(c.plugin()?))
}

fn join<T>(handle: ScopedJoinHandle<'_, T>) -> Verdict<T> {
    handle.join().map_err(|_| Stop::suite("a thread of the suite panicked"))
}

fn host_minor(c: &Context, minor: u32) -> Verdict {
    let session = Session::open(descriptor(c)?, hosts::with_minor(minor))
        .map_err(|stop| stop.clause("P3.8").note(format!("the host says that it knows ABI 1.{minor}")))?;
    let when = format!("with a host of ABI 1.{minor}");
    equal(&format!("what is registered {when}"), &session.plugin().keys(), &c.plugin()?.keys())?;
    same_answers(&when, &expected(c)?, &call_everything(session.plugin()))?;
    session.end()
}

fn many_in_a_row(c: &Context) -> Verdict {
    let (raw, expected) = (descriptor(c)?, expected(c)?);
    for number in 1..=N_HOSTS {
        let note = |stop: Stop| stop.note(format!("host {number} of {N_HOSTS}, one after the other"));
        let session = Session::open(raw, hosts::host()).map_err(note)?;
        same_answers("with a later host", &expected, &call_everything(session.plugin())).map_err(note)?;
        session.end().map_err(note)?;
    }
    Ok(())
}

fn many_at_once(c: &Context) -> Verdict {
    let (raw, expected) = (descriptor(c)?, &expected(c)?);
    let start = &Barrier::new(N_THREADS);
    let live = || -> Verdict {
        start.wait();
        for _ in 0..4 {
            let session = Session::open(raw, hosts::host())?;
            same_answers("with 8 hosts on as many threads", expected, &call_everything(session.plugin()))?;
            session.end()?;
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let handles: Vec<_> = (0..N_THREADS).map(|_| scope.spawn(live)).collect();
        handles.into_iter().try_for_each(|handle| join(handle)?)
    })
}

fn same_registrations(c: &Context) -> Verdict {
    let session = Session::new(c)?;
    equal("what is registered with a second host", &session.plugin().keys(), &c.plugin()?.keys())?;
    session.end()
}

/// Checks that no call failed without an error at its own host:
/// [`chipdock_raw_host::RawHost::check`] finds an error only there.
pub(super) fn raised_with_its_own(answers: &Answers) -> Verdict {
    for (what, answer) in answers {
        let Err(error) = answer else { continue };
        let silent = Plugin::is_silent(error);
        ensure(!silent, format!("{what}: an error raised with the host that called"), error.message())?;
    }
    Ok(())
}

fn errors_go_to_the_caller(c: &Context) -> Verdict {
    let (first, second) = (Session::new(c)?, Session::new(c)?);
    for (caller, other) in [(&first, &second), (&second, &first), (&first, &second)] {
        drop(other.plugin().host().take_error());
        raised_with_its_own(&failing(caller.plugin()))?;
        let stray = other.plugin().host().take_error();
        let found = stray.as_ref().map(|error| error.message().into_owned()).unwrap_or_default();
        ensure(stray.is_none(), "no error with the host that did not call", found)?;
    }
    first.end()?;
    second.end()
}

/// Makes calls that fail for every plugin: on absent devices, and those of [`call_everything`].
fn failing(plugin: &Plugin) -> Answers {
    let mut all = call_everything(plugin);
    for device in plugin.devices() {
        let name = format!("attribute device_name of device_api.{}, device 2147483647", device.name);
        let answer = device.attribute(i32::MAX, chipdock_plugin_api::attribute::DEVICE_NAME);
        all.push((name, answer.map(drop)));
    }
    all
}

fn outlives(c: &Context, first_stays: bool) -> Verdict {
    let (first, second) = (Session::new(c)?, Session::new(c)?);
    let (stays, goes) = if first_stays { (first, second) } else { (second, first) };
    let before = call_everything(stays.plugin());
    goes.end()?;
    same_answers("after another host is gone", &before, &call_everything(stays.plugin()))?;
    raised_with_its_own(&failing(stays.plugin()))?;
    stays.end()
}

fn calls_while_others_come_and_go(c: &Context) -> Verdict {
    let (raw, session) = (descriptor(c)?, Session::new(c)?);
    let before = &call_everything(session.plugin());
    let done = &AtomicBool::new(false);
    std::thread::scope(|scope| {
        let calls = scope.spawn(|| -> Verdict {
            while !done.load(Ordering::Relaxed) {
                let now = call_everything(session.plugin());
                same_answers("while other hosts come and go", before, &now)?;
            }
            Ok(())
        });
        let others = (0..N_ROUNDS).try_for_each(|_| Session::open(raw, hosts::host())?.end());
        done.store(true, Ordering::Relaxed);
        join(calls)??;
        others
    })?;
    session.end()
}

fn errors_with_every_failure(c: &Context) -> Verdict {
    raised_with_its_own(&failing(c.plugin()?))
}

fn errors_on_the_thread(c: &Context) -> Verdict {
    let plugin = c.plugin()?;
    drop(plugin.host().take_error());
    let there = std::thread::scope(|scope| join(scope.spawn(|| raised_with_its_own(&failing(plugin)))))?;
    there.map_err(|stop| stop.note("called on a thread of its own"))?;
    let stray = plugin.host().take_error();
    let found = stray.as_ref().map(|error| error.message().into_owned()).unwrap_or_default();
    ensure(stray.is_none(), "no error on a thread that did not call", found)
}

fn kind_and_message(c: &Context) -> Verdict {
    for (what, answer) in failing(c.plugin()?) {
        let Err(error) = answer else { continue };
        let (kind, message) = (error.kind(), error.message());
        ensure(!kind.as_str().is_empty(), format!("{what}: an error with a kind"), "an empty one")?;
        let says_something = message.chars().filter(|character| character.is_alphabetic()).count() >= 4;
        ensure(
            says_something,
            format!("{what}: a message that says what is wrong"),
            format!("{kind}: {message:?}"),
        )?;
    }
    Ok(())
}

fn no_panic(c: &Context) -> Verdict {
    for (what, answer) in failing(c.plugin()?) {
        let Err(error) = answer else { continue };
        let is_panic = error.kind() == ErrorKind::PANIC;
        ensure(!is_panic, format!("{what}: the caller's mistake, told as such"), error.message())?;
    }
    Ok(())
}

fn on_another_thread(c: &Context) -> Verdict {
    let session = Session::new(c)?;
    drop(call_everything(session.plugin()));
    std::thread::scope(|scope| join(scope.spawn(move || session.end()))?)
}

/// Checks that every call is answered with `Unavailable`.
fn all_unavailable(plugin: &Plugin) -> Verdict {
    for (what, answer) in call_everything(plugin) {
        let expected = format!("{what}, after shutdown: Unavailable");
        match answer {
            Ok(()) => return Err(Stop::failed(expected, "success")),
            Err(error) if error.kind() == ErrorKind::UNAVAILABLE => {}
            Err(error) => {
                return Err(Stop::failed(expected, format!("{}: {}", error.kind(), error.message())));
            }
        }
    }
    Ok(())
}

fn then_unavailable(c: &Context) -> Verdict {
    let session = Session::new(c)?;
    drop(call_everything(session.plugin()));
    session.shut_down()?;
    all_unavailable(session.plugin())
}

fn then_unavailable_on_threads(c: &Context) -> Verdict {
    let session = Session::new(c)?;
    session.shut_down()?;
    let plugin = session.plugin();
    let ask = || (0..N_ROUNDS).try_for_each(|_| all_unavailable(plugin));
    std::thread::scope(|scope| {
        let handles: Vec<_> = (0..N_THREADS).map(|_| scope.spawn(ask)).collect();
        handles.into_iter().try_for_each(|handle| join(handle)?)
    })
}

/// Shuts down while other threads call: each call gets its usual answer or `Unavailable`, and no
/// call that began after `shutdown` returned succeeds.
fn waits_for_calls(c: &Context) -> Verdict {
    for _ in 0..N_ROUNDS {
        let session = Session::new(c)?;
        let usual = &call_everything(session.plugin());
        let (start, closed, stop) =
            (&Barrier::new(N_THREADS + 1), &AtomicBool::new(false), &AtomicBool::new(false));
        let plugin = session.plugin();
        let shut = std::thread::scope(|scope| {
            let handles: Vec<_> = (0..N_THREADS)
                .map(|_| scope.spawn(|| call_until(plugin, usual, start, closed, stop)))
                .collect();
            start.wait();
            let shut = session.shut_down();
            closed.store(true, Ordering::SeqCst);
            std::thread::yield_now();
            stop.store(true, Ordering::SeqCst);
            handles.into_iter().try_for_each(|handle| join(handle)?).and(shut)
        });
        shut?;
    }
    Ok(())
}

fn call_until(
    plugin: &Plugin,
    usual: &Answers,
    start: &Barrier,
    closed: &AtomicBool,
    stop: &AtomicBool,
) -> Verdict {
    start.wait();
    loop {
        let (is_last, was_closed) = (stop.load(Ordering::SeqCst), closed.load(Ordering::SeqCst));
        if was_closed {
            all_unavailable(plugin)?;
        } else {
            as_usual_or_unavailable(usual, &call_everything(plugin))?;
        }
        if is_last {
            return Ok(());
        }
    }
}

fn as_usual_or_unavailable(usual: &Answers, now: &Answers) -> Verdict {
    let is_unavailable = |answer: &Result<(), chipdock_plugin_api::Error>| {
        answer.as_ref().is_err_and(|error| error.kind() == ErrorKind::UNAVAILABLE)
    };
    let before = usual.iter().zip(now).filter(|(_, (_, answer))| !is_unavailable(answer));
    let (before, now): (Answers, Answers) = before.map(|(before, now)| (before.clone(), now.clone())).unzip();
    same_answers("while shutdown runs", &before, &now)
}

/// Queues copies to the device and back, and shuts down without waiting: `shutdown` must finish
/// them.
fn drains(c: &Context) -> Verdict {
    const N_COPIES: usize = 32;
    const SIZE_BYTES: usize = 64 << 10;
    // Reports if there is no device at all.
    c.device()?;
    let session = Session::new(c)?;
    let devices = session.plugin().devices();
    let device = devices.iter().find(|device| device.name == c.registration());
    let device = device.ok_or_else(|| Stop::suite("the second host has no such device"))?;
    let sent: Vec<Vec<u8>> = (0..N_COPIES).map(|number| vec![number as u8 + 1; SIZE_BYTES]).collect();
    let mut back = vec![vec![0_u8; SIZE_BYTES]; N_COPIES];
    let stream = std::ptr::null_mut();
    for (bytes, back) in sent.iter().zip(&mut back) {
        let space = device.allocate(SIZE_BYTES as u64)?;
        let copy = |from, to| ChipdockCopy {
            from,
            to,
            size_bytes: SIZE_BYTES as u64,
            dtype_hint: NO_HINT,
            flags: 0,
            next: std::ptr::null(),
        };
        let there = copy(host_end(bytes.as_ptr().cast_mut(), 0), space.end(0));
        let here = copy(space.end(0), host_end(back.as_mut_ptr(), 0));
        // SAFETY: by D.6, the host's ends live until `shutdown` has returned, and the device's
        // until its host is gone.
        unsafe {
            device.copy_raw(0, &there, stream)?;
            device.copy_raw(0, &here, stream)?;
        }
        // Queued work uses the data space, and after `shutdown` it cannot be freed: it goes with
        // its host.
        std::mem::forget(space);
    }
    session.shut_down()?;
    let n_wrong = sent.iter().zip(&back).filter(|(sent, back)| sent != back).count();
    let expected =
        format!("{N_COPIES} copies to {} and back, queued before shutdown, done after it", device.name);
    ensure(n_wrong == 0, expected, format!("{n_wrong} of them are not"))
}

fn destroy_on_another_thread(c: &Context) -> Verdict {
    let expected = expected(c)?;
    for _ in 0..N_ROUNDS {
        let session = Session::new(c)?;
        drop(call_everything(session.plugin()));
        session.shut_down()?;
        std::thread::scope(|scope| join(scope.spawn(move || drop(session))))?;
    }
    same_answers("after others were destroyed", &expected, &call_everything(c.plugin()?))
}
