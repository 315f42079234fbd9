//! WGSL in a browser: tint reads every text, and SwiftShader computes what the interpreter does.

use std::path::{Path, PathBuf};

use chipdock_interpret::{Outcome, Output, compare};
use chipdock_test_backends::device_code::{
    Shader, build, built, list_drawn, modules, modules_in_words, modules_of_long_elements, target,
};
use chipdock_test_backends::host;
use chipdock_test_backends::launches::{self, Launch};
use chipdock_test_backends::specials::{Placed, hold_bits, needs_double, programs};
use chipdock_test_support::sample::Drawn;
use chipdock_test_support::setup::missing;
use chipdock_webgpu_tests::browser::{Browser, Work, tensors};
use chipdock_webgpu_tests::check;

/// A run takes one file of the corpus in so many.
const SHARE: usize = 5;

fn browser() -> Option<Browser> {
    let found = Browser::found();
    if found.is_none() {
        missing("WGSL in a browser: no chromium");
    }
    found
}

fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("goldens").join(name)
}

/// Messages that are no opinion on the text: the browser's device lacks the feature.
fn is_of_the_device(message: &str) -> bool {
    ["shader-f16", "f16"].iter().any(|word| message.contains(word)) && message.contains("not")
}

#[test]
fn tint_takes_every_kernel() {
    let Some(browser) = browser() else { return };
    let host = host();
    let target = target(&host, "webgpu");
    let (mut refused, mut names, mut work) = (Vec::new(), Vec::new(), Work::default());
    for (file, module) in modules().into_iter().chain(modules_in_words()) {
        let Some(shader) = built(&host, &target, &file, &module, &mut refused) else { continue };
        work.add_text(&shader.source);
        names.push(file.name.clone());
    }
    for (name, module) in modules_of_long_elements() {
        work.add_text(&build(&host, &module, &target).unwrap().unwrap().source);
        names.push(name);
    }
    let results = browser.run(work).unwrap_or_else(|error| panic!("{error}"));
    let wrong: Vec<String> = names
        .iter()
        .zip(results)
        .filter(|(_, ran)| ran.messages.iter().any(|message| !is_of_the_device(message)))
        .map(|(name, ran)| format!("{name}: {}", ran.messages.join("; ")))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Special values, bit by bit (IR-N6, IR-N7, IR-N9), also by naga.
#[test]
fn specials_are_exact_in_a_browser() {
    let Some(browser) = browser() else { return };
    let host = host();
    let target = target(&host, "webgpu");
    let programs = programs().unwrap_or_else(|error| panic!("{error}"));
    let (mut placed, mut work, mut wrong) = (Vec::new(), Work::default(), Vec::new());
    for program in &programs {
        let shader = match build(&host, &program.module, &target) {
            Ok(shader) => shader.expect("kernels"),
            Err(why) if needs_double(program) && why.contains("float64") => continue,
            Err(why) => panic!("{}: {why}", program.name),
        };
        wrong.extend(check(&shader.source).err().map(|error| format!("{}: naga: {error}", program.name)));
        let all: Result<Vec<Placed>, String> =
            program.calls.iter().map(|call| Placed::new(program, call, &shader.module)).collect();
        let all = all.unwrap_or_else(|error| panic!("{error}"));
        let launches: Vec<Launch> = all.iter().map(|placed| placed.launch.clone()).collect();
        work.add(&shader, &launches).unwrap_or_else(|error| panic!("{error}"));
        placed.push((program, all));
    }
    let results = browser.run(work).unwrap_or_else(|error| panic!("{error}"));
    for ((program, all), ran) in placed.iter().zip(results) {
        wrong.extend(ran.messages.iter().map(|message| format!("{}: {message}", program.name)));
        for ((placed, call), found) in all.iter().zip(&program.calls).zip(ran.launches) {
            let found =
                found.and_then(|bytes| hold_bits(call, &placed.in_order(&tensors(&placed.launch, bytes))));
            wrong.extend(found.err().map(|why| format!("{}: {}: {why}", program.name, call.function)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The launches of a text's kernels with what the interpreter computes, and why others have none.
fn expected(shader: &Shader) -> (Vec<(Launch, Outcome)>, Vec<String>) {
    let (mut good, mut left) = (Vec::new(), Vec::new());
    for launch in launches::launches(&shader.module) {
        match launch.and_then(|launch| Ok((launches::expected(&shader.module, &launch)?, launch))) {
            Ok((outcome, launch)) => good.push((launch, outcome)),
            Err(error) => left.push(error.split(':').next().unwrap_or_default().to_owned()),
        }
    }
    (good, left)
}

/// An output within the precision that WGSL has: of `/`, `sqrt` and `fma` it is the device's, some
/// units of the last place.
fn as_wgsl_bounds(output: &Output) -> Output {
    const UNITS: f64 = 4.0;
    if !output.array.dtype.is_float() {
        return output.clone();
    }
    let bound = |lane: usize| {
        let value = output.array.float(lane).unwrap_or_default().abs();
        let own = UNITS * f64::from(f32::EPSILON) * value;
        output.bound(lane).max(if own.is_finite() { own } else { 0.0 })
    };
    Output { bounds: Some((0..output.array.n_lanes()).map(bound).collect()), ..output.clone() }
}

#[test]
fn the_browser_computes_what_the_interpreter_does() {
    let Some(browser) = browser() else { return };
    let host = host();
    let target = target(&host, "webgpu");
    let (mut lines, mut wrong) = (Vec::new(), Vec::new());
    let all = modules();
    let what = "files of the corpus in WGSL, run in a browser";
    let drawn = Drawn::of(what, SHARE, all.iter().map(|(file, _)| file.name.as_str()));
    let (mut of_files, mut work) = (Vec::new(), Work::default());
    for (file, module) in all.into_iter().filter(|(file, _)| drawn.has(&file.name)) {
        let Some(shader) = built(&host, &target, &file, &module, &mut lines) else { continue };
        let (good, left) = expected(&shader);
        lines.extend(left.iter().map(|name| format!("{}: no arguments for {name}", file.name)));
        let launches: Vec<Launch> = good.iter().map(|(launch, _)| launch.clone()).collect();
        work.add(&shader, &launches).unwrap_or_else(|error| panic!("{}: {error}", file.name));
        of_files.push((file.name, good));
    }
    let results = browser.run(work).unwrap_or_else(|error| panic!("{error}"));
    for ((file, good), ran) in of_files.iter().zip(results) {
        let mut count = 0;
        for ((launch, outcome), found) in good.iter().zip(ran.launches) {
            let bytes = match found {
                Ok(bytes) => bytes,
                Err(why) => {
                    lines.push(format!("{file}: {}: {why}", launch.name));
                    continue;
                }
            };
            count += 1;
            for (output, found) in outcome.outputs.iter().zip(tensors(launch, bytes)) {
                let compared = compare(&found, &as_wgsl_bounds(output));
                let about = |mismatch| format!("{file}: {}, {}: {mismatch}", launch.name, output.name);
                wrong.extend(compared.err().map(about));
            }
        }
        lines.push(format!("{file}: {count} kernels run"));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    list_drawn(&golden("browser.txt"), lines, &drawn).unwrap_or_else(|error| panic!("{error}"));
}
