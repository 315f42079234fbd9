//! The process ends with the requested exit code, whatever was done with the plugin before (P10.9).
//!
//! Each of these cases is the last one of its worker: the supervisor observes the end of the
//! process, destructors included.

use chipdock_raw_host::Plugin;

use super::session::{Session, call_everything, descriptor, fresh_copy, refusal};
use crate::{Cases, Context, Group, Subject, Verdict, hosts};

pub(super) fn add(cases: &mut Cases) {
    let mut case = |name, body: fn(&Context) -> Verdict| {
        let draft = cases.case(Group::Load, name, "P10.9", Subject::Plugin).deadline(10);
        draft.ends_process().run(body);
    };
    case("end/after-opening", after_opening);
    case("end/after-init", after_init);
    case("end/after-calls", after_calls);
    case("end/after-shutdown", |c| Session::new(c)?.shut_down());
    case("end/after-destroy", |c| Session::new(c)?.end());
    case("end/with-memory-and-streams-left", with_memory_left);
    case("end/after-calls-on-a-thread-that-ended", after_a_thread);
    case("end/with-two-hosts", with_two_hosts);
    case("end/opened-twice", opened_twice);
}

fn after_opening(c: &Context) -> Verdict {
    descriptor(c).map(drop)
}

/// Leaks a session without shutting it down or destroying it, like a program that exits early.
fn leave(session: Session) {
    std::mem::forget(session);
}

fn after_init(c: &Context) -> Verdict {
    leave(Session::new(c)?);
    Ok(())
}

fn after_calls(c: &Context) -> Verdict {
    let session = Session::new(c)?;
    drop(call_everything(session.plugin()));
    leave(session);
    Ok(())
}

fn with_memory_left(c: &Context) -> Verdict {
    let session = Session::new(c)?;
    for device in session.plugin().devices() {
        if let Ok(space) = device.allocate(4096) {
            drop(space.write(0, &[1; 4096]));
            std::mem::forget(space);
        }
        let mut stream = std::ptr::null_mut();
        // SAFETY: the table is registered and called with its `self_`, and there is room for the
        // result.
        let made = device.call("create_stream", |table, self_| unsafe {
            (table.create_stream)(self_, 0, &raw mut stream)
        });
        // A plugin without a device has no stream either: then only the effects of the calls before
        // remain.
        drop(made);
    }
    leave(session);
    Ok(())
}

fn after_a_thread(c: &Context) -> Verdict {
    let session = Session::new(c)?;
    std::thread::scope(|scope| {
        let calls = scope.spawn(|| drop(call_everything(session.plugin())));
        drop(calls.join());
    });
    session.end()
}

fn with_two_hosts(c: &Context) -> Verdict {
    let (first, second) = (Session::new(c)?, Session::new(c)?);
    drop(call_everything(first.plugin()));
    first.end()?;
    leave(second);
    Ok(())
}

fn opened_twice(c: &Context) -> Verdict {
    let copy = fresh_copy(c)?;
    let raw = Plugin::entry(&copy).map_err(|error| refusal(&error))?;
    Plugin::check(raw).map_err(|error| refusal(&error))?;
    let (first, second) = (Session::new(c)?, Session::open(raw, hosts::host())?);
    drop(call_everything(first.plugin()));
    drop(call_everything(second.plugin()));
    first.end()?;
    second.end()
}
