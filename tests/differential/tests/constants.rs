//! Constants of every type on every backend for host functions, bit by bit, also in an artifact
//! that went through a file (C.13, C.43, C.45; IR-B8); other backends compute the same or refuse by
//! name.

use std::sync::Arc;

use chipdock_host::Host;
use chipdock_host::artifact::Artifact;
use chipdock_interpret::{Arg, Array};
use chipdock_ir::{ConstantData, DType, Expr, IrModule, build};
use chipdock_test_backends::backends::Backend;
use chipdock_test_backends::{host, on_each, outputs, run};

/// Bits of three lanes of a type, among them those that a text of numbers would lose.
const LANES: &[(DType, [u64; 3])] = &[
    (DType::BOOL, [1, 0, 1]),
    (DType::INT8, [0x80, 0x7f, 0xff]),
    (DType::UINT16, [0xffff, 1, 0x8000]),
    (DType::INT32, [0x8000_0000, 0x7fff_ffff, 0xffff_ffff]),
    (DType::INT64, [1 << 63, u64::MAX, 1]),
    (DType::FLOAT16, [0x7c00, 0x8000, 0x0001]),
    (DType::BFLOAT16, [0xff80, 0x8000, 0x0001]),
    (DType::FLOAT32, [0x7f80_0000, 0x8000_0000, 0x0000_0001]),
    (DType::FLOAT32, [0x7fc0_0001, 0xff80_0000, 0x3f80_0000]),
    (DType::FLOAT64, [0x7ff0 << 48, 1 << 63, 1]),
];

/// Types of memory, each with the values of three lanes.
const STORED: &[(DType, [u64; 3], [f64; 3])] = &[
    (DType::INT4, [0x8, 0x7, 0xf], [-8.0, 7.0, -1.0]),
    (DType::UINT1, [1, 0, 1], [1.0, 0.0, 1.0]),
    (DType::FLOAT8_E5M2, [0x7b, 0xbc, 0x01], [57344.0, -1.0, 0.0000152587890625]),
    (DType::FLOAT8_E4M3FN, [0x7e, 0xb8, 0x01], [448.0, -1.0, 0.001953125]),
];

/// A kernel that writes the constant from its end, once directly and once by a table of indices.
fn reversed(dtype: DType, data: &ConstantData, to: DType) -> IrModule {
    let mut f = build::function("f");
    let b = f.buffer("B", [6], to);
    let k = f.constant("K", [3], dtype, data.clone());
    let order = f.constant("order", [3], DType::INT32, ConstantData::pack(DType::INT32, [2, 1, 0]));
    f.range("i", 3, |f, i| {
        f.store(&b, [i.clone()], Expr::load(&k, vec![Expr::i32(2) - i.clone()]).cast(to));
        let at = Expr::load(&order, vec![i.clone()]);
        f.store(&b, [i.clone() + Expr::i32(3)], Expr::load(&k, vec![at]).cast(to));
    });
    build::module([f.finish()])
}

/// What a backend gives, or why it refuses the constant or the type.
fn given(host: &Host, backend: &Backend, module: &IrModule, dtype: DType) -> Result<Array, String> {
    let built = run::build(host, backend, module)?;
    // As another process would load it.
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("artifact");
    built.artifact().save(&path).expect("saved");
    let loaded = host.load(&Artifact::open(&path).map(Arc::new).expect("read")).expect("loaded");
    let f = loaded.function("f").map_err(|error| error.to_string())?;
    let args = [Arg::Tensor(Array::zeros(dtype, &[6]))];
    outputs(backend, &f, &args)?.pop().ok_or_else(|| "no output".to_owned())
}

/// A refusal by name: of constants, or of a type that the device does not have.
fn is_by_name(backend: &Backend, why: &str, dtype: DType) -> bool {
    !backend.is_host() && (why.contains("T.allocate_const") || why.contains(&dtype.to_string()))
}

#[test]
fn c45_constants_are_exact_on_every_backend() {
    let host = host();
    on_each(&host, |backend| {
        for (dtype, lanes) in LANES {
            let data = ConstantData::pack(*dtype, *lanes);
            let twice = [lanes[2], lanes[1], lanes[0], lanes[2], lanes[1], lanes[0]];
            match given(&host, backend, &reversed(*dtype, &data, *dtype), *dtype) {
                Ok(found) => {
                    assert_eq!(found.data, ConstantData::pack(*dtype, twice).bytes(), "{dtype}")
                }
                Err(why) => assert!(is_by_name(backend, &why, *dtype), "{dtype}: {why}"),
            }
        }
    });
}

#[test]
fn c45_constants_of_types_of_memory_are_packed_on_every_backend() {
    let host = host();
    on_each(&host, |backend| {
        for (dtype, lanes, values) in STORED {
            let data = ConstantData::pack(*dtype, *lanes);
            let expected: Vec<f64> = values.iter().rev().chain(values.iter().rev()).copied().collect();
            match given(&host, backend, &reversed(*dtype, &data, DType::FLOAT32), DType::FLOAT32) {
                Ok(found) => assert_eq!(found.to_f64(), expected, "{dtype}"),
                Err(why) => assert!(is_by_name(backend, &why, *dtype), "{dtype}: {why}"),
            }
        }
    });
}
