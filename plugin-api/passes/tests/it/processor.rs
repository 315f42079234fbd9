//! Default schedules of a processor: whatever the registers and caches, a scheduled function computes what it did.

use chipdock_interpret::{Interpreter, compare};
use chipdock_ir::{DType, Stage, TargetCapabilities, build, print, validate::validate};
use chipdock_passes::schedule_for_processor;

use crate::schedule::kernels::{self, Kernel};

/// A processor with vectors of that many bits, that many registers, and small caches, so that blocks are small.
fn processor(vector_bits: i64, registers: i64) -> TargetCapabilities {
    TargetCapabilities::host("host-kind").with(|it| {
        it.processor.vector_bits = Some(vector_bits);
        it.processor.vector_registers = Some(registers);
        it.processor.l1_cache_bytes = Some(8 << 10);
        it.processor.l2_cache_bytes = Some(64 << 10);
    })
}

/// Schedules the kernel and compares results with the interpreter's; returns the text of the scheduled function.
#[track_caller]
fn scheduled(kernel: &Kernel, capabilities: &TargetCapabilities) -> String {
    let original = build::module([kernel.function.clone()]);
    let module = schedule_for_processor(&original, capabilities).unwrap();
    let text = print::function(&module.functions[0]);
    assert_eq!(
        validate(&module, Stage::Scheduled).map_err(|problems| problems[0].to_string()),
        Ok(()),
        "{text}"
    );
    let name = &kernel.function.name;
    let expected = Interpreter::new(&original).with_bounds().run(name, &mut kernel.args()).unwrap();
    let found = Interpreter::new(&module).run(name, &mut kernel.args());
    let found = found.map_err(|error| format!("{error}\n{text}")).unwrap();
    for (found, expected) in found.outputs.iter().zip(&expected.outputs) {
        let agrees = compare(&found.array, expected);
        assert!(agrees.is_ok(), "{}: {agrees:?}\n{text}", expected.name);
    }
    text
}

const MACHINES: [(i64, i64); 3] = [(512, 32), (256, 16), (128, 8)];

/// Products of all sizes, also those that no tile divides, and those of no rows, columns or steps.
#[test]
fn products_keep_results() {
    let sizes = [
        [1, 1, 1],
        [2, 3, 5],
        [0, 40, 40],
        [40, 0, 40],
        [40, 40, 0],
        [16, 16, 64],
        [29, 31, 37],
        [33, 17, 129],
        [14, 97, 41],
        [64, 48, 32],
    ];
    for (index, size) in sizes.into_iter().enumerate() {
        for symbolic in [false, true] {
            let (bits, registers) = MACHINES[index % MACHINES.len()];
            let dtype = [DType::FLOAT32, DType::INT32, DType::FLOAT64][(index + usize::from(symbolic)) % 3];
            let kernel = kernels::matmul(size, symbolic, dtype, index % 2 == 1);
            let text = scheduled(&kernel, &processor(bits, registers));
            let is_large = size.iter().product::<usize>() >= 24 * 24 * 24;
            assert_eq!(text.contains("A_packed"), is_large && !symbolic, "{size:?}\n{text}");
        }
    }
}

/// The tile of a product has the vectors of the target.
#[test]
fn products_have_the_vectors_of_the_target() {
    for (bits, registers) in MACHINES {
        let kernel = kernels::matmul([64, 128, 40], false, DType::FLOAT32, false);
        let text = scheduled(&kernel, &processor(bits, registers));
        assert!(text.contains(&format!("T.vectorized({})", bits / 32)), "{text}");
    }
}

/// Without the promise that parameters do not overlap, nothing is copied.
#[test]
fn parameters_that_may_overlap_are_not_packed() {
    let mut kernel = kernels::matmul([64, 128, 40], false, DType::FLOAT32, false);
    kernel.function.attrs.remove(chipdock_ir::attr::NOALIAS);
    assert!(!scheduled(&kernel, &processor(512, 32)).contains("_packed"));
}

/// Outer loops run on threads where there is enough to do, and only as many threads as pay.
#[test]
fn long_nests_run_on_threads() {
    for (shape, is_parallel) in [([3, 5], false), ([300, 70], true), ([1, 40000], true)] {
        let text = scheduled(&kernels::elementwise(shape, false), &processor(512, 32));
        assert_eq!(text.contains("T.parallel("), is_parallel, "{text}");
        assert_eq!(text.contains("\"chipdock.grain\": \"auto\""), is_parallel, "{text}");
    }
    scheduled(&kernels::elementwise([5, 7], true), &processor(512, 32));
}
