//! Growth of memory and handles under repeated actions.

mod meter;

use std::ptr;

use chipdock_abi::{CHIPDOCK_DATA_SPACE_DEVICE, ChipdockCopy};
use chipdock_host::{AnyView, Device, Function, Tensor};
use chipdock_ir::{DType, IrModule};
use chipdock_plugin_api::attribute;
use chipdock_raw_host::{
    self as raw, Environment, Kind, Loader, NO_HINT, OrderChain, Plugin, RawArtifact, RawSection, SIGNAL,
    Space, host_end,
};

use crate::bytes::pattern;
use crate::execute::{Ready, build};
use crate::group::stream::external::Pages;
use crate::stop::{Stop, equal};
use crate::{Cases, Context, Group, Profile, Subject, Verdict, hosts};

use meter::Soak;

/// Clause of all these cases: releasing is complete.
const CLAUSE: &str = "P9.4";

type Body = fn(&Context) -> Verdict;

/// Repeated action on a device that supports its profiles.
type Once = fn(&raw::Device) -> Verdict;

pub(super) fn add(cases: &mut Cases) {
    let on_device: [(&str, Once); 20] = [
        ("data-spaces/1-byte", |device| Ok(device.allocate(1)?.free()?)),
        ("data-spaces/4096-bytes", |device| Ok(device.allocate(4096)?.free()?)),
        ("data-spaces/1-mib", |device| Ok(device.allocate(1 << 20)?.free()?)),
        ("data-spaces/50-at-once", fifty),
        ("copies/there-and-back", there_and_back),
        ("copies/on-the-device", on_the_device),
        ("copies/of-nothing", |device| Ok(device.allocate(0)?.write(0, &[])?)),
        ("streams/made-and-freed", |device| Ok(device.create_stream(0)?.free()?)),
        ("streams/used", stream_used),
        ("streams/waiting", stream_waiting),
        ("syncs", |device| Ok(device.sync(0, ptr::null_mut())?)),
        ("attributes/known", attributes),
        ("attributes/unknown", |device| Ok(device.attribute(0, "no_such_attribute").map(drop)?)),
        ("count", |device| Ok(device.count().map(drop)?)),
        ("errors/no-such-device", |device| refused(device.attribute(i32::MAX, attribute::DEVICE_NAME))),
        ("errors/allocating-too-much", |device| refused(device.allocate(u64::MAX))),
        ("errors/wrong-alignment", |device| {
            refused(device.allocate_kind(0, 64, 3, CHIPDOCK_DATA_SPACE_DEVICE, ""))
        }),
        ("errors/unknown-kind", |device| refused(device.allocate_kind(0, 64, 64, 99, ""))),
        ("errors/unknown-scope", |device| {
            refused(device.allocate_kind(0, 64, 64, CHIPDOCK_DATA_SPACE_DEVICE, "no-such-scope"))
        }),
        ("errors/copy-from-null", copy_from_null),
    ];
    for (name, once) in on_device {
        cases.case(Group::Soak, name, CLAUSE, Subject::DeviceApi).deadline(60).run(move |c| {
            let device = c.device()?;
            Soak::new(&device).hold(|| once(&device))
        });
    }
    let interfaces: [(&str, Profile, Once); 7] = [
        ("timer/marks", Profile::Timer, marks),
        ("timer/marks-with-work-between", Profile::Timer, marks_with_work),
        ("timeline/timelines", Profile::Timeline, timelines),
        ("timeline/copies-in-order", Profile::Timeline, copies_in_order),
        ("graph/replays", Profile::Graph, replays),
        ("external/streams", Profile::External, adopted_streams),
        ("external/host-memory", Profile::External, adopted_memory),
    ];
    for (name, profile, once) in interfaces {
        let draft = cases.case(Group::Soak, name, CLAUSE, Subject::DeviceApi).deadline(60);
        draft.profile([profile]).run(move |c| {
            let device = c.device()?;
            // An unsupported action reports that itself.
            once(&device)?;
            Soak::new(&device).hold(|| once(&device))
        });
    }
    let others: [(&str, Subject, Body); 8] = [
        ("tensors", Subject::DeviceApi, tensors),
        ("hosts/made-and-gone", Subject::Plugin, hosts),
        ("modules/built-and-dropped", Subject::Codegen, modules),
        ("modules/called", Subject::Codegen, calls),
        ("modules/refused", Subject::Loader, refused_modules),
        ("targets/made", Subject::TargetKind, targets),
        ("targets/refused", Subject::TargetKind, refused_targets),
        ("targets/damaged", Subject::TargetKind, damaged_targets),
    ];
    for (name, subject, body) in others {
        cases.case(Group::Soak, name, CLAUSE, subject).deadline(60).run(body);
    }
}

/// Makes a call that must fail; other cases check the error.
fn refused<T, E>(result: Result<T, E>) -> Verdict {
    match result {
        Ok(_) => Err(Stop::failed("an error", "success")),
        Err(_) => Ok(()),
    }
}

fn fifty(device: &raw::Device) -> Verdict {
    let spaces = (0..50).map(|number| device.allocate(number * 40)).collect::<Result<Vec<_>, _>>()?;
    Ok(spaces.into_iter().rev().try_for_each(Space::free)?)
}

fn there_and_back(device: &raw::Device) -> Verdict {
    let mut bytes = [7; 1000];
    let space = Space::with(device, 0, &bytes)?;
    space.read(0, &mut bytes)?;
    Ok(space.free()?)
}

fn on_the_device(device: &raw::Device) -> Verdict {
    let (from, to) = (device.allocate(1000)?, device.allocate(1000)?);
    let copy = ChipdockCopy {
        from: from.end(0),
        to: to.end(0),
        size_bytes: 1000,
        dtype_hint: NO_HINT,
        flags: 0,
        next: std::ptr::null(),
    };
    // SAFETY: by D.6, both data spaces live until the sync.
    unsafe { device.copy_raw(0, &copy, ptr::null_mut()) }?;
    Ok(device.sync(0, ptr::null_mut())?)
}

fn stream_used(device: &raw::Device) -> Verdict {
    let mut bytes = [7_u8; 1000];
    let space = device.allocate(1000)?;
    let stream = device.create_stream(0)?;
    // SAFETY: by D.6, the buffer and the data space live until the sync.
    unsafe { stream.copy(host_end(bytes.as_mut_ptr(), 0), space.end(0), 1000) }?;
    stream.sync()?;
    Ok(stream.free()?)
}

fn stream_waiting(device: &raw::Device) -> Verdict {
    let (one, other) = (device.create_stream(0)?, device.create_stream(0)?);
    other.wait_for(&one)?;
    one.wait_for(&device.default_stream(0))?;
    other.sync()?;
    other.free()?;
    Ok(one.free()?)
}

fn marks(device: &raw::Device) -> Verdict {
    let stream = device.default_stream(0);
    let (one, other) = (stream.mark()?, stream.mark()?);
    one.until(&other)?;
    Ok(one.free().and(other.free())?)
}

fn marks_with_work(device: &raw::Device) -> Verdict {
    let stream = device.default_stream(0);
    let begin = stream.mark()?;
    there_and_back(device)?;
    begin.until(&stream.mark()?)?;
    Ok(())
}

fn timelines(device: &raw::Device) -> Verdict {
    let (timeline, stream) = (device.create_timeline(0, 0)?, device.default_stream(0));
    for value in [1, 2] {
        stream.signal(&timeline, value)?;
        stream.wait(&timeline, value)?;
    }
    timeline.host_wait(2, u64::MAX)?;
    Ok(timeline.free()?)
}

fn copies_in_order(device: &raw::Device) -> Verdict {
    let mut bytes = [7_u8; 1000];
    let (space, stream) = (device.allocate(1000)?, device.default_stream(0));
    let timeline = device.create_timeline(0, 0)?;
    let (chain, to) = (OrderChain::new(&[(SIGNAL, timeline.raw(), 1)]), space.end(0));
    // SAFETY: by D.6, the buffer and the data space live until the sync.
    unsafe { stream.copy_ordered(host_end(bytes.as_mut_ptr(), 0), to, 1000, &chain) }?;
    stream.sync()?;
    Ok(timeline.free()?)
}

fn replays(device: &raw::Device) -> Verdict {
    let (from, to, stream) = (device.allocate(1000)?, device.allocate(1000)?, device.default_stream(0));
    let graph = device.create_graph(0, &[from.data()])?;
    // SAFETY: by D.6 and N.48, both data spaces live until the sync.
    unsafe { graph.copy(from.end(0), to.end(0), 1000) }?;
    graph.finish()?;
    for _ in 0..2 {
        stream.replay(&graph, &[from.data()])?;
    }
    graph.free()?;
    Ok(stream.sync()?)
}

fn adopted_streams(device: &raw::Device) -> Verdict {
    let native = device.native_stream(0, ptr::null_mut())?;
    // SAFETY: this is the default stream, which outlives every other.
    let stream = unsafe { device.adopt_stream(0, native) }?;
    stream.sync()?;
    Ok(stream.free()?)
}

fn adopted_memory(device: &raw::Device) -> Verdict {
    let pages = Pages::new(1)?;
    // SAFETY: the data space is freed before the pages.
    let space = unsafe { device.adopt_host_memory(0, pages.address(), pages.size() as u64) }?;
    space.write(0, &[7; 1000])?;
    Ok(space.free()?)
}

fn attributes(device: &raw::Device) -> Verdict {
    attribute::ALL.iter().try_for_each(|key| Ok(device.attribute(0, key).map(drop)?))
}

fn copy_from_null(device: &raw::Device) -> Verdict {
    let space = device.allocate(64)?;
    let copy = ChipdockCopy {
        from: host_end(ptr::null_mut(), 0),
        to: space.end(0),
        size_bytes: 64,
        dtype_hint: NO_HINT,
        flags: 0,
        next: std::ptr::null(),
    };
    // SAFETY: null is refused (D.2).
    refused(unsafe { device.copy_raw(0, &copy, ptr::null_mut()) })
}

fn tensors(c: &Context) -> Verdict {
    let raw = c.device()?;
    let device = c.host()?.device(c.registration(), 0)?;
    let mut round = 0;
    Soak::new(&raw).hold(|| {
        round += 1;
        let tensor = Tensor::from_bytes(&device, &[25, 10], DType::FLOAT32, &[1; 1000])?;
        let copy = tensor.slice(0, 5, 10)?.to_device(&device)?;
        drop((copy.to_bytes()?, tensor));
        if round % 10 == 0 {
            device.trim()?;
        }
        Ok(())
    })
}

/// Repeatedly creates a host, uses the registrations, and shuts the host down.
fn hosts(c: &Context) -> Verdict {
    let raw = Plugin::entry(c.library())
        .map_err(|error| Stop::failed("a plugin that opens", error.message).clause(error.clause))?;
    let once = || -> Verdict {
        let plugin = Plugin::init(raw, hosts::host())
            .map_err(|error| Stop::failed("an `init` that succeeds", error.message).clause(error.clause))?;
        for device in plugin.devices() {
            if c.facts().absent_device(&device.name).is_none() {
                there_and_back(&device)?;
            }
        }
        let shut_down = plugin.shutdown();
        // SAFETY: the plugin is shut down, and its registrations are no longer used.
        unsafe { plugin.destroy() };
        Ok(shut_down?)
    };
    // The suite's own hosts are never freed, and a plugin may remember hosts that were shut down.
    Soak { device: None, allowed_bytes: 3072, times_min: 50 }.hold(once)
}

/// Builds a kernel that every code generator supports; its constant distinguishes it from the
/// others.
fn kernel(number: u32) -> Verdict<IrModule> {
    let text = format!(
        "@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def f(A: T.Buffer((64,), \"float32\"), B: T.Buffer((64,), \"float32\")):
        for i in range(64):
            with T.sblock(\"B\"):
                vi = T.axis.spatial(64, i)
                B[vi] = A[vi] + T.float32({number})
"
    );
    chipdock_script::parse(&text, "soak.py").map_err(|errors| Stop::suite(format!("the kernel: {errors}")))
}

/// Calls the kernel with a tensor of zeros, and checks what it wrote.
fn call(device: &Device, function: &Function, number: u32) -> Verdict {
    let a = Tensor::zeros(device, &[64], DType::FLOAT32)?;
    let b = Tensor::zeros(device, &[64], DType::FLOAT32)?;
    function.call(&[AnyView::from(&a), AnyView::from(&b)])?;
    device.sync()?;
    equal("what the kernel wrote", &b.to_bytes()?, &(number as f32).to_le_bytes().repeat(64))
}

/// Builds, loads, calls and drops modules that each differ a little from the previous one.
fn modules(c: &Context) -> Verdict {
    let mut number = 0;
    Soak { device: None, allowed_bytes: 4096, times_min: 12 }.hold(|| {
        // Uses a few in turn, because drivers that compile keep something of each new text.
        number = number % 3 + 1;
        match build(c, &kernel(number)?)? {
            Ready::Callable(module, device) => call(&device, &module.function("f")?, number),
            Ready::Built(why) => {
                c.not_run(why);
                Ok(())
            }
        }
    })
}

/// Calls one function repeatedly.
fn calls(c: &Context) -> Verdict {
    let (module, device) = match build(c, &kernel(3)?)? {
        Ready::Callable(module, device) => (module, device),
        Ready::Built(why) => {
            c.not_run(why);
            return Ok(());
        }
    };
    let function = module.function("f")?;
    Soak::new(None).hold(|| call(&device, &function, 3))
}

/// Loads invalid artifacts repeatedly.
fn refused_modules(c: &Context) -> Verdict {
    let plugin = c.plugin()?;
    let Some(loader) = Loader::find(plugin, c.registration()) else {
        return Err(Stop::suite(format!("no loader {}", c.registration())));
    };
    let code = RawSection {
        name: b"code".to_vec(),
        kind: b"code".to_vec(),
        alignment_bytes: 64,
        data: pattern(1, 5000),
    };
    let artifact = RawArtifact {
        index_json: b"{\"functions\": 7}".to_vec(),
        sections: vec![code],
        ..RawArtifact::default()
    };
    Soak { device: None, allowed_bytes: 64, times_min: 16 }
        .hold(|| refused(loader.load(&artifact, Environment::Working)))
}

fn targets(c: &Context) -> Verdict {
    let host = c.host()?;
    c.target()?;
    Soak::new(None).hold(|| Ok(host.target(c.registration()).map(drop)?))
}

fn refused_targets(c: &Context) -> Verdict {
    let host = c.host()?;
    c.target()?;
    let wrong = serde_json::json!({ "kind": c.registration(), "no-such-option": 7 });
    Soak::new(None).hold(|| refused(host.target(wrong.clone())))
}

/// Passes invalid targets to the plugin directly.
fn damaged_targets(c: &Context) -> Verdict {
    let Some(kind) = Kind::find(c.plugin()?, c.registration()) else {
        return Err(Stop::suite(format!("no target kind {}", c.registration())));
    };
    let damaged = "{\"kind\":";
    Soak::new(None).hold(|| match kind.canonicalize(damaged) {
        Ok(answer) => equal("the answer to a text that is no target (T.8)", &answer.as_str(), &damaged),
        Err(_) => Ok(()),
    })
}
