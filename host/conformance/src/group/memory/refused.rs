//! Requests that cannot be satisfied: the right error, and no change of state.

use std::ffi::c_void;
use std::ptr;

use chipdock_abi::{CHIPDOCK_DATA_SPACE_DEVICE, ChipdockDataSpaceRequest};
use chipdock_plugin_api::text::str_out;
use chipdock_plugin_api::{ErrorKind, attribute};
use chipdock_raw_host::{Device, NO_HINT, Space};

use super::{available_bytes, bytes_of};
use crate::bytes::{pattern, same_bytes};
use crate::stop::{Stop, ensure, refused};
use crate::{Cases, Context, Group, Subject, Verdict};

/// Sizes beyond every device; rounding them up or adding a header overflows 64 bits.
const ABSURD: [(&str, u64, u64); 9] = [
    ("all-64-bits", u64::MAX, 64),
    ("all-64-bits-on-a-page", u64::MAX, 4096),
    ("64-less-than-64-bits", u64::MAX - 63, 64),
    ("65-less-than-64-bits", u64::MAX - 64, 64),
    ("a-page-less-than-64-bits", u64::MAX - 4095, 64),
    ("63-bits", i64::MAX as u64, 64),
    ("one-past-63-bits", i64::MAX as u64 + 1, 64),
    ("62-bits", 1 << 62, 1),
    ("2-to-the-60", 1 << 60, 64),
];

pub(super) fn add(cases: &mut Cases) {
    let mut refuse = |name: String, clause, request: Request<'static>, kinds: &'static [&'static str]| {
        cases
            .case(Group::Memory, name, clause, Subject::DeviceApi)
            .run(move |c| hold_refused(&c.device()?, request, kinds));
    };
    let usual = Request { size: 64, alignment: 64, kind: CHIPDOCK_DATA_SPACE_DEVICE, scope: "" };
    for alignment in [0, 3, 6, 24, 65, 96, (1 << 20) + 1, (1 << 63) + 1, u64::MAX] {
        for size in [0, 64] {
            let name = format!("alignment-refused/{alignment}-for-{size}-bytes");
            refuse(name, "D.23", Request { size, alignment, ..usual }, &["ValueError"]);
        }
    }
    for kind in [4, 5, 9, 256, -1, i32::MAX, i32::MIN] {
        for size in [0, 64] {
            let name = format!("kind-unknown/{kind}-for-{size}-bytes");
            refuse(name, "P3.6", Request { size, kind, ..usual }, &["Unsupported"]);
        }
    }
    let scopes = [
        ("unknown", "no-such-scope"),
        ("capital", "Global"),
        ("shorter", "globa"),
        ("longer", "globals"),
        ("space-behind", "global "),
        ("space", " "),
        ("zero-behind", "global\0"),
        ("dotted", "global.no-such-scope"),
        ("other-letters", "g\u{43b}obal"),
    ];
    for (name, scope) in scopes {
        let name = format!("scope-unknown/{name}");
        refuse(name, "D.9", Request { scope, ..usual }, &["Unsupported"]);
    }
    for (name, size, alignment) in ABSURD {
        let name = format!("too-much/{name}");
        refuse(name, "D.26", Request { size, alignment, ..usual }, &["OutOfMemory"]);
    }
    for exponent in [40, 62, 63] {
        let name = format!("alignment-huge/2-to-the-{exponent}");
        cases
            .case(Group::Memory, name, "D.24", Subject::DeviceApi)
            .run(move |c| huge_alignment(&c.device()?, 1 << exponent));
    }
    cases.case(Group::Memory, "scope-unknown/long", "D.9", Subject::DeviceApi).run(|c| {
        let scope = "global".repeat(20_000);
        hold_refused(&c.device()?, Request { scope: &scope, ..USUAL }, &["Unsupported"])
    });
    cases.case(Group::Memory, "scope/global", "D.29", Subject::DeviceApi).run(|c| had(c, "global"));
    cases.case(Group::Memory, "scope/empty", "D.29", Subject::DeviceApi).run(|c| had(c, ""));
    cases.case(Group::Memory, "scope/no-text", "D.29", Subject::DeviceApi).run(no_text);
    cases.case(Group::Memory, "too-much/total-and-1", "D.26", Subject::DeviceApi).run(more_than_all);
    cases.case(Group::Memory, "too-much/available-stays", "P7.7", Subject::DeviceApi).run(available_stays);
    cases.case(Group::Memory, "too-much/1000-times", "P7.7", Subject::DeviceApi).run(over_and_over);
    cases.case(Group::Memory, "too-much/until-full", "P7.7", Subject::DeviceApi).run(until_full);
}

#[derive(Clone, Copy)]
struct Request<'a> {
    size: u64,
    alignment: u64,
    kind: i32,
    scope: &'a str,
}

const USUAL: Request<'_> = Request { size: 64, alignment: 64, kind: CHIPDOCK_DATA_SPACE_DEVICE, scope: "" };

/// A data space that lives through a refusal, to check the state after it.
struct Bystander<'d> {
    device: &'d Device,
    space: Space<'d>,
    bytes: Vec<u8>,
}

impl<'d> Bystander<'d> {
    fn new(device: &'d Device) -> Verdict<Self> {
        let bytes = pattern(99, 4099);
        Ok(Self { device, space: Space::with(device, 0, &bytes)?, bytes })
    }

    /// Checks the state after a refusal, as P7.7 requires.
    fn hold(&self) -> Verdict {
        let held = same_bytes("a data space that was there before", &self.space.contents()?, &self.bytes)
            .and_then(|()| {
                let another = Space::with(self.device, 0, &self.bytes)?;
                same_bytes("a data space made afterwards", &another.contents()?, &self.bytes)?;
                Ok(another.free()?)
            });
        held.map_err(|stop| stop.clause("P7.7"))
    }
}

fn hold_refused(device: &Device, request: Request<'_>, kinds: &[&str]) -> Verdict {
    let bystander = Bystander::new(device)?;
    let Request { size, alignment, kind, scope } = request;
    let shown: String = scope.chars().take(20).collect();
    let what = format!("{size} bytes aligned to {alignment} of kind {kind} in scope \"{shown}\"");
    refused(&what, device.allocate_kind(0, size, alignment, kind, scope), kinds)?;
    bystander.hold()
}

/// Requests an alignment that hardly any address satisfies: it is refused, or it is kept.
fn huge_alignment(device: &Device, alignment: u64) -> Verdict {
    let bystander = Bystander::new(device)?;
    match device.allocate_kind(0, 64, alignment, CHIPDOCK_DATA_SPACE_DEVICE, "") {
        Ok(space) => {
            // A handle need not be an address.
            let address = if device.is_host_memory() { space.data().addr() as u64 } else { alignment };
            ensure(
                address != 0 && address.is_multiple_of(alignment),
                format!("64 bytes at a multiple of {alignment}"),
                format!("address {address:#x}"),
            )?;
            space.write(0, &pattern(1, 64))?;
            same_bytes("what is so aligned", &space.contents()?, &pattern(1, 64))?;
        }
        result => {
            let what = format!("64 bytes aligned to {alignment}");
            refused(&what, result, &["Unsupported", "OutOfMemory"])?;
        }
    }
    bystander.hold()
}

/// Checks that the scope is supported and its memory usable.
fn had(c: &Context, scope: &str) -> Verdict {
    let device = c.device()?;
    let bytes = pattern(1, 1000);
    let space = device.allocate_kind(0, 1000, 64, CHIPDOCK_DATA_SPACE_DEVICE, scope)?;
    space.write(0, &bytes)?;
    same_bytes(&format!("memory of scope \"{scope}\""), &space.contents()?, &bytes)?;
    Ok(space.free()?)
}

/// Passes the empty text as C writes it: null with size 0.
fn no_text(c: &Context) -> Verdict {
    let device = c.device()?;
    let mut scope = str_out("");
    scope.data = ptr::null();
    let request = ChipdockDataSpaceRequest {
        size_bytes: 1000,
        alignment_bytes: 64,
        dtype_hint: NO_HINT,
        kind: CHIPDOCK_DATA_SPACE_DEVICE,
        scope,
        next: std::ptr::null(),
    };
    let data: *mut c_void = device.allocate_raw(0, &request)?;
    // SAFETY: by D.5, the handle was just allocated and is freed only by the space.
    let space = unsafe { Space::from_raw(&device, 0, data, 1000) };
    let bytes = pattern(1, 1000);
    space.write(0, &bytes)?;
    same_bytes("memory of no scope", &space.contents()?, &bytes)
}

/// Requests one byte more than the device has. Host memory is excepted, because the system may
/// overcommit it.
fn more_than_all(c: &Context) -> Verdict {
    let device = c.device()?;
    let total = bytes_of(&device, 0, attribute::TOTAL_GLOBAL_MEMORY_BYTES);
    let size = total.map_or(1 << 60, |total| total + 1);
    let bystander = Bystander::new(&device)?;
    match device.allocate(size) {
        Ok(space) if device.is_host_memory() => space.free()?,
        result => refused(&format!("{size} bytes, of {total:?}"), result, &["OutOfMemory"])?,
    }
    bystander.hold()
}

/// Checks that refused requests are not counted as used memory.
fn available_stays(c: &Context) -> Verdict {
    let device = c.device()?;
    let before = available_bytes(&device);
    let total = bytes_of(&device, 0, attribute::TOTAL_GLOBAL_MEMORY_BYTES).or(before).unwrap_or(1 << 60);
    let mut found = before;
    // Others may use the same memory, so only a loss in every round counts.
    for _ in 0..4 {
        let before = available_bytes(&device);
        for size in [u64::MAX, 1 << 60, total + 1, total + 4096] {
            match device.allocate(size) {
                Ok(space) => space.free()?,
                Err(error) if error.kind() == ErrorKind::OUT_OF_MEMORY => {}
                Err(error) => return Err(Stop::from(error).clause("D.26")),
            }
        }
        found = available_bytes(&device);
        let (Some(before), Some(found)) = (before, found) else { return Bystander::new(&device)?.hold() };
        if found + before / 8 >= before {
            return Bystander::new(&device)?.hold();
        }
    }
    Err(Stop::failed(
        format!("about as much available as before what could not be had: {before:?}"),
        format!("{found:?}, and less each time"),
    ))
}

fn over_and_over(c: &Context) -> Verdict {
    let device = c.device()?;
    let bystander = Bystander::new(&device)?;
    for _ in 0..1000 {
        refused("2 to the 60 bytes", device.allocate(1 << 60), &["OutOfMemory"])
            .map_err(|stop| stop.clause("D.26"))?;
    }
    bystander.hold()
}

/// Keeps data spaces through a refusal, on a full device if it is small enough to be filled; then
/// frees one and allocates another.
fn until_full(c: &Context) -> Verdict {
    /// Size limit of devices that are filled: more takes long, and may affect other users of the
    /// device.
    const SMALL_BYTES: u64 = 1 << 30;
    let device = c.device()?;
    let small = available_bytes(&device).filter(|available| *available <= SMALL_BYTES);
    let (size, mut spaces, too_much) = match small.filter(|_| !device.is_host_memory()) {
        Some(available) => {
            let size = (available / 8).max(64);
            (size, fill(&device, size, available)?, size)
        }
        None => (4096, (0..32).map(|_| device.allocate(4096)).collect::<Result<_, _>>()?, 1 << 60),
    };
    let edges = |number: usize| pattern(number as u64, 64);
    for (number, space) in spaces.iter().enumerate() {
        space.write(0, &edges(number))?;
        space.write(size - 64, &edges(number))?;
    }
    for _ in 0..10 {
        refused(&format!("{too_much} bytes too many"), device.allocate(too_much), &["OutOfMemory"])
            .map_err(|stop| stop.clause("D.26"))?;
    }
    for (number, space) in spaces.iter().enumerate() {
        for offset in [0, size - 64] {
            let mut found = [0; 64];
            space.read(offset, &mut found)?;
            same_bytes(&format!("data space {number} after a refusal"), &found, &edges(number))?;
        }
    }
    let Some(last) = spaces.pop() else {
        return Err(Stop::failed(format!("data spaces of {size} bytes"), "none"));
    };
    last.free()?;
    let again = device.allocate(size).map_err(|error| Stop::from(error).clause("D.27"))?;
    again.write(0, &edges(0))?;
    Ok(again.free()?)
}

/// Allocates until the memory is exhausted.
fn fill(device: &Device, size: u64, available: u64) -> Verdict<Vec<Space<'_>>> {
    let mut spaces = Vec::new();
    loop {
        match device.allocate(size) {
            Ok(space) => spaces.push(space),
            Err(error) if error.kind() == ErrorKind::OUT_OF_MEMORY => return Ok(spaces),
            Err(error) => return Err(Stop::from(error).clause("D.26")),
        }
        let (n, found) = (spaces.len(), format!("{} data spaces of {size} bytes", spaces.len()));
        ensure(n <= 64, format!("OutOfMemory once {available} bytes are used"), found)
            .map_err(|stop| stop.clause("D.26"))?;
    }
}
