//! Interface `timer` 1: marks on streams, and the device time between them (N.1 to N.8).

use std::ptr;
use std::time::{Duration, Instant};

use chipdock_raw_host::{Device, Mark, Space, Stream};

use super::play::streams;
use crate::stop::{ensure, equal, refused};
use crate::{Cases, Context, Group, Profile, Stop, Subject, Verdict};

/// Size of a copy that any device's clock can measure.
pub(super) const LARGE: usize = 8 << 20;
/// Allowed difference between clocks, in nanoseconds and as a share.
const SLACK_NS: f64 = 100_000.0;
const SLACK_SHARE: f64 = 0.01;
/// Allowed rounding error of each reported time: the coarsest clock of a driver counts half
/// microseconds.
const ROUNDING_NS: f64 = 2_000.0;

pub(super) fn add(cases: &mut Cases) {
    let mut timer = |name: &str, clause, profile: &'static [Profile], body: fn(&Device) -> Verdict| {
        let draft = cases.case(Group::Stream, format!("timer/{name}"), clause, Subject::DeviceApi);
        let draft = draft.profile([Profile::Timer]).profile(profile.iter().copied());
        draft.run(move |c| timed(c, profile).and_then(|device| body(&device)));
    };
    let several = &[Profile::SeveralStreams];
    let checked = &[Profile::CheckedHandles];
    timer("handles-differ", "N.1", &[], handles_differ);
    timer("mark-does-not-wait", "N.1", several, mark_does_not_wait);
    timer("itself", "N.2", &[], itself);
    timer("the-other-way-round", "N.2", &[], other_way);
    timer("asked-again", "N.2", &[], asked_again);
    timer("elapsed-waits", "N.2", &[], elapsed_waits);
    timer("within-the-hosts-time/default", "N.3", &[], |device| within_host(device, 0));
    timer("within-the-hosts-time/created", "N.3", several, |device| within_host(device, 1));
    timer("work-counts", "N.4", &[], work_counts);
    timer("parts-add-up", "N.4", &[], parts_add_up);
    timer("across-streams", "N.5", several, across_streams);
    timer("freed-before-reached", "N.6", &[], freed_before);
    timer("free-null", "N.6", &[], free_null);
    timer("stream-freed-first", "N.6", several, stream_freed_first);
    timer("many-at-once", "P9.4", &[], many);
    timer("freed", "N.7", checked, freed);
    timer("garbage", "N.7", checked, garbage);
    timer("of-another-device", "N.7", &[Profile::CheckedHandles, Profile::SeveralDevices], elsewhere);
    timer("no-such-device", "N.15", &[], no_device);
    timer("no-such-stream", "N.15", checked, no_stream);
    timer("null-place", "D.2", &[], null_places);
}

/// Returns the device, if its plugin has the interface.
fn timed(c: &Context, profile: &[Profile]) -> Verdict<Device> {
    let is_of_several = profile.contains(&Profile::SeveralDevices);
    let device = if is_of_several { c.several_devices() } else { c.device() }?;
    if !device.has("timer") {
        return Err(Stop::Unsupported(format!("device_api.{} has no interface `timer` 1", device.name)));
    }
    Ok(device)
}

/// Two data spaces, between which copies take measurable time.
pub(super) struct Work<'d> {
    pub(super) from: Space<'d>,
    pub(super) to: Space<'d>,
}

impl<'d> Work<'d> {
    pub(super) fn new(device: &'d Device) -> Verdict<Self> {
        let work = Self { from: device.allocate(LARGE as u64)?, to: device.allocate(LARGE as u64)? };
        work.from.write(0, &vec![7; LARGE])?;
        Ok(work)
    }

    /// Queues a number of copies.
    pub(super) fn queue(&self, stream: &Stream<'_>, count: usize) -> Verdict {
        for _ in 0..count {
            // SAFETY: by D.6, both data spaces are freed after the stream was synchronised: see
            // `Drop`.
            unsafe { stream.copy(self.from.end(0), self.to.end(0), LARGE as u64) }?;
        }
        Ok(())
    }
}

/// Checks that a call after long-running work returns before the work is done. `make` makes what a
/// call uses before the work is queued; that is dropped after the stream was synchronised.
pub(super) fn does_not_wait<T>(
    device: &Device,
    what: &str,
    make: impl Fn() -> Verdict<T>,
    call: impl Fn(&Stream<'_>, &T) -> Verdict,
) -> Verdict {
    let work = Work::new(device)?;
    let streams = streams(device, 0, 1)?;
    let stream = &streams[1];
    let _synced = Synced(stream);
    for _ in 0..5 {
        let made = make()?;
        let begin = Instant::now();
        work.queue(stream, 32)?;
        let queued = begin.elapsed();
        call(stream, &made)?;
        let called = begin.elapsed();
        stream.sync()?;
        let all = begin.elapsed();
        // A device whose copies are synchronous has nothing to wait for.
        if queued * 2 > all || called * 2 < all {
            return Ok(());
        }
    }
    Err(Stop::failed(
        format!("{what} returns before the work ahead of it is done"),
        "it took as long as the work",
    ))
}

/// Guard that synchronises a stream before the objects declared earlier in the case are freed.
pub(super) struct Synced<'s, 'd>(pub(super) &'s Stream<'d>);

impl Drop for Synced<'_, '_> {
    fn drop(&mut self) {
        let _ = self.0.sync();
    }
}

fn is_about(what: &str, found: f64, expected: f64) -> Verdict {
    let slack = ROUNDING_NS + expected.abs() * SLACK_SHARE;
    ensure((found - expected).abs() <= slack, format!("{what}: {expected:.0} ns"), format!("{found:.0} ns"))
}

fn handles_differ(device: &Device) -> Verdict {
    let stream = device.default_stream(0);
    let marks = (0..100).map(|_| stream.mark()).collect::<Result<Vec<_>, _>>()?;
    let mut raw: Vec<_> = marks.iter().map(Mark::raw).collect();
    ensure(raw.iter().all(|mark| !mark.is_null()), "marks that are not null", "null")?;
    raw.sort_unstable();
    raw.dedup();
    equal("how many handles there are of 100 marks", &raw.len(), &100)
}

/// Checks that marks after long-running work are queued before the work is done.
fn mark_does_not_wait(device: &Device) -> Verdict {
    let work = Work::new(device)?;
    let streams = streams(device, 0, 1)?;
    let stream = &streams[1];
    let _synced = Synced(stream);
    for _ in 0..3 {
        let begin = Instant::now();
        work.queue(stream, 32)?;
        let queued = begin.elapsed();
        let mark = stream.mark()?;
        let marked = begin.elapsed();
        stream.sync()?;
        let all = begin.elapsed();
        drop(mark);
        // A device whose copies are synchronous has nothing to wait for.
        if queued * 2 > all || marked * 2 < all {
            return Ok(());
        }
    }
    Err(Stop::failed("`mark` returns before the work ahead of it is done", "it took as long as the work"))
}

fn itself(device: &Device) -> Verdict {
    let mark = device.default_stream(0).mark()?;
    equal("nanoseconds from a mark to itself", &mark.until(&mark)?, &0.0)
}

fn other_way(device: &Device) -> Verdict {
    let (work, stream) = (Work::new(device)?, device.default_stream(0));
    let _synced = Synced(&stream);
    let begin = stream.mark()?;
    work.queue(&stream, 4)?;
    let end = stream.mark()?;
    let (forth, back) = (begin.until(&end)?, end.until(&begin)?);
    ensure(forth > 0.0 && back < 0.0, "a time and its negative", format!("{forth} and {back} ns"))?;
    is_about("from the later mark to the earlier", back, -forth)
}

fn asked_again(device: &Device) -> Verdict {
    let (work, stream) = (Work::new(device)?, device.default_stream(0));
    let _synced = Synced(&stream);
    let begin = stream.mark()?;
    work.queue(&stream, 1)?;
    let end = stream.mark()?;
    let first = begin.until(&end)?;
    ensure(first.is_finite(), "a finite number of nanoseconds", first)?;
    work.queue(&stream, 4)?;
    stream.sync()?;
    equal("the time between two marks, asked again", &begin.until(&end)?, &first)
}

/// Checks that `elapsed` waits for the work, without a sync of the stream.
fn elapsed_waits(device: &Device) -> Verdict {
    let (work, stream) = (Work::new(device)?, device.default_stream(0));
    let _synced = Synced(&stream);
    let mut least = f64::INFINITY;
    // Several attempts, because a busy machine may delay one.
    for _ in 0..8 {
        let begin = stream.mark()?;
        work.queue(&stream, 32)?;
        let end = stream.mark()?;
        let found = begin.until(&end)?;
        let asked = Instant::now();
        stream.sync()?;
        least = least.min(asked.elapsed().as_secs_f64() * 1e9 / (found + SLACK_NS));
    }
    ensure(
        least < 0.5,
        "nothing left to wait for when `elapsed` has answered",
        format!("{:.0} % of what it answered, and more, in eight tries", least * 100.0),
    )
}

fn within_host(device: &Device, n_created: usize) -> Verdict {
    let work = Work::new(device)?;
    let streams = streams(device, 0, n_created)?;
    let stream = &streams[n_created];
    let _synced = Synced(stream);
    for count in [0, 1, 4, 16] {
        let began = Instant::now();
        let begin = stream.mark()?;
        work.queue(stream, count)?;
        let end = stream.mark()?;
        let found = begin.until(&end)?;
        let host = began.elapsed().as_secs_f64() * 1e9;
        let most = host * (1.0 + SLACK_SHARE) + SLACK_NS;
        let expected = format!("0 to {most:.0} ns for {count} copies that took the host {host:.0} ns");
        ensure((0.0..=most).contains(&found), expected, format!("{found:.0} ns"))?;
    }
    Ok(())
}

/// Checks that the work between two marks accounts for most of the time that the host waits, if
/// that is long.
fn work_counts(device: &Device) -> Verdict {
    let (work, stream) = (Work::new(device)?, device.default_stream(0));
    let _synced = Synced(&stream);
    let mut shares = Vec::new();
    for _ in 0..5 {
        stream.sync()?;
        let began = Instant::now();
        let begin = stream.mark()?;
        work.queue(&stream, 32)?;
        let end = stream.mark()?;
        stream.sync()?;
        let host = began.elapsed().as_secs_f64() * 1e9;
        shares.push(begin.until(&end)? / host);
    }
    let best = shares.iter().copied().fold(0.0, f64::max);
    ensure(
        best > 0.25,
        "most of what the host waited for 32 copies, between a mark before them and one behind",
        format!("at most {:.1} % of it, in five tries", best * 100.0),
    )
}

fn parts_add_up(device: &Device) -> Verdict {
    let (work, stream) = (Work::new(device)?, device.default_stream(0));
    let _synced = Synced(&stream);
    let mut marks = vec![stream.mark()?];
    for count in [1, 4, 0, 8] {
        work.queue(&stream, count)?;
        marks.push(stream.mark()?);
    }
    let parts = marks.windows(2).map(|pair| pair[0].until(&pair[1])).collect::<Result<Vec<_>, _>>()?;
    for part in &parts {
        ensure(*part >= 0.0, "a time that is not negative from each mark to the next", part)?;
    }
    let whole = marks[0].until(&marks[4])?;
    is_about("the sum of the times of four parts", parts.iter().sum(), whole)
}

fn across_streams(device: &Device) -> Verdict {
    let work = Work::new(device)?;
    let streams = streams(device, 0, 2)?;
    for (from, to) in [(1, 2), (2, 1), (0, 1), (2, 0)] {
        let (from, to) = (&streams[from], &streams[to]);
        let _synced = (Synced(from), Synced(to));
        let began = Instant::now();
        work.queue(from, 4)?;
        let before = from.mark()?;
        to.wait_for(from)?;
        let after = to.mark()?;
        let found = before.until(&after)?;
        let host = began.elapsed().as_secs_f64() * 1e9;
        let most = host * (1.0 + SLACK_SHARE) + SLACK_NS;
        let expected = format!("0 to {most:.0} ns to a mark on a stream that waits");
        // Tolerance for the half microseconds of the coarsest clock.
        ensure((-ROUNDING_NS..=most).contains(&found), expected, format!("{found:.0} ns"))?;
    }
    Ok(())
}

fn freed_before(device: &Device) -> Verdict {
    let (work, stream) = (Work::new(device)?, device.default_stream(0));
    let _synced = Synced(&stream);
    for _ in 0..20 {
        let begin = stream.mark()?;
        work.queue(&stream, 2)?;
        stream.mark()?.free()?;
        begin.free()?;
    }
    stream.sync()?;
    let begin = stream.mark()?;
    let found = begin.until(&stream.mark()?)?;
    ensure(found >= 0.0, "marks that work afterwards", found)
}

fn free_null(device: &Device) -> Verdict {
    // SAFETY: null is allowed.
    Ok(unsafe { device.free_mark_raw(0, ptr::null_mut()) }?)
}

fn stream_freed_first(device: &Device) -> Verdict {
    let work = Work::new(device)?;
    let Some(stream) = streams(device, 0, 1)?.pop() else { return Err(Stop::suite("no stream")) };
    let begin = stream.mark()?;
    let queued = work.queue(&stream, 4);
    let end = stream.mark();
    stream.free()?;
    queued?;
    let found = begin.until(&end?)?;
    ensure(found > 0.0, "the time of work on a stream that was freed", found)
}

/// Creates and frees many marks, with many alive at once, and checks that their resources are
/// released.
fn many(device: &Device) -> Verdict {
    let stream = device.default_stream(0);
    let begin = Instant::now();
    let mut window = std::collections::VecDeque::new();
    for _ in 0..10_000 {
        window.push_back(stream.mark()?);
        if window.len() > 1000 {
            window.pop_front().map(Mark::free).transpose()?;
        }
    }
    let (Some(first), Some(last)) = (window.front(), window.back()) else {
        return Err(Stop::suite("no marks"));
    };
    let found = first.until(last)?;
    let all = begin.elapsed() + Duration::from_millis(1);
    ensure(
        (0.0..=all.as_secs_f64() * 1.01e9).contains(&found),
        format!("a time within {all:?}"),
        format!("{found:.0} ns"),
    )
}

const UNKNOWN: &[&str] = &["WrongState", "ValueError"];

fn freed(device: &Device) -> Verdict {
    let stream = device.default_stream(0);
    let (mark, other) = (stream.mark()?, stream.mark()?);
    let raw = mark.raw();
    mark.free()?;
    refused("elapsed from a freed mark", device.elapsed_raw(0, raw, other.raw()), UNKNOWN)?;
    refused("elapsed to a freed mark", device.elapsed_raw(0, other.raw(), raw), UNKNOWN)?;
    // SAFETY: the case tests an invalid handle, and the plugin reports that it checks handles.
    refused("free_mark of a freed mark", unsafe { device.free_mark_raw(0, raw) }, UNKNOWN)
}

fn garbage(device: &Device) -> Verdict {
    let stream = device.default_stream(0);
    let mark = stream.mark()?;
    let space = device.allocate(64)?;
    for raw in [ptr::without_provenance_mut(0x10), ptr::without_provenance_mut(usize::MAX), space.data()] {
        refused(&format!("elapsed to {raw:p}"), device.elapsed_raw(0, mark.raw(), raw), UNKNOWN)?;
        // SAFETY: the case tests an invalid handle, and the plugin reports that it checks handles.
        refused(&format!("free_mark of {raw:p}"), unsafe { device.free_mark_raw(0, raw) }, UNKNOWN)?;
    }
    refused("elapsed to null", device.elapsed_raw(0, mark.raw(), ptr::null_mut()), UNKNOWN)?;
    equal("a mark after wrong calls", &mark.until(&mark)?, &0.0)
}

fn elsewhere(device: &Device) -> Verdict {
    let (own, other) = (device.default_stream(0).mark()?, device.default_stream(1).mark()?);
    refused("elapsed to another device's", device.elapsed_raw(0, own.raw(), other.raw()), UNKNOWN)?;
    // SAFETY: the case tests an invalid handle, and the plugin reports that it checks handles.
    refused("free_mark of another device's", unsafe { device.free_mark_raw(0, other.raw()) }, UNKNOWN)?;
    equal("the other device's mark", &other.until(&other)?, &0.0)
}

fn no_device(device: &Device) -> Verdict {
    let mark = device.default_stream(0).mark()?;
    for device_id in [-1, device.count()?] {
        let what = |call: &str| format!("{call} of device {device_id}, which is not there");
        refused(&what("mark"), device.mark_raw(device_id, ptr::null_mut()), &["ValueError"])?;
        let elapsed = device.elapsed_raw(device_id, mark.raw(), mark.raw());
        refused(&what("elapsed"), elapsed, &["ValueError"])?;
        // SAFETY: the case tests how the plugin answers an invalid device.
        let freed = unsafe { device.free_mark_raw(device_id, mark.raw()) };
        refused(&what("free_mark"), freed, &["ValueError"])?;
    }
    Ok(())
}

fn no_stream(device: &Device) -> Verdict {
    let raw = ptr::without_provenance_mut(0x10);
    refused("mark on what is no stream", device.mark_raw(0, raw), UNKNOWN)
}

fn null_places(device: &Device) -> Verdict {
    let mark = device.default_stream(0).mark()?;
    let refused_place = |what: &str, answer| refused(what, answer, &["ValueError"]);
    refused_place("mark with no place for it", device.mark_nowhere(0))?;
    refused_place("elapsed with no place for it", device.elapsed_nowhere(0, &mark))
}
