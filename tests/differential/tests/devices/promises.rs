//! Tests of cases that TVM handles wrongly on devices: Chipdock reports a typed error before
//! anything is built, or computes the right result.

use chipdock_host::{Any, AnyView, Scheduling, Tensor};
use chipdock_interpret::{Arg, Array, Interpreter};
use chipdock_ir::{DType, IrModule};
use chipdock_test_backends::backends::Backend;
use chipdock_test_backends::run;
use chipdock_test_backends::{hold, host, on_each_device, outputs};
use serde_json::{Value, json};

use crate::{REVERSE, build, compile, good, parse, refused};

/// Runs a function on whole numbers that count up, and holds it against the interpreter.
fn agrees(host: &chipdock_host::Host, backend: &Backend, module: &IrModule, name: &str, args: &[Arg]) {
    let outcome = Interpreter::new(module).with_bounds().run(name, &mut args.to_vec());
    let outcome = outcome.unwrap_or_else(|error| panic!("{name}: {error}"));
    let loaded = match run::build(host, backend, module) {
        Err(error) if backend.may_refuse(&error) => return,
        built => built.unwrap_or_else(|error| panic!("{name}: {error}")),
    };
    let function = loaded.function(name).expect("there");
    let found = outputs(backend, &function, args).unwrap_or_else(|error| panic!("{name}: {error}"));
    hold(&outcome.outputs, &found).unwrap_or_else(|error| panic!("{name}: {error}"));
}

fn counting(dtype: DType, shape: &[usize]) -> Arg {
    let values: Vec<f64> = (0..shape.iter().product::<usize>()).map(|at| (at % 100) as f64 - 7.0).collect();
    Arg::Tensor(Array::from_f64(dtype, shape, &values))
}

/// Two dynamic buffers of different types, sizes that only the call knows, and a barrier between
/// writing and reading.
#[test]
fn dynamic_shared_memory_is_right() {
    let text = "    @T.prim_func(s_tir=True)
    def swap(A: T.Buffer((\"n\", 16), \"int32\"), B: T.Buffer((n, 16), \"int32\"), H: T.Buffer((n, 16), \"int8\")):
        n = T.int32()
        T.func_attr({\"tirx.noalias\": True})
        for bx in T.thread_binding(n, thread=\"blockIdx.x\"):
            S = T.alloc_buffer((16,), \"int32\", scope=\"shared.dyn\")
            R = T.alloc_buffer((16,), \"int8\", scope=\"shared.dyn\")
            for tx in T.thread_binding(16, thread=\"threadIdx.x\"):
                S[tx] = A[bx, tx] * 2
                R[tx] = H[bx, tx]
                T.tvm_storage_sync(\"shared.dyn\")
                B[bx, tx] = S[15 - tx] + T.Cast(\"int32\", R[(tx + 1) % 16])

    @T.prim_func(s_tir=True)
    def sized(A: T.Buffer((\"n\",), \"int32\"), B: T.Buffer((n,), \"int32\")):
        n = T.int32()
        T.func_attr({\"tirx.noalias\": True})
        for bx in T.thread_binding(1, thread=\"blockIdx.x\"):
            S = T.alloc_buffer((n,), \"int32\", scope=\"shared.dyn\")
            for tx in T.thread_binding(16, thread=\"threadIdx.x\"):
                for i in range((n + 15) // 16):
                    if i * 16 + tx < n:
                        S[i * 16 + tx] = A[i * 16 + tx]
                T.tvm_storage_sync(\"shared.dyn\")
                for i in range((n + 15) // 16):
                    if i * 16 + tx < n:
                        B[i * 16 + tx] = S[n - 1 - (i * 16 + tx)] + 1
";
    let host = host();
    let module = parse(text);
    on_each_device(&host, |backend| {
        for n in [1, 5] {
            let table = |dtype| counting(dtype, &[n, 16]);
            let args = [table(DType::INT32), table(DType::INT32), table(DType::INT8)];
            agrees(&host, backend, &module, "swap", &args);
        }
        for n in [1, 16, 37] {
            let args = [counting(DType::INT32, &[n]), counting(DType::INT32, &[n])];
            agrees(&host, backend, &module, "sized", &args);
        }
    });
}

/// The same with what TVM itself wrote of it, blocks and all.
#[test]
fn dynamic_shared_memory_of_tvm_is_right() {
    let host = host();
    let path = chipdock_test_support::printed_by_tvm().join("g_dynshm.py");
    let text = std::fs::read_to_string(path).expect("the corpus");
    let module = chipdock_script::parse(&text, "g_dynshm.py").expect("the corpus is readable");
    on_each_device(&host, |backend| {
        let args = [counting(DType::FLOAT32, &[256]), counting(DType::FLOAT32, &[256])];
        agrees(&host, backend, &module, "g_dynshm", &args);
    });
}

const UNBOUND: &str = "    @T.prim_func(s_tir=True)
    def twice(A: T.Buffer((\"n\",), \"int32\"), B: T.Buffer((n,), \"int32\")):
        n = T.int32()
        T.func_attr({\"tirx.noalias\": True})
        for i in range(n):
            with T.sblock(\"B\"):
                vi = T.axis.spatial(n, i)
                T.reads(A[vi])
                T.writes(B[vi])
                B[vi] = A[vi] * 2
";

#[test]
fn a_kernel_without_threads_is_scheduled_or_else_refused() {
    let host = host();
    let module = parse(UNBOUND);
    on_each_device(&host, |backend| {
        for n in [1, 100, 3000] {
            let args = [counting(DType::INT32, &[n]), counting(DType::INT32, &[n])];
            agrees(&host, backend, &module, "twice", &args);
        }
        let unscheduled = compile(&host, backend, UNBOUND, Scheduling::None);
        refused(unscheduled, &["ValueError", "Unsupported"], &["twice", "thread"]);
    });
}

fn option_of(
    backend: &Backend,
    name: impl Fn(&chipdock_ir::CapabilityOptions) -> String,
    host: &chipdock_host::Host,
) -> String {
    let kinds = host.target_kinds();
    let kind = kinds.iter().find(|(kind, _)| kind.name == backend.target.kind).expect("its kind");
    name(&kind.0.capabilities)
}

/// More threads, or more shared memory, than the target allows: refused by the passes, with both
/// numbers.
#[test]
fn a_block_beyond_the_targets_limits_is_refused_before_code_is_written() {
    let host = host();
    let kernel = |threads: i64, bytes: i64, scope: &str| {
        format!(
            "    @T.prim_func(s_tir=True)
    def big(A: T.Buffer(({threads},), \"uint8\")):
        for bx in T.thread_binding(1, thread=\"blockIdx.x\"):
            S = T.alloc_buffer(({bytes},), \"uint8\", scope=\"{scope}\")
            for tx in T.thread_binding({threads}, thread=\"threadIdx.x\"):
                S[tx % {bytes}] = T.uint8(1)
                S[{bytes} - 1] = T.uint8(1)
                T.tvm_storage_sync(\"{scope}\")
                A[tx] = S[(tx + 1) % {bytes}]
"
        )
    };
    on_each_device(&host, |backend| {
        let threads = backend.capabilities.limits.threads_per_block_max.expect("a limit of threads");
        let bytes = backend.capabilities.memory.shared_memory_bytes_max.expect("a limit of shared memory");
        let tried =
            |threads, bytes, scope| compile(&host, backend, &kernel(threads, bytes, scope), Scheduling::Auto);
        for scope in ["shared", "shared.dyn"] {
            tried(64.min(threads), bytes, scope)
                .unwrap_or_else(|error| panic!("all of it, {scope}: {error}"));
            let says = [bytes.to_string(), (bytes + 1).to_string()];
            refused(
                tried(64.min(threads), bytes + 1, scope),
                &["ValueError", "Unsupported"],
                &[&says[0], &says[1], "big"],
            );
        }
        tried(threads, 16, "shared").unwrap_or_else(|error| panic!("{threads} threads: {error}"));
        let says = [threads.to_string(), (threads + 1).to_string()];
        refused(
            tried(threads + 1, 16, "shared"),
            &["ValueError", "Unsupported"],
            &[&says[0], &says[1], "big"],
        );
        // A target that allows less refuses what the default takes.
        let option = option_of(backend, |options| options.threads_per_block_max.clone(), &host);
        let small = host.target(json!({"kind": backend.target.kind, option: 8})).expect("a target");
        let error = host.compile(&parse(REVERSE), &small, &Default::default()).map(drop);
        refused(error, &["ValueError", "Unsupported"], &["8", "64", "reverse"]);
    });
}

#[test]
fn absurd_limits_are_refused() {
    let host = host();
    on_each_device(&host, |backend| {
        let kind = &backend.target.kind;
        let threads = option_of(backend, |options| options.threads_per_block_max.clone(), &host);
        let shared = option_of(backend, |options| options.shared_memory_bytes_max.clone(), &host);
        for (option, value) in [
            (&threads, json!(-1)),
            (&threads, json!(0)),
            (&threads, json!(1_i64 << 40)),
            (&threads, json!("many")),
            (&shared, json!(-1)),
            (&shared, json!(1_i64 << 60)),
            (&"max_thread".to_owned(), json!(1)),
        ] {
            let made = host.target(json!({"kind": kind, option.as_str(): value}));
            let value = if let Value::String(text) = &value { text.clone() } else { value.to_string() };
            refused(
                made,
                &["ValueError", "TypeError"],
                &[option, if option == "max_thread" { "max_thread" } else { &value }],
            );
        }
    });
}

/// A tensor may start at any element; wide loads of a kernel assume nothing.
#[test]
fn a_tensor_may_start_at_any_element() {
    let text = "    @T.prim_func(s_tir=True)
    def wide(A: T.Buffer((64,), \"float32\"), B: T.Buffer((64,), \"float32\")):
        T.func_attr({\"tirx.noalias\": True})
        for bx in T.thread_binding(1, thread=\"blockIdx.x\"):
            for tx in T.thread_binding(16, thread=\"threadIdx.x\"):
                for v in T.vectorized(4):
                    B[tx * 4 + v] = A[tx * 4 + v] + T.float32(1)

    @T.prim_func(s_tir=True)
    def bytes(A: T.Buffer((64,), \"uint8\"), B: T.Buffer((64,), \"uint8\")):
        T.func_attr({\"tirx.noalias\": True})
        for bx in T.thread_binding(1, thread=\"blockIdx.x\"):
            for tx in T.thread_binding(8, thread=\"threadIdx.x\"):
                for v in T.vectorized(8):
                    B[tx * 8 + v] = A[tx * 8 + v] + T.uint8(1)
";
    let host = host();
    on_each_device(&host, |backend| {
        let loaded = build(&host, backend, &format!("{text}\n{UNBOUND}"));
        let floats: Vec<f32> = (0..80).map(|value| value as f32).collect();
        let small: Vec<u8> = (0..80).collect();
        let ints: Vec<i32> = (0..80).collect();
        for start in 0..16_usize {
            let part = |whole: &Tensor| whole.strided(&[64], &[1], start as i64).expect("a view");
            let device = &backend.device;
            let (a, b) = (
                Tensor::from_slice(device, &[80], &floats).expect("made"),
                Tensor::from_slice(device, &[80], &[-1.0_f32; 80]).expect("made"),
            );
            let wide = loaded.function("wide").expect("there");
            wide.call(&[(&part(&a)).into(), (&part(&b)).into()]).expect("a good call");
            let mut expected = [-1.0_f32; 80];
            (start..start + 64).for_each(|at| expected[at] = at as f32 + 1.0);
            assert_eq!(b.to_vec::<f32>().expect("read"), expected, "from {start}");

            let (a, b) = (
                Tensor::from_slice(device, &[80], &small).expect("made"),
                Tensor::from_slice(device, &[80], &[200_u8; 80]).expect("made"),
            );
            let bytes = loaded.function("bytes").expect("there");
            bytes.call(&[(&part(&a)).into(), (&part(&b)).into()]).expect("a good call");
            let mut expected = [200_u8; 80];
            (start..start + 64).for_each(|at| expected[at] = at as u8 + 1);
            assert_eq!(b.to_vec::<u8>().expect("read"), expected, "bytes from {start}");

            let (a, b) = (
                Tensor::from_slice(device, &[80], &ints).expect("made"),
                Tensor::from_slice(device, &[80], &[-1; 80]).expect("made"),
            );
            let twice = loaded.function("twice").expect("there");
            twice.call(&[(&part(&a)).into(), (&part(&b)).into()]).expect("a good call");
            let mut expected = [-1; 80];
            (start..start + 64).for_each(|at| expected[at] = at as i32 * 2);
            assert_eq!(b.to_vec::<i32>().expect("read"), expected, "scheduled by default, from {start}");
        }
    });
}

/// Half, vectors and what no driver has as one function: lowered generically.
#[test]
fn halves_vectors_and_rare_ops_are_right() {
    let text = "    @T.prim_func(s_tir=True)
    def halves(A: T.Buffer((64,), \"float16\"), B: T.Buffer((64,), \"float16\")):
        T.func_attr({\"tirx.noalias\": True})
        for tx in T.thread_binding(16, thread=\"threadIdx.x\"):
            for v in T.vectorized(4):
                B[tx * 4 + v] = A[tx * 4 + v] * T.float16(1.5) + T.float16(0.25)

    @T.prim_func(s_tir=True)
    def brains(A: T.Buffer((64,), \"bfloat16\"), B: T.Buffer((64,), \"bfloat16\")):
        T.func_attr({\"tirx.noalias\": True})
        for tx in T.thread_binding(64, thread=\"threadIdx.x\"):
            B[tx] = A[tx] * T.bfloat16(1.5)

    @T.prim_func(s_tir=True)
    def counts(A: T.Buffer((64,), \"int32\"), B: T.Buffer((64,), \"int32\"), C: T.Buffer((64,), \"int64\")):
        T.func_attr({\"tirx.noalias\": True})
        for tx in T.thread_binding(64, thread=\"threadIdx.x\"):
            B[tx] = T.popcount(A[tx]) + T.clz(A[tx] + 8)
            C[tx] = T.Cast(\"int64\", A[tx]) // T.int64(7) + T.Cast(\"int64\", A[tx]) % T.int64(5)
";
    let host = host();
    let module = parse(text);
    on_each_device(&host, |backend| {
        for (name, dtype) in [("halves", DType::FLOAT16), ("brains", DType::BFLOAT16)] {
            agrees(&host, backend, &module, name, &[counting(dtype, &[64]), counting(dtype, &[64])]);
        }
        let ints = counting(DType::INT32, &[64]);
        agrees(&host, backend, &module, "counts", &[ints.clone(), ints, counting(DType::INT64, &[64])]);
    });
}

#[test]
fn extent_0_launches_nothing() {
    let host = host();
    on_each_device(&host, |backend| {
        let loaded = build(&host, backend, &format!("{REVERSE}\n{UNBOUND}"));
        for name in ["reverse", "twice"] {
            let function = loaded.function(name).expect("there");
            let empty = Tensor::zeros(&backend.device, &[0], DType::INT32).expect("made");
            function
                .call(&[(&empty).into(), (&empty).into()])
                .unwrap_or_else(|error| panic!("{name}: {error}"));
            backend.device.sync().expect("nothing went wrong");
        }
        good(backend, &loaded.function("reverse").expect("there"), 10);
    });
}

#[test]
fn other_values_and_tensors_that_do_not_fit_are_refused() {
    let text = "    @T.prim_func(s_tir=True)
    def add(A: T.Buffer((64,), \"int32\"), c: T.int8, u: T.uint8):
        for tx in T.thread_binding(64, thread=\"threadIdx.x\"):
            A[tx] = A[tx] + T.Cast(\"int32\", c) + T.Cast(\"int32\", u)
";
    let host = host();
    on_each_device(&host, |backend| {
        let add = build(&host, backend, text).function("add").expect("there");
        let a = Tensor::from_slice(&backend.device, &[64], &[1_i32; 64]).expect("made");
        let call = |args: [AnyView<'_>; 3]| add.call(&args);
        let object = Any::from("an object that is no tensor and is longer than a small one");
        refused(
            call([object.view(), 1_i64.into(), 1_i64.into()]),
            &["TypeError"],
            &["argument #0", "Tensor"],
        );
        refused(call([1_i64.into(), 1_i64.into(), 1_i64.into()]), &["TypeError"], &["argument #0", "Tensor"]);
        refused(call([(&a).into(), 128_i64.into(), 1_i64.into()]), &["ValueError"], &["c", "128"]);
        refused(call([(&a).into(), 1_i64.into(), (-1_i64).into()]), &["ValueError"], &["u", "-1"]);
        refused(call([(&a).into(), 1_i64.into(), 256_i64.into()]), &["ValueError"], &["u", "256"]);
        call([(&a).into(), (-128_i64).into(), 255_i64.into()]).expect("a good call");
        assert_eq!(a.to_vec::<i32>().expect("read"), [128; 64]);
    });
}

/// Arguments at both ends of int32 and around small numbers.
const EDGES: [i32; 16] =
    [i32::MIN, i32::MIN + 1, -300, -8, -7, -1, 0, 1, 4, 7, 8, 11, 300, 4096, i32::MAX - 1, i32::MAX];

fn edges(dtype: DType) -> Arg {
    let (low, high) = dtype.integer_range().expect("an integer type");
    let values: Vec<f64> = EDGES.iter().map(|edge| i128::from(*edge).clamp(low, high) as f64).collect();
    Arg::Tensor(Array::from_f64(dtype, &[EDGES.len()], &values))
}

/// A kernel that writes a row of 16 for each expression of the thread `tx`, after other statements
/// of it.
fn rows(name: &str, from: DType, to: &str, before: &str, expressions: &[String]) -> String {
    let body: String = expressions
        .iter()
        .enumerate()
        .map(|(row, expression)| format!("            O[{row}, tx] = {expression}\n"))
        .collect();
    format!(
        "    @T.prim_func(s_tir=True)
    def {name}(P: T.Buffer((16,), \"{from}\"), O: T.Buffer(({}, 16), \"{to}\")):
        T.func_attr({{\"tirx.noalias\": True}})
        for tx in T.thread_binding(16, thread=\"threadIdx.x\"):
{before}{body}",
        expressions.len()
    )
}

/// An integer that is extended, compared with constants, with an unrolled loop's variable, and
/// through memory. Mesa has its own idea of some of these (SPV-12).
#[test]
fn extended_integers_are_compared_as_they_are() {
    let host = host();
    let extended =
        [(DType::INT8, "int64"), (DType::INT16, "int64"), (DType::INT32, "int64"), (DType::UINT32, "int64")]
            .into_iter()
            .chain([(DType::INT8, "int32"), (DType::UINT8, "int16"), (DType::INT32, "uint64")]);
    for (from, to) in extended {
        let mut expressions = Vec::new();
        for constant in ["7", "0", "-1", "300", "2147483647"] {
            for op in ["<", "<=", ">", ">=", "==", "!="] {
                let constant = format!("T.Cast(\"{to}\", T.int32({constant}))");
                let (value, stored) = (format!("T.Cast(\"{to}\", P[tx])"), "L[0]");
                for test in [format!("{value} {op} {constant}"), format!("{constant} {op} {stored}")] {
                    expressions.push(format!("T.Select({test}, 1, 2)"));
                }
            }
        }
        let n = expressions.len();
        let stored = format!(
            "            L = T.alloc_buffer((1,), \"{to}\", scope=\"local\")
            L[0] = T.Cast(\"{to}\", P[tx])
            for i in T.unroll(T.int64(9)):
                if T.Cast(\"{to}\", i) >= L[0]:
                    L[0] = L[0] + T.Cast(\"{to}\", T.int32(2))
"
        );
        let module = parse(&rows("compared", from, "int32", &stored, &expressions));
        let args = [edges(from), counting(DType::INT32, &[n, 16])];
        on_each_device(&host, |backend| agrees(&host, backend, &module, "compared", &args));
    }
}

/// Arithmetic of 64 bits on integers that are extended: exact, whether or not 32 bits would do, and
/// unsigned where the type is.
#[test]
fn extended_integers_are_computed_in_their_type() {
    let host = host();
    for (dtype, to) in [(DType::INT64, "int64"), (DType::UINT64, "uint64")] {
        let number = |value: i32| format!("T.Cast(\"{to}\", T.int32({value}))");
        let (p, small) = (format!("T.Cast(\"{to}\", P[tx])"), format!("T.Cast(\"{to}\", P[tx] % 100)"));
        let near = format!("T.Cast(\"{to}\", tx - 1)");
        let mut expressions = Vec::new();
        for (a, b) in [
            (&p, &p),
            (&p, &small),
            (&small, &small),
            (&near, &number(1)),
            (&near, &number(-2)),
            (&p, &number(3)),
            (&small, &number(-7)),
            (&number(-5), &p),
        ] {
            for op in ["+", "-", "*", "//", "%"] {
                expressions.push(format!("({a}) {op} ({b})"));
            }
            for function in ["min", "max", "truncdiv", "truncmod"] {
                expressions.push(format!("T.{function}({a}, {b})"));
            }
        }
        expressions.extend([
            format!("T.Cast(\"{to}\", tx) // {three} * {three} - {small} % {}", number(5), three = number(3)),
            format!("T.Cast(\"{to}\", T.Cast(\"float32\", {small} * {}))", number(3)),
            format!("T.Cast(\"{to}\", T.Cast(\"uint8\", {p} - {}))", number(1)),
            format!("T.if_then_else({small} < T.Cast(\"{to}\", tx), {small}, {p} * {p})"),
        ]);
        let module = parse(&rows("computed", DType::INT32, to, "", &expressions));
        let args = [edges(DType::INT32), counting(dtype, &[expressions.len(), 16])];
        on_each_device(&host, |backend| agrees(&host, backend, &module, "computed", &args));
    }
}
