//! Interface `external` 1: native streams, native data and adopted host memory (N.9 to N.15).

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ptr::{self, NonNull};

use chipdock_raw_host::{Device, Space, Stream, host_end};

use super::play::{same, streams};
use crate::bytes::pattern;
use crate::stop::{ensure, equal, refused};
use crate::{Cases, Context, Group, Profile, Stop, Subject, Verdict};

/// Size of a copy that takes longer than a small one on any device.
const LARGE: usize = 1 << 20;
const VALUE_ERROR: &[&str] = &["ValueError"];

pub(super) fn add(cases: &mut Cases) {
    let mut external = |name: &str, clause, profile: &'static [Profile], body: fn(&Device) -> Verdict| {
        let draft = cases.case(Group::Stream, format!("external/{name}"), clause, Subject::DeviceApi);
        let draft = draft.profile([Profile::External]).profile(profile.iter().copied());
        draft.run(move |c| shared(c, profile).and_then(|device| body(&device)));
    };
    let several = &[Profile::SeveralStreams];
    let elsewhere = &[Profile::SeveralStreams, Profile::SeveralDevices];
    let checked = &[Profile::CheckedHandles];
    external("native-stream/same-again", "N.11", &[], native_again);
    external("adopted/order/default", "N.10", &[], |device| in_order(device, 0));
    external("adopted/order/created", "N.11", several, |device| in_order(device, 1));
    external("adopted/free-waits", "D.17", &[], free_waits);
    external("adopted/native-lives-on", "N.10", several, native_lives_on);
    external("adopted/twice", "N.10", several, adopted_twice);
    external("adopted/null", "N.9", &[], adopt_null);
    external("adopted/of-another-device", "N.9", elsewhere, adopt_elsewhere);
    external("native-data/same-again", "N.12", &[], data_again);
    external("native-data/of-its-own", "N.12", &[], data_of_its_own);
    external("native-data/freed", "N.12", checked, data_freed);
    external("native-data/null", "D.2", &[], data_null);
    external("host-memory/work-reads", "N.13", &[], work_reads);
    external("host-memory/work-writes", "N.13", &[], work_writes);
    external("host-memory/null", "N.13", &[], memory_null);
    external("host-memory/freed", "N.14", &[], memory_freed);
    external("host-memory/does-not-count", "N.14", &[], memory_uncounted);
    external("no-such-device", "N.15", &[], no_device);
    external("no-such-stream", "N.15", checked, no_stream);
}

/// Returns the device, if its plugin has the interface.
fn shared(c: &Context, profile: &[Profile]) -> Verdict<Device> {
    let is_of_several = profile.contains(&Profile::SeveralDevices);
    let device = if is_of_several { c.several_devices() } else { c.device() }?;
    if !device.has("external") {
        return Err(Stop::Unsupported(format!("device_api.{} has no interface `external` 1", device.name)));
    }
    Ok(device)
}

/// Whole pages of host memory.
pub(in crate::group) struct Pages {
    base: NonNull<u8>,
    layout: Layout,
}

impl Pages {
    /// Allocates `count` times 64 KiB, which are whole pages on any machine.
    pub(in crate::group) fn new(count: usize) -> Verdict<Self> {
        let layout = Layout::from_size_align(count << 16, 1 << 16).map_err(Stop::suite)?;
        // SAFETY: the size is not 0: no case asks for zero pages.
        let base = NonNull::new(unsafe { alloc_zeroed(layout) });
        Ok(Self { base: base.ok_or_else(|| Stop::suite("no memory for pages"))?, layout })
    }

    /// Returns the address of the first byte.
    pub(in crate::group) fn address(&self) -> *mut u8 {
        self.base.as_ptr()
    }

    /// Returns the size in bytes.
    pub(in crate::group) fn size(&self) -> usize {
        self.layout.size()
    }

    fn set(&self, bytes: &[u8]) {
        // SAFETY: no more bytes than the pages have, and no work uses them, because the cases have
        // synchronised.
        unsafe { self.address().copy_from_nonoverlapping(bytes.as_ptr(), bytes.len().min(self.size())) };
    }

    fn get(&self) -> Vec<u8> {
        let mut bytes = vec![0; self.size()];
        // SAFETY: no more bytes than the pages have, and no work uses them, because the cases have
        // synchronised.
        unsafe { self.address().copy_to_nonoverlapping(bytes.as_mut_ptr(), self.size()) };
        bytes
    }

    /// Creates a data space over the pages, which is freed before them.
    fn adopted<'d>(&self, device: &'d Device) -> Verdict<Space<'d>> {
        // SAFETY: the pages are declared before the data space, and so are dropped after it.
        Ok(unsafe { device.adopt_host_memory(0, self.address(), self.size() as u64) }?)
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: the memory was allocated with this layout, and no data space uses it any more.
        unsafe { dealloc(self.base.as_ptr(), self.layout) };
    }
}

fn native_again(device: &Device) -> Verdict {
    for stream in streams(device, 0, 2)? {
        let native = device.native_stream(0, stream.raw())?;
        ensure(!native.is_null(), "a native stream that is not null", "null")?;
        for _ in 0..3 {
            equal("the native stream, asked again", &device.native_stream(0, stream.raw())?, &native)?;
        }
    }
    Ok(())
}

fn adopt<'d>(device: &'d Device, original: &Stream<'_>) -> Verdict<Stream<'d>> {
    let native = device.native_stream(0, original.raw())?;
    // SAFETY: the original is declared before the adopted stream, and so is dropped after it.
    Ok(unsafe { device.adopt_stream(0, native) }?)
}

/// Checks that work on two streams over one native stream is executed in order.
fn in_order(device: &Device, n_created: usize) -> Verdict {
    let originals = streams(device, 0, n_created)?;
    let original = &originals[n_created];
    let adopted = adopt(device, original)?;
    ensure(adopted.raw() != original.raw(), "a stream of its own", "the same handle")?;
    let (one, other) = (device.allocate(LARGE as u64)?, device.allocate(LARGE as u64)?);
    for round in 0..20 {
        let mut bytes = pattern(round, LARGE);
        let mut found = vec![0; LARGE];
        let (first, second) = if round % 2 == 0 { (original, &adopted) } else { (&adopted, original) };
        let queued = [
            (first, host_end(bytes.as_mut_ptr(), 0), one.end(0)),
            (second, one.end(0), other.end(0)),
            (first, other.end(0), host_end(found.as_mut_ptr(), 0)),
        ];
        let mut answer = Ok(());
        for (stream, from, to) in queued {
            // SAFETY: by D.6, both ends live until both streams are synchronised below, even after
            // an error.
            answer = answer.and_then(|()| unsafe { stream.copy(from, to, LARGE as u64) });
        }
        let synced = first.sync();
        let also = second.sync();
        answer.and(synced).and(also)?;
        same("what went over both streams in turn, round", round as usize, &found, &bytes)?;
    }
    Ok(())
}

fn free_waits(device: &Device) -> Verdict {
    let bytes = pattern(1, LARGE);
    let space = Space::with(device, 0, &bytes)?;
    let original = device.default_stream(0);
    for round in 0..10 {
        let mut found = vec![0; LARGE];
        let adopted = adopt(device, &original)?;
        // SAFETY: by D.6, both ends live until the stream is freed, which waits for its work
        // (D.17).
        let queued = unsafe { adopted.copy(space.end(0), host_end(found.as_mut_ptr(), 0), LARGE as u64) };
        let freed = adopted.free();
        let is_there = found == bytes;
        original.sync()?;
        queued.and(freed)?;
        ensure(is_there, format!("all bytes when `free_stream` returns, round {round}"), "others")?;
    }
    Ok(())
}

fn native_lives_on(device: &Device) -> Verdict {
    let originals = streams(device, 0, 1)?;
    let original = &originals[1];
    let space = device.allocate(4096)?;
    for round in 0..5 {
        adopt(device, original)?.free()?;
        let (mut bytes, mut found) = (pattern(round, 4096), vec![0; 4096]);
        // SAFETY: by D.6, both ends live until the stream is synchronised below, even after an
        // error.
        let queued = unsafe { original.copy(host_end(bytes.as_mut_ptr(), 0), space.end(0), 4096) };
        let synced = original.sync();
        queued.and(synced)?;
        space.read(0, &mut found)?;
        same("what went over a stream whose native one was adopted, round", round as usize, &found, &bytes)?;
    }
    Ok(())
}

fn adopted_twice(device: &Device) -> Verdict {
    let originals = streams(device, 0, 1)?;
    let (one, other) = (adopt(device, &originals[1])?, adopt(device, &originals[1])?);
    ensure(one.raw() != other.raw(), "two streams", "the same handle twice")?;
    one.free()?;
    let space = device.allocate(64)?;
    let mut bytes = [9_u8; 64];
    // SAFETY: by D.6, both ends live until the stream is synchronised below, even after an error.
    let queued = unsafe { other.copy(host_end(bytes.as_mut_ptr(), 0), space.end(0), 64) };
    let synced = other.sync();
    queued.and(synced)?;
    let mut found = [0; 64];
    space.read(0, &mut found)?;
    same("what went over the other", 0, &found, &[9; 64])
}

fn adopt_null(device: &Device) -> Verdict {
    // SAFETY: null is refused.
    let adopted = unsafe { device.adopt_stream(0, ptr::null_mut()) };
    refused("adopt_stream of null", adopted.map(drop), VALUE_ERROR)
}

fn adopt_elsewhere(device: &Device) -> Verdict {
    let other = streams(device, 1, 1)?;
    let native = device.native_stream(1, other[1].raw())?;
    // SAFETY: the native stream is live; the plugin must detect that it belongs to another device.
    let adopted = unsafe { device.adopt_stream(0, native) };
    refused("adopt_stream of another device's", adopted.map(drop), VALUE_ERROR)
}

fn data_again(device: &Device) -> Verdict {
    let space = device.allocate(1000)?;
    let native = device.native_data(0, space.data())?;
    space.write(0, &[5; 1000])?;
    for _ in 0..3 {
        equal("the native data, asked again", &device.native_data(0, space.data())?, &native)?;
    }
    Ok(())
}

fn data_of_its_own(device: &Device) -> Verdict {
    let spaces = (1..50).map(|size| device.allocate(size * 40)).collect::<Result<Vec<_>, _>>()?;
    let mut all = Vec::new();
    for space in &spaces {
        all.push(device.native_data(0, space.data())?);
    }
    all.sort_unstable();
    all.dedup();
    equal("how many places 49 data spaces lie at", &all.len(), &49)
}

fn data_freed(device: &Device) -> Verdict {
    let space = device.allocate(64)?;
    let data = space.data();
    space.free()?;
    let kinds = &["WrongState", "ValueError", "Unsupported"];
    refused("native_data of a freed data space", device.native_data(0, data).map(drop), kinds)
}

fn data_null(device: &Device) -> Verdict {
    refused("native_data of null", device.native_data(0, ptr::null_mut()).map(drop), VALUE_ERROR)
}

fn work_reads(device: &Device) -> Verdict {
    let pages = Pages::new(3)?;
    let adopted = pages.adopted(device)?;
    let space = device.allocate(pages.size() as u64)?;
    let stream = device.default_stream(0);
    for round in 0..4 {
        let bytes = pattern(round, pages.size());
        // The host writes only while no work is running.
        pages.set(&bytes);
        // SAFETY: by D.6, both ends live until the stream is synchronised below, even after an
        // error.
        let queued = unsafe { stream.copy(adopted.end(0), space.end(0), pages.size() as u64) };
        let synced = stream.sync();
        queued.and(synced)?;
        same("what work read of host memory, round", round as usize, &space.contents()?, &bytes)?;
    }
    Ok(())
}

fn work_writes(device: &Device) -> Verdict {
    let pages = Pages::new(3)?;
    let adopted = pages.adopted(device)?;
    let stream = device.default_stream(0);
    let mut expected = vec![0; pages.size()];
    for (round, (offset, size)) in [(0, pages.size()), (4097, 3000), (1, 1)].into_iter().enumerate() {
        let bytes = pattern(round as u64 + 1, size);
        let space = Space::with(device, 0, &bytes)?;
        // SAFETY: by D.6, both ends live until the stream is synchronised below, even after an
        // error.
        let queued = unsafe { stream.copy(space.end(0), adopted.end(offset as u64), size as u64) };
        let synced = stream.sync();
        queued.and(synced)?;
        expected[offset..offset + size].copy_from_slice(&bytes);
        same("host memory that work wrote, round", round, &pages.get(), &expected)?;
    }
    Ok(())
}

fn memory_null(device: &Device) -> Verdict {
    let pages = Pages::new(1)?;
    // SAFETY: null and size 0 are refused.
    let (null, nothing) = unsafe {
        (device.adopt_host_memory(0, ptr::null_mut(), 64), device.adopt_host_memory(0, pages.address(), 0))
    };
    refused("adopt_host_memory of null", null.map(drop), VALUE_ERROR)?;
    refused("adopt_host_memory of 0 bytes", nothing.map(drop), VALUE_ERROR)
}

fn memory_freed(device: &Device) -> Verdict {
    let pages = Pages::new(2)?;
    for round in 0..5 {
        let bytes = pattern(round, pages.size());
        let adopted = pages.adopted(device)?;
        adopted.write(0, &bytes)?;
        adopted.free()?;
        same("host memory after its data space was freed, round", round as usize, &pages.get(), &bytes)?;
        pages.set(&vec![0; pages.size()]);
    }
    Ok(())
}

fn memory_uncounted(device: &Device) -> Verdict {
    let available = || -> Verdict<Option<i64>> {
        Ok(device.attribute(0, "available_global_memory_bytes")?.to::<Option<i64>>()?)
    };
    let pages = Pages::new(256)?;
    let before = available()?;
    let adopted = pages.adopted(device)?;
    let between = available()?;
    adopted.free()?;
    // Others may use the device too, but not that much at this moment.
    let is_near = |found: Option<i64>| match (before, found) {
        (Some(before), Some(found)) => found.abs_diff(before) < pages.size() as u64,
        (None, None) => true,
        _ => false,
    };
    ensure(is_near(between), format!("available memory about {before:?}"), format!("{between:?}"))?;
    let after = available()?;
    ensure(is_near(after), format!("available memory about {before:?} afterwards"), format!("{after:?}"))
}

fn no_device(device: &Device) -> Verdict {
    let pages = Pages::new(1)?;
    let (space, native) = (device.allocate(64)?, device.native_stream(0, ptr::null_mut())?);
    for device_id in [-1, device.count()?] {
        let what = |call: &str| format!("{call} of device {device_id}, which is not there");
        let stream = device.native_stream(device_id, ptr::null_mut());
        refused(&what("native_stream"), stream.map(drop), VALUE_ERROR)?;
        let data = device.native_data(device_id, space.data());
        refused(&what("native_data"), data.map(drop), VALUE_ERROR)?;
        // SAFETY: the native stream and the memory outlive whatever is returned.
        let (adopted, memory) = unsafe {
            (
                device.adopt_stream(device_id, native).map(drop),
                device.adopt_host_memory(device_id, pages.address(), 64).map(drop),
            )
        };
        refused(&what("adopt_stream"), adopted, VALUE_ERROR)?;
        refused(&what("adopt_host_memory"), memory, VALUE_ERROR)?;
    }
    Ok(())
}

fn no_stream(device: &Device) -> Verdict {
    let raw = ptr::without_provenance_mut(0x10);
    refused(
        "native_stream of what is no stream",
        device.native_stream(0, raw).map(drop),
        &["WrongState", "ValueError"],
    )
}
