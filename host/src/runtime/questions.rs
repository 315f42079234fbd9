//! Interface `interrupt` 1 of environments: compiled code asks whether to go on (X.13).

use std::ffi::c_void;
use std::ptr;

use chipdock_abi::{CHIPDOCK_ERROR, CHIPDOCK_OK, ChipdockInterface, ChipdockInterrupt1};

use super::interrupt;
use crate::boundary::services::Services;

static INTERRUPT: ChipdockInterrupt1 = ChipdockInterrupt1 { go_on };

/// Returns the interface.
pub(super) fn interface(services: &'static Services) -> ChipdockInterface {
    ChipdockInterface {
        self_: ptr::from_ref(services).cast_mut().cast(),
        table: ptr::from_ref(&INTERRUPT).cast(),
        table_size_bytes: size_of::<ChipdockInterrupt1>() as u64,
        features: 0,
    }
}

unsafe extern "C" fn go_on(self_: *mut c_void) -> i32 {
    // SAFETY: compiled code passes the interface's `self_`; services live as long as the process.
    let services: &'static Services = unsafe { &*self_.cast::<Services>() };
    services.guarded("interrupt.go_on", CHIPDOCK_ERROR, || match interrupt::go_on(|| services.on_ask()) {
        Ok(()) => CHIPDOCK_OK,
        Err(error) => {
            services.slots.raise_as_host(error);
            CHIPDOCK_ERROR
        }
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
    use std::thread;
    use std::time::{Duration, Instant};

    use chipdock_plugin_api as api;

    use super::*;
    use crate::error::ErrorKind;
    use crate::runtime::interrupt::{ASK_EVERY, CallOptions, OnAsk};
    use crate::{Host, HostOptions};

    /// The interface as compiled code finds it; answers the kind of the error.
    fn asker(host: &Host) -> impl Fn() -> Result<(), String> + Copy + Send + Sync + use<> {
        let (raw, services) = (host.environment(), host.0.services);
        let mut found = ChipdockInterface::NONE;
        // SAFETY: the table's own environment, a text that ends with NUL, a place to write to.
        assert_eq!(unsafe { (raw.query)(raw, c"interrupt".as_ptr(), 1, &mut found) }, 0);
        assert_eq!(found.table_size_bytes, 8);
        // SAFETY: interface `interrupt` 1 has this table, which is static.
        let table = unsafe { &*found.table.cast::<ChipdockInterrupt1>() };
        let self_ = found.self_.expose_provenance();
        move || {
            // SAFETY: the interface's own `self_`.
            let status = unsafe { (table.go_on)(ptr::with_exposed_provenance_mut(self_)) };
            services.check(status, String::new).map_err(|error| error.kind().as_str().to_owned())
        }
    }

    fn host() -> Host {
        Host::new(HostOptions::isolated()).unwrap()
    }

    /// Asks until the answer is no, a second long at most.
    fn asks_until_told(ask: impl Fn() -> Result<(), String>) -> Result<(), String> {
        let start = Instant::now();
        while start.elapsed() < Duration::from_secs(1) {
            ask()?;
        }
        Ok(())
    }

    /// X.13, P3.2: it is there in this version alone, without options everybody goes on, and once
    /// the host is gone too.
    #[test]
    fn x_13_who_gave_no_options_goes_on() {
        let host = host();
        let ask = asker(&host);
        let raw = host.environment();
        let mut found = ChipdockInterface { table: raw.self_, ..ChipdockInterface::NONE };
        // SAFETY: the table's own environment, a text that ends with NUL, a place to write to.
        assert_eq!(unsafe { (raw.query)(raw, c"interrupt".as_ptr(), 2, &mut found) }, 0);
        assert!(found.table.is_null());
        let start = Instant::now();
        (0..1_000_000).for_each(|_| assert_eq!(ask(), Ok(())));
        println!("a question and its answer: {:?}", start.elapsed() / 1_000_000);
        drop(host);
        assert_eq!(ask(), Ok(()));
    }

    /// X.14, CALL-E4: what is around counts, what is over does not, nor does another thread's.
    #[test]
    fn x_14_the_error_says_why() {
        let host = host();
        let ask = asker(&host);
        let cancel = Arc::new(AtomicBool::new(false));
        let cancelled = CallOptions { cancel: Some(Arc::clone(&cancel)), ..CallOptions::default() };
        let soon = CallOptions::until(Instant::now() + Duration::from_millis(30));
        let late = CallOptions::until(Instant::now() + Duration::from_secs(1000));
        assert_eq!(
            soon.within(|| late.within(|| asks_until_told(ask))).unwrap().unwrap(),
            Err("TimeoutError".into())
        );
        assert_eq!(late.within(|| soon.within(|| ())).unwrap().unwrap_err().kind(), &ErrorKind::Timeout);
        cancelled
            .within(|| {
                assert_eq!(ask(), Ok(()));
                cancel.store(true, Ordering::Relaxed);
                // The first question after that.
                assert_eq!(ask(), Err("Cancelled".into()));
                assert_eq!(thread::scope(|scope| scope.spawn(ask).join().unwrap()), Ok(()));
            })
            .unwrap();
        assert_eq!(ask(), Ok(()));
    }

    /// CALL-E5: the caller is asked rarely, on its own thread, and its error is the answer; that of
    /// a call within another first.
    #[test]
    fn the_caller_is_asked_now_and_then() {
        static ASKED: AtomicUsize = AtomicUsize::new(0);
        let counted = OnAsk::new(|| {
            ASKED.fetch_add(1, Ordering::Relaxed);
            Ok(())
        });
        let host = Host::new(HostOptions { on_ask: Some(counted), ..HostOptions::isolated() }).unwrap();
        let ask = asker(&host);
        let start = Instant::now();
        while start.elapsed() < Duration::from_millis(300) {
            ask().unwrap();
        }
        let asked = ASKED.load(Ordering::Relaxed);
        assert!((3..=16).contains(&asked), "asked {asked} times in 0.3 s");
        let on_ask = |kind: &'static str| {
            let refused = move || Err(api::Error::new(api::ErrorKind::new(kind), "enough"));
            CallOptions { on_ask: Some(OnAsk::new(refused)), ..CallOptions::default() }
        };
        let (outer, inner) = (on_ask("test.Outer"), on_ask("test.Inner"));
        let ended = outer.within(|| {
            thread::sleep(ASK_EVERY);
            assert_eq!(inner.within(|| asks_until_told(ask)).unwrap(), Err("test.Inner".into()));
            thread::sleep(ASK_EVERY);
            asks_until_told(ask)
        });
        assert_eq!(ended.unwrap(), Err("test.Outer".into()));
    }
}
