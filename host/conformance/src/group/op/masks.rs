//! Conditional loads and stores in inner loops of every extent from 1 to 33, around the length of
//! every vector.
//!
//! gcc before version 14 turns such conditions into masks and confuses the masks of different loads
//! (its bug 114375) if the extent is short and no power of two: it then silently stores zeros in
//! place of elements.

use std::fmt::Write as _;

use chipdock_ir::DType;

use super::{of_type, table::profiles_of};
use crate::batch::Described;
use crate::script::weighing;

/// Rows of each extent, in sequence.
const N_ROWS: usize = 4;

const EXTENT_MAX: usize = 33;

/// Weight for two kernels a module: 66 launches on a device, whose compiler may take a tenth of a
/// second for each.
const WEIGHT: usize = 14;

/// Statements on the elements whose mask is true, each in a loop nest of its own, because the
/// faulty compiler is correct if several are in one loop. `AT` is the element; row `E` of the
/// result has the extent `E`, so that the position of a wrong value shows the extent.
const FORMS: &[(&str, &str)] = &[
    ("load", "O[E, AT] = T.if_then_else(HOLDS, A[AT], ONE)"),
    ("store", "if HOLDS:\n                O[E, AT] = A[AT]"),
];

pub(super) fn add(all: &mut Vec<Described>) {
    for (form, statement) in FORMS {
        for &dtype in DType::SCALARS {
            let holds = if dtype.is_bool() { "M[AT]" } else { "M[AT] > ZERO" };
            let text = of_type(&kernel(&statement.replace("HOLDS", holds)), dtype);
            let profiles = profiles_of([dtype]);
            let name = format!("statement/masked/{form}/{dtype}");
            all.push(weighing(WEIGHT, name, "C.14", profiles, &text, &[]));
        }
    }
}

/// Writes one loop nest for each extent.
fn kernel(statement: &str) -> String {
    let (n, n_extents) = (N_ROWS * EXTENT_MAX, EXTENT_MAX + 1);
    let mut text = format!(
        "@T.prim_func(s_tir=True)\ndef FN(M: T.Buffer(({n},), \"DT\"), A: T.Buffer(({n},), \"DT\"), \
         O: T.Buffer(({n_extents}, {n}), \"DT\")):\n    T.func_attr({{\"tirx.noalias\": True}})\n"
    );
    for extent in 1..=EXTENT_MAX {
        let statement = statement.replace("AT", &format!("i * {extent} + j"));
        let statement = statement.replace("[E,", &format!("[{extent},"));
        let _ = writeln!(
            text,
            "    for i in range({N_ROWS}):\n        for j in range({extent}):\n            {statement}"
        );
    }
    text
}
