//! Tests of modules written by hand, loaded and launched.

use chipdock_plugin_api::{Any, DeviceApi, Stream};
use serde_json::json;

use super::support::{Bench, pointer};

pub(super) const ADD: &str = "
__kernel void add(__global const float* x, __global float* y, int n) {
  int i = get_global_id(0);
  if (i < n) y[i] = x[i] + y[i];
}";

pub(super) fn add_entry() -> serde_json::Value {
    json!({ "name": "add", "symbol": "add", "args": ["handle", "handle", "int32"],
            "launch_params": ["blockIdx.x", "threadIdx.x"] })
}

#[test]
fn a_kernel_runs_with_its_grid_and_its_arguments() {
    let Some(bench) = Bench::new() else { return };
    let add = bench.kernel(ADD, add_entry());
    let x = bench.with(0, &(0..1000).map(|i| i as f32).collect::<Vec<_>>());
    let y = bench.with(0, &[0.5_f32; 1000]);
    for _ in 0..2 {
        let args = [pointer(x), pointer(y), Any::from(999_i64), Any::from(16_i64), Any::from(64_i64)];
        bench.call(&add, &args).unwrap();
    }
    let found: Vec<f32> = bench.read(0, y, 1000, Stream::DEFAULT);
    let expected: Vec<f32> = (0..1000).map(|i| if i < 999 { 2.0 * i as f32 + 0.5 } else { 0.5 }).collect();
    assert_eq!(found, expected);
    // K.2: nothing is launched, and nothing has to be right but the numbers.
    let nothing = [Any::NONE, Any::NONE, Any::from(1_i64), Any::from(0_i64), Any::from(1_i64 << 40)];
    bench.call(&add, &nothing).unwrap();
}

#[test]
fn scalars_of_each_size_and_all_axes_arrive() {
    let Some(bench) = Bench::new() else { return };
    let source = "
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
__kernel void every(__global double* out, char a, ushort b, int c, long d, float e, double f, uchar g) {
  if (get_global_id(0) + get_global_id(1) + get_global_id(2) == 0) {
    out[0] = a; out[1] = b; out[2] = c; out[3] = d; out[4] = e; out[5] = f; out[6] = g;
    out[7] = get_num_groups(0) * 100 + get_num_groups(1) * 10 + get_num_groups(2);
    out[8] = get_local_size(0) * 100 + get_local_size(1) * 10 + get_local_size(2);
  }
}";
    let every = bench.kernel(
        source,
        json!({ "name": "every", "symbol": "every",
                "args": ["handle", "int8", "uint16", "int32", "int64", "float32", "float64", "bool"],
                "launch_params": ["blockIdx.z", "blockIdx.x", "threadIdx.y", "blockIdx.y", "threadIdx.x",
                                  "threadIdx.z"] }),
    );
    let out = bench.with(0, &[0.0_f64; 9]);
    let mut args = vec![pointer(out), Any::from(-7_i64), Any::from(65_535_i64), Any::from(-70_000_i64)];
    args.extend([Any::from(1_i64 << 40), Any::from(0.25_f64), Any::from(1e300_f64), Any::from(true)]);
    args.extend([3_i64, 1, 5, 2, 4, 6].map(Any::from));
    bench.call(&every, &args).unwrap();
    let found: Vec<f64> = bench.read(0, out, 9, Stream::DEFAULT);
    let expected = [-7.0, 65_535.0, -70_000.0, 2_f64.powi(40), 0.25, 1e300, 1.0, 123.0, 456.0];
    assert_eq!(found, expected);
}

#[test]
fn dynamic_local_memory_has_the_bytes_that_the_call_tells() {
    let Some(bench) = Bench::new() else { return };
    let source = "
__kernel void turn(__global int* x, __local int* shared) {
  int i = get_local_id(0), n = get_local_size(0);
  shared[i] = x[get_group_id(0) * n + i];
  barrier(CLK_LOCAL_MEM_FENCE);
  x[get_group_id(0) * n + i] = shared[n - 1 - i];
}
__kernel void none(__global int* x, __local int* shared) { x[0] = 5; }";
    let entry = |name: &str| {
        json!({ "name": name, "symbol": name, "args": ["handle"],
                "launch_params": ["blockIdx.x", "threadIdx.x", "tirx.use_dyn_shared_memory"] })
    };
    let module = bench.load(source, json!([entry("turn"), entry("none")])).unwrap();
    let function = |name: &str| module.function(name).unwrap().unwrap();
    let x = bench.with(0, &(0..512_i32).collect::<Vec<_>>());
    for (blocks, threads) in [(2_i64, 256_i64), (4, 128)] {
        let args = [pointer(x), Any::from(blocks), Any::from(threads), Any::from(threads * 4)];
        bench.call(&function("turn"), &args).unwrap();
    }
    let found: Vec<i32> = bench.read(0, x, 512, Stream::DEFAULT);
    let turn = |n: i32, at: i32| at / n * n + (n - 1 - at % n);
    let expected: Vec<i32> = (0..512).map(|at| turn(256, turn(128, at))).collect();
    assert_eq!(found, expected);
    bench
        .call(&function("none"), &[pointer(x), Any::from(1_i64), Any::from(1_i64), Any::from(0_i64)])
        .unwrap();
    assert_eq!(bench.read::<i32>(0, x, 1, Stream::DEFAULT), [5]);
    assert!(module.function("absent").unwrap().is_none());
}

/// M.5: a function keeps what it needs.
#[test]
fn a_function_outlives_its_module_and_runs_on_many_threads() {
    let Some(bench) = Bench::new() else { return };
    let add = bench.kernel(ADD, add_entry());
    let rounds = 200;
    std::thread::scope(|scope| {
        for thread in 0..8_usize {
            let (bench, add) = (&bench, &add);
            scope.spawn(move || {
                let stream = bench.api.create_stream(0).unwrap();
                bench.make_current(0, stream);
                let x = bench.with(0, &vec![thread as f32; 300]);
                let y = bench.with(0, &vec![0.0_f32; 300]);
                for round in 1..=rounds {
                    let n = Any::from(300_i64);
                    let args = [pointer(x), pointer(y), n, Any::from(5_i64), Any::from(64_i64)];
                    bench.call(add, &args).unwrap();
                    if round % 50 == 0 {
                        let found: Vec<f32> = bench.read(0, y, 300, stream);
                        assert_eq!(found, vec![(round * thread) as f32; 300]);
                    }
                }
                bench.free(0, x);
                bench.free(0, y);
                // SAFETY: created above, freed once.
                unsafe { bench.api.free_stream(0, stream) }.unwrap();
            });
        }
    });
}
