//! KIT-1 to KIT-5 for tables, and KIT-20.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Condvar, Mutex, RwLock};

use chipdock_plugin_api::ErrorKind;
use chipdock_plugin_api::kit::{HandleKind, Spaces, Table, lock, read, wait, write};
use proptest::prelude::*;

use crate::fails;

const KINDS: [HandleKind; 3] = [HandleKind::DataSpace, HandleKind::Stream, HandleKind::Mark];

#[test]
fn kit_1_kinds_share_no_handle_and_none_is_an_address() {
    let stack = 0_u8;
    let address = std::ptr::from_ref(&stack).addr();
    let mut seen = HashSet::new();
    for kind in KINDS.into_iter().cycle().take(300) {
        let handle = kind.new_handle();
        assert!(seen.insert(handle), "{handle:#x} twice");
        assert_ne!(handle, 0);
        assert_eq!(address & handle & (7 << 60), 0, "bits that addresses do not have");
        assert_eq!((handle >> 60).count_ones(), 1, "one bit for the kind");
    }
}

#[test]
fn kit_2_tables_of_all_devices_and_threads_differ() {
    let handles = Mutex::new(HashSet::new());
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let (streams, spaces) = (Table::new(HandleKind::Stream), Spaces::default());
                let mine: Vec<usize> = (0..500).flat_map(|n| [streams.add(n), spaces.add(n, 1)]).collect();
                lock(&handles).extend(mine);
            });
        }
    });
    assert_eq!(lock(&handles).len(), 4 * 2 * 500);
}

#[test]
fn kit_3_handles_of_others_and_freed_ones_are_named_with_the_device() {
    let (here, there) = (Table::new(HandleKind::Mark), Table::new(HandleKind::Mark));
    let foreign = there.add(1);
    let freed = here.add(2);
    assert_eq!(here.take(freed, "npu:0").unwrap().as_deref(), Some(&2));
    for handle in [0, 1, foreign, freed, freed + 1, usize::MAX] {
        let words = [&*format!("{handle:#x} is no mark of npu:0"), "freed", "another device"];
        fails(here.get(handle, "npu:0"), &ErrorKind::WRONG_STATE, &words);
        fails(here.take(handle, "npu:0"), &ErrorKind::WRONG_STATE, &words);
    }
    assert_eq!(*there.get(foreign, "npu:1").unwrap(), 1, "nothing has changed");
}

/// Counts how often it was dropped, and uses its table meanwhile, as a driver's object may call
/// back.
struct Dropped<'a>(&'a Table<()>, &'a Mutex<usize>);

impl Drop for Dropped<'_> {
    fn drop(&mut self) {
        self.0.add(());
        *lock(self.1) += 1;
    }
}

#[test]
fn kit_4_the_last_user_drops_a_value_and_no_lock_is_held() {
    let (other, count) = (Table::new(HandleKind::Stream), Mutex::new(0));
    let table = Table::new(HandleKind::Stream);
    let (used, unused) = (table.add(Dropped(&other, &count)), table.add(Dropped(&other, &count)));
    let queued = table.get(used, "npu:0").unwrap();
    drop(table.take(used, "npu:0").unwrap());
    assert_eq!(*lock(&count), 0, "queued work has it");
    drop(queued);
    assert_eq!(*lock(&count), 1);
    table.abandon();
    assert_eq!(*lock(&count), 2);
    assert!(table.is_gone(unused));
}

/// A table that is used by the drop of what it releases: a lock that is held would hang here.
#[test]
fn kit_4_a_value_may_use_its_own_table_when_it_is_dropped() {
    struct Back(std::sync::Weak<Table<Back>>);
    impl Drop for Back {
        fn drop(&mut self) {
            if let Some(table) = self.0.upgrade() {
                assert!(table.values().is_empty());
            }
        }
    }
    let table = Arc::new(Table::new(HandleKind::Stream));
    let handle = table.add(Back(Arc::downgrade(&table)));
    drop(table.take(handle, "npu:0").unwrap());
    table.add(Back(Arc::downgrade(&table)));
    table.abandon();
}

#[test]
fn kit_20_a_panic_under_a_lock_closes_nothing() {
    let (mutex, shared, condvar) = (Mutex::new(1), RwLock::new(1), Condvar::new());
    std::thread::scope(|scope| {
        let panics = scope.spawn(|| {
            let (_one, _two) = (mutex.lock().unwrap(), shared.write().unwrap());
            std::panic::resume_unwind(Box::new("a test"));
        });
        panics.join().unwrap_err();
    });
    assert!(mutex.is_poisoned() && shared.is_poisoned());
    *write(&shared) += 1;
    assert_eq!(*read(&shared), 2);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            *lock(&mutex) = 5;
            condvar.notify_all();
        });
        let mut guard = lock(&mutex);
        while *guard != 5 {
            guard = wait(&condvar, guard);
        }
    });
}

#[derive(Clone, Debug)]
enum Step {
    Add,
    Get(usize),
    Take(usize),
    Abandon,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => Just(Step::Add),
        4 => any::<usize>().prop_map(Step::Get),
        4 => any::<usize>().prop_map(Step::Take),
        1 => Just(Step::Abandon),
    ]
}

proptest! {
    /// KIT-2, KIT-3, KIT-5: a table does what a map from handles that are never used again does.
    #[test]
    fn kit_5_a_table_equals_its_model(steps in proptest::collection::vec(step(), 1..60)) {
        let table = Table::new(HandleKind::Stream);
        let (mut all, mut live, mut gone) = (Vec::new(), HashMap::new(), HashSet::new());
        for (number, step) in steps.into_iter().enumerate() {
            let chosen = |index: usize, all: &[usize]| all.get(index % all.len().max(1)).copied().unwrap_or(1);
            match step {
                Step::Add => {
                    let handle = table.add(number);
                    prop_assert!(!all.contains(&handle), "given out again");
                    all.push(handle);
                    live.insert(handle, number);
                }
                Step::Get(index) => {
                    let handle = chosen(index, &all);
                    prop_assert_eq!(table.get(handle, "npu:0").ok().map(|value| *value), live.get(&handle).copied());
                }
                Step::Take(index) => {
                    let handle = chosen(index, &all);
                    let taken = table.take(handle, "npu:0").ok().map(|value| value.map(|value| *value));
                    let expected = match live.remove(&handle) {
                        Some(value) => Some(Some(value)),
                        None => gone.remove(&handle).then_some(None),
                    };
                    prop_assert_eq!(taken, expected);
                }
                Step::Abandon => {
                    table.abandon();
                    gone.extend(live.drain().map(|(handle, _)| handle));
                }
            }
            let mut values: Vec<usize> = table.values().iter().map(|value| **value).collect();
            let mut expected: Vec<usize> = live.values().copied().collect();
            values.sort_unstable();
            expected.sort_unstable();
            prop_assert_eq!(values, expected);
            prop_assert!(all.iter().all(|handle| table.is_gone(*handle) == gone.contains(handle)));
        }
    }
}
