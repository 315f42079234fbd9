//! A child that is forked after its parent has compiled, loaded and run (P10.6), on every backend:
//! it computes the same with a host of its own, or is refused with `WrongState`; it never hangs.

use std::os::fd::AsRawFd as _;
use std::time::{Duration, Instant};

use chipdock_host::{CompileOptions, Host, Tensor};
use chipdock_ir::{DType, IrModule, build};
use chipdock_test_backends::{backends, host};

/// Time for a child to end: more than a cold compiler on a busy machine takes.
const PATIENCE: Duration = Duration::from_secs(60);

fn module() -> IrModule {
    let mut f = build::function("twice".to_owned());
    let (a, b) = (f.buffer("A", [64], DType::FLOAT32), f.buffer("B", [64], DType::FLOAT32));
    f.range("i", 64, |f, i| f.store(&b, [&i], a.at([&i]) + a.at([&i])));
    build::module([f.finish()])
}

/// Compiles, loads and runs on a target kind; an error begins with its kind.
fn computes(host: &Host, kind: &str) -> Result<(), String> {
    let failed = |error: chipdock_host::Error| format!("{}: {error}", error.kind().as_str());
    let target = host.usable_target(kind).map_err(failed)?;
    let compiled = host.compile(&module(), &target, &CompileOptions::default()).map_err(failed)?;
    let function =
        host.load(&compiled.artifact).and_then(|module| module.function("twice")).map_err(failed)?;
    let device = &target.capabilities().device.name;
    let device = host.device(device, 0).map_err(failed)?;
    let numbers: Vec<f32> = (0..64_u8).map(f32::from).collect();
    let a = Tensor::from_slice(&device, &[64], &numbers).map_err(failed)?;
    let b = Tensor::zeros(&device, &[64], a.dtype()).map_err(failed)?;
    function.call(&[(&a).into(), (&b).into()]).map_err(failed)?;
    let twice: Vec<f32> = numbers.iter().map(|number| number * 2.0).collect();
    let found = b.to_vec::<f32>().map_err(failed)?;
    if found == twice { Ok(()) } else { Err(format!("found {found:?}")) }
}

/// Runs `body` in a forked child, and returns its answer.
fn in_child(body: impl FnOnce() -> Result<(), String>) -> Result<(), String> {
    let answer = tempfile::tempfile().unwrap();
    // SAFETY: the child does as a user's program does there, and ends without destructors.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let text = body().err().unwrap_or_default();
        // SAFETY: writes from live memory, then ends this process at once.
        unsafe {
            libc::write(answer.as_raw_fd(), text.as_ptr().cast(), text.len());
            libc::_exit(i32::from(!text.is_empty()));
        }
    }
    assert!(child > 0, "no child: {}", std::io::Error::last_os_error());
    let (until, mut status) = (Instant::now() + PATIENCE, 0);
    // SAFETY: a child of ours, and a place for its status.
    while unsafe { libc::waitpid(child, &raw mut status, libc::WNOHANG) } == 0 {
        if Instant::now() > until {
            // SAFETY: a child of ours, which has not been waited for.
            unsafe {
                libc::kill(child, libc::SIGKILL);
                libc::waitpid(child, &raw mut status, 0);
            }
            return Err("the child hangs".to_owned());
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    if status == 0 {
        return Ok(());
    }
    let mut text = vec![0; 4096];
    // SAFETY: room for so many bytes.
    let count = unsafe { libc::pread(answer.as_raw_fd(), text.as_mut_ptr().cast(), text.len(), 0) };
    text.truncate(usize::try_from(count).unwrap_or(0));
    Err(format!("{} (status {status:#x})", String::from_utf8_lossy(&text)))
}

/// Target kinds whose drivers do not survive a fork.
const REFUSED: &[&str] = &["opencl", "cuda"];

#[test]
fn a_child_computes_or_is_refused() {
    let parents = host();
    let kinds: Vec<String> = backends(&parents).iter().map(|backend| backend.target.kind.clone()).collect();
    for kind in &kinds {
        computes(&parents, kind).unwrap_or_else(|error| panic!("{kind}: {error}"));
    }
    let mut wrong = Vec::new();
    for kind in &kinds {
        let is_right = |found: &Result<(), String>| match found {
            Ok(()) => !REFUSED.contains(&kind.as_str()),
            Err(error) => REFUSED.contains(&kind.as_str()) && error.starts_with("WrongState:"),
        };
        let found = in_child(|| computes(&host(), kind));
        if !is_right(&found) {
            wrong.push(format!("{kind}: {found:?}"));
        }
        // A child of the child is no different.
        let found = in_child(|| in_child(|| computes(&host(), kind)));
        if !is_right(&found) {
            wrong.push(format!("{kind}, a child of the child: {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    for kind in &kinds {
        computes(&parents, kind).unwrap_or_else(|error| panic!("{kind}, in the parent afterwards: {error}"));
    }
}
