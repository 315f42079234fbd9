//! Several hosts: one is created or shut down while calls of another run.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use chipdock_plugin_api::attribute::DEVICE_NAME;
use chipdock_raw_host::{Device, Plugin};

use super::together;
use crate::stop::{ensure, equal, refused};
use crate::{Cases, Context, Group, Stop, Subject, Verdict, hosts};

pub(super) fn add(cases: &mut Cases) {
    let mut hosts = |name: &str, clause, body: fn(&Context) -> Verdict| {
        cases.case(Group::Threads, format!("hosts/{name}"), clause, Subject::DeviceApi).run(body);
    };
    hosts("another-while-calls-run", "P10.7", another);
    hosts("shutdown-while-calls-run", "P10.5", shutdown);
    hosts("shutdown-of-another", "P10.4", shutdown_of_another);
}

/// Runs `body` with the device API of another host.
fn with_another<R>(c: &Context, body: impl FnOnce(&Plugin, &Device) -> Verdict<R>) -> Verdict<R> {
    let opened = Plugin::init(c.plugin()?.raw(), hosts::host());
    let opened = opened.map_err(|error| {
        Stop::failed("`init` for another host: success", error.message).clause(error.clause)
    })?;
    let devices = opened.devices();
    let device = devices.iter().find(|device| device.name == c.registration());
    let done = match device {
        Some(device) => body(&opened, device),
        None => Err(Stop::failed("the same registrations for every host", "the device API is not there")
            .clause("P5.2")),
    };
    // The case may have shut it down already.
    let _ = opened.shutdown();
    // SAFETY: `shutdown` was called, and everything that the case held of this host is dropped.
    unsafe { opened.destroy() };
    done
}

fn works(device: &Device) -> Verdict {
    let space = device.allocate(64)?;
    space.write(0, &[3; 64])?;
    let mut found = [0; 64];
    space.read(0, &mut found)?;
    equal("what was written", &found, &[3; 64])?;
    Ok(space.free()?)
}

/// Runs `init` for other hosts repeatedly while calls of this one run; the other hosts must work
/// too.
fn another(c: &Context) -> Verdict {
    let device = c.device()?;
    let is_over = AtomicBool::new(false);
    let mut outcome = Ok(());
    let running = std::thread::scope(|scope| {
        let callers = scope.spawn(|| {
            together(4, |_| {
                while !is_over.load(Ordering::Acquire) {
                    works(&device)?;
                }
                Ok(())
            })
        });
        outcome = (0..10).try_for_each(|_| with_another(c, |_, device| works(device)));
        is_over.store(true, Ordering::Release);
        callers.join().unwrap_or_else(|_| Err(Stop::suite("a thread of the case panicked")))
    });
    outcome.map_err(|stop| stop.note("the host that came while another's calls ran"))?;
    running.map_err(|stop| stop.note("calls of a host while others came and went"))
}

/// Checks that every call succeeds or fails with `Unavailable`, and that all fail once `shutdown`
/// has returned.
fn shutdown(c: &Context) -> Verdict {
    for _ in 0..4 {
        with_another(c, |plugin, device| {
            works(device)?;
            let (n_done, is_over) = (AtomicUsize::new(0), AtomicBool::new(false));
            let deadline = Instant::now() + Duration::from_secs(5);
            let call = || -> Verdict {
                loop {
                    // Read before the call begins: a call that began after `shutdown` returned must
                    // not succeed.
                    let was_over = is_over.load(Ordering::Acquire);
                    match device.attribute(0, DEVICE_NAME) {
                        Ok(_) if was_over => {
                            return Err(Stop::failed("a call after shutdown: Unavailable", "success"));
                        }
                        Ok(_) => drop(n_done.fetch_add(1, Ordering::Relaxed)),
                        Err(error) => {
                            return refused("a call during shutdown", Err::<(), _>(error), &["Unavailable"]);
                        }
                    }
                    ensure(Instant::now() < deadline, "an end of shutdown", "none after 5 s")?;
                }
            };
            let mut ended = Ok(());
            let calls = std::thread::scope(|scope| {
                let callers = scope.spawn(|| together(4, |_| call()));
                while n_done.load(Ordering::Relaxed) < 100 && !callers.is_finished() {
                    std::thread::yield_now();
                }
                ended = plugin.shutdown();
                is_over.store(true, Ordering::Release);
                callers.join().unwrap_or_else(|_| Err(Stop::suite("a thread of the case panicked")))
            });
            calls?;
            ended?;
            let later = device.count();
            refused("device_count after shutdown", later, &["Unavailable"])
        })?;
    }
    Ok(())
}

/// Uses the data spaces of one host while another is shut down.
fn shutdown_of_another(c: &Context) -> Verdict {
    let device = c.device()?;
    let kept = device.allocate(128)?;
    kept.write(0, &[9; 128])?;
    for _ in 0..4 {
        with_another(c, |plugin, other| {
            let theirs = other.allocate(128)?;
            theirs.write(0, &[1; 128])?;
            theirs.free()?;
            Ok(plugin.shutdown()?)
        })?;
        works(&device)?;
    }
    let mut found = [0; 128];
    kept.read(0, &mut found)?;
    equal("a data space of the host that stayed", &found, &[9; 128])
}
