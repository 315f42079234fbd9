//! Checks every kernel of the corpus and the examples, scheduled by hand and by default, for four
//! targets: all that lavapipe has, accesses by device address, Vulkan 1.1's minimum, and float16 of
//! the device's own in GLSL's memory model. What is refused is listed with the reason.

use std::path::Path;

use chipdock_ir::IrModule;
use chipdock_test_backends::device_code::{
    build, check_texts, list, modules, modules_in_words, modules_of_long_elements, retargeted, texts_of,
};
use chipdock_test_backends::host;
use chipdock_test_support::workspace;
use chipdock_vulkan_tests::{assemble, check, environment, target, targets, validate};

/// Builds modules for each target, validates what comes out, and compares what came of each with
/// the goldens.
fn spirv_val_takes(modules: &[(String, IrModule)], golden: &str) {
    let host = host();
    let mut wrong = Vec::new();
    for (configuration, options) in targets() {
        let target = target(&host, &options);
        let mut lines = Vec::new();
        for (name, module) in modules {
            match build(&host, &retargeted(module, &target), &target) {
                Ok(None) => {}
                Ok(Some(shader)) => {
                    lines.push(format!("{name}: {} kernels valid", shader.module.functions.len()));
                    let error = check(&shader.artifact).err();
                    wrong.extend(error.map(|error| format!("{configuration}, {name}: {error}")));
                }
                Err(error) => lines.push(format!("{name}: {error}")),
            }
        }
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("goldens").join(configuration);
        wrong.extend(list(&folder.join(golden), lines).err());
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn named(modules: Vec<(chipdock_test_support::CorpusFile, IrModule)>) -> Vec<(String, IrModule)> {
    modules.into_iter().map(|(file, module)| (file.name, module)).collect()
}

#[test]
fn spirv_val_takes_every_kernel() {
    spirv_val_takes(&named(modules()), "corpus.txt");
}

/// Passes: INT64-W1 to INT64-W8 of `lower_int64`.
#[test]
fn spirv_val_takes_words_of_64_bit_integers() {
    spirv_val_takes(&named(modules_in_words()), "words.txt");
}

#[test]
fn spirv_val_takes_long_elements_and_scattered_lanes() {
    spirv_val_takes(&modules_of_long_elements(), "elements.txt");
}

/// TVM's own device functions: their texts are kept in the plugin's folder, or why there is none.
/// `spirv-as` makes of each text what `spirv-val` accepts.
#[test]
fn texts_are_the_kept_ones_and_assemble() {
    let host = host();
    let [(_, lavapipe), ..] = targets();
    let texts = texts_of(&host, &target(&host, &lavapipe), ";");
    let goldens = workspace().join("plugins/vulkan/goldens");
    check_texts(&goldens, "spvasm", &texts).unwrap_or_else(|error| panic!("{error}"));
    let mut wrong = Vec::new();
    let taken = texts.iter().filter(|(_, text)| text.contains("OpCapability"));
    for (name, text) in taken {
        let made = assemble(text, "vulkan1.3").and_then(|words| match words {
            Some(words) => validate(&words, "vulkan1.3"),
            None => Ok(()),
        });
        wrong.extend(made.err().map(|error| format!("{name}: {error}")));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The check fails on words that are altered: an unknown instruction, and none at all.
#[test]
fn altered_words_are_refused() {
    let host = host();
    let target = target(&host, &serde_json::json!({}));
    let (_, module) = modules_of_long_elements().swap_remove(0);
    let shader = build(&host, &module, &target).unwrap().unwrap();
    let mut words = shader.artifact.section("spv").unwrap().data().to_vec();
    let environment = environment(&shader.index).unwrap();
    validate(&words, environment).unwrap();
    // The opcode of the first instruction, after a header of five words.
    words[20] = 0xff;
    for altered in [&words[..], &words[..20], &[]] {
        if chipdock_vulkan_tests::assemble("", environment).is_ok_and(|made| made.is_some()) {
            assert!(validate(altered, environment).is_err(), "{} bytes", altered.len());
        }
    }
}
