//! Many live data spaces: neighbours, order of freeing, and reuse of freed memory.

use std::collections::HashMap;

use chipdock_plugin_api::{ErrorKind, attribute};
use chipdock_raw_host::Space;

use super::{available_bytes, bytes_of};
use crate::bytes::{pattern, same_bytes};
use crate::case::Profile;
use crate::stop::{Stop, ensure};
use crate::{Cases, Context, Group, Subject, Verdict};

/// Number of live data spaces in cases about large numbers.
const N_MANY: usize = 1000;

#[derive(Clone, Copy)]
enum Order {
    AsAllocated,
    Reverse,
    Random,
}

pub(super) fn add(cases: &mut Cases) {
    for size in [1_usize, 8, 16, 24, 64, 100, 256, 4096, 65_537] {
        let name = format!("neighbours/64-of-{size}-bytes");
        cases.case(Group::Memory, name, "D.21", Subject::DeviceApi).run(move |c| neighbours(c, &[size; 64]));
    }
    let mixed: Vec<usize> = (0..64).map(|index| (index * 7919) % 9001 + 1).collect();
    cases
        .case(Group::Memory, "neighbours/64-of-mixed-sizes", "D.21", Subject::DeviceApi)
        .run(move |c| neighbours(c, &mixed));
    cases.case(Group::Memory, "neighbours/in-gaps", "D.21", Subject::DeviceApi).run(in_gaps);
    let orders = [("in-order", Order::AsAllocated), ("reverse", Order::Reverse), ("random", Order::Random)];
    for (name, order) in orders {
        let name = format!("many/{N_MANY}-freed-{name}");
        cases.case(Group::Memory, name, "D.27", Subject::DeviceApi).run(move |c| many(c, order));
    }
    cases.case(Group::Memory, "again/more-than-there-is", "D.27", Subject::DeviceApi).run(more_than_there_is);
    cases.case(Group::Memory, "again/counted-as-available", "D.27", Subject::DeviceApi).run(counted);
    cases.case(Group::Memory, "again/holds-bytes", "D.20", Subject::DeviceApi).run(again);
    cases
        .case(Group::Memory, "devices/apart", "D.30", Subject::DeviceApi)
        .profile(Profile::SeveralDevices)
        .run(devices_apart);
}

/// Checks that the handles of non-empty data spaces differ and that none is null.
fn hold_handles(spaces: &[Space<'_>]) -> Verdict {
    let mut seen = HashMap::new();
    for (number, space) in spaces.iter().enumerate() {
        let handle = space.data().addr();
        ensure(handle != 0, format!("a handle of data space {number}"), "null")?;
        if let Some(other) = seen.insert(handle, number) {
            return Err(Stop::failed(
                "handles that differ",
                format!("{handle:#x} stands for number {other} and number {number}, which both live"),
            ));
        }
    }
    Ok(())
}

fn hold_contents(spaces: &[Space<'_>], bytes: &[Vec<u8>], when: &str) -> Verdict {
    spaces.iter().zip(bytes).enumerate().try_for_each(|(number, (space, bytes))| {
        same_bytes(&format!("data space {number} of {}, {when}", spaces.len()), &space.contents()?, bytes)
    })
}

/// Checks that each data space keeps its own bytes, whichever one is written.
fn neighbours(c: &Context, sizes: &[usize]) -> Verdict {
    let device = c.device()?;
    let spaces = sizes.iter().map(|size| device.allocate(*size as u64)).collect::<Result<Vec<Space>, _>>()?;
    hold_handles(&spaces)?;
    let mut bytes = Vec::new();
    for (number, space) in spaces.iter().enumerate() {
        bytes.push(pattern(number as u64, sizes[number]));
        space.write(0, &bytes[number])?;
    }
    hold_contents(&spaces, &bytes, "all were written")?;
    for number in (0..spaces.len()).rev().step_by(2) {
        bytes[number] = pattern(1000 + number as u64, sizes[number]);
        spaces[number].write(0, &bytes[number])?;
    }
    hold_contents(&spaces, &bytes, "every other was written again")
}

/// Checks that allocations in freed gaps do not affect their neighbours.
fn in_gaps(c: &Context) -> Verdict {
    let device = c.device()?;
    let bytes: Vec<Vec<u8>> = (0..64).map(|number| pattern(number, 1000 + number as usize)).collect();
    let all = bytes.iter().map(|bytes| Space::with(&device, 0, bytes)).collect::<Result<Vec<_>, _>>()?;
    let (mut kept, mut kept_bytes) = (Vec::new(), Vec::new());
    for (number, space) in all.into_iter().enumerate() {
        if number % 2 == 0 {
            space.free()?;
        } else {
            kept.push(space);
            kept_bytes.push(bytes[number].clone());
        }
    }
    for size in [1, 500, 1000, 1001, 1064, 3000] {
        for number in 0..8 {
            kept_bytes.push(pattern(size as u64 * 100 + number, size));
            kept.push(Space::with(&device, 0, &pattern(size as u64 * 100 + number, size))?);
        }
    }
    hold_handles(&kept)?;
    hold_contents(&kept, &kept_bytes, "gaps were filled")
}

fn many(c: &Context, order: Order) -> Verdict {
    let device = c.device()?;
    // The second round reuses what the first one freed.
    for round in 0..2 {
        let spaces = (0..N_MANY)
            .map(|number| device.allocate(16 + (number % 5) as u64 * 8))
            .collect::<Result<Vec<Space>, _>>()?;
        hold_handles(&spaces).map_err(|stop| stop.clause("D.21"))?;
        let numbered = |number: usize| pattern((round * N_MANY + number) as u64, 16);
        // All hold bytes; a sample is enough to detect that two overlap.
        for number in (0..N_MANY).step_by(7) {
            spaces[number].write(0, &numbered(number))?;
        }
        for number in (0..N_MANY).step_by(7) {
            let mut found = [0; 16];
            spaces[number].read(0, &mut found)?;
            same_bytes(&format!("number {number} of {N_MANY}"), &found, &numbered(number))
                .map_err(|stop| stop.clause("D.21"))?;
        }
        let mut left: Vec<Option<Space>> = spaces.into_iter().map(Some).collect();
        for turn in 0..N_MANY {
            let number = match order {
                Order::AsAllocated => turn,
                Order::Reverse => N_MANY - 1 - turn,
                // 617 and 1000 are coprime, so each number occurs once.
                Order::Random => turn * 617 % N_MANY,
            };
            left[number].take().map_or(Ok(()), Space::free)?;
        }
    }
    Ok(())
}

/// Allocates and frees more in total than the device has.
fn more_than_there_is(c: &Context) -> Verdict {
    const ROUNDS: u64 = 20;
    let device = c.device()?;
    let there = available_bytes(&device)
        .or_else(|| bytes_of(&device, 0, attribute::TOTAL_GLOBAL_MEMORY_BYTES))
        .unwrap_or(16 << 20);
    // A sixteenth at a time. More of a large device would take long if the memory is cleared.
    let size = (there / 16).clamp(1, 20 << 20);
    for round in 0..ROUNDS {
        let space = device.allocate(size).map_err(|error| {
            let message = format!("{}: {}", error.kind().as_str(), error.message());
            Stop::failed(format!("{size} bytes in round {round}, as in those before"), message)
        })?;
        space.free()?;
    }
    Ok(())
}

/// Checks that freeing restores the reported available memory.
fn counted(c: &Context) -> Verdict {
    const ROUNDS: u64 = 20;
    let device = c.device()?;
    let Some(before) = available_bytes(&device) else { return again(c) };
    let size = (before / 64).clamp(1, 16 << 20);
    let mut found = before;
    // Others may use the same memory, so only a loss in every round counts.
    for _ in 0..4 {
        let before = available_bytes(&device).unwrap_or(0);
        for _ in 0..ROUNDS {
            device.allocate(size)?.free()?;
        }
        found = available_bytes(&device).unwrap_or(0);
        if found + ROUNDS * size / 2 > before {
            return Ok(());
        }
    }
    Err(Stop::failed(
        format!(
            "about as much available as before, {before} bytes, after {ROUNDS} data spaces of {size} were freed"
        ),
        format!("{found} bytes, and less each time"),
    ))
}

/// Checks that freed memory can be allocated again, at another size too, and holds bytes as before.
fn again(c: &Context) -> Verdict {
    let device = c.device()?;
    for round in 0..40_u64 {
        let size = [4096, 100, 65_536, 1, 4097][(round % 5) as usize];
        let bytes = pattern(round, size);
        let space = Space::with(&device, 0, &bytes)?;
        same_bytes(&format!("round {round}"), &space.contents()?, &bytes)?;
        space.free()?;
    }
    Ok(())
}

fn devices_apart(c: &Context) -> Verdict {
    let device = c.several_devices()?;
    let count = device.count()?;
    let fill = |device_id: i32, round: u64| pattern(round * 1000 + u64::from(device_id.unsigned_abs()), 5003);
    let first = (0..count).map(|id| Space::with(&device, id, &fill(id, 1))).collect::<Result<Vec<_>, _>>()?;
    let second =
        (0..count).map(|id| Space::with(&device, id, &fill(id, 2))).collect::<Result<Vec<_>, _>>()?;
    for (id, space) in (0..count).zip(&first) {
        same_bytes(&format!("device {id}"), &space.contents()?, &fill(id, 1))?;
    }
    // Data freed on one device must remain on the others.
    let mut second = second.into_iter();
    second.next().map_or(Ok(()), Space::free)?;
    for (id, space) in (1..count).zip(second) {
        let what = format!("device {id}, after device 0 freed its own");
        same_bytes(&what, &space.contents()?, &fill(id, 2))?;
    }
    // Exhausting device 0 must not affect the others.
    let refused = device.allocate_on(0, u64::MAX).err();
    let kind = refused.map(|error| error.kind());
    ensure(
        kind == Some(ErrorKind::OUT_OF_MEMORY),
        "OutOfMemory for all 64 bits of bytes",
        format!("{kind:?}"),
    )
    .map_err(|stop| stop.clause("D.26"))?;
    for id in 0..count {
        Space::with(&device, id, &fill(id, 3))?.free()?;
    }
    Ok(())
}
