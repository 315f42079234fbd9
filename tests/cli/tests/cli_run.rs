//! Tests of `chipdock run` with the plugins of this repository. Rules are those of the command's
//! front page.

use chipdock_test_support::command::{Scratch, fields};
use npyz::Order;
use serde_json::json;
use std::time::Instant;

/// A folder with vector_add and its inputs of `n` elements.
fn vector_add(n: usize) -> (Scratch, Vec<f32>) {
    let scratch = Scratch::new();
    scratch.kernel("vector_add.py");
    let a: Vec<f32> = (0..n).map(|i| i as f32 * 0.5).collect();
    let b: Vec<f32> = (0..n).map(|i| 100.0 - i as f32).collect();
    scratch.write_f32("a.npy", &[n as u64], &a);
    scratch.write_f32("b.npy", &[n as u64], &b);
    let sum = a.iter().zip(&b).map(|(a, b)| a + b).collect();
    (scratch, sum)
}

const ADD: &str = "run vector_add.py --in A=a.npy --in B=b.npy --out C=c.npy";

#[test]
fn the_numbers_are_right() {
    for n in [0, 1, 7, 16, 1000] {
        let (scratch, sum) = vector_add(n);
        let ended = scratch.run(&format!("{ADD} --target c"));
        assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "{}", ended.stderr);
        let first: Vec<&str> = ended.stdout.split_whitespace().take(2).collect();
        assert_eq!(first, ["FUNCTION", "vector_add"], "{}", ended.stdout);
        assert_eq!(scratch.read_npy::<f32>("c.npy"), (vec![n as u64], sum));
    }
}

#[test]
fn the_default_target_is_the_preferred_host() {
    let (scratch, sum) = vector_add(16);
    let run = scratch.run(&format!("{ADD} --json")).json();
    assert_eq!(scratch.read_npy::<f32>("c.npy").1, sum);
    let targets = scratch.run("targets --json").json();
    assert_eq!(run["target"]["kind"], targets["default_host"]);
}

/// Target options that nobody set come from the device; if there is no device, that is reported
/// before anything is compiled.
#[test]
fn a_kernel_is_compiled_for_the_device_that_it_runs_on() {
    let (scratch, sum) = vector_add(1000);
    let devices = scratch.run("devices --json").json();
    let apis = devices["device_apis"].as_array().unwrap();
    let mut all = apis.iter().flat_map(|api| api["devices"].as_array().unwrap());
    let device = all.find(|device| device["device"] == "opencl:0");
    let started = Instant::now();
    let ended = scratch.run(&format!("{ADD} --target opencl --json"));
    let whole = started.elapsed().as_secs_f64();
    let Some(device) = device else {
        println!("no OpenCL device here");
        assert_eq!(ended.code, Some(4), "{}", ended.stderr);
        return;
    };
    assert_eq!(scratch.read_npy::<f32>("c.npy").1, sum);
    let run = ended.json();
    // The device's marks enclose the host's clock by a little, so neither time bounds the other.
    for time in ["median_seconds", "device_median_seconds"] {
        let seconds = run[time].as_f64().unwrap();
        assert!(seconds > 0.0 && seconds < whole, "{time} of {whole} s: {}", ended.stdout);
    }
    assert_eq!(run["device_times_missing"], json!(null));
    let threads = &device["attributes"]["max_threads_per_block"];
    assert!(threads.is_i64() && ended.json()["target"]["max_num_threads"] == *threads, "{}", ended.stdout);
    let some = format!("{ADD} --json --target {{\"kind\":\"opencl\",\"max_num_threads\":64}}");
    let target = &scratch.run(&some).json()["target"];
    assert_eq!(target["max_num_threads"], 64, "what was set stays");
    assert_eq!(
        target["max_shared_memory_per_block"],
        device["attributes"]["max_shared_memory_per_block_bytes"]
    );
}

#[test]
fn json_keeps_its_form() {
    let (scratch, _) = vector_add(16);
    let json = scratch.run(&format!("{ADD} --target c --repeat 3 --json")).json();
    assert_eq!(json["schema"], "chipdock.run/1");
    assert_eq!(json["times_seconds"].as_array().unwrap().len(), 3);
    let why = json["device_times_missing"].as_str().unwrap();
    assert!(why.contains("cpu:0") && why.contains("`timer` 1"), "{why}");
    let c = json!({"name": "C", "dtype": "float32", "shape": [16], "input": null, "output": "c.npy"});
    assert_eq!(json["buffers"][2], c);
    let mut pruned = json.clone();
    for key in ["target", "host"] {
        assert!(pruned[key]["kind"].is_string());
        pruned[key] = json!(null);
    }
    let expected = "\
buffers[].dtype: string
buffers[].input: null
buffers[].input: string
buffers[].name: string
buffers[].output: null
buffers[].output: string
buffers[].shape[]: number
built: bool
cached: bool
compile_seconds: number
device: string
device_median_seconds: null
device_times_missing: string
device_times_seconds: null
function: string
host: null
least_seconds: number
load_seconds: number
median_seconds: number
result: null
scalars[]
schema: string
target: null
threads: number
times_seconds[]: number";
    assert_eq!(fields(&pruned), expected, "CLI-C4: fields are added, never changed or removed");
}

#[test]
fn column_major_files_are_read() {
    let scratch = Scratch::new();
    scratch.kernel("transpose.py");
    // Column-major elements of [[1, 2, 3], [4, 5, 6]].
    scratch.write_npy("a.npy", &[2, 3], &[1.0_f32, 4.0, 2.0, 5.0, 3.0, 6.0], Order::Fortran);
    let ended = scratch.run("run transpose.py --target c --in A=a.npy --out B=b.npy");
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert_eq!(scratch.read_npy::<f32>("b.npy"), (vec![3, 2], vec![1.0, 4.0, 2.0, 5.0, 3.0, 6.0]));
}

#[test]
fn scalars_come_by_set_and_functions_by_name() {
    let scratch = Scratch::new();
    scratch.kernel("multi.py");
    scratch.write_f32("a.npy", &[3], &[1.0, 2.0, 3.0]);
    let run = "run multi.py:scale --target c --in A=a.npy --out B=b.npy";
    let ended = scratch.run(&format!("{run} --set factor=-2.5"));
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert_eq!(scratch.read_npy::<f32>("b.npy").1, [-2.5, -5.0, -7.5]);
    for (words, says) in [
        (
            run.to_owned(),
            vec!["parameter factor: float32 has no value", "help: give it with --set factor=VALUE"],
        ),
        (format!("{run} --set factor=1e39"), vec!["1e39 is out of the range of float32"]),
        (format!("{run} --set factor=two"), vec!["expected a number for float32, found \"two\""]),
        (
            format!("{run} --set factr=2"),
            vec!["no scalar parameter or symbol \"factr\"; it has \"factor\", \"n\""],
        ),
        (
            run.replace(":scale", ""),
            vec!["several functions: \"scale\", \"add\"", "help: name one, as in multi.py:scale"],
        ),
        (
            run.replace(":scale", ":scal"),
            vec!["no function \"scal\"; the file has \"scale\", \"add\"", "--> multi.py"],
        ),
    ] {
        scratch.run(&words).failed(2, &says);
    }
}

#[test]
fn parameters_without_input_are_zeros_and_symbols_can_be_set() {
    let (scratch, _) = vector_add(4);
    let ended = scratch.run("run vector_add.py --target c --in A=a.npy --out C=c.npy");
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert_eq!(scratch.read_npy::<f32>("c.npy").1, [0.0, 0.5, 1.0, 1.5]);
    let ended = scratch.run("run vector_add.py --target c --set n=3 --out C=c.npy");
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert_eq!(scratch.read_npy::<f32>("c.npy"), (vec![3], vec![0.0; 3]));
}

#[test]
fn contradicting_arguments_are_refused_before_anything_is_written() {
    let (scratch, _) = vector_add(4);
    scratch.write_f32("five.npy", &[5], &[0.0; 5]);
    scratch.write_f32("two.npy", &[2, 2], &[0.0; 4]);
    scratch.write_npy("double.npy", &[4], &[0.0_f64; 4], Order::C);
    for (words, says) in [
        (
            "--in A=a.npy --in B=five.npy",
            vec!["expected n = 4 (n is 4 by axis 0 of A in a.npy), found 5", "--> five.npy"],
        ),
        ("--in A=a.npy --set n=5", vec!["expected n = 5 (n is 5 by --set n=5), found 4"]),
        ("--in A=two.npy", vec!["buffer A has 1 axes, [n]; the file holds [2, 2]"]),
        ("--in A=double.npy", vec!["buffer A is float32; the file holds float64"]),
        ("", vec!["n has no value", "or --set n=VALUE"]),
        ("--set n=-1", vec!["it comes to -1"]),
        ("--in D=a.npy", vec!["no buffer \"D\"; its buffers are \"A\", \"B\", \"C\""]),
        ("--in A", vec!["--in A: expected BUFFER=FILE.npy"]),
        ("--in A=a.npy --in A=a.npy", vec!["names buffer A twice"]),
        ("--in A=a.npy --out B=c.npy", vec!["buffer C and buffer B go to one file: c.npy and c.npy"]),
        ("--in A=none.npy", vec!["cannot read the input", "--> none.npy"]),
    ] {
        let ended = scratch.run(&format!("run vector_add.py --target c --out C=c.npy {words}"));
        ended.failed(2, &says);
        assert!(!scratch.path("c.npy").exists(), "{words}");
    }
}

#[test]
fn malformed_arrays_are_named() {
    let (scratch, _) = vector_add(4);
    let good = std::fs::read(scratch.path("a.npy")).unwrap();
    let start = good.len() - 16;
    let mut huge = b"\x93NUMPY\x02\x00\xff\xff\xff\x7f".to_vec();
    huge.extend(&good[10..]);
    let claims = String::from_utf8_lossy(&good[10..start]).replace("(4", "(4000000000000000000");
    assert!(claims.contains("4000000000000000000"));
    let claiming = [&good[..8], &(claims.len() as u16).to_le_bytes(), claims.as_bytes(), &[0; 16]].concat();
    for (name, bytes, says) in [
        ("empty.npy", Vec::new(), "not an .npy file"),
        ("text.npy", b"1, 2, 3\n".to_vec(), "not an .npy file"),
        ("cut.npy", good[..good.len() - 3].to_vec(), "it holds 13 bytes"),
        ("long.npy", [&good[..], &[0]].concat(), "it holds 17 bytes"),
        ("head.npy", good[..40].to_vec(), "ends within its header"),
        ("huge.npy", huge, "header says it has 2147483647 bytes"),
        ("claims.npy", claiming, "more than memory can hold"),
    ] {
        scratch.write(name, bytes);
        let ended = scratch.run(&format!("run vector_add.py --target c --in A={name} --out C=c.npy"));
        ended.failed(2, &[says, &format!("--> {name}")]);
    }
    assert!(!scratch.path("c.npy").exists());
}

#[test]
fn malformed_kernels_are_shown_with_their_line() {
    let scratch = Scratch::new();
    let text =
        std::fs::read_to_string(chipdock_test_support::command::kernels().join("vector_add.py")).unwrap();
    for (name, from, to) in [
        ("syntax.py", "range(n)", "range(n"),
        ("name.py", "A[vi] + B", "A[vi] + X"),
        ("dtype.py", "float32", "float31"),
    ] {
        let broken = text.replace(from, to);
        assert_ne!(broken, text);
        scratch.write(name, &broken);
        let ended = scratch.run(&format!("run {name} --target c --set n=4"));
        ended.failed(2, &[&format!("--> {name}:"), " | ", "^"]);
    }
    scratch.run("run none.py --target c").failed(2, &["cannot read the kernel file", "--> none.py"]);
    scratch.write("binary.py", [0xff, 0xfe, 0x00]);
    scratch.run("run binary.py --target c").failed(2, &["is not text", "--> binary.py"]);
    scratch.write("empty.py", "");
    let ended = scratch.run("run empty.py --target c");
    ended.failed(2, &["empty.py"]);
}

#[test]
fn an_output_that_cannot_be_written_leaves_nothing() {
    let (scratch, _) = vector_add(4);
    std::fs::create_dir(scratch.path("folder")).unwrap();
    let before = scratch.names();
    let run = "run vector_add.py --target c --in A=a.npy --in B=b.npy";
    scratch.run(&format!("{run} --out C=no/such/c.npy")).failed(1, &["cannot write", "--> no/such/c.npy"]);
    scratch.run(&format!("{run} --out C=folder")).failed(1, &["it is a folder", "--> folder"]);
    scratch.run(&format!("{run} --out A=a2.npy --out C=no/c.npy")).failed(1, &["--> no/c.npy"]);
    assert_eq!(scratch.names(), before, "CLI-C5: the outputs are written when all of them can be");
}

#[test]
fn a_kernel_runs_again_from_the_same_inputs() {
    let scratch = Scratch::new();
    scratch.kernel("vector_add.py");
    let text = std::fs::read_to_string(scratch.path("vector_add.py")).unwrap();
    let in_place = text
        .replace("C[vi] = A[vi] + B[vi]", "C[vi] = C[vi] + B[vi]")
        .replace("reads(A[vi], ", "reads(C[vi], ");
    scratch.write("accumulate.py", in_place);
    scratch.write_f32("b.npy", &[2], &[1.0, 2.0]);
    scratch.write_f32("c.npy", &[2], &[10.0, 20.0]);
    let run = "run accumulate.py --target c --repeat 5 --in B=b.npy --in C=c.npy --out C=c.npy";
    let ended = scratch.run(run);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(ended.stdout.contains("least of 5"), "{}", ended.stdout);
    assert_eq!(scratch.read_npy::<f32>("c.npy").1, [11.0, 22.0]);
}

#[test]
fn devices_and_targets_that_are_not_there_have_their_codes() {
    let (scratch, _) = vector_add(4);
    scratch.run(&format!("{ADD} --target nosuch")).failed(3, &["nosuch"]);
    scratch.run(&format!("{ADD} --target c --device cpu:7")).failed(4, &["cpu"]);
    scratch.run(&format!("{ADD} --target c --device nosuch:0")).failed(3, &["nosuch"]);
    scratch.run(&format!("{ADD} --target c --device cpu:x")).failed(2, &["expected NAME:ID"]);
    let alone = Scratch::without_plugins();
    alone.kernel("vector_add.py");
    alone.run("run vector_add.py --set n=4").failed(3, &["plugin"]);
    assert!(!scratch.path("c.npy").exists());
}

#[test]
fn a_compiler_that_is_missing_is_named() {
    let (scratch, _) = vector_add(4);
    let mut command = scratch.command(&format!("{ADD} --target c"));
    command.env("PATH", scratch.path("empty")).env_remove("CC");
    chipdock_test_support::command::end(&mut command).failed(3, &["compiler"]);
    assert!(!scratch.path("c.npy").exists());
}

const PARALLEL: &str = "from tvm.script import ir as I
from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def squares(A: T.Buffer((\"n\",), \"int64\"), B: T.Buffer((n,), \"int64\")):
        n = T.int32()
        for i in T.parallel(n):
            for j in range(3):
                B[i] = A[i] * A[i] + T.int64(3)
";

#[test]
fn threads_are_chosen_and_reported() {
    let scratch = Scratch::new();
    scratch.write("squares.py", PARALLEL);
    for n in [0_u64, 1, 5, 1000] {
        let values: Vec<i64> = (0..n.cast_signed()).collect();
        scratch.write_npy("a.npy", &[n], &values, Order::C);
        for threads in [1_u32, 2, 3, 8] {
            let words = "run squares.py --target c --in A=a.npy --out B=b.npy --repeat 20 --json";
            let json = scratch.run(&format!("{words} --threads {threads}")).json();
            assert_eq!(json["threads"], threads);
            let squares: Vec<i64> = values.iter().map(|value| value * value + 3).collect();
            assert_eq!(scratch.read_npy::<i64>("b.npy"), (vec![n], squares), "{threads} threads");
        }
    }
    let run = "run squares.py --target c --in A=a.npy --json";
    let with_variable = |words: &str, value: &str| {
        chipdock_test_support::command::end(scratch.command(words).env("CHIPDOCK_THREADS", value))
    };
    assert_eq!(with_variable(run, "5").json()["threads"], 5);
    assert_eq!(with_variable(&format!("{run} --threads 4"), "5").json()["threads"], 4);
    let automatic = scratch.run(run).json()["threads"].clone();
    assert!(automatic.as_u64().is_some_and(|threads| threads >= 1), "{automatic}");
    assert_eq!(with_variable(&format!("{run} --threads 0"), "5").json()["threads"], automatic);
    with_variable(run, "many").failed(2, &["CHIPDOCK_THREADS is \"many\"; expected 1 to 1024"]);
    for wrong in ["-1", "1025", "two"] {
        scratch.run(&format!("{run} --threads {wrong}")).failed(2, &["--threads"]);
    }
}
