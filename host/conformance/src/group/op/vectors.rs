//! Ramps, broadcasts, shuffles, vector loads and stores, on each type and number of lanes.

use chipdock_ir::DType;

use super::of_type;
use super::table::profiles_of;
use crate::Profile;
use crate::batch::Described;
use crate::script::script;

pub(super) fn add(all: &mut Vec<Described>) {
    for &dtype in DType::SCALARS {
        let mut profiles = profiles_of([dtype]);
        profiles.push(Profile::Vectors);
        for lanes in [2, 3, 4, 8, 16] {
            for (name, text) in OF_LANES {
                let text = format!("@T.prim_func(s_tir=True)\ndef FN{text}");
                let text = of_type(&text, dtype).replace("LANES", &lanes.to_string());
                all.push(script(
                    format!("vector/{name}/{dtype}x{lanes}"),
                    "C.13",
                    profiles.clone(),
                    &text,
                    &[],
                ));
            }
        }
        for (name, text) in OF_FOUR {
            let text = of_type(&format!("@T.prim_func(s_tir=True)\ndef FN{text}"), dtype);
            all.push(script(format!("vector/{name}/{dtype}x4"), "C.13", profiles.clone(), &text, &[]));
        }
    }
}

const OF_LANES: &[(&str, &str)] = &[
    (
        // Neither address is aligned beyond one element.
        "load-store",
        "(A: T.Buffer((64,), \"DT\"), B: T.Buffer((64,), \"DT\")):
    for i in range(3):
        B[T.Ramp(i * LANES + 5, 1, LANES)] = A[T.Ramp(i * LANES + 1, 1, LANES)]
",
    ),
    (
        "elements",
        "(A: T.Buffer((6,), \"DTxLANES\"), B: T.Buffer((6,), \"DTxLANES\")):
    for i in range(6):
        B[5 - i] = A[i]
",
    ),
];

const OF_FOUR: &[(&str, &str)] = &[
    (
        "strided",
        "(A: T.Buffer((64,), \"DT\"), B: T.Buffer((64,), \"DT\")):
    for i in range(4):
        B[T.Ramp(i * 16, 3, 4)] = A[T.Ramp(i * 8 + 1, 2, 4)]
",
    ),
    (
        "backwards",
        "(A: T.Buffer((64,), \"DT\"), B: T.Buffer((64,), \"DT\")):
    for i in range(4):
        B[T.Ramp(i * 4, 1, 4)] = A[T.Ramp(i * 4 + 3, -1, 4)]
",
    ),
    (
        "broadcast",
        "(A: T.Buffer((16,), \"DT\"), B: T.Buffer((64,), \"DT\")):
    for i in range(16):
        B[T.Ramp(i * 4, 1, 4)] = T.Broadcast(A[i], 4)
",
    ),
    (
        "shuffle",
        "(A: T.Buffer((64,), \"DT\"), B: T.Buffer((64,), \"DT\")):
    for i in range(8):
        B[T.Ramp(i * 4, 1, 4)] = T.Shuffle([A[T.Ramp(i * 8, 1, 4)], A[T.Ramp(i * 8 + 4, 1, 4)]], [7, 0, 5, 2])
",
    ),
    (
        "extract",
        "(A: T.Buffer((64,), \"DT\"), B: T.Buffer((16,), \"DT\")):
    for i in range(16):
        B[i] = T.Shuffle([A[T.Ramp(i * 4, 1, 4)]], [2])
",
    ),
    (
        "predicated",
        "(A: T.Buffer((20,), \"DT\"), B: T.Buffer((22,), \"DT\"), n: T.int32):
    B.vstore([T.Ramp(0, 1, 4)], A.vload([T.Ramp(18, 1, 4)], predicate=T.Ramp(18, 1, 4) < T.Broadcast(20, 4)))
    B.vstore([T.Ramp(20, 1, 4)], A.vload([T.Ramp(4, 1, 4)]), predicate=T.Ramp(20, 1, 4) < T.Broadcast(22, 4))
",
    ),
    (
        "select",
        "(A: T.Buffer((64,), \"DT\"), B: T.Buffer((64,), \"DT\")):
    for i in range(8):
        B[T.Ramp(i * 4, 1, 4)] = T.Select(A[T.Ramp(i * 4, 1, 4)] < A[T.Ramp(i * 4 + 32, 1, 4)], A[T.Ramp(i * 4 + 8, 1, 4)], T.Broadcast(ONE, 4))
",
    ),
    (
        "lanes-that-meet",
        "(A: T.Buffer((16,), \"DT\"), B: T.Buffer((16,), \"DT\")):
    B[T.Ramp(3, 0, 4)] = A[T.Ramp(0, 1, 4)]
",
    ),
];
