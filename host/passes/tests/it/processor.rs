//! Default schedules of a processor: whatever the registers and caches, a scheduled function
//! computes what it did.

use chipdock_interpret::{Interpreter, compare};
use chipdock_ir::{
    AttrValue, BinaryOp, BufferRegion, DType, Expr, IterKind, Range, Stage, TargetCapabilities, attr, build,
    print, validate::validate,
};
use chipdock_passes::schedule::Schedule;
use chipdock_passes::{apply_schedules, default_schedule, default_steps, split_reductions};

use crate::schedule::kernels::{self, Kernel};

/// A processor with vectors of that many bits, that many registers, and small caches, so that
/// blocks are small.
fn processor(vector_bits: i64, registers: i64) -> TargetCapabilities {
    TargetCapabilities::host("host-kind").with(|it| {
        it.processor.vector_bits = Some(vector_bits);
        it.processor.vector_registers = Some(registers);
        it.processor.l1_cache_bytes = Some(8 << 10);
        it.processor.l2_cache_bytes = Some(64 << 10);
    })
}

/// Schedules the kernel and compares results with the interpreter's; returns the text of the
/// scheduled function.
#[track_caller]
fn scheduled(kernel: &Kernel, capabilities: &TargetCapabilities) -> String {
    let original = build::module([kernel.function.clone()]);
    let module = default_schedule(&original, capabilities).unwrap();
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
        [30, 100, 160],
        [17, 40, 272],
    ];
    for (index, size) in sizes.into_iter().enumerate() {
        for symbolic in [false, true] {
            let (bits, registers) = MACHINES[index % MACHINES.len()];
            let dtype = [DType::FLOAT32, DType::INT32, DType::FLOAT64][(index + usize::from(symbolic)) % 3];
            let kernel = kernels::matmul(size, symbolic, dtype, index % 2 == 1);
            let text = scheduled(&kernel, &processor(bits, registers));
            let is_large = size.iter().product::<usize>() >= 24 * 24 * 24;
            assert_eq!(text.contains("A_packed"), is_large || symbolic, "{size:?}\n{text}");
            // The tile itself has no condition.
            let tile = text.split("T.sblock(").find(|block| block.starts_with("\"C\")"));
            let is_packed = text.contains("A_packed");
            assert!(tile.is_some_and(|tile| !is_packed || !tile.contains("T.where")), "{text}");
        }
    }
}

/// The groups of a convolution are a batch of products.
#[test]
fn groups_are_batches_of_products() {
    let sizes =
        [(1, [5, 7], 4), (2, [8, 16], 9), (3, [5, 7], 12), (4, [4, 4], 10), (8, [16, 4], 8), (5, [3, 1], 16)];
    for (index, (groups, channels, size)) in sizes.into_iter().enumerate() {
        for last in [false, true] {
            let (bits, registers) = MACHINES[index % MACHINES.len()];
            let kernel = kernels::group_convolution(groups, channels, size, last);
            let text = scheduled(&kernel, &processor(bits, registers));
            let products = groups * channels[0] * channels[1] * 9 * size * size;
            let is_product = channels[1] >= 4 && products / groups >= 24 * 24 * 24;
            assert_eq!(text.contains("X_packed"), is_product, "{channels:?} {size} {last}\n{text}");
        }
    }
}

/// What is made of a product is made of its tiles, if they are complete.
#[test]
fn epilogues_are_made_of_tiles() {
    for (size, is_fused) in [([32, 64, 40], true), ([16, 32, 1200], false)] {
        let kernel = kernels::matmul(size, false, DType::FLOAT32, true);
        let text = scheduled(&kernel, &processor(512, 32));
        assert_eq!(!text.contains("T.sblock(\"D\")"), is_fused, "{text}");
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

/// What is adjacent in memory is copied as vectors: columns, chunks of the sum, and both by tiles
/// that are transposed.
#[test]
fn operands_are_copied_as_vectors() {
    let shapes = [[26, 64, 64], [40, 96, 160], [13, 64, 160], [40, 50, 64], [33, 64, 37], [26, 100, 1040]];
    for (index, size) in shapes.into_iter().enumerate() {
        let (bits, registers) = MACHINES[index % MACHINES.len()];
        let lanes = bits as usize / 32;
        let text = scheduled(&kernels::linear(size, [DType::FLOAT32; 2]), &processor(bits, registers));
        let [_, columns, steps] = size;
        let has_chunks = steps % lanes == 0;
        let packed = |name: &str| {
            let after = text.split(&format!("{name}_packed = T.alloc_buffer((")).nth(1).unwrap_or_default();
            after.split("))").next().unwrap_or_default().split(", ").count()
        };
        // One axis more for the chunks.
        assert_eq!(packed("A"), 3 + usize::from(has_chunks), "{size:?}\n{text}");
        let is_whole = has_chunks && columns % (4 * lanes) == 0;
        assert!(!is_whole || text.contains("T.Shuffle("), "{size:?}\n{text}");
        assert!(has_chunks || !text.contains("T.Shuffle("), "{size:?}\n{text}");
    }
}

/// SCHED-13: halves are cast where they are copied.
#[test]
fn halves_are_widened_as_they_are_copied() {
    let (half, brain) = (DType::FLOAT16, DType::BFLOAT16);
    for dtypes in [[half, half], [brain, brain], [half, brain], [brain, DType::FLOAT32]] {
        let text = scheduled(&kernels::linear([26, 64, 64], dtypes), &processor(512, 32));
        assert!(text.contains("] * B_packed["), "{dtypes:?}\n{text}");
        assert!(text.contains(" + A_packed["), "{dtypes:?}\n{text}");
    }
}

/// The vector operand is copied for as many panels as the second cache holds, where they are used.
#[test]
fn panels_are_copied_where_they_are_used() {
    let text = scheduled(&kernels::matmul([30, 100, 200], false, DType::FLOAT32, false), &processor(512, 32));
    let panels = text.find("for j_0_0 in").expect(&text);
    let copy = text.find("B_packed = T.alloc_buffer(").expect(&text);
    assert!(panels < copy, "{text}");
    let text = scheduled(&kernels::matmul([30, 32, 200], false, DType::FLOAT32, false), &processor(512, 32));
    assert!(!text.contains("for j_0_0 in"), "{text}");
}

/// Products of bytes are dot products where the processor has instructions for them, also of sizes
/// that no group divides.
#[test]
fn products_of_bytes_are_dot_products() {
    let (u8, i8) = (DType::UINT8, DType::INT8);
    let sizes = [
        [2, 3, 5],
        [40, 40, 0],
        [29, 31, 37],
        [33, 17, 129],
        [14, 97, 41],
        [64, 48, 32],
        [20, 40, 320],
        [15, 70, 192],
    ];
    for (index, size) in sizes.into_iter().enumerate() {
        for (symbolic, dtypes) in [(false, [u8, i8]), (true, [i8, u8]), (false, [i8, i8]), (true, [u8, i8])] {
            let (bits, registers) = MACHINES[index % MACHINES.len()];
            let mut capabilities = processor(bits, registers);
            capabilities.execution.dot_products = vec!["uint8*int8".to_owned()];
            let kernel = kernels::byte_matmul(size, symbolic, dtypes, index % 2 == 1);
            let text = scheduled(&kernel, &capabilities);
            let is_large = size.iter().product::<usize>() >= 24 * 24 * 24;
            let wanted = dtypes != [i8, i8] && (is_large || symbolic);
            assert_eq!(text.contains("dot_add"), wanted, "{size:?} {dtypes:?}\n{text}");
            // Without, elements are cast where they are copied.
            assert!(!text.contains("T.Cast(\"int32\", A_packed"), "{text}");
        }
    }
}

/// Products that fill tiles are computed by them where the target names their types, of any sizes;
/// of floats too.
#[test]
fn products_that_fill_tiles_are_computed_by_them() {
    let sizes =
        [[15, 64, 64], [64, 15, 64], [64, 64, 64], [33, 17, 129], [16, 97, 70], [64, 48, 320], [20, 40, 65]];
    for (index, size) in sizes.into_iter().enumerate() {
        let (u8, i8) = (DType::UINT8, DType::INT8);
        for (symbolic, dtypes) in [(false, [u8, i8]), (true, [i8, u8]), (false, [i8, i8])] {
            let (bits, registers) = MACHINES[index % MACHINES.len()];
            let capabilities = processor(bits, registers).with(|it| {
                it.execution.dot_products = vec!["uint8*int8".to_owned(), "int8*int8".to_owned()];
                it.execution.tile_products = vec!["uint8*int8".to_owned()];
            });
            let kernel = kernels::byte_matmul(size, symbolic, dtypes, index % 2 == 1);
            let text = scheduled(&kernel, &capabilities);
            let fills = symbolic || size[0] >= 16 && size[1] >= 16 && size[2] > 64;
            assert_eq!(
                text.contains("\"chipdock.tiles\": 1"),
                fills && dtypes != [i8, i8],
                "{size:?}\n{text}"
            );
        }
        let mut capabilities = processor(512, 32);
        capabilities.execution.tile_products = vec!["bfloat16*bfloat16".to_owned()];
        let kernel = kernels::linear(size, [DType::BFLOAT16; 2]);
        assert!(!scheduled(&kernel, &capabilities).contains("chipdock.tiles"), "tiles stand on dot products");
        capabilities.execution.dot_products = vec!["bfloat16*bfloat16".to_owned()];
        let text = scheduled(&kernel, &capabilities);
        let fills = size[0] >= 16 && size[1] >= 16 && size[2] > 32;
        assert_eq!(text.contains("\"chipdock.tiles\": 1"), fills, "{size:?}\n{text}");
    }
}

/// Without the promise that parameters do not overlap, they are compared first.
#[test]
fn parameters_that_may_overlap_are_compared() {
    let all = [
        kernels::matmul([64, 128, 40], false, DType::FLOAT32, true),
        kernels::matmul([64, 50, 40], true, DType::INT32, false),
        kernels::softmax([64, 100], true),
        kernels::transposed([1, 50, 60], false, DType::FLOAT32),
    ];
    for mut kernel in all {
        kernel.function.attrs.remove(attr::NOALIAS);
        let text = scheduled(&kernel, &processor(512, 32));
        assert_eq!(text.matches("T.reinterpret(\"uint64\", A").count(), 2, "{text}");
    }
    let mut kernel = kernels::elementwise([300, 70], false);
    kernel.function.attrs.remove(attr::NOALIAS);
    assert!(!scheduled(&kernel, &processor(512, 32)).contains("reinterpret"));
}

/// A parameter that is written through a view alone is compared too: here `D`, with `A`, `B` and
/// `C`.
#[test]
fn parameters_that_are_written_through_views_are_compared() {
    let [m, n, k] = [32, 64, 40];
    let mut f = build::function("viewed");
    let [a, b, c] =
        [("A", [m, k]), ("B", [k, n]), ("C", [m, n])].map(|(name, of)| f.buffer(name, of, DType::FLOAT32));
    let d = f.buffer("D", [m, n], DType::FLOAT32);
    f.grid(["i", "j", "k"], [m, n, k], |f, [i, j, k]| {
        f.block("C", |f| {
            let kinds = [IterKind::Spatial, IterKind::Spatial, IterKind::Reduce];
            let [vi, vj, vk] = f.remap(kinds, ["vi", "vj", "vk"], [&i, &j, &k]);
            f.init(|f| f.store(&c, (&vi, &vj), 0));
            f.store(&c, (&vi, &vj), c.at((&vi, &vj)) + a.at((&vi, &vk)) * b.at((&vk, &vj)));
        });
    });
    f.range("r", m, |f, r| {
        f.block("D", |f| {
            let row = f.spatial("row", m, &r);
            let range = |min: Expr, extent: i32| Range { min, extent: Expr::i32(extent) };
            let region = vec![range(row, 1), range(Expr::i32(0), n)];
            let view = f.match_buffer("V", [1, n], BufferRegion { buffer: d.clone(), region });
            f.store(&view, [0, 0], 1);
        });
    });
    let module = build::module([f.finish()]);
    let text = print::module(&default_schedule(&module, &processor(512, 32)).unwrap());
    assert!(text.contains("A_packed"), "{text}");
    for other in ["A", "B", "C"] {
        assert!(text.contains(&format!("<= T.reinterpret(\"uint64\", {other}.data)")), "{other}: {text}");
    }
    assert_eq!(text.matches("<= T.reinterpret(\"uint64\", D.data)").count(), 3, "{text}");
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

/// The nests of a softmax run row by row, and what they pass on is as long as a row.
#[test]
fn rows_keep_results() {
    for shape in [[0, 5], [1, 1], [3, 7], [4, 0], [5, 1], [64, 17], [33, 64], [200, 100]] {
        for symbolic in [false, true] {
            let text = scheduled(&kernels::softmax(shape, symbolic), &processor(512, 32));
            if symbolic || (shape[0] >= 4 && shape[1] > 1) {
                assert!(text.contains("E = T.alloc_buffer("), "{text}");
                assert_eq!(text.matches("T.parallel(").count(), 1, "{text}");
            }
        }
    }
}

/// Products in a chain run by blocks of rows, where there are some that divide the rows.
#[test]
fn chains_of_products_keep_results() {
    for (heads, shape) in [(1, [64, 40, 24]), (3, [48, 50, 33]), (2, [163, 24, 24]), (9, [160, 32, 32])] {
        let text = scheduled(&kernels::two_products(heads, shape), &processor(256, 16));
        assert_eq!(text.contains("P = T.alloc_buffer("), shape[0] % 16 == 0, "{text}");
    }
}

/// The padded input of windows is kept, a channel at a time, and not computed anew for each element
/// of a window.
#[test]
fn windows_keep_results() {
    let shapes = [[0, 5], [1, 1], [3, 7], [16, 15], [17, 33]];
    for (index, shape) in shapes.into_iter().enumerate() {
        for (window, stride, products) in [(3, 1, true), (3, 2, false), (5, 3, true), (1, 1, false)] {
            let (bits, registers) = MACHINES[index % MACHINES.len()];
            let kernel = kernels::windows(5, shape, window, stride, products);
            let text = scheduled(&kernel, &processor(bits, registers));
            let padded = shape.map(|size| size + 2 * (window / 2));
            let out = padded.map(|size| (size + stride).saturating_sub(window) / stride);
            let is_kept = out[0] * out[1] * window * window > padded[0] * padded[1];
            assert_eq!(
                text.contains("P = T.alloc_buffer((1, "),
                is_kept,
                "{shape:?} {window} {stride}\n{text}"
            );
        }
    }
}

/// Loops run in parts where the conditions of padding change, at most two loops, in at most three
/// parts each.
#[test]
fn edges_keep_results() {
    let parts = |text: &str| text.matches("T.sblock(\"P").count();
    for (shape, expected) in [([16, 15], 9), ([16, 14], 9), ([40, 3], 1)] {
        let text = scheduled(&kernels::windows(5, shape, 3, 1, true), &processor(512, 32));
        assert_eq!(parts(&text), expected, "{text}");
    }
}

/// A buffer that shows another with another shape is read in its place, where the elements are one
/// after the other.
#[test]
fn views_are_read_in_place() {
    for [groups, each, size] in [[1, 1, 5], [3, 4, 5], [8, 2, 64]] {
        let text = scheduled(&kernels::grouped(groups, each, size), &processor(512, 32));
        assert!(!text.contains("T.sblock(\"V\")"), "{text}");
        let plain = [" % ", " // "].iter().filter(|op| text.contains(*op)).count();
        assert!(each == 1 || plain <= 2, "{text}");
    }
}

/// Long reductions to few results are computed in parts.
#[test]
fn long_sums_keep_results() {
    for shape in [[1, 70_000], [3, 40_000], [2, 65_536], [9, 70_000]] {
        for op in [BinaryOp::Add, BinaryOp::Max] {
            let kernel = kernels::reduced(shape, false, DType::INT32, op);
            let text = scheduled(&kernel, &processor(512, 32));
            let in_parts = shape[0] < 9 && shape[1] >= 65_536;
            assert_eq!(text.contains("B_rf"), in_parts, "{text}");
        }
    }
    // Parts of several loops are whole iterations of the first.
    for (shape, parts) in
        [([70, 1000], 5), ([66, 1024], 5), ([4, 20_000], 4), ([70_000, 1], 5), ([60, 1000], 0)]
    {
        for op in [BinaryOp::Add, BinaryOp::Max] {
            let text = scheduled(&kernels::reduced_whole(shape, false, op), &processor(512, 32));
            let expected = format!("T.parallel({parts},");
            assert_eq!(text.contains("B_rf") && text.contains(&expected), parts > 0, "{shape:?}\n{text}");
        }
        scheduled(&kernels::reduced_whole(shape, true, BinaryOp::Add), &processor(512, 32));
    }
}

/// Partial results are as many on every target, in vectors as wide as its own.
#[test]
fn reductions_have_the_vectors_of_the_target() {
    let kernel = kernels::reduced([3, 70], false, DType::FLOAT32, BinaryOp::Max);
    let original = build::module([kernel.function.clone()]);
    let name = &kernel.function.name;
    let expected = Interpreter::new(&original).run(name, &mut kernel.args()).unwrap();
    for (bits, registers) in MACHINES {
        let module = split_reductions(&original, &processor(bits, registers)).unwrap();
        let text = print::function(&module.functions[0]);
        let (all, vectors) = (text.matches("T.vectorized(").count(), 2 * (512 / bits) as usize);
        assert_eq!(text.matches(&format!("T.vectorized({})", bits / 32)).count(), vectors, "{text}");
        assert!(all == vectors && text.contains("_lanes = T.sblock_alloc_buffer((16,)"), "{text}");
        let found = Interpreter::new(&module).run(name, &mut kernel.args()).unwrap();
        assert_eq!(found.outputs[0].array, expected.outputs[0].array, "{text}");
    }
}

/// Transpositions run by tiles of whole vectors, and the rest element by element.
#[test]
fn transpositions_keep_results() {
    for shape in [[1, 16, 16], [1, 15, 40], [2, 17, 31], [1, 64, 48], [3, 33, 16], [0, 20, 20], [1, 100, 0]] {
        for dtype in [DType::FLOAT32, DType::INT8, DType::FLOAT64] {
            for symbolic in [false, true] {
                for (bits, registers) in MACHINES {
                    let kernel = kernels::transposed(shape, symbolic, dtype);
                    let text = scheduled(&kernel, &processor(bits, registers));
                    let lanes = (bits as usize / dtype.bits as usize).clamp(4, 16);
                    let long = shape[1] >= lanes && shape[2] >= lanes;
                    assert_eq!(text.contains("T.Shuffle"), long || symbolic, "{text}");
                }
            }
        }
    }
}

/// Outputs larger than the second cache are stored past the caches, if they are not read again.
#[test]
fn large_outputs_are_streamed() {
    for (shape, is_streamed) in [([64, 512], true), ([64, 64], false), ([65, 511], false)] {
        let text = scheduled(&kernels::elementwise(shape, false), &processor(512, 32));
        assert_eq!(text.contains("chipdock.nontemporal"), is_streamed, "{text}");
    }
    let text = scheduled(&kernels::softmax([80, 512], false), &processor(512, 32));
    assert_eq!(text.matches("chipdock.nontemporal").count(), 1, "{text}");
    // One long loop is split for the threads first.
    let text = scheduled(&kernels::elementwise([1, 40960], false), &processor(512, 32));
    assert!(text.contains("T.parallel(5,") && text.contains("chipdock.nontemporal"), "{text}");
    let mut with_third = processor(512, 32);
    with_third.processor.l3_cache_bytes = Some(256 << 10);
    for (rows, is_streamed) in [(64, false), (65, true)] {
        let text = scheduled(&kernels::elementwise([rows, 512], false), &with_third);
        assert_eq!(text.contains("chipdock.nontemporal"), is_streamed, "half of the last cache: {text}");
    }
}

/// The steps of a default schedule, as the attribute of the function, give the same function, and
/// no further rule applies.
#[test]
fn default_steps_are_a_schedule() {
    let capabilities = processor(512, 32);
    let kernels = [
        kernels::matmul([64, 128, 40], false, DType::FLOAT32, true),
        kernels::matmul([64, 128, 40], true, DType::FLOAT32, false),
        kernels::softmax([64, 100], true),
        kernels::two_products(3, [48, 50, 33]),
        kernels::transposed([1, 50, 60], false, DType::FLOAT32),
        kernels::elementwise([300, 70], false),
    ];
    for kernel in kernels {
        let steps = default_steps(&kernel.function, &capabilities);
        assert!(!steps.steps().is_empty());
        let mut function = kernel.function.clone();
        let lines = steps.to_string().lines().map(|line| AttrValue::Str(line.into())).collect();
        function.attrs.insert(chipdock_passes::schedule::ATTRIBUTE.into(), AttrValue::List(lines));
        let module = apply_schedules(&build::module([function]), &capabilities).unwrap();
        let scheduled = default_schedule(&module, &capabilities).unwrap();
        assert_eq!(print::module(&scheduled), print::module(&module));
        let mut expected = scheduled.clone();
        for function in &mut expected.functions {
            function.attrs.remove(attr::SCHEDULED);
        }
        let original = build::module([kernel.function.clone()]);
        let by_default = default_schedule(&original, &capabilities).unwrap();
        assert_eq!(print::module(&expected), print::module(&by_default));
    }
    assert!(default_steps(&kernels::elementwise([3, 5], false).function, &capabilities).steps().is_empty());
}

/// Annotations that no pass acts on, of loops and of blocks, change nothing.
#[test]
fn unknown_annotations_change_nothing() {
    let plain = kernels::matmul([32, 64, 40], false, DType::FLOAT32, false);
    let mut noted = Schedule::new(&plain.function);
    let block = noted.get_sblock("C").unwrap();
    let loops = noted.get_loops(&block).unwrap();
    noted.annotate(&loops[1], "software_pipeline_stage", "x").unwrap();
    noted.annotate(&block, "note", "x").unwrap();
    let noted = Kernel { function: noted.function().clone(), shapes: plain.shapes.clone() };
    let texts = [&plain, &noted].map(|kernel| scheduled(kernel, &processor(512, 32)));
    assert!(texts[0].contains("A_packed"));
    assert_eq!(texts[0], texts[1]);
}

/// A schedule that cannot be applied is the caller's mistake.
#[test]
fn refused_schedules_say_which_step() {
    let mut function = kernels::elementwise([3, 5], false).function;
    let text = "b = sch.get_sblock(\"B\")\ni, j = sch.get_loops(b)\nsch.reorder(j, i)\nsch.tensorize(i, \"transpose_4x4\")";
    function.attrs.insert(chipdock_passes::schedule::ATTRIBUTE.into(), AttrValue::Str(text.into()));
    let error = apply_schedules(&build::module([function]), &processor(512, 32)).unwrap_err();
    let message = error.to_string();
    assert!(message.contains("elementwise") && message.contains("step 4"), "{message}");
}
