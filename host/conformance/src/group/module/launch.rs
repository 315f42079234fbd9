//! Interface `launch` 1 of a module, if it has it: entries, empty launches, launches in the
//! order of timelines, and refused requests.

use std::ffi::c_void;

use chipdock_abi::{CHIPDOCK_EXTENSIONS_MAX, ChipdockEntry};
use chipdock_host::CompileOptions;
use chipdock_ir::ThreadAxis;
use chipdock_plugin_api::Error;
use chipdock_plugin_api::kernel::{Kernel, Kernels};
use chipdock_raw_host::{
    Device, Environment, LaunchRequest, Launches, Module, OrderChain, RawArtifact, SIGNAL, WAIT,
};

use super::extended::{extensions_with_a_must, many_extensions, refused_as, unknown_extensions};
use super::made::{Made, loader, of_kind, raw};
use crate::stop::{ensure, equal};
use crate::{Cases, Context, Group, Stop, Subject, Verdict, axes};

pub(super) fn add(cases: &mut Cases) {
    let mut case = |name: &str, clause, body: fn(&Scene, &Launches<'_>) -> Verdict| {
        let draft = cases.case(Group::Module, format_args!("launch/{name}"), clause, Subject::Loader);
        draft.run(move |c| in_scene(c, "timeline", body));
    };
    case("entries", "K.5", entries);
    case("no-such-entry", "K.5", no_such_entry);
    case("with-arguments-of-zeros", "K.7", |scene, launches| scene.launches_still(launches));
    case("extent-0", "K.2", extent_0);
    case("another-number-of-arguments", "K.8", arguments_count);
    case("axis-that-is-not-the-kernels", "K.8", foreign_axes);
    case("shared-memory-that-it-does-not-take", "K.8", foreign_shared);
    case("no-such-device", "K.8", no_such_device);
    case("null-entry", "K.8", null_entry);

    case("unknown-flags", "P3.17", |scene, launches| {
        scene.takes(launches, |request| request.flags = u32::MAX)
    });
    case("unknown-extensions", "P3.16", |scene, launches| {
        scene.takes(launches, |request| request.extensions = unknown_extensions())
    });
    case("extension-that-must-be-understood", "P3.16", |scene, launches| {
        scene.refuses(launches, "Unsupported", "suite.must", |request| {
            request.extensions = extensions_with_a_must();
        })
    });
    case("too-many-extensions", "P3.15", |scene, launches| {
        scene.refuses(launches, "ValueError", "", |request| {
            request.extensions = many_extensions(CHIPDOCK_EXTENSIONS_MAX + 1);
        })
    });
    cases.case(Group::Module, "launch/in-order", "N.28", Subject::Loader).run(|c| {
        if device_with(c, "timeline")?.is_none() {
            c.not_run("its device API has no interface `timeline` 1, which is optional");
            return Ok(());
        }
        in_scene(c, "timeline", in_order)
    });
}

/// Returns the plugin's device API for which the sample is compiled, if it has version 1 of that
/// interface.
pub(super) fn device_with(c: &Context<'_>, interface: &str) -> Verdict<Option<Device>> {
    let made = Made::cached(c)?;
    let Ok(used) = &made.device else { return Ok(None) };
    let mut devices = c.plugin()?.devices().into_iter();
    Ok(devices.find(|device| device.name == used.name() && device.has(interface)))
}

/// A launch waits and signals; an empty one does too, and one that is refused does not.
fn in_order(scene: &Scene, launches: &Launches<'_>) -> Verdict {
    let Some(device) = &scene.device else { return Err(Stop::suite("no device with timelines")) };
    let (device_id, entry) = (scene.request.device_id, scene.entry(launches)?);
    let stream = device.create_stream(device_id)?;
    let timeline = device.create_timeline(device_id, 0)?;
    let raw = timeline.raw();
    let launch = |request: &LaunchRequest, chain: &[(&'static str, *mut c_void, u64)]| {
        launches.launch_ordered(entry, request, &stream, &OrderChain::new(chain))
    };
    let right = |answer: Result<(), Error>| {
        answer.map_err(|error| Stop::failed("a launch in order: success", text(&error)))
    };
    right(launch(&scene.request, &[(WAIT, raw, 0), (SIGNAL, raw, 1)]))?;
    let empty = LaunchRequest { grid: [0; 3], ..scene.request.clone() };
    right(launch(&empty, &[(SIGNAL, raw, 3), (WAIT, raw, 1), (SIGNAL, raw, 4)]))?;
    refused_as("launch", "ValueError", "4", launch(&scene.request, &[(SIGNAL, raw, 4)]))?;
    refused_as("launch", "WrongState", "5", launch(&scene.request, &[(WAIT, raw, 5), (SIGNAL, raw, 9)]))?;
    let wrong = LaunchRequest { args: Vec::new(), ..scene.request.clone() };
    refused_as("launch", "TypeError", "", launch(&wrong, &[(SIGNAL, raw, 7)]))?;
    stream.sync()?;
    equal("the value after four launches, two of them refused", &timeline.query()?, &4)?;
    drop(timeline);
    scene.launches_still(launches)
}

/// Kernel of one block of one thread, on the axes that the kind declares; it touches nothing if the
/// length is 0.
fn text_of(axes: &[ThreadAxis]) -> String {
    let mut text =
        "@T.prim_func(s_tir=True)\ndef untouched(A: T.Buffer((\"n\",), \"float32\"), s: T.float32):\n"
            .to_owned();
    let mut margin = "    ".to_owned();
    text += "    n = T.int32()\n";
    for axis in axes::first(axes).into_iter().flatten() {
        text += &format!("{margin}for i{} in T.thread_binding(1, thread=\"{axis}\"):\n", margin.len());
        margin += "    ";
    }
    for line in [
        "for i in range(n):",
        "    with T.sblock(\"A\"):",
        "        v = T.axis.spatial(n, i)",
        "        A[v] = A[v] * s",
    ] {
        text += &format!("{margin}{line}\n");
    }
    text
}

/// A kernel of the module, and a valid launch of it: the function has a length of 0 and no memory.
pub(super) struct Scene {
    kernels: Vec<Kernel>,
    device_type: Option<i32>,
    /// The device, if it has the interface that the case is about.
    pub(super) device: Option<Device>,
    pub(super) request: LaunchRequest,
}

/// Returns the part of the loader's kind of a compiled module, or `None` if its modules lack
/// `launch` 1.
fn part(c: &Context<'_>) -> Verdict<Option<RawArtifact>> {
    let made = Made::cached(c)?;
    if loader(c)?.load(&made.own, Environment::Working)?.launches()?.is_none() {
        return Ok(None);
    }
    let host = c.host()?;
    let target = host.usable_target(&made.target_kind)?;
    let axes = axes::launched(&target.capabilities().execution.thread_axes);
    let module = chipdock_script::parse(&text_of(&axes), "untouched");
    let module = module.map_err(|errors| Stop::suite(errors.to_string()))?;
    let compiled = host.compile(&module, &target, &CompileOptions::default())?;
    let part = of_kind(&compiled.artifact, c.registration()).map(raw);
    part.map(Some).ok_or_else(|| Stop::suite("a launch of threads without a part for the device"))
}

pub(super) fn in_scene(
    c: &Context<'_>,
    interface: &str,
    body: fn(&Scene, &Launches<'_>) -> Verdict,
) -> Verdict {
    let Some(own) = &*c.cached("module/launch", || part(c))? else {
        c.not_run("its modules do not answer interface `launch` 1, which is optional");
        return Ok(());
    };
    let made = Made::cached(c)?;
    let module: Module = loader(c)?.load(own, Environment::Working)?;
    let Some(launches) = module.launches()? else {
        return Err(Stop::failed("interface `launch` 1 of every module of the kind", "none of this one"));
    };
    let index = serde_json::from_slice(&own.index_json);
    let index = index.map_err(|error| Stop::suite(format!("the index of an artifact: {error}")))?;
    let kernels = Kernels::from_index(&index).map_err(|error| Stop::failed("kernels", error.message()))?;
    let kernels = kernels.usable;
    let Some(kernel) = kernels.first() else { return Err(Stop::suite("an artifact without a kernel")) };
    let request = LaunchRequest {
        device_id: made.device.as_ref().map_or(0, chipdock_host::Device::id),
        flags: 0,
        grid: [1; 3],
        block: [1; 3],
        dynamic_shared_bytes: 0,
        args: vec![[0; 8]; kernel.args.len()],
        extensions: Vec::new(),
    };
    let device_type = super::check::own(c, &made)?.map(|device| device.device_type);
    let device = device_with(c, interface)?;
    body(&Scene { kernels, device_type, device, request }, &launches)
}

impl Scene {
    pub(super) fn kernel(&self) -> &Kernel {
        &self.kernels[0]
    }

    pub(super) fn entry(&self, launches: &Launches<'_>) -> Verdict<ChipdockEntry> {
        let found = launches.entry(self.kernel().name.as_bytes())?;
        let expected = format!("an entry for kernel \"{}\" of the index", self.kernel().name);
        ensure(!found.entry.is_null(), expected, "null")?;
        Ok(found)
    }

    pub(super) fn launches_still(&self, launches: &Launches<'_>) -> Verdict {
        let entry = self.entry(launches)?;
        let answer = launches.launch(entry, &self.request);
        answer.map_err(|error| Stop::failed("a launch that is right: success", text(&error)))
    }

    fn takes(&self, launches: &Launches<'_>, change: fn(&mut LaunchRequest)) -> Verdict {
        let mut request = self.request.clone();
        change(&mut request);
        let answer = launches.launch(self.entry(launches)?, &request);
        answer.map_err(|error| Stop::failed("success", text(&error)))
    }

    fn refuses(
        &self,
        launches: &Launches<'_>,
        kind: &str,
        tells: &str,
        change: impl FnOnce(&mut LaunchRequest),
    ) -> Verdict {
        let mut request = self.request.clone();
        change(&mut request);
        let answer = launches.launch(self.entry(launches)?, &request);
        refused_as("launch", kind, tells, answer)?;
        self.launches_still(launches)
    }

    fn has(&self, axis: ThreadAxis) -> bool {
        self.kernel().axes.contains(&axis)
    }
}

pub(super) fn text(error: &Error) -> String {
    format!("{}: {}", error.kind(), error.message())
}

fn entries(scene: &Scene, launches: &Launches<'_>) -> Verdict {
    for kernel in &scene.kernels {
        let first = launches.entry(kernel.name.as_bytes())?;
        let expected = format!("an entry for kernel \"{}\" of the index", kernel.name);
        ensure(!first.entry.is_null(), expected, "null")?;
        let again = launches.entry(kernel.name.as_bytes())?;
        equal("the entry, asked for again", &again.entry.addr(), &first.entry.addr())?;
        if let Some(expected) = scene.device_type {
            equal("the type of its device", &first.device_type, &expected)?;
        }
    }
    Ok(())
}

fn no_such_entry(scene: &Scene, launches: &Launches<'_>) -> Verdict {
    let name = &scene.kernel().name;
    for name in
        [format!("{name}x"), format!("x{name}"), name.to_uppercase(), String::new(), "main".to_owned()]
    {
        let found = launches.entry(name.as_bytes()).map_err(|error| {
            Stop::failed(format!("null for \"{name}\", which is no kernel: success"), text(&error))
        })?;
        ensure(found.entry.is_null(), format!("null for \"{name}\", which is no kernel"), "an entry")?;
    }
    // The name is no text: null or `ValueError`.
    if let Err(error) = launches.entry(b"\xff\xfe") {
        equal("the kind of error for a name that is no text", &error.kind().as_str(), &"ValueError")?;
    }
    scene.launches_still(launches)
}

fn extent_0(scene: &Scene, launches: &Launches<'_>) -> Verdict {
    let mut empty = Vec::new();
    for axis in 0..3 {
        let (mut grid, mut block) = (scene.request.grid, scene.request.block);
        (grid[axis], block[axis]) = (0, 0);
        empty.push(LaunchRequest { grid, ..scene.request.clone() });
        empty.push(LaunchRequest { block, ..scene.request.clone() });
    }
    for request in empty {
        let what = format!("a launch of {:?} blocks of {:?} threads: success", request.grid, request.block);
        let answer = launches.launch(scene.entry(launches)?, &request);
        answer.map_err(|error| Stop::failed(what, text(&error)))?;
    }
    scene.launches_still(launches)
}

fn arguments_count(scene: &Scene, launches: &Launches<'_>) -> Verdict {
    let count = scene.request.args.len();
    let found = |count: usize| count.to_string();
    scene.refuses(launches, "TypeError", &found(count + 1), |request| request.args.push([0; 8]))?;
    scene.refuses(launches, "TypeError", &found(count - 1), |request| request.args.truncate(count - 1))?;
    scene.refuses(launches, "TypeError", &found(0), |request| request.args.clear())
}

fn foreign_axes(scene: &Scene, launches: &Launches<'_>) -> Verdict {
    let grid = [ThreadAxis::BlockX, ThreadAxis::BlockY, ThreadAxis::BlockZ];
    let block = [ThreadAxis::ThreadX, ThreadAxis::ThreadY, ThreadAxis::ThreadZ];
    for (index, (blocks, threads)) in grid.into_iter().zip(block).enumerate() {
        if !scene.has(blocks) {
            scene.refuses(launches, "ValueError", blocks.name(), |request| request.grid[index] = 2)?;
        }
        if !scene.has(threads) {
            scene.refuses(launches, "ValueError", threads.name(), |request| request.block[index] = 2)?;
        }
    }
    Ok(())
}

fn foreign_shared(scene: &Scene, launches: &Launches<'_>) -> Verdict {
    if scene.kernel().has_dynamic_shared {
        return Err(Stop::suite("the sample takes dynamic shared memory"));
    }
    scene.refuses(launches, "ValueError", "64", |request| request.dynamic_shared_bytes = 64)
}

fn no_such_device(scene: &Scene, launches: &Launches<'_>) -> Verdict {
    for device_id in [-1, 1 << 20, i32::MIN, i32::MAX] {
        scene.refuses(launches, "ValueError", &device_id.to_string(), |request| {
            request.device_id = device_id
        })?;
    }
    Ok(())
}

fn null_entry(scene: &Scene, launches: &Launches<'_>) -> Verdict {
    let none = ChipdockEntry { entry: std::ptr::null_mut(), ..scene.entry(launches)? };
    refused_as("launch", "ValueError", "", launches.launch(none, &scene.request))?;
    scene.launches_still(launches)
}
