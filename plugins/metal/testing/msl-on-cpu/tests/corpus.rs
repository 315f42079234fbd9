//! Runs every kernel of the corpus and the examples, scheduled by hand and by default; a run takes
//! a sample ([`chipdock_test_support::sample`]).

use std::path::{Path, PathBuf};

use chipdock_interpret::compare;
use chipdock_ir::{DType, Param};
use chipdock_metal_tests as msl;
use chipdock_test_backends::device_code::{
    Shader, build, built, check_texts, list, list_drawn, modules, modules_in_words, modules_of_long_elements,
    target, texts,
};
use chipdock_test_backends::{host, launches};
use chipdock_test_support::sample::Drawn;
use chipdock_test_support::setup::missing;
use chipdock_test_support::workspace;

/// A run takes one file of the corpus in so many.
const SHARE: usize = 5;

/// Path of a golden with the result for each file of the corpus.
fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("goldens").join(name)
}

/// The line of a kernel for which no arguments could be made up. The rest of the reason is left
/// out: it names the argument that was tried first.
fn left_line(file: &str, why: &str) -> String {
    format!("{file}: no arguments for {}", why.split(':').next().unwrap_or_default())
}

#[test]
fn msl_computes_what_the_interpreter_does() {
    let Some(compiler) = msl::Compiler::found().unwrap() else { return missing("MSL as C++: no clang++") };
    let host = host();
    let target = target(&host, "metal");
    let (mut lines, mut wrong) = (Vec::new(), Vec::new());
    let all = modules();
    let what = "files of the corpus in MSL, run on the processor";
    let drawn = Drawn::of(what, SHARE, all.iter().map(|(file, _)| file.name.as_str()));
    for (file, module) in all.into_iter().filter(|(file, _)| drawn.has(&file.name)) {
        let Some(shader) = built(&host, &target, &file, &module, &mut lines) else { continue };
        match checked(&compiler, &shader) {
            Ok((count, left)) => {
                lines.push(format!("{}: {count} kernels run", file.name));
                lines.extend(left.iter().map(|why| left_line(&file.name, why)));
            }
            Err(error) => wrong.push(format!("{}: {error}", file.name)),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    list_drawn(&golden("corpus.txt"), lines, &drawn).unwrap_or_else(|error| panic!("{error}"));
}

/// Passes: INT64-W1 to INT64-W8 of `lower_int64`, by a compiler of C++: a language that has such
/// integers is given none.
#[test]
fn words_of_64_bit_integers_are_compiled_right() {
    let Some(compiler) = msl::Compiler::found().unwrap() else { return missing("words as C++: no clang++") };
    let host = host();
    let target = target(&host, "metal");
    let (mut lines, mut wrong) = (Vec::new(), Vec::new());
    for (file, words) in modules_in_words() {
        let Some(shader) = built(&host, &target, &file, &words, &mut lines) else { continue };
        match checked(&compiler, &shader) {
            Ok((count, left)) => {
                lines.push(format!("{}: {count} kernels run", file.name));
                lines.extend(left.iter().map(|why| left_line(&file.name, why)));
            }
            Err(error) => wrong.push(format!("{}: {error}", file.name)),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    list(&golden("words.txt"), lines).unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn long_elements_and_scattered_lanes_are_right() {
    let host = host();
    let Some(compiler) = msl::Compiler::found().unwrap() else {
        return missing("vectors in MSL: no clang++");
    };
    for (name, module) in modules_of_long_elements() {
        let shader = build(&host, &module, &target(&host, "metal")).unwrap().unwrap();
        let (count, left) =
            checked(&compiler, &shader).unwrap_or_else(|error| panic!("{name}: {error}\n{}", shader.source));
        assert_eq!((count, left.len()), (2, 0), "{name}: {left:?}");
    }
}

/// TVM's own device functions: their texts are kept in the plugin's folder, or why there is none.
#[test]
fn texts_are_the_kept_ones() {
    let texts = texts(&host(), "metal");
    let goldens = workspace().join("plugins/metal/goldens");
    check_texts(&goldens, "metal", &texts).unwrap_or_else(|error| panic!("{error}"));
}

/// How many kernels of a text were run in both orders and found right, and those whose arguments
/// could not be made up.
fn checked(compiler: &msl::Compiler, shader: &Shader) -> Result<(usize, Vec<String>), String> {
    let program = msl::Program::new(compiler, shader)?;
    let (mut count, mut left) = (0, Vec::new());
    for launch in launches::launches(&shader.module) {
        let expected = launch.and_then(|launch| Ok((launches::expected(&shader.module, &launch)?, launch)));
        let (expected, launch) = match expected {
            Ok(expected) => expected,
            Err(error) => {
                left.push(error);
                continue;
            }
        };
        let function = shader.module.function(&launch.name).unwrap();
        let types: Vec<DType> = function
            .params
            .iter()
            .map(|param| match param {
                Param::Var(var) => var.dtype,
                Param::Buffer(_) => DType::HANDLE,
            })
            .collect();
        for reversed in [false, true] {
            let found = program.run(&launch, &types, reversed)?;
            for (output, found) in expected.outputs.iter().zip(&found) {
                compare(found, output).map_err(|mismatch| {
                    format!("{} (reversed {reversed}), {}: {mismatch}", launch.name, output.name)
                })?;
            }
        }
        count += 1;
    }
    Ok((count, left))
}
