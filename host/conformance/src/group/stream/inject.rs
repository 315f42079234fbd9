//! Asynchronous failures, lost devices and exhausted memory, provoked by the hooks of section I.

use chipdock_abi::CHIPDOCK_DATA_SPACE_HOST_VISIBLE;
use chipdock_plugin_api::{AnyView, Error, Function};
use chipdock_raw_host::{Device, RawHost, Space, Stream, host_end};

use super::external::Pages;
use super::play::{same, streams};
use crate::group::memory::map::mapped;
use crate::stop::{ensure, refused};
use crate::{Cases, Context, Group, Profile, Stop, Subject, Verdict};

pub(super) fn add(cases: &mut Cases) {
    let mut inject = |name: &str, clause, profile: Option<Profile>, body: fn(&Context) -> Verdict| {
        let draft = cases.case(Group::Stream, format!("inject/{name}"), clause, Subject::DeviceApi);
        draft.profile([Profile::FailureInjection]).profile(profile).run(body);
    };
    let several = Some(Profile::SeveralStreams);
    inject("hooks", "I.5", None, hooks);
    inject("late-failure/default", "P7.5", None, |c| late_failure(c, 0));
    inject("late-failure/created", "P7.5", several, |c| late_failure(c, 1));
    inject("late-failure/reported-once", "P7.5", None, reported_once);
    inject("late-failure/first-cause-first", "P7.5", None, first_cause);
    inject("late-failure/as-often-as-asked", "I.1", None, work_after);
    inject("late-failure/other-streams", "P7.5", several, other_streams);
    inject("late-failure/free-reports-it", "P7.5", several, free_reports);
    inject("late-failure/other-thread", "P7.5", None, other_thread);
    inject("lost/every-call", "P7.6", None, lost);
    inject("lost/what-is-queued", "I.3", None, queued_when_lost);
    inject("lost/opened-again", "D.40", None, opened_again);
    inject("lost/reset-of-one-that-is-not", "D.40", None, reset_of_one_that_is_not_lost);
    inject("lost/reset-of-nothing", "D.40", None, reset_of_nothing);
    inject("lost/other-devices", "P7.6", Some(Profile::SeveralDevices), other_devices);
    let timer = Some(Profile::Timer);
    inject("timer/failure-told-once", "N.8", timer, failure_between_marks);
    inject("timer/lost", "N.15", timer, marks_of_lost);
    let timeline = Some(Profile::Timeline);
    inject("timeline/failure-told-once", "N.26", timeline, failure_before_a_signal);
    inject("timeline/lost", "N.30", timeline, timelines_of_lost);
    let graph = Some(Profile::Graph);
    inject("graph/failure-told-once", "N.49", graph, super::graph::failure_before_a_replay);
    inject("graph/lost", "N.49", graph, super::graph::graphs_of_lost);
    inject("external/lost", "N.15", Some(Profile::External), external_of_lost);
    inject("map/lost", "N.15", Some(Profile::Map), address_of_lost);
    inject("out-of-memory/state", "P7.7", None, out_of_memory);
    inject("out-of-memory/again", "I.2", None, out_of_memory_again);
}

/// Hooks of a device API. Dropping them reopens device 0, however the case ends.
pub(super) struct Hooks {
    host: &'static RawHost,
    functions: [Function; 3],
    device: Device,
}

/// The hooks of a device, after `conformance.x.`.
pub(in crate::group) const NAMES: [&str; 3] = ["fail_next_copy", "out_of_memory_next", "lose"];

impl Hooks {
    pub(super) fn find(c: &Context) -> Verdict<Self> {
        let host = c.plugin()?.host();
        let name = |hook: &str| format!("conformance.{}.{hook}", c.registration());
        let found = NAMES.map(|hook| host.function(&name(hook)));
        let n_found = found.iter().flatten().count();
        if let [Some(a), Some(b), Some(d)] = found {
            let device = c.device()?;
            let expected = format!("interface `reset` 1 of device_api.{} beside its hooks", device.name);
            ensure(device.has("reset"), expected, "none").map_err(|stop| stop.clause("I.4"))?;
            return Ok(Self { host, functions: [a, b, d], device });
        }
        ensure(n_found == 0, "all three hooks or none", format!("{n_found} of them"))
            .map_err(|stop| stop.clause("I.1"))?;
        Err(Stop::Unsupported(format!("the plugin registers no function {}", name(NAMES[0]))))
    }

    fn call(&self, hook: usize, args: &[AnyView<'_>]) -> Result<(), Error> {
        self.functions[hook].call(self.host.reference(), args).map(drop)
    }

    pub(super) fn fail_next_copy(&self) -> Result<(), Error> {
        self.call(0, &[0_i64.into()])
    }

    fn out_of_memory_next(&self) -> Result<(), Error> {
        self.call(1, &[0_i64.into()])
    }

    pub(super) fn lose(&self) -> Result<(), Error> {
        self.call(2, &[0_i64.into()])
    }

    pub(super) fn reopen(&self) -> Result<(), Error> {
        self.device.reset(0)
    }
}

impl Drop for Hooks {
    fn drop(&mut self) {
        let _ = self.reopen();
    }
}

/// Memory for copies: declared before the stream is used, and dropped after it was synchronised.
pub(super) struct Scene<'d> {
    pub(super) stream: &'d Stream<'d>,
    space: Space<'d>,
    bytes: Vec<u8>,
}

impl<'d> Scene<'d> {
    pub(super) fn new(device: &'d Device, stream: &'d Stream<'d>) -> Verdict<Self> {
        let bytes: Vec<u8> = (0..4096_u32).map(|index| ((index * 13) >> 2) as u8).collect();
        Ok(Self { stream, space: device.allocate(4096)?, bytes })
    }

    pub(super) fn copy(&mut self, size: usize) -> Result<(), Error> {
        let from = host_end(self.bytes.as_mut_ptr(), 0);
        // SAFETY: by D.6, both ends live until `self` is dropped, which synchronises; sizes are at
        // most 4096 bytes.
        unsafe { self.stream.copy(from, self.space.end(0), size.min(4096) as u64) }
    }

    /// Copies to the device and back, and checks the result.
    pub(super) fn works(&mut self) -> Verdict {
        self.copy(4096)?;
        self.stream.sync()?;
        let mut found = vec![0; 4096];
        self.space.read(0, &mut found)?;
        same("what came back", 0, &found, &self.bytes)
    }
}

impl Drop for Scene<'_> {
    fn drop(&mut self) {
        let _ = self.stream.sync();
    }
}

/// Checks that an answer is the injected failure of the copy of that size.
pub(super) fn is_failure(what: &str, answer: Result<(), Error>, size: usize) -> Verdict {
    let says = answer.as_ref().err().is_some_and(|error| error.message().contains(&size.to_string()));
    let found = answer.as_ref().err().map(|error| format!("{}: {}", error.kind(), error.message()));
    refused(what, answer, &["IoError"])?;
    ensure(says, format!("{what}: the failure of the copy of {size} bytes"), found.unwrap_or_default())
}

fn hooks(c: &Context) -> Verdict {
    let hooks = Hooks::find(c)?;
    let count = c.device()?.count()?;
    for (hook, name) in NAMES.iter().enumerate() {
        let absent = hooks.call(hook, &[i64::from(count).into()]);
        refused(&format!("{name} of device {count}, which is not there"), absent, &["ValueError"])?;
        let kinds = ["ValueError", "TypeError"];
        refused(&format!("{name} without an argument"), hooks.call(hook, &[]), &kinds)?;
        refused(&format!("{name} of a fraction"), hooks.call(hook, &[1.5_f64.into()]), &kinds)?;
    }
    let device = c.device()?;
    Scene::new(&device, &device.default_stream(0))?.works()
}

fn late_failure(c: &Context, n_created: usize) -> Verdict {
    let hooks = Hooks::find(c)?;
    let device = c.device()?;
    let streams = streams(&device, 0, n_created)?;
    let mut scene = Scene::new(&device, &streams[n_created])?;
    hooks.fail_next_copy()?;
    // The copy fails after the call has returned.
    scene.copy(1001)?;
    is_failure("sync_stream after a copy that failed", scene.stream.sync(), 1001)?;
    scene.stream.sync()?;
    scene.works()
}

/// Checks that the failure is reported by the first call that meets it, and by no other.
fn reported_once(c: &Context) -> Verdict {
    let hooks = Hooks::find(c)?;
    let device = c.device()?;
    let stream = device.default_stream(0);
    let mut scene = Scene::new(&device, &stream)?;
    hooks.fail_next_copy()?;
    scene.copy(1001)?;
    let mut n_reported = 0;
    for call in 0..20 {
        std::thread::sleep(std::time::Duration::from_micros(200));
        let answer = if call % 5 == 4 { scene.stream.sync() } else { scene.copy(64) };
        if answer.is_err() {
            is_failure("a call after a copy that failed", answer, 1001)?;
            n_reported += 1;
        }
    }
    ensure(n_reported == 1, "one report of the failure in 20 calls", n_reported)?;
    scene.works()
}

fn first_cause(c: &Context) -> Verdict {
    let hooks = Hooks::find(c)?;
    let device = c.device()?;
    let stream = device.default_stream(0);
    // Work ahead of the copies, so that both failures are still pending when they are queued.
    let mut ahead = vec![7_u8; 4 << 20];
    let space = device.allocate(ahead.len() as u64)?;
    for _ in 0..10 {
        let mut scene = Scene::new(&device, &stream)?;
        // SAFETY: by D.6, both ends live until `scene` is dropped, which synchronises.
        unsafe { stream.copy(host_end(ahead.as_mut_ptr(), 0), space.end(0), ahead.len() as u64) }?;
        hooks.fail_next_copy()?;
        scene.copy(1001)?;
        hooks.fail_next_copy()?;
        let second = scene.copy(2002);
        if second.is_err() {
            is_failure("the copy after one that failed", second, 1001)?;
            hooks.reopen()?;
            continue;
        }
        is_failure("sync_stream after two copies that failed", scene.stream.sync(), 1001)?;
        scene.stream.sync()?;
    }
    Ok(())
}

/// Checks that a stream accepts work again after it has reported a failure.
fn work_after(c: &Context) -> Verdict {
    let hooks = Hooks::find(c)?;
    let device = c.device()?;
    let stream = device.default_stream(0);
    let mut scene = Scene::new(&device, &stream)?;
    for size in [1001, 2002, 3003] {
        hooks.fail_next_copy()?;
        scene.copy(size)?;
        is_failure("sync_stream", scene.stream.sync(), size)?;
        scene.works()?;
    }
    Ok(())
}

fn other_streams(c: &Context) -> Verdict {
    let hooks = Hooks::find(c)?;
    let device = c.device()?;
    let streams = streams(&device, 0, 2)?;
    let mut failing = Scene::new(&device, &streams[1])?;
    let mut other = Scene::new(&device, &streams[2])?;
    hooks.fail_next_copy()?;
    failing.copy(1001)?;
    other.works().map_err(|stop| stop.note("another stream than the one whose copy failed"))?;
    streams[0].sync()?;
    is_failure("sync_stream of the stream that it failed on", streams[1].sync(), 1001)
}

fn free_reports(c: &Context) -> Verdict {
    let hooks = Hooks::find(c)?;
    let device = c.device()?;
    let space = device.allocate(4096)?;
    let mut bytes = vec![7_u8; 4096];
    let Some(stream) = streams(&device, 0, 1)?.pop() else { return Err(Stop::suite("no stream")) };
    hooks.fail_next_copy()?;
    // SAFETY: by D.6, both ends live until the stream is freed, which waits for its work (D.17).
    let queued = unsafe { stream.copy(host_end(bytes.as_mut_ptr(), 0), space.end(0), 1001) };
    let freed = stream.free();
    queued?;
    is_failure("free_stream after a copy that failed", freed, 1001)?;
    Scene::new(&device, &device.default_stream(0))?.works()
}

/// Checks that the failure belongs to the stream, not to the thread that queued the work.
fn other_thread(c: &Context) -> Verdict {
    let hooks = Hooks::find(c)?;
    let device = c.device()?;
    let stream = device.default_stream(0);
    let mut scene = Scene::new(&device, &stream)?;
    hooks.fail_next_copy()?;
    scene.copy(1001)?;
    let synced = std::thread::scope(|scope| scope.spawn(|| stream.sync()).join());
    let synced = synced.map_err(|_| Stop::suite("a thread of the case panicked"))?;
    is_failure("sync_stream on another thread", synced, 1001)?;
    scene.stream.sync()?;
    Ok(())
}

fn lost(c: &Context) -> Verdict {
    let hooks = Hooks::find(c)?;
    let device = c.device()?;
    let stream = device.default_stream(0);
    let mut scene = Scene::new(&device, &stream)?;
    scene.works()?;
    hooks.lose()?;
    let gone = &["DeviceLost"];
    for _ in 0..2 {
        refused("attribute of a lost device", device.attribute(0, "device_name"), gone)?;
        refused("allocate_data_space on a lost device", device.allocate(64).map(drop), gone)?;
        refused("copy_data on a lost device", scene.copy(64), gone)?;
        refused("create_stream of a lost device", device.create_stream(0).map(drop), gone)?;
        refused("sync_stream of a lost device", stream.sync(), gone)?;
        refused("sync_stream_from_to of a lost device", stream.wait_for(&stream), gone)?;
    }
    Ok(())
}

/// Checks that no queued work reports success after the device is lost.
fn queued_when_lost(c: &Context) -> Verdict {
    let hooks = Hooks::find(c)?;
    let device = c.device()?;
    let stream = device.default_stream(0);
    let mut scene = Scene::new(&device, &stream)?;
    for _ in 0..50 {
        scene.copy(4096)?;
    }
    hooks.lose()?;
    refused("sync_stream of a lost device", stream.sync(), &["DeviceLost"])?;
    refused("sync_stream of a lost device, again", stream.sync(), &["DeviceLost"])
}

fn opened_again(c: &Context) -> Verdict {
    let hooks = Hooks::find(c)?;
    let device = c.device()?;
    let stream = device.default_stream(0);
    for _ in 0..3 {
        {
            let mut before = Scene::new(&device, &stream)?;
            before.copy(4096)?;
            hooks.lose()?;
            refused("sync_stream of a lost device", stream.sync(), &["DeviceLost"])?;
        }
        hooks.reopen()?;
        stream.sync()?;
        Scene::new(&device, &stream)?.works().map_err(|stop| stop.note("after it was opened again"))?;
    }
    Ok(())
}

fn reset_of_one_that_is_not_lost(c: &Context) -> Verdict {
    let hooks = Hooks::find(c)?;
    let device = c.device()?;
    let stream = device.default_stream(0);
    let mut scene = Scene::new(&device, &stream)?;
    scene.copy(4096)?;
    stream.sync()?;
    hooks.reopen()?;
    let mut found = vec![0; 4096];
    scene.space.read(0, &mut found)?;
    same("a data space after a reset of a device that is not lost", 0, &found, &scene.bytes)?;
    scene.works()
}

fn reset_of_nothing(c: &Context) -> Verdict {
    let hooks = Hooks::find(c)?;
    let count = hooks.device.count()?;
    for device_id in [-1, count] {
        let what = format!("reset of device {device_id}, which is not there");
        refused(&what, hooks.device.reset(device_id), &["ValueError"])?;
    }
    Ok(())
}

fn other_devices(c: &Context) -> Verdict {
    let hooks = Hooks::find(c)?;
    let device = c.several_devices()?;
    let space = device.allocate_kind(1, 64, 64, 0, "")?;
    hooks.lose()?;
    space.write(0, &[5; 64])?;
    let mut found = [0; 64];
    space.read(0, &mut found)?;
    same("data space of device", 1, &found, &[5; 64])
}

/// Checks that a failure is reported once, by a mark or by the sync, and that the time between
/// marks around it ends in a value or an error.
fn failure_between_marks(c: &Context) -> Verdict {
    let hooks = Hooks::find(c)?;
    let device = c.device()?;
    let stream = device.default_stream(0);
    for _ in 0..5 {
        let mut scene = Scene::new(&device, &stream)?;
        let before = stream.mark()?;
        hooks.fail_next_copy()?;
        scene.copy(1001)?;
        let mut n_reported = 0;
        for _ in 0..10 {
            std::thread::sleep(std::time::Duration::from_micros(200));
            match stream.mark() {
                Ok(after) => match before.until(&after) {
                    Ok(_) => {}
                    Err(error) => refused("elapsed beside a failure", Err::<(), _>(error), &["IoError"])?,
                },
                Err(error) => {
                    is_failure("a mark after a copy that failed", Err(error), 1001)?;
                    n_reported += 1;
                }
            }
        }
        let synced = stream.sync();
        if synced.is_err() {
            is_failure("sync_stream after marks", synced, 1001)?;
            n_reported += 1;
        }
        ensure(n_reported == 1, "one report of the failure, by a mark or the sync", n_reported)?;
        scene.works()?;
    }
    Ok(())
}

fn marks_of_lost(c: &Context) -> Verdict {
    let hooks = Hooks::find(c)?;
    let device = c.device()?;
    let stream = device.default_stream(0);
    let (one, other) = (stream.mark()?, stream.mark()?);
    hooks.lose()?;
    refused("mark on a lost device", stream.mark().map(drop), &["DeviceLost"])?;
    refused("elapsed on a lost device", one.until(&other), &["DeviceLost"])?;
    hooks.reopen()?;
    one.free().and(other.free()).map_err(|error| {
        Stop::failed("marks that were made before may be freed", error.message()).clause("D.40")
    })?;
    let begin = stream.mark()?;
    let found = begin.until(&stream.mark()?)?;
    ensure(found >= 0.0, "a time that is not negative after the device was opened again", found)
}

fn has_timelines(device: &Device) -> Verdict {
    match device.has("timeline") {
        true => Ok(()),
        false => Err(Stop::Unsupported(format!("device_api.{} has no interface `timeline` 1", device.name))),
    }
}

/// Checks that a failure is reported once, by the signal or by the stream's next report, and that
/// neither `query` nor `host_wait` reports it.
fn failure_before_a_signal(c: &Context) -> Verdict {
    let hooks = Hooks::find(c)?;
    let device = c.device()?;
    has_timelines(&device)?;
    let stream = device.default_stream(0);
    for (waits, value) in [(false, 1), (true, 2), (false, 3), (true, 4)] {
        let mut scene = Scene::new(&device, &stream)?;
        let timeline = device.create_timeline(0, 0)?;
        hooks.fail_next_copy()?;
        scene.copy(1001)?;
        if waits {
            // The failure is known before the signal.
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        let signalled = stream.signal(&timeline, value);
        match &signalled {
            Err(_) => {
                is_failure("signal after a copy that failed", signalled, 1001)?;
                crate::stop::equal("the value after a signal that failed", &timeline.query()?, &0)?;
                stream.signal(&timeline, value)?;
                stream.sync()?;
            }
            Ok(()) => {
                let reached = timeline.host_wait(value, 20_000_000_000)?;
                ensure(reached, "a signal that takes effect after work that failed", "none in 20 s")?;
                is_failure("sync_stream after a signal", stream.sync(), 1001)?;
            }
        }
        crate::stop::equal("the value at the end", &timeline.query()?, &value)?;
        scene.works()?;
    }
    Ok(())
}

fn timelines_of_lost(c: &Context) -> Verdict {
    let hooks = Hooks::find(c)?;
    let device = c.device()?;
    has_timelines(&device)?;
    let stream = device.default_stream(0);
    let timeline = device.create_timeline(0, 0)?;
    let gone = &["DeviceLost"];
    let waited = std::thread::scope(|scope| {
        let waiter = scope.spawn(|| timeline.host_wait(1, u64::MAX).map(drop));
        std::thread::sleep(std::time::Duration::from_millis(30));
        hooks.lose().map(|()| waiter.join())
    })?;
    let waited = waited.map_err(|_| Stop::suite("a thread of the case panicked"))?;
    refused("host_wait, during which the device is lost", waited, gone)?;
    refused("create on a lost device", device.create_timeline(0, 0).map(drop), gone)?;
    refused("signal on a lost device", stream.signal(&timeline, 1), gone)?;
    refused("wait on a lost device", stream.wait(&timeline, 0), gone)?;
    refused("query on a lost device", timeline.query().map(drop), gone)?;
    refused("host_wait on a lost device", timeline.host_wait(1, u64::MAX).map(drop), gone)?;
    refused("host_signal on a lost device", timeline.host_signal(1), gone)?;
    hooks.reopen()?;
    timeline.free().map_err(|error| {
        Stop::failed("a timeline that was made before may be freed", error.message()).clause("D.40")
    })?;
    let timeline = device.create_timeline(0, 0)?;
    stream.signal(&timeline, 1)?;
    stream.sync()?;
    crate::stop::equal("the value after the device was opened again", &timeline.query()?, &1)
}

fn address_of_lost(c: &Context) -> Verdict {
    let hooks = Hooks::find(c)?;
    let device = mapped(c)?;
    let space = device.allocate_kind(0, 64, 64, CHIPDOCK_DATA_SPACE_HOST_VISIBLE, "")?;
    hooks.lose()?;
    refused("the address on a lost device", device.address_raw(0, space.data()).map(drop), &["DeviceLost"])
}

fn external_of_lost(c: &Context) -> Verdict {
    let hooks = Hooks::find(c)?;
    let device = c.device()?;
    let (space, pages) = (device.allocate(64)?, Pages::new(1)?);
    let native = device.native_stream(0, std::ptr::null_mut())?;
    hooks.lose()?;
    let gone = &["DeviceLost"];
    let stream = device.native_stream(0, std::ptr::null_mut());
    refused("native_stream of a lost device", stream.map(drop), gone)?;
    refused("native_data of a lost device", device.native_data(0, space.data()).map(drop), gone)?;
    // SAFETY: the native stream and the memory outlive whatever is returned.
    let (adopted, memory) = unsafe {
        let adopted = device.adopt_stream(0, native).map(drop);
        (adopted, device.adopt_host_memory(0, pages.address(), pages.size() as u64).map(drop))
    };
    refused("adopt_stream of a lost device", adopted, gone)?;
    refused("adopt_host_memory of a lost device", memory, gone)
}

fn out_of_memory(c: &Context) -> Verdict {
    let hooks = Hooks::find(c)?;
    let device = c.device()?;
    let available = || -> Verdict<Option<i64>> {
        Ok(device.attribute(0, "available_global_memory_bytes")?.to::<Option<i64>>()?)
    };
    let kept: Vec<_> = (0..8).map(|_| device.allocate(256)).collect::<Result<_, _>>()?;
    for (index, space) in kept.iter().enumerate() {
        space.write(0, &[index as u8; 256])?;
    }
    let before = available()?;
    for _ in 0..20 {
        hooks.out_of_memory_next()?;
        refused(
            "allocate_data_space with no memory left",
            device.allocate(4096).map(drop),
            &["OutOfMemory"],
        )?;
    }
    crate::stop::equal("available memory", &available()?, &before)?;
    for (index, space) in kept.iter().enumerate() {
        let mut found = [0; 256];
        space.read(0, &mut found)?;
        same("data space", index, &found, &[index as u8; 256])?;
    }
    Ok(())
}

fn out_of_memory_again(c: &Context) -> Verdict {
    let hooks = Hooks::find(c)?;
    let device = c.device()?;
    for _ in 0..20 {
        hooks.out_of_memory_next()?;
        refused("allocate_data_space with no memory left", device.allocate(64).map(drop), &["OutOfMemory"])?;
        Scene::new(&device, &device.default_stream(0))?.works()?;
    }
    Ok(())
}
