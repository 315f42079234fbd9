//! KIT-3 to KIT-9 for data spaces and their budget.

use std::collections::{BTreeMap, BTreeSet};

use chipdock_plugin_api::ErrorKind;
use chipdock_plugin_api::kit::{Budget, Located, NotAdded, Spaces};
use proptest::prelude::*;

use crate::fails;

#[test]
fn kit_6_an_address_stands_for_each_byte_and_an_opaque_handle_for_the_first() {
    let spaces = Spaces::default();
    let opaque = spaces.add("opaque", 100);
    let address = spaces.add_at(0x1000, "address", 100).unwrap();
    assert_eq!(address, 0x1000);
    for (handle, inner_bytes) in [(0x1000, 0), (0x1001, 1), (0x1000 + 99, 99)] {
        let found = spaces.find(handle, "npu:0").unwrap();
        assert_eq!(
            (*found.value, found.base, found.inner_bytes, found.size_bytes),
            ("address", 0x1000, inner_bytes, 100)
        );
        let seen = spaces.look(handle, |Located { value, inner_bytes, .. }| (*value, inner_bytes));
        assert_eq!(seen, Some(("address", inner_bytes)));
    }
    assert_eq!(*spaces.find(opaque, "npu:0").unwrap().value, "opaque");
    for handle in [0, 0xFFF, 0x1000 + 100, opaque - 1, opaque + 1, usize::MAX] {
        fails(spaces.find(handle, "npu:0"), &ErrorKind::WRONG_STATE, &["is no data space of npu:0"]);
        assert_eq!(spaces.look(handle, |_| ()), None);
        fails(spaces.take(handle, "npu:0"), &ErrorKind::WRONG_STATE, &["is no data space of npu:0"]);
    }
    fails(spaces.take(0x1001, "npu:0"), &ErrorKind::WRONG_STATE, &["0x1001"]);
}

#[test]
fn kit_3_a_launch_looks_exact_handles_up_and_null_is_none() {
    let spaces = Spaces::default();
    let (one, two) = (spaces.add(1, 8), spaces.add_at(0x2000, 2, 8).unwrap());
    let found = spaces.each([one, 0, two, one].into_iter(), "npu:0").unwrap();
    assert_eq!(
        found.into_iter().map(|found| found.map(|value| *value)).collect::<Vec<_>>(),
        [Some(1), None, Some(2), Some(1)]
    );
    fails(spaces.each([one, two + 1].into_iter(), "npu:0"), &ErrorKind::WRONG_STATE, &["0x2001"]);
    spaces.take(one, "npu:0").unwrap();
    fails(spaces.each([one].into_iter(), "npu:0"), &ErrorKind::WRONG_STATE, &["is no data space of npu:0"]);
    fails(spaces.take(one, "npu:0"), &ErrorKind::WRONG_STATE, &["it was freed"]);
}

#[test]
fn kit_7_overlapping_spaces_are_handed_back() {
    let spaces = Spaces::default();
    spaces.add_at(100, "first", 50).unwrap();
    for (address, size_bytes) in
        [(100, 50), (60, 41), (149, 1), (120, 0), (0, usize::MAX as u64), (100, u64::MAX)]
    {
        match spaces.add_at(address, "second", size_bytes) {
            Err(NotAdded::Overlaps("second")) => {}
            other => panic!("{address}, {size_bytes}: {other:?}"),
        }
    }
    spaces.add_at(60, "before", 40).unwrap();
    spaces.add_at(150, "after", 0).unwrap();
    assert!(matches!(spaces.add_at(150, "twice", 0), Err(NotAdded::Overlaps("twice"))), "a handle each");
    spaces.add_at(usize::MAX, "last", 1).unwrap();
    spaces.take(100, "npu:0").unwrap();
    spaces.add_at(100, "again", 50).unwrap();
}

#[test]
fn kit_5_an_address_that_is_gone_is_nothing_elses_until_it_is_freed() {
    let spaces = Spaces::default();
    let (opaque, address) = (spaces.add("opaque", 8), spaces.add_at(0x1000, "address", 8).unwrap());
    spaces.abandon();
    for handle in [opaque, address] {
        assert!(spaces.is_gone(handle));
        fails(spaces.find(handle, "npu:0"), &ErrorKind::WRONG_STATE, &["is no data space"]);
    }
    assert!(matches!(spaces.add_at(0x1000, "new", 8), Err(NotAdded::Gone("new"))));
    assert_eq!(spaces.take(address, "npu:0").unwrap(), None);
    fails(spaces.take(address, "npu:0"), &ErrorKind::WRONG_STATE, &["it was freed"]);
    assert_eq!(spaces.add_at(0x1000, "new", 8).unwrap(), 0x1000);
    assert_eq!(spaces.take(opaque, "npu:0").unwrap(), None);
}

#[test]
fn kit_8_a_range_is_within_or_an_index_error_with_the_numbers() {
    let spaces = Spaces::default();
    let address = spaces.add_at(0x1000, (), 100).unwrap();
    assert_eq!(spaces.range(address + 10, 20, 70, "npu:0").unwrap().1, 30);
    assert_eq!(spaces.range(address, 100, 0, "npu:0").unwrap().1, 100);
    let words = ["npu:0", "100 bytes", "0x1000", "found 71 bytes at 30"];
    fails(spaces.range(address + 10, 20, 71, "npu:0"), &ErrorKind::INDEX_ERROR, &words);
    for (offset, size) in [(101, 0), (u64::MAX, 1), (1, u64::MAX), (u64::MAX, u64::MAX), (0, 101)] {
        fails(spaces.range(address, offset, size, "npu:0"), &ErrorKind::INDEX_ERROR, &["100 bytes"]);
    }
}

#[test]
fn kit_9_a_reservation_is_returned_once_and_a_refused_one_changes_nothing() {
    let budget = Budget::new(100);
    let first = budget.reserve(60, "npu:0").unwrap();
    for size_bytes in [41, 100, u64::MAX] {
        let words = ["npu:0", "40 of 100 are left"];
        fails(budget.reserve(size_bytes, "npu:0"), &ErrorKind::OUT_OF_MEMORY, &words);
        assert_eq!(budget.available_bytes(), 40);
    }
    let second = budget.reserve(40, "npu:0").unwrap();
    let nothing = budget.reserve(0, "npu:0").unwrap();
    drop((first, nothing));
    assert_eq!(budget.available_bytes(), 60);
    drop(budget);
    drop(second);
}

#[derive(Clone, Debug)]
enum Step {
    Add(u64),
    AddAt(usize, u64),
    Take(usize),
    Abandon,
    Find(usize),
    Range(usize, u64, u64),
}

fn step() -> impl Strategy<Value = Step> {
    let address = 1_usize..64;
    prop_oneof![
        2 => (0_u64..8).prop_map(Step::Add),
        6 => (address.clone(), 0_u64..12).prop_map(|(at, size)| Step::AddAt(at, size)),
        4 => address.clone().prop_map(Step::Take),
        1 => Just(Step::Abandon),
        6 => address.clone().prop_map(Step::Find),
        6 => (address, 0_u64..12, 0_u64..12).prop_map(|(at, offset, size)| Step::Range(at, offset, size)),
    ]
}

proptest! {
    /// KIT-5 to KIT-8: lookups equal those in a map of single bytes, each of which is of one data
    /// space at most.
    #[test]
    fn kit_6_lookups_equal_a_map_of_bytes(steps in proptest::collection::vec(step(), 1..80)) {
        let spaces = Spaces::default();
        // Base and size of what is live; what is gone.
        let mut live: BTreeMap<usize, u64> = BTreeMap::new();
        let mut gone: BTreeSet<usize> = BTreeSet::new();
        for step in steps {
            let bytes: BTreeMap<usize, usize> = live
                .iter()
                .flat_map(|(base, size)| (*base..*base + (*size).max(1) as usize).map(|byte| (byte, *base)))
                .collect();
            let found = |handle: usize| {
                let base = *bytes.get(&handle)?;
                Some((base, (handle - base) as u64))
            };
            match step {
                Step::Add(size) => { spaces.add(usize::MAX, size); }
                Step::AddAt(at, size) => {
                    let is_free = (at..at + size.max(1) as usize).all(|byte| !bytes.contains_key(&byte));
                    let added = spaces.add_at(at, at, size);
                    if gone.contains(&at) {
                        prop_assert!(matches!(added, Err(NotAdded::Gone(_))));
                    } else if is_free {
                        prop_assert_eq!(added.unwrap(), at);
                        live.insert(at, size);
                    } else {
                        prop_assert!(matches!(added, Err(NotAdded::Overlaps(_))));
                    }
                }
                Step::Take(at) => {
                    let expected = match live.remove(&at) {
                        Some(_) => Some(Some(at)),
                        None => gone.remove(&at).then_some(None),
                    };
                    let taken = spaces.take(at, "npu:0").ok().map(|value| value.map(|value| *value));
                    prop_assert_eq!(taken, expected);
                }
                Step::Abandon => {
                    spaces.abandon();
                    gone.extend(std::mem::take(&mut live).into_keys());
                }
                Step::Find(at) => {
                    let at_found = spaces.find(at, "npu:0").ok().map(|found| (*found.value, found.inner_bytes));
                    prop_assert_eq!(at_found, found(at));
                }
                Step::Range(at, offset, size) => {
                    let expected = found(at).map(|(base, inner)| {
                        let start = inner + offset;
                        (start + size <= live[&base]).then_some((base, start as usize))
                    });
                    let range = match spaces.range(at, offset, size, "npu:0") {
                        Ok((value, start)) => Some(Some((*value, start))),
                        Err(error) if error.kind() == ErrorKind::INDEX_ERROR => Some(None),
                        Err(_) => None,
                    };
                    prop_assert_eq!(range, expected);
                }
            }
        }
    }

    /// KIT-9: the budget is what is left of the total, whoever reserves and releases.
    #[test]
    fn kit_9_reservations_never_add_up_to_more(sizes in proptest::collection::vec((0_u64..60, any::<bool>()), 1..60)) {
        let budget = Budget::new(100);
        let mut held = Vec::new();
        for (size_bytes, releases) in sizes {
            let used: u64 = held.iter().map(|(size_bytes, _)| size_bytes).sum();
            match budget.reserve(size_bytes, "npu:0") {
                Ok(reserved) => {
                    prop_assert!(used + size_bytes <= 100);
                    held.push((size_bytes, reserved));
                }
                Err(_) => prop_assert!(used + size_bytes > 100),
            }
            if releases && !held.is_empty() {
                held.swap_remove(0);
            }
            let used: u64 = held.iter().map(|(size_bytes, _)| size_bytes).sum();
            prop_assert_eq!(budget.available_bytes(), 100 - used);
        }
    }
}
