//! Tests of the command with targets whose code a host launches on a device.

use chipdock_test_support::command::Scratch;
use serde_json::{Value, json};

const ADD: &str = "run vector_add.py --in A=a.npy --in B=b.npy --out C=c.npy";

/// A folder with vector_add and its inputs, and the sums.
fn vector_add() -> (Scratch, Vec<f32>) {
    let scratch = Scratch::new();
    scratch.kernel("vector_add.py");
    let a: Vec<f32> = (0..1000).map(|i| i as f32 * 0.5).collect();
    let b: Vec<f32> = (0..1000).map(|i| 100.0 - i as f32).collect();
    scratch.write_f32("a.npy", &[1000], &a);
    scratch.write_f32("b.npy", &[1000], &b);
    (scratch, a.iter().zip(&b).map(|(a, b)| a + b).collect())
}

fn list(scratch: &Scratch, words: &str, field: &str) -> Vec<Value> {
    scratch.run(words).json()[field].as_array().expect("a list").clone()
}

/// Usable target kinds that are no host, each with whether a device of its own is here.
fn kinds(scratch: &Scratch) -> Vec<(String, bool)> {
    let kinds = list(scratch, "targets --json", "kinds");
    let here = scratch.run("devices --json").stdout;
    let here: Value = serde_json::from_str(&here).expect("JSON on standard output");
    let apis = here["device_apis"].as_array().expect("a list");
    let is_here = |device: &str| {
        let api = apis.iter().find(|api| api["name"] == device && api["available"] == true);
        api.is_some_and(|api| api["devices"].as_array().is_some_and(|devices| !devices.is_empty()))
    };
    let of_device = kinds.iter().filter(|kind| kind["is_host"] == false && kind["usable"] == true);
    of_device
        .map(|kind| {
            let [name, device] =
                ["name", "device"].map(|field| kind[field].as_str().expect("a name").to_owned());
            let is_here = is_here(&device);
            (name, is_here)
        })
        .collect()
}

#[test]
fn kernels_run_on_devices() {
    let (scratch, sum) = vector_add();
    let here: Vec<String> =
        kinds(&scratch).into_iter().filter(|(_, here)| *here).map(|(kind, _)| kind).collect();
    if here.is_empty() {
        chipdock_test_support::skipped("the command on a device: there is none");
    }
    for kind in here {
        for target in [kind.clone(), json!({"kind": kind, "from_device": 0}).to_string()] {
            let ended = scratch.run(&format!("{ADD} --target {target} --json"));
            assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "{target}");
            let run = ended.json();
            assert_eq!(run["target"]["kind"], json!(kind), "{target}");
            assert_eq!(scratch.read_npy::<f32>("c.npy").1, sum, "{target}");
            std::fs::remove_file(scratch.path("c.npy")).unwrap();
        }
        let ended = scratch.run(&format!("{ADD} --target {kind} --device cpu:0"));
        ended.failed(2, &[&kind, "not on cpu"]);
        let ended = scratch.run(&format!("{ADD} --target {kind} --schedule none"));
        assert_eq!(ended.code, Some(2), "{kind}: {}", ended.stderr);
        assert!(ended.stderr.contains("vector_add"), "{}", ended.stderr);
    }
}

/// Whatever a target's device is: it can be compiled for, looked at, and kept.
#[test]
fn device_code_can_be_printed() {
    let scratch = Scratch::new();
    scratch.kernel("unroll_vectorize.py");
    let kinds = kinds(&scratch);
    assert!(!kinds.is_empty(), "no target kind of a device is usable");
    for (kind, _) in kinds {
        let show = |what: &str| {
            let ended = scratch.run(&format!("build unroll_vectorize.py --target {kind} --emit {what}"));
            assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "{kind}: {what}");
            ended.stdout
        };
        assert!(show("ir").contains("T.sblock"), "{kind}");
        let schedule = show("schedule");
        assert!(schedule.contains("blockIdx.x") && schedule.contains("threadIdx.x"), "{kind}: {schedule}");
        assert!(show("source").contains("unroll_vectorize_kernel"), "{kind}");
        let ended = scratch.run(&format!("build unroll_vectorize.py --target {kind} -o add.artifact --json"));
        assert_eq!(ended.json()["emit"], "artifact", "{kind}");
        let ended = scratch.run(&format!("build unroll_vectorize.py --target {kind} -o add.o"));
        assert_eq!(ended.code, Some(2), "{kind}: {}", ended.stderr);
        assert!(ended.stderr.contains("artifact"), "{}", ended.stderr);
    }
}
