//! Single data spaces of many sizes, alignments and hints.

use std::ffi::c_void;

use chipdock_abi::{
    CHIPDOCK_DATA_SPACE_DEVICE, CHIPDOCK_DATA_SPACE_HOST_VISIBLE, ChipdockDataSpaceRequest, ChipdockDataType,
};
use chipdock_plugin_api::text::str_out;
use chipdock_plugin_api::{ErrorKind, attribute};
use chipdock_raw_host::{Device, Space};

use super::{bytes_of, hints};
use crate::bytes::{pattern, same_bytes};
use crate::stop::{Stop, ensure};
use crate::{Cases, Context, Group, Subject, Verdict};

/// Sizes around those of processors, vectors, caches, pages and drivers' granules.
const SIZES: [u64; 33] = [
    1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257, 4095, 4096,
    4097, 65535, 65536, 65537, 262_144, 1_048_575, 1_048_576, 1_048_577,
];

/// Size from which a small device may refuse.
const LARGE_BYTES: u64 = 1 << 20;

pub(super) fn add(cases: &mut Cases) {
    for size in SIZES {
        let name = format!("size/{size}-bytes");
        cases.case(Group::Memory, name, "D.20", Subject::DeviceApi).run(move |c| one_size(c, size));
    }
    cases.case(Group::Memory, "size/16-mib-or-what-there-is", "D.20", Subject::DeviceApi).run(sixteen_mib);
    cases.case(Group::Memory, "size/on-each-device", "D.20", Subject::DeviceApi).run(on_each_device);
    cases.case(Group::Memory, "size/bytes-stay", "D.20", Subject::DeviceApi).run(bytes_stay);
    cases.case(Group::Memory, "size-0/freed", "D.22", Subject::DeviceApi).run(|c| {
        let device = c.device()?;
        let spaces = (0..100).map(|_| device.allocate(0)).collect::<Result<Vec<_>, _>>()?;
        Ok(spaces.into_iter().try_for_each(Space::free)?)
    });
    cases.case(Group::Memory, "size-0/beside-others", "D.22", Subject::DeviceApi).run(amid_others);
    cases.case(Group::Memory, "free-null", "D.25", Subject::DeviceApi).run(|c| {
        let device = c.device()?;
        for device_id in 0..device.count()? {
            let bytes = pattern(1, 64);
            let space = Space::with(&device, device_id, &bytes)?;
            for _ in 0..3 {
                // SAFETY: D.25 allows null.
                unsafe { device.free_raw(device_id, std::ptr::null_mut()) }?;
            }
            same_bytes("a data space beside it", &space.contents()?, &bytes)?;
        }
        Ok(())
    });
    for exponent in 0..=16 {
        let alignment = 1_u64 << exponent;
        let name = format!("alignment/{alignment}");
        cases
            .case(Group::Memory, name, "D.4", Subject::DeviceApi)
            .run(move |c| aligned(c, alignment, CHIPDOCK_DATA_SPACE_DEVICE));
    }
    for (name, hint) in hints() {
        cases
            .case(Group::Memory, format!("hint/{name}"), "D.28", Subject::DeviceApi)
            .run(move |c| hinted(c, hint));
    }
}

/// Allocates a data space; a device that reports little memory may refuse a large one.
fn allocate(device: &Device, device_id: i32, size: u64) -> Verdict<Space<'_>> {
    let result = device.allocate_on(device_id, size);
    if let Err(error) = &result
        && error.kind() == ErrorKind::OUT_OF_MEMORY
        && size >= LARGE_BYTES
        && let Some(total) = bytes_of(device, device_id, attribute::TOTAL_GLOBAL_MEMORY_BYTES)
        && total < 16 * LARGE_BYTES
    {
        return Err(Stop::Absent(format!("{} has {total} bytes of memory", device.name)));
    }
    Ok(result?)
}

/// Checks that every byte keeps what was written, the first and the last separately too.
fn hold_bytes(space: &Space<'_>, seed: u64) -> Verdict {
    let Ok(size) = usize::try_from(space.size_bytes) else {
        return Err(Stop::suite("a data space larger than host memory"));
    };
    let mut bytes = pattern(seed, size);
    space.write(0, &bytes)?;
    same_bytes("what was written", &space.contents()?, &bytes)?;
    if size == 0 {
        return Ok(());
    }
    for index in [0, size - 1] {
        bytes[index] = !bytes[index];
        space.write(index as u64, &bytes[index..=index])?;
        let mut found = [0];
        space.read(index as u64, &mut found)?;
        same_bytes(&format!("byte {index}, read alone"), &found, &bytes[index..=index])?;
    }
    same_bytes("all bytes after the first and the last were changed", &space.contents()?, &bytes)
}

fn one_size(c: &Context, size: u64) -> Verdict {
    let device = c.device()?;
    let space = allocate(&device, 0, size)?;
    hold_bytes(&space, size)?;
    Ok(space.free()?)
}

fn sixteen_mib(c: &Context) -> Verdict {
    let device = c.device()?;
    let mut size = 16 << 20;
    let space = loop {
        match device.allocate(size) {
            Err(error) if error.kind() == ErrorKind::OUT_OF_MEMORY && size > 65_536 => size /= 2,
            result => break result?,
        }
    };
    hold_bytes(&space, 1)?;
    Ok(space.free()?)
}

fn on_each_device(c: &Context) -> Verdict {
    let device = c.device()?;
    for device_id in 0..device.count()? {
        let space = device.allocate_on(device_id, 10_007)?;
        hold_bytes(&space, 1).map_err(|stop| stop.note(format!("device {device_id}")))?;
        space.free()?;
    }
    Ok(())
}

/// Checks that untouched bytes stay, whatever else is allocated, used and freed meanwhile.
fn bytes_stay(c: &Context) -> Verdict {
    let device = c.device()?;
    let bytes = pattern(1, 20_011);
    let space = Space::with(&device, 0, &bytes)?;
    for number in 0..50_u64 {
        let other = device.allocate(number * 997 + 1)?;
        hold_bytes(&other, number)?;
        other.free()?;
    }
    same_bytes("a data space that lived through 50 others", &space.contents()?, &bytes)
}

fn amid_others(c: &Context) -> Verdict {
    let device = c.device()?;
    let bytes = pattern(1, 256);
    let before = Space::with(&device, 0, &bytes)?;
    let none = device.allocate(0)?;
    let behind = Space::with(&device, 0, &bytes)?;
    none.write(0, &[])?;
    none.read(0, &mut [])?;
    none.free()?;
    same_bytes("a data space made before it", &before.contents()?, &bytes)?;
    same_bytes("a data space made after it", &behind.contents()?, &bytes)
}

/// Holds several data spaces of each size at once, so that they are not aligned by chance.
pub(super) fn aligned(c: &Context, alignment: u64, kind: i32) -> Verdict {
    let device = c.device()?;
    let is_address = device.is_host_memory() || kind != CHIPDOCK_DATA_SPACE_DEVICE;
    let mut spaces = Vec::new();
    for size in [1, 3, alignment, alignment + 1, 3 * alignment + 5, 100, 4097, 24] {
        let space = match device.allocate_kind(0, size, alignment, kind, "") {
            // A greater alignment need not be supported (D.24).
            Err(error) if error.kind() == ErrorKind::UNSUPPORTED && alignment > 64 => return Ok(()),
            Err(error) => return Err(Stop::from(error).clause("D.24")),
            Ok(space) => space,
        };
        if is_address {
            let address =
                if kind == CHIPDOCK_DATA_SPACE_HOST_VISIBLE { space.address()? } else { space.data() };
            let address = address.addr() as u64;
            ensure(
                address != 0 && address.is_multiple_of(alignment),
                format!("{size} bytes at a multiple of {alignment}"),
                format!("address {address:#x}"),
            )?;
        }
        spaces.push(space);
    }
    for (number, space) in spaces.iter().enumerate() {
        hold_bytes(space, number as u64).map_err(|stop| stop.clause("D.20"))?;
    }
    Ok(())
}

/// Allocates with a hint and a size that is no multiple of any element size.
fn hinted(c: &Context, dtype_hint: ChipdockDataType) -> Verdict {
    let device = c.device()?;
    let request = ChipdockDataSpaceRequest {
        size_bytes: 1021,
        alignment_bytes: 64,
        dtype_hint,
        kind: CHIPDOCK_DATA_SPACE_DEVICE,
        scope: str_out(""),
        next: std::ptr::null(),
    };
    let mut spaces = Vec::new();
    for _ in 0..3 {
        let data: *mut c_void = device.allocate_raw(0, &request)?;
        // SAFETY: by D.5, the handle was just allocated and is freed only by the space.
        spaces.push(unsafe { Space::from_raw(&device, 0, data, 1021) });
    }
    for (number, space) in spaces.iter().enumerate() {
        hold_bytes(space, number as u64)?;
    }
    for space in spaces {
        space.free()?;
    }
    Ok(())
}
