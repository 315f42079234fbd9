//! KIT-10 to KIT-12.

use chipdock_plugin_api::kit::{FirstFailure, Health};
use chipdock_plugin_api::{
    Any, AnyView, Context, Error, ErrorKind, HostRef, HostState, Registration, argument,
    register_failure_hooks, registrations,
};
use proptest::prelude::*;

use crate::fails;

#[test]
fn kit_10_the_first_cause_stays_until_the_device_is_opened_again() {
    let health = Health::default();
    health.check("npu:0").unwrap();
    health.lose("code 7");
    health.lose("code 8");
    for _ in 0..2 {
        fails(
            health.check("npu:0"),
            &ErrorKind::DEVICE_LOST,
            &["npu:0 is lost since code 7", "`reset`", "end the process"],
        );
    }
    health.restore();
    health.check("npu:0").unwrap();
    health.lose("code 9");
    fails(health.check("npu:0"), &ErrorKind::DEVICE_LOST, &["since code 9"]);
}

#[test]
fn kit_11_a_request_takes_effect_once() {
    let health = Health::default();
    assert!(!health.takes_failure());
    health.fail_next_copy();
    health.out_of_memory_next();
    fails(health.check_memory("npu:0"), &ErrorKind::OUT_OF_MEMORY, &["npu:0"]);
    health.check_memory("npu:0").unwrap();
    assert!(health.takes_failure() && !health.takes_failure());
    health.fail_next_copy();
    health.out_of_memory_next();
    health.restore();
    assert!(!health.takes_failure(), "cancelled");
    health.check_memory("npu:0").unwrap();
}

/// Two devices.
#[derive(Default)]
struct Npu([Health; 2]);

impl HostState for Npu {
    fn new(_host: HostRef) -> Self {
        Self::default()
    }
}

register_failure_hooks!("npu", |context, args, hook| {
    let device_id: usize = argument::<i64>(args, 0, "device_id")?.try_into().unwrap_or(usize::MAX);
    let state = context.state::<Npu>();
    let health = state.0.get(device_id);
    hook(health.ok_or_else(|| Error::new(ErrorKind::VALUE_ERROR, "expected an id from 0 to 1"))?);
    Ok(())
});

fn call(context: &Context, name: &str, args: &[AnyView<'_>]) -> Result<Any, Error> {
    let found = registrations().into_iter().find_map(|one| match one {
        Registration::TestHook { name: known, call } if **known == *name => Some(*call),
        _ => None,
    });
    (found.unwrap_or_else(|| panic!("no hook {name}")))(context, args)
}

#[test]
fn kit_11_the_hooks_are_three_and_reach_the_device_of_their_host() {
    let (context, other) = (Context::new(HostRef::standalone()), Context::new(HostRef::standalone()));
    for hook in ["fail_next_copy", "out_of_memory_next", "lose"] {
        let name = format!("conformance.npu.{hook}");
        call(&context, &name, &[1.into()]).unwrap();
        fails(call(&context, &name, &[2.into()]), &ErrorKind::VALUE_ERROR, &["expected an id"]);
        fails(call(&context, &name, &[]), &ErrorKind::TYPE_ERROR, &[]);
    }
    let state = context.state::<Npu>();
    assert!(state.0[1].takes_failure() && !state.0[0].takes_failure());
    fails(state.0[1].check_memory("npu:1"), &ErrorKind::OUT_OF_MEMORY, &[]);
    fails(state.0[1].check("npu:1"), &ErrorKind::DEVICE_LOST, &["since a test requested it"]);
    state.0[0].check("npu:0").unwrap();
    other.state::<Npu>().0[1].check("npu:1").unwrap();
}

proptest! {
    /// KIT-12: a report answers the first failure since the report before it, in whatever order
    /// both come.
    #[test]
    fn kit_12_the_first_failure_is_reported_once(steps in proptest::collection::vec(any::<bool>(), 1..40)) {
        let (failure, mut first) = (FirstFailure::default(), None);
        for (number, fails) in steps.into_iter().enumerate() {
            if fails {
                failure.keep(Error::new(ErrorKind::IO, format!("failure {number}")));
                first.get_or_insert(number);
            } else {
                let reported = failure.report().err().map(|error| error.message().into_owned());
                prop_assert_eq!(reported, first.take().map(|number| format!("failure {number}")));
            }
        }
    }
}

/// Reports by several threads: each failure that is kept after a report is reported, none twice.
#[test]
fn kit_12_threads_lose_no_failure() {
    let failure = FirstFailure::default();
    let (kept, reported) = std::thread::scope(|scope| {
        let keeps = scope.spawn(|| {
            let mut kept = 0;
            for _ in 0..2000 {
                failure.keep(Error::new(ErrorKind::IO, "failed"));
                kept += usize::from(failure.report().is_err());
            }
            kept
        });
        let reports = scope.spawn(|| (0..2000).filter(|_| failure.report().is_err()).count());
        (keeps.join().unwrap(), reports.join().unwrap())
    });
    assert!(failure.report().is_ok(), "the last one was reported");
    assert_eq!(kept + reported, 2000);
}
