//! Tests of products of tiles: the instructions that are written, and what they compute where a
//! handler does their work.

use chipdock_ir::build::{self, R, S};
use chipdock_ir::{DType, Expr, IrModule};
use chipdock_plugin_api::abi::{CHIPDOCK_DTYPE_BFLOAT, ChipdockDataType};
use chipdock_plugin_api::{Element, HostRef, Tensor};
use half::bf16;
use serde_json::{Value, json};

use super::cross::output;
use super::kinds::canonical;
use super::support::{built, request, written};
use crate::llvm::machine::granted;
use crate::llvm::{MachineOptions, Wanted, compile, library};

const BYTES: [DType; 2] = [DType::UINT8, DType::INT8];
const HALVES: [DType; 2] = [DType::BFLOAT16, DType::BFLOAT16];

/// `C[i, j]`, the sum of `A[i, k] * B[k, j]`, of sizes that are constant, or symbols.
fn product(sizes: [i64; 3], dtypes: [DType; 2], is_symbolic: bool) -> IrModule {
    let sum = if dtypes[0].is_float() { DType::FLOAT32 } else { DType::INT32 };
    let mut f = build::function("f");
    f.noalias();
    let [m, n, k] = ["m", "n", "k"].map(|name| f.size(name));
    let constants = sizes.map(|size| Expr::i32(size as i32));
    let [m, n, k] = if is_symbolic { [m, n, k] } else { constants };
    let a = f.buffer("A", [&m, &k], dtypes[0]);
    let b = f.buffer("B", [&k, &n], dtypes[1]);
    let c = f.buffer("C", [&m, &n], sum);
    f.grid(["i", "j", "p"], [&m, &n, &k], |f, [i, j, p]| {
        f.block("C", |f| {
            let [vi, vj, vp] = f.remap([S, S, R], ["vi", "vj", "vp"], [&i, &j, &p]);
            f.init(|f| f.store(&c, [&vi, &vj], 0));
            let term = a.at([&vi, &vp]).cast(sum) * b.at([&vp, &vj]).cast(sum);
            f.store(&c, [&vi, &vj], c.at([&vi, &vj]) + term);
        });
    });
    build::module([f.finish()])
}

/// A processor with tiles.
fn rapids(more: &[(&str, Value)]) -> Value {
    let mut options = json!({ "mtriple": "x86_64-linux-gnu", "mcpu": "sapphirerapids" });
    for (name, value) in more {
        options[*name] = value.clone();
    }
    options
}

const OTHERS: [&str; 6] = ["ldtilecfg", "tilerelease", "tileloadd", "tilestored", "tilezero", "tdp"];

/// LLVM-V15: two tiles by two are read, and added to, in each step; sums are in tiles from the
/// first step to the last.
#[test]
fn products_of_tiles_are_written_without_spills() {
    let cases: [([DType; 2], &str); 5] = [
        (BYTES, "tdpbusd"),
        ([DType::INT8, DType::UINT8], "tdpbsud"),
        ([DType::INT8, DType::INT8], "tdpbssd"),
        ([DType::UINT8, DType::UINT8], "tdpbuud"),
        (HALVES, "tdpbf16ps"),
    ];
    let all = [([1024, 1024, 1024], false, 3), ([1000, 777, 333], false, 3), ([1, 1, 1], true, 0)];
    for ((dtypes, instruction), (sizes, is_symbolic, level)) in
        cases.into_iter().flat_map(|case| all.map(|size| (case, size)))
    {
        let options = rapids(&[("opt-level", level.into())]);
        let assembly = output(&product(sizes, dtypes, is_symbolic), options).assembly;
        let count = |what: &str| assembly.lines().filter(|line| line.contains(&format!("\t{what}"))).count();
        let found = (count(instruction), OTHERS.map(count));
        assert_eq!(found, (4, [1, 1, 8, 4, 0, 4]), "{dtypes:?} {sizes:?} {level}\n{assembly}");
        assert!(assembly.contains("syscall"), "permission is asked for");
    }
}

/// A result of few rows or columns has one tile along them; one that fills no tile has none.
#[test]
fn small_results_have_fewer_tiles() {
    for (sizes, products) in
        [([16, 64, 256], 2), ([64, 16, 256], 2), ([16, 16, 256], 1), ([15, 64, 256], 0), ([64, 64, 64], 0)]
    {
        let assembly = output(&product(sizes, BYTES, false), rapids(&[])).assembly;
        assert_eq!(assembly.matches("\ttdpbusd").count(), products, "{sizes:?}");
        assert_eq!(assembly.contains("ldtilecfg"), products > 0, "{sizes:?}");
    }
}

/// LLKIND-K9.
#[test]
fn targets_list_the_products_of_their_tiles() {
    let listed = |options: Value| {
        canonical(options).str_list("tile-products").into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    let of =
        |triple: &str, cpu: &str, mattr: &[&str]| json!({ "mtriple": triple, "mcpu": cpu, "mattr": mattr });
    let integers = ["uint8*int8", "int8*int8", "uint8*uint8"];
    let all = integers.iter().chain(&["bfloat16*bfloat16"]).copied().collect::<Vec<_>>();
    assert_eq!(listed(of("x86_64-linux-gnu", "sapphirerapids", &[])), all);
    assert_eq!(listed(of("x86_64-linux-gnu", "sapphirerapids", &["-amx-bf16"])), integers);
    assert_eq!(listed(of("x86_64-linux-gnu", "x86-64-v3", &["+amx-tile", "+amx-int8"])), integers);
    assert_eq!(listed(of("x86_64-linux-gnu", "x86-64-v3", &["+amx-tile"])), [""; 0]);
    assert_eq!(listed(of("x86_64-linux-gnu", "sapphirerapids", &["-amx-tile"])), [""; 0]);
    assert_eq!(listed(of("x86_64-linux-gnu", "sapphirerapids", &["-amx-int8"])), ["bfloat16*bfloat16"]);
    assert_eq!(listed(of("x86_64-linux-gnu", "cascadelake", &[])), [""; 0]);
    // Other systems are not asked for permission.
    assert_eq!(listed(of("x86_64-apple-darwin", "sapphirerapids", &[])), [""; 0]);
    assert_eq!(listed(json!({ "mtriple": "aarch64-linux-gnu" })), [""; 0]);
    let without = output(&product([256, 256, 256], BYTES, false), rapids(&[("tile-products", json!([]))]));
    assert!(!without.assembly.contains("tdp") && without.assembly.contains("vpdpbusd"));
    let without = output(&product([256, 256, 256], HALVES, false), rapids(&[("tile-products", json!([]))]));
    assert!(!without.assembly.contains("tdp") && without.assembly.contains("vdpbf16ps"));
}

/// Products of bfloat16 keep small numbers, though the instructions for them take these for 0: on
/// this machine, whatever it has.
#[test]
fn products_of_halves_keep_subnormal_numbers() {
    let power = |of: i32| f64::powi(2.0, of);
    for sizes in [[32, 32, 128], [33, 17, 129]] {
        let [m, n, k] = sizes;
        let loaded = built(&product(sizes, HALVES, false), json!({}), &json!({})).load().unwrap();
        let function = loaded.function("f").unwrap().unwrap();
        for (x, y) in [(power(-133), 1.0), (power(-70), power(-60)), (3.0, power(-126)), (1.5, 2.0)] {
            let operand = |shape: [i64; 2], value: f64| {
                let mut halves = vec![Half(bf16::ZERO); (shape[0] * shape[1]) as usize];
                halves[0] = Half(bf16::from_f64(value));
                Tensor::from_slice(&shape, &halves).unwrap()
            };
            let (a, b) = (operand([m, k], x), operand([k, n], y));
            let c = Tensor::from_slice(&[m, n], &vec![f32::NAN; (m * n) as usize]).unwrap();
            function.call(HostRef::standalone(), &[(&a).into(), (&b).into(), (&c).into()]).unwrap();
            let found = c.to_vec::<f32>().unwrap();
            assert_eq!(f64::from(found[0]), x * y, "{sizes:?}");
            assert!(found[1..].iter().all(|other| *other == 0.0), "{sizes:?}");
        }
    }
}

/// LLKIND-K10: no permission, no features; processors without tiles are not asked.
#[test]
fn features_of_tiles_are_those_that_linux_grants() {
    let features = || "+avx2,+amx-tile,+amx-int8,-amx-fp16".to_owned();
    assert_eq!(granted(features(), || true), features());
    assert_eq!(granted(features(), || false), "+avx2,-amx-tile,-amx-int8,-amx-fp16");
    assert_eq!(granted("+avx2,-amx-tile".to_owned(), || panic!("asked")), "+avx2,-amx-tile");
}

/// An element of type bfloat16.
#[derive(Clone, Copy)]
#[repr(transparent)]
struct Half(bf16);

// SAFETY: 16 bits of bfloat16.
unsafe impl Element for Half {
    const DTYPE: ChipdockDataType = ChipdockDataType { code: CHIPDOCK_DTYPE_BFLOAT, bits: 16, lanes: 1 };
}

/// Values that repeat after a prime number of elements, as bits of a type: the extremes, and some
/// between.
fn bits(dtype: DType, count: i64, by: usize) -> (Vec<u8>, Vec<f64>) {
    let (mut bytes, mut values) = (Vec::new(), Vec::new());
    for at in 0..count as usize {
        let step = (at * by + at / 7) % 251;
        if dtype.is_float() {
            let value = bf16::from_f32((step as f32 - 120.0) / 16.0);
            bytes.extend(value.to_le_bytes());
            values.push(value.to_f64());
        } else {
            let byte = (step as u8).wrapping_mul(5).wrapping_add(128);
            bytes.push(byte);
            values.push(if dtype.is_uint() { byte.into() } else { (byte as i8).into() });
        }
    }
    (bytes, values)
}

fn tensor(shape: [i64; 2], dtype: DType, bytes: &[u8]) -> Tensor {
    match dtype {
        DType::UINT8 => Tensor::from_slice(&shape, bytes).unwrap(),
        DType::INT8 => {
            Tensor::from_slice(&shape, &bytes.iter().map(|byte| *byte as i8).collect::<Vec<_>>()).unwrap()
        }
        _ => {
            let halves: Vec<Half> =
                bytes.chunks_exact(2).map(|pair| Half(bf16::from_le_bytes([pair[0], pair[1]]))).collect();
            Tensor::from_slice(&shape, &halves).unwrap()
        }
    }
}

/// Calls the function of [`product`], and compares with the sums: exact ones of integers, of floats
/// within the error of any order.
fn check(module: &dyn chipdock_plugin_api::Module, [m, n, k]: [i64; 3], dtypes: [DType; 2]) {
    let ((a, va), (b, vb)) = (bits(dtypes[0], m * k, 3), bits(dtypes[1], k * n, 11));
    let (a, b) = (tensor([m, k], dtypes[0], &a), tensor([k, n], dtypes[1], &b));
    let is_float = dtypes[0].is_float();
    let count = (m * n) as usize;
    let c = match is_float {
        true => Tensor::from_slice(&[m, n], &vec![f32::NAN; count]).unwrap(),
        false => Tensor::from_slice(&[m, n], &vec![-1_i32; count]).unwrap(),
    };
    let function = module.function("f").unwrap().unwrap();
    function.call(HostRef::standalone(), &[(&a).into(), (&b).into(), (&c).into()]).unwrap();
    let found: Vec<f64> = match is_float {
        true => c.to_vec::<f32>().unwrap().into_iter().map(f64::from).collect(),
        false => c.to_vec::<i32>().unwrap().into_iter().map(f64::from).collect(),
    };
    let (n, k) = (n as usize, k as usize);
    for (place, found) in found.into_iter().enumerate() {
        let (i, j) = (place / n, place % n);
        let terms = (0..k).map(|p| va[i * k + p] * vb[p * n + j]);
        let (sum, size) = terms.fold((0.0, 0.0), |(sum, size), term| (sum + term, size + f64::abs(term)));
        let bound = if is_float { size * (k + 2) as f64 * f64::powi(2.0, -24) } else { 0.0 };
        assert!(
            (found - sum).abs() <= bound,
            "C[{i}, {j}] of {m} {n} {k} {dtypes:?}: {found}, expected {sum}"
        );
    }
}

const SIZES: [[i64; 3]; 6] =
    [[32, 32, 128], [16, 80, 66], [33, 17, 129], [70, 50, 200], [48, 16, 320], [100, 130, 65]];

/// LLVM-V15: the code for tiles, with everything else for this processor, whose tiles are in
/// software (`amx`). Each type has two sizes, of constants and of symbols.
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
#[test]
fn products_of_tiles_are_exact_in_software() {
    super::amx::install();
    let has_tiles = library().unwrap().host().features.contains("+amx-tile");
    let all = [BYTES, [DType::INT8, DType::UINT8], [DType::INT8; 2], [DType::UINT8; 2], HALVES];
    for (index, dtypes) in all.iter().chain(&all).enumerate() {
        let (sizes, is_symbolic) = (SIZES[index % SIZES.len()], index % 2 == 1);
        let loaded = for_this_machine(&product(sizes, *dtypes, is_symbolic));
        let before = super::amx::products();
        check(&*loaded, sizes, *dtypes);
        assert!(has_tiles || super::amx::products() > before, "{sizes:?} {dtypes:?} {is_symbolic}: no tiles");
    }
}

/// The code for [`rapids`], with the features of this machine and tiles, as if Linux had granted
/// these.
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
fn for_this_machine(module: &IrModule) -> Box<dyn chipdock_plugin_api::Module> {
    let llvm = library().unwrap();
    let host = llvm.host();
    let here = MachineOptions {
        triple: host.triple.clone(),
        cpu: host.cpu.clone(),
        features: format!("{},+amx-tile,+amx-int8,+amx-bf16", host.features),
        opt_level: 3,
        ..MachineOptions::default()
    };
    let target = canonical(rapids(&[]));
    let mut built =
        request(&written(module, &target, None), &target, "{\"emit\": \"source\"}", false).unwrap();
    let (cpu, features) = (&here.cpu, &here.features);
    let own =
        format!("attributes #0 = {{ nounwind \"target-cpu\"=\"{cpu}\" \"target-features\"=\"{features}\" }}");
    let source = built.text("source");
    let granted = source.replace("ret i1 %may", "ret i1 true");
    assert!(granted != source, "it does not ask");
    let lines =
        granted.lines().map(|line| if line.starts_with("attributes #0") { own.as_str() } else { line });
    let text = lines.collect::<Vec<_>>().join("\n");
    let wanted = Wanted { object: true, ..Wanted::default() };
    let object = compile(llvm, &text, &here, wanted, &|| false).unwrap().object;
    for (_, _, bytes) in built.sections.iter_mut().filter(|(name, ..)| name == "code") {
        bytes.clone_from(&object);
    }
    built.made_for("cpu", &host.cpu).made_for("features", &host.features).load().unwrap()
}

/// LLVM-V15: a process that may not use tiles runs the loops as they are written. Where it may, it
/// uses them.
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
#[test]
fn products_of_tiles_run_without_permission() {
    if !library().unwrap().host().features.contains("+avx2") {
        return;
    }
    let options = json!({ "mattr": ["+amx-tile", "+amx-int8"] });
    let host = library().unwrap().host();
    for sizes in SIZES {
        let built = built(&product(sizes, BYTES, false), options.clone(), &json!({ "emit": "asm" }));
        assert!(built.text("asm").contains("tdpbusd"), "{sizes:?}");
        let loaded = built.made_for("features", &host.features).load().unwrap();
        check(&*loaded, sizes, BYTES);
    }
}
