//! Checks every kernel of the corpus and the examples, scheduled by hand and by default.

use std::path::Path;

use chipdock_test_backends::device_code::{
    build, built, check_texts, list, modules, modules_in_words, modules_of_long_elements, target, texts,
};
use chipdock_test_backends::host;
use chipdock_test_support::{CorpusFile, workspace};
use chipdock_webgpu_tests::check;

fn naga_takes(modules: Vec<(CorpusFile, chipdock_ir::IrModule)>, golden: &str) {
    let host = host();
    let target = target(&host, "webgpu");
    let (mut lines, mut wrong) = (Vec::new(), Vec::new());
    for (file, module) in modules {
        let Some(shader) = built(&host, &target, &file, &module, &mut lines) else { continue };
        lines.push(format!("{}: {} kernels read", file.name, shader.module.functions.len()));
        wrong.extend(check(&shader.source).err().map(|error| format!("{}: {error}", file.name)));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("goldens").join(golden);
    list(&golden, lines).unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn naga_takes_every_kernel() {
    naga_takes(modules(), "corpus.txt");
}

/// Passes: INT64-W1 to INT64-W8 of `lower_int64`, as naga reads them.
#[test]
fn naga_takes_words_of_64_bit_integers() {
    naga_takes(modules_in_words(), "words.txt");
}

#[test]
fn naga_takes_long_elements_and_scattered_lanes() {
    let host = host();
    for (name, module) in modules_of_long_elements() {
        let shader = build(&host, &module, &target(&host, "webgpu")).unwrap().unwrap();
        check(&shader.source).unwrap_or_else(|error| panic!("{name}: {error}\n{}", shader.source));
    }
}

/// TVM's own device functions: their texts are kept in the plugin's folder, or why there is none.
#[test]
fn texts_are_the_kept_ones() {
    let texts = texts(&host(), "webgpu");
    let goldens = workspace().join("plugins/webgpu/goldens");
    check_texts(&goldens, "wgsl", &texts).unwrap_or_else(|error| panic!("{error}"));
}
