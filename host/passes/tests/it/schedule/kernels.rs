//! Kernels to schedule, of any sizes, constant or symbolic.

use chipdock_interpret::{Arg, Array};
use chipdock_ir::build::{self, BlockBuilder, FunctionBuilder, R, S};
use chipdock_ir::{DType, Expr, Param, PrimFunc, StorageScope};

/// A function with the shapes of its parameters.
pub(crate) struct Kernel {
    pub(crate) function: PrimFunc,
    pub(crate) shapes: Vec<Vec<usize>>,
}

impl Kernel {
    /// Arguments with small values, all distinct from their neighbours.
    pub(crate) fn args(&self) -> Vec<Arg> {
        let arrays = self.function.params.iter().zip(&self.shapes).enumerate();
        let arrays = arrays.map(|(index, (param, shape))| {
            let Param::Buffer(buffer) = param else { unreachable!("kernels have tensors") };
            let size: usize = shape.iter().product();
            let scale = if buffer.dtype.is_float() { 0.37 } else { 1.0 };
            let values: Vec<f64> =
                (0..size).map(|at| ((at * 7 + index * 5) % 23) as f64 * scale - 8.0 * scale).collect();
            Arg::Tensor(Array::from_f64(buffer.dtype, shape, &values))
        });
        arrays.collect()
    }
}

/// Sizes: constant, or symbols.
pub(crate) fn sizes<const N: usize>(
    f: &mut FunctionBuilder,
    names: [&str; N],
    values: [usize; N],
    symbolic: bool,
) -> [Expr; N] {
    std::array::from_fn(|index| {
        if symbolic { f.size(names[index]) } else { Expr::int(values[index] as i128, DType::INT32) }
    })
}

/// `B[i, j] = A[i, j] * 3 + j`
pub(crate) fn elementwise(shape: [usize; 2], symbolic: bool) -> Kernel {
    let mut f = build::function("elementwise");
    f.noalias();
    let [m, n] = sizes(&mut f, ["m", "n"], shape, symbolic);
    let a = f.buffer("A", (&m, &n), DType::INT32);
    let b = f.buffer("B", (&m, &n), DType::INT32);
    f.grid(["i", "j"], (&m, &n), |f, [i, j]| {
        f.block("B", |f| {
            let [vi, vj] = f.remap([S, S], ["vi", "vj"], [&i, &j]);
            f.store(&b, (&vi, &vj), a.at((&vi, &vj)) * 3 + vj.clone());
        });
    });
    Kernel { function: f.finish(), shapes: vec![shape.to_vec(), shape.to_vec()] }
}

/// `C[i, j] = sum of A[i, k] * B[k, j]`, then `D[i, j] = max(C[i, j], 0)` if `epilogue`.
pub(crate) fn matmul(shape: [usize; 3], symbolic: bool, dtype: DType, epilogue: bool) -> Kernel {
    let [m_size, n_size, k_size] = shape;
    let mut f = build::function("matmul");
    f.noalias();
    let [m, n, k] = sizes(&mut f, ["m", "n", "k"], shape, symbolic);
    let a = f.buffer("A", (&m, &k), dtype);
    let b = f.buffer("B", (&k, &n), dtype);
    let c = match epilogue {
        true => f.block_alloc("C", (&m, &n), dtype, StorageScope::GLOBAL),
        false => f.buffer("C", (&m, &n), dtype),
    };
    f.grid(["i", "j", "k"], (&m, &n, &k), |f, [i, j, k]| {
        f.block("C", |f| {
            let [vi, vj, vk] = f.remap([S, S, R], ["vi", "vj", "vk"], [&i, &j, &k]);
            f.init(|f| f.store(&c, (&vi, &vj), 0));
            f.store(&c, (&vi, &vj), c.at((&vi, &vj)) + a.at((&vi, &vk)) * b.at((&vk, &vj)));
        });
    });
    if epilogue {
        let d = f.buffer("D", (&m, &n), dtype);
        f.grid(["i", "j"], (&m, &n), |f, [i, j]| {
            f.block("D", |f| {
                let [vi, vj] = f.remap([S, S], ["vi", "vj"], [&i, &j]);
                f.store(&d, (&vi, &vj), c.at((&vi, &vj)).max(0));
            });
        });
    }
    let shapes = vec![vec![m_size, k_size], vec![k_size, n_size], vec![m_size, n_size]];
    Kernel { function: f.finish(), shapes }
}

/// `C[i, j] = sum of A[i, k] * B[k, j]` in int32, of these types; with `turned`, of `B[j, k]`.
pub(crate) fn byte_matmul(shape: [usize; 3], symbolic: bool, dtypes: [DType; 2], turned: bool) -> Kernel {
    cast_matmul(shape, symbolic, dtypes, DType::INT32, turned)
}

/// `C[i, j] = sum of A[i, k] * B[j, k]` in float32, as a linear layer with its weights, of these
/// types.
pub(crate) fn linear(shape: [usize; 3], dtypes: [DType; 2]) -> Kernel {
    cast_matmul(shape, false, dtypes, DType::FLOAT32, true)
}

/// The same of any sizes.
pub(crate) fn any_linear(shape: [usize; 3], dtypes: [DType; 2]) -> Kernel {
    cast_matmul(shape, true, dtypes, DType::FLOAT32, true)
}

fn cast_matmul(shape: [usize; 3], symbolic: bool, dtypes: [DType; 2], sum: DType, turned: bool) -> Kernel {
    let [m_size, n_size, k_size] = shape;
    let mut f = build::function("cast_matmul");
    f.noalias();
    let [m, n, k] = sizes(&mut f, ["m", "n", "k"], shape, symbolic);
    let a = f.buffer("A", (&m, &k), dtypes[0]);
    let b = if turned { f.buffer("B", (&n, &k), dtypes[1]) } else { f.buffer("B", (&k, &n), dtypes[1]) };
    let c = f.buffer("C", (&m, &n), sum);
    f.grid(["i", "j", "k"], (&m, &n, &k), |f, [i, j, k]| {
        f.block("C", |f| {
            let [vi, vj, vk] = f.remap([S, S, R], ["vi", "vj", "vk"], [&i, &j, &k]);
            f.init(|f| f.store(&c, (&vi, &vj), 0));
            let y = if turned { b.at((&vj, &vk)) } else { b.at((&vk, &vj)) };
            let product = a.at((&vi, &vk)).cast(sum) * y.cast(sum);
            f.store(&c, (&vi, &vj), c.at((&vi, &vj)) + product);
        });
    });
    let second = if turned { vec![n_size, k_size] } else { vec![k_size, n_size] };
    let shapes = vec![vec![m_size, k_size], second, vec![m_size, n_size]];
    Kernel { function: f.finish(), shapes }
}

/// A convolution of `x[ic, h, w]` with `w[oc, ic, 3, 3]`, with a stride, and zeros around the
/// input.
pub(crate) fn convolution(channels: [usize; 2], size: usize, stride: usize) -> Kernel {
    let [ic, oc] = channels;
    let out = (size + 2 - 3) / stride + 1;
    let mut f = build::function("convolution");
    f.noalias();
    let int = |value: usize| Expr::int(value as i128, DType::INT32);
    let x = f.buffer("X", (int(ic), int(size), int(size)), DType::INT32);
    let w = f.buffer("W", (int(oc), int(ic), 3, 3), DType::INT32);
    let y = f.buffer("Y", (int(oc), int(out), int(out)), DType::INT32);
    let extents = (int(oc), int(out), int(out), int(ic), 3, 3);
    f.grid(["o", "h", "w", "c", "y", "x"], extents, |f, loops| {
        f.block("Y", |f| {
            let [vo, vh, vw, vc, vy, vx] = f.remap(
                [S, S, S, R, R, R],
                ["vo", "vh", "vw", "vc", "vy", "vx"],
                [&loops[0], &loops[1], &loops[2], &loops[3], &loops[4], &loops[5]],
            );
            let stride = i32::try_from(stride).unwrap();
            let (row, column) = (&vh * stride + &vy - 1, &vw * stride + &vx - 1);
            let limit = i32::try_from(size).unwrap();
            let inside = row.clone().ge(0).and(row.clone().lt(limit));
            let inside = inside.and(column.clone().ge(0)).and(column.clone().lt(limit));
            let value = inside.then_else(x.at((&vc, &row, &column)), 0);
            f.init(|f| f.store(&y, (&vo, &vh, &vw), 0));
            let product = value * w.at((&vo, &vc, &vy, &vx));
            f.store(&y, (&vo, &vh, &vw), y.at((&vo, &vh, &vw)) + product);
        });
    });
    let shapes = vec![vec![ic, size, size], vec![oc, ic, 3, 3], vec![oc, out, out]];
    Kernel { function: f.finish(), shapes }
}

/// `B[i] = A[i]` and then `C[i] = B[i - 1] + B[i]` in one loop, where `i > 0`.
pub(crate) fn chained(n: usize) -> Kernel {
    let mut f = build::function("chained");
    f.noalias();
    let size = Expr::int(n as i128, DType::INT32);
    let a = f.buffer("A", &size, DType::INT32);
    let b = f.buffer("B", &size, DType::INT32);
    let c = f.buffer("C", &size, DType::INT32);
    f.grid(["i"], [&size], |f, [i]| {
        f.block("B", |f| {
            let vi = f.spatial("vi", &size, &i);
            f.store(&b, &vi, a.at(&vi) * 2);
        });
        f.block("C", |f| {
            let vi = f.spatial("vi", &size, &i);
            f.predicate(i.clone().gt(0));
            f.store(&c, &vi, b.at(&vi - 1) + b.at(&vi));
        });
    });
    Kernel { function: f.finish(), shapes: vec![vec![n]; 3] }
}

/// `B[i] = A[i] * 3`, `C[i] = B[i] + B[i + 2] * 2`, `D[i] = max(C[i], i)`, where B and C are
/// intermediate.
pub(crate) fn pipeline(n: usize, symbolic: bool) -> Kernel {
    let mut f = build::function("pipeline");
    f.noalias();
    let [size] = sizes(&mut f, ["n"], [n], symbolic);
    let wide = &size + 2;
    let d = f.buffer("D", &size, DType::INT32);
    let a = f.buffer("A", &wide, DType::INT32);
    let b = f.block_alloc("B", &wide, DType::INT32, StorageScope::GLOBAL);
    let c = f.block_alloc("C", &size, DType::INT32, StorageScope::GLOBAL);
    f.grid(["i"], [&wide], |f, [i]| {
        f.block("B", |f| {
            let vi = f.spatial("vi", &wide, &i);
            f.store(&b, &vi, a.at(&vi) * 3);
        });
    });
    f.grid(["i"], [&size], |f, [i]| {
        f.block("C", |f| {
            let vi = f.spatial("vi", &size, &i);
            f.store(&c, &vi, b.at(&vi) + b.at(&vi + 2) * 2);
        });
    });
    f.grid(["i"], [&size], |f, [i]| {
        f.block("D", |f| {
            let vi = f.spatial("vi", &size, &i);
            f.store(&d, &vi, c.at(&vi).max(vi.clone()));
        });
    });
    Kernel { function: f.finish(), shapes: vec![vec![n], vec![n + 2]] }
}

/// `B[i] = op over k of A[i, k]`.
pub(crate) fn reduced(shape: [usize; 2], symbolic: bool, dtype: DType, op: chipdock_ir::BinaryOp) -> Kernel {
    let mut f = build::function("reduced");
    f.noalias();
    let [m, n] = sizes(&mut f, ["m", "n"], shape, symbolic);
    let a = f.buffer("A", (&m, &n), dtype);
    let b = f.buffer("B", &m, dtype);
    f.grid(["i", "k"], (&m, &n), |f, [i, k]| {
        f.block("B", |f| {
            let [vi, vk] = f.remap([S, R], ["vi", "vk"], [&i, &k]);
            f.init(|f| f.store(&b, &vi, 1));
            f.store(&b, &vi, Expr::binary(op, b.at(&vi), a.at((&vi, &vk))));
        });
    });
    Kernel { function: f.finish(), shapes: vec![shape.to_vec(), vec![shape[0]]] }
}

/// `B[0] = op of all A[i, k]`
pub(crate) fn reduced_whole(shape: [usize; 2], symbolic: bool, op: chipdock_ir::BinaryOp) -> Kernel {
    let mut f = build::function("reduced_whole");
    f.noalias();
    let [m, n] = sizes(&mut f, ["m", "n"], shape, symbolic);
    let a = f.buffer("A", (&m, &n), DType::INT32);
    let b = f.buffer("B", [1], DType::INT32);
    f.grid(["i", "k"], (&m, &n), |f, [i, k]| {
        f.block("B", |f| {
            let [vi, vk] = f.remap([R, R], ["vi", "vk"], [&i, &k]);
            f.init(|f| f.store(&b, [0], 1));
            f.store(&b, [0], Expr::binary(op, b.at([0]), a.at((&vi, &vk))));
        });
    });
    Kernel { function: f.finish(), shapes: vec![shape.to_vec(), vec![1]] }
}

/// The softmax of each row of A, less its largest element, in four nests.
pub(crate) fn softmax(shape: [usize; 2], symbolic: bool) -> Kernel {
    let mut f = build::function("softmax");
    f.noalias();
    let [m, n] = sizes(&mut f, ["m", "n"], shape, symbolic);
    let a = f.buffer("A", (&m, &n), DType::FLOAT32);
    let b = f.buffer("B", (&m, &n), DType::FLOAT32);
    let most = f.block_alloc("M", &m, DType::FLOAT32, StorageScope::GLOBAL);
    let exps = f.block_alloc("E", (&m, &n), DType::FLOAT32, StorageScope::GLOBAL);
    let sums = f.block_alloc("S", &m, DType::FLOAT32, StorageScope::GLOBAL);
    rows(&mut f, "M", [&m, &n], |f, [vi, vk]| {
        f.init(|f| f.store(&most, vi, -1000.0));
        f.store(&most, vi, most.at(vi).max(a.at((vi, vk))));
    });
    f.grid(["i", "j"], (&m, &n), |f, [i, j]| {
        f.block("E", |f| {
            let [vi, vj] = f.remap([S, S], ["vi", "vj"], [&i, &j]);
            f.store(&exps, (&vi, &vj), (a.at((&vi, &vj)) - most.at(&vi)).exp());
        });
    });
    rows(&mut f, "S", [&m, &n], |f, [vi, vk]| {
        f.init(|f| f.store(&sums, vi, 0.0));
        f.store(&sums, vi, sums.at(vi) + exps.at((vi, vk)));
    });
    f.grid(["i", "j"], (&m, &n), |f, [i, j]| {
        f.block("B", |f| {
            let [vi, vj] = f.remap([S, S], ["vi", "vj"], [&i, &j]);
            f.store(&b, (&vi, &vj), exps.at((&vi, &vj)) / sums.at(&vi));
        });
    });
    Kernel { function: f.finish(), shapes: vec![shape.to_vec(), shape.to_vec()] }
}

fn rows(
    f: &mut FunctionBuilder,
    name: &str,
    [m, n]: [&Expr; 2],
    body: impl FnOnce(&mut BlockBuilder, [&Expr; 2]),
) {
    f.grid(["i", "k"], (m, n), |f, [i, k]| {
        f.block(name, |f| {
            let [vi, vk] = f.remap([S, R], ["vi", "vk"], [&i, &k]);
            body(f, [&vi, &vk]);
        });
    });
}

/// `P[h, i, j] = A[h, i, :] . B[h, j, :]`, `R[h, i, j] = max(P, 0) + j`,
/// `C[h, i, d] = R[h, i, :] . D[h, :, d]`.
pub(crate) fn two_products(heads: usize, shape: [usize; 3]) -> Kernel {
    let [rows, columns, depth] = shape;
    let mut f = build::function("two_products");
    f.noalias();
    let [h, m, n, d] = sizes(&mut f, ["h", "m", "n", "d"], [heads, rows, columns, depth], false);
    let a = f.buffer("A", (&h, &m, &d), DType::INT32);
    let b = f.buffer("B", (&h, &n, &d), DType::INT32);
    let v = f.buffer("V", (&h, &n, &d), DType::INT32);
    let c = f.buffer("C", (&h, &m, &d), DType::INT32);
    let p = f.block_alloc("P", (&h, &m, &n), DType::INT32, StorageScope::GLOBAL);
    let r = f.block_alloc("R", (&h, &m, &n), DType::INT32, StorageScope::GLOBAL);
    f.grid(["h", "i", "j", "k"], (&h, &m, &n, &d), |f, loops| {
        f.block("P", |f| {
            let [vh, vi, vj, vk] =
                f.remap([S, S, S, R], ["vh", "vi", "vj", "vk"], [&loops[0], &loops[1], &loops[2], &loops[3]]);
            f.init(|f| f.store(&p, (&vh, &vi, &vj), 0));
            let product = a.at((&vh, &vi, &vk)) * b.at((&vh, &vj, &vk));
            f.store(&p, (&vh, &vi, &vj), p.at((&vh, &vi, &vj)) + product);
        });
    });
    f.grid(["h", "i", "j"], (&h, &m, &n), |f, [h, i, j]| {
        f.block("R", |f| {
            let [vh, vi, vj] = f.remap([S, S, S], ["vh", "vi", "vj"], [&h, &i, &j]);
            f.store(&r, (&vh, &vi, &vj), p.at((&vh, &vi, &vj)).max(0) + vj.clone());
        });
    });
    f.grid(["h", "i", "d", "j"], (&h, &m, &d, &n), |f, loops| {
        f.block("C", |f| {
            let [vh, vi, vd, vj] =
                f.remap([S, S, S, R], ["vh", "vi", "vd", "vj"], [&loops[0], &loops[1], &loops[2], &loops[3]]);
            f.init(|f| f.store(&c, (&vh, &vi, &vd), 0));
            let product = r.at((&vh, &vi, &vj)) * v.at((&vh, &vj, &vd));
            f.store(&c, (&vh, &vi, &vd), c.at((&vh, &vi, &vd)) + product);
        });
    });
    let shapes = [rows, columns, columns, rows].map(|length| vec![heads, length, depth]);
    Kernel { function: f.finish(), shapes: shapes.to_vec() }
}

/// `B[h, i, j] = A[h, j, i]`.
pub(crate) fn transposed(shape: [usize; 3], symbolic: bool, dtype: DType) -> Kernel {
    let [heads, rows, columns] = shape;
    let mut f = build::function("transposed");
    f.noalias();
    let [h, m, n] = sizes(&mut f, ["h", "m", "n"], shape, symbolic);
    let a = f.buffer("A", (&h, &n, &m), dtype);
    let b = f.buffer("B", (&h, &m, &n), dtype);
    f.grid(["h", "i", "j"], (&h, &m, &n), |f, [h, i, j]| {
        f.block("B", |f| {
            let [vh, vi, vj] = f.remap([S, S, S], ["vh", "vi", "vj"], [&h, &i, &j]);
            f.store(&b, (&vh, &vi, &vj), a.at((&vh, &vj, &vi)));
        });
    });
    Kernel { function: f.finish(), shapes: vec![vec![heads, columns, rows], vec![heads, rows, columns]] }
}

/// A reduction over windows of each channel of `x[c, h, w]`, as deep as wide, with a stride and
/// zeros around the input: sums of products with `k[c, y, x]`, or maxima.
pub(crate) fn windows(
    channels: usize,
    shape: [usize; 2],
    window: usize,
    stride: usize,
    products: bool,
) -> Kernel {
    let int = |value: usize| Expr::int(value as i128, DType::INT32);
    let [height, width] = shape;
    let around = window / 2;
    let [tall, wide] = shape.map(|size| size + 2 * around);
    let out = [tall, wide].map(|size| (size + stride).saturating_sub(window) / stride);
    let mut f = build::function("windows");
    f.noalias();
    let x = f.buffer("X", (int(channels), int(height), int(width)), DType::INT32);
    let k = products.then(|| f.buffer("K", (int(channels), int(window), int(window)), DType::INT32));
    let y = f.buffer("Y", (int(channels), int(out[0]), int(out[1])), DType::INT32);
    let padded = (int(channels), int(tall), int(wide));
    let p = f.block_alloc("P", padded.clone(), DType::INT32, StorageScope::GLOBAL);
    f.grid(["c", "h", "w"], padded, |f, [c, h, w]| {
        f.block("P", |f| {
            let [vc, vh, vw] = f.remap([S, S, S], ["vc", "vh", "vw"], [&c, &h, &w]);
            let from = int(around);
            let (row, column) = (&vh - &from, &vw - &from);
            let inside = vh.clone().ge(from.clone()).and(vh.clone().lt(int(height + around)));
            let inside = inside.and(vw.clone().ge(from)).and(vw.clone().lt(int(width + around)));
            f.store(&p, (&vc, &vh, &vw), inside.then_else(x.at((&vc, &row, &column)), 0));
        });
    });
    let extents = (int(channels), int(out[0]), int(out[1]), int(window), int(window));
    f.grid(["c", "h", "w", "y", "x"], extents, |f, [c, h, w, dy, dx]| {
        f.block("Y", |f| {
            let names = ["vc", "vh", "vw", "vy", "vx"];
            let [vc, vh, vw, vy, vx] = f.remap([S, S, S, R, R], names, [&c, &h, &w, &dy, &dx]);
            let stride = i32::try_from(stride).unwrap();
            let value = p.at((&vc, &vh * stride + &vy, &vw * stride + &vx));
            f.init(|f| f.store(&y, (&vc, &vh, &vw), -100));
            let own = y.at((&vc, &vh, &vw));
            let new = match &k {
                Some(k) => own + value * k.at((&vc, &vy, &vx)),
                None => own.max(value),
            };
            f.store(&y, (&vc, &vh, &vw), new);
        });
    });
    let mut shapes = vec![vec![channels, height, width]];
    shapes.extend(products.then(|| vec![channels, window, window]));
    shapes.push(vec![channels, out[0], out[1]]);
    Kernel { function: f.finish(), shapes }
}

/// Sums and sums of squares of groups of channels of `x[c, n]`, which are read through a buffer of
/// another shape, and that buffer's elements minus the sums.
pub(crate) fn grouped(groups: usize, each: usize, size: usize) -> Kernel {
    let int = |value: usize| Expr::int(value as i128, DType::INT32);
    let mut f = build::function("grouped");
    f.noalias();
    let x = f.buffer("X", (int(groups * each), int(size)), DType::INT32);
    let y = f.buffer("Y", (int(groups * each), int(size)), DType::INT32);
    let shape = (int(groups), int(each), int(size));
    let v = f.block_alloc("V", shape.clone(), DType::INT32, StorageScope::GLOBAL);
    let s = f.block_alloc("S", int(groups), DType::INT32, StorageScope::GLOBAL);
    f.grid(["g", "c", "n"], shape.clone(), |f, [g, c, n]| {
        f.block("V", |f| {
            let [vg, vc, vn] = f.remap([S, S, S], ["vg", "vc", "vn"], [&g, &c, &n]);
            let channel = &vg * int(each) + (&vn / int(size) + &vc);
            f.store(&v, (&vg, &vc, &vn), x.at((&channel, &vn % int(size))));
        });
    });
    f.grid(["g", "c", "n"], shape, |f, [g, c, n]| {
        f.block("S", |f| {
            let [vg, vc, vn] = f.remap([S, R, R], ["vg", "vc", "vn"], [&g, &c, &n]);
            f.init(|f| f.store(&s, &vg, 0));
            f.store(&s, &vg, s.at(&vg) + v.at((&vg, &vc, &vn)));
        });
    });
    f.grid(["c", "n"], (int(groups * each), int(size)), |f, [c, n]| {
        f.block("Y", |f| {
            let [vc, vn] = f.remap([S, S], ["vc", "vn"], [&c, &n]);
            let (group, inner) = (&vc / int(each), &vc % int(each));
            f.store(&y, (&vc, &vn), v.at((&group, &inner, &vn)) - s.at(&group));
        });
    });
    Kernel { function: f.finish(), shapes: vec![vec![groups * each, size]; 2] }
}

/// A convolution of `groups` groups, of `[inputs, members]` channels each, of an image that is
/// `size + 2` high and wide with `[3, 3]` weights; channels are the first axis, or the last one.
pub(crate) fn group_convolution(groups: usize, channels: [usize; 2], size: usize, last: bool) -> Kernel {
    let int = |value: usize| Expr::int(value as i128, DType::INT32);
    let [inputs, members] = channels;
    let mut f = build::function("group_convolution");
    f.noalias();
    let order = |channel: Expr, row: Expr, column: Expr| match last {
        true => [row, column, channel],
        false => [channel, row, column],
    };
    let shape = |count: usize, size: usize| if last { [size, size, count] } else { [count, size, size] };
    let weights = if last { [3, 3, inputs, groups * members] } else { [groups * members, inputs, 3, 3] };
    let shapes = [shape(groups * inputs, size + 2), shape(groups * members, size)];
    let x = f.buffer("X", shapes[0].map(int), DType::INT32);
    let w = f.buffer("W", weights.map(int), DType::INT32);
    let y = f.buffer("Y", shapes[1].map(int), DType::INT32);
    let [first, second, third] = shapes[1].map(int);
    f.grid(["a", "b", "d", "c", "y", "x"], (first, second, third, int(inputs), 3, 3), |f, loops| {
        f.block("Y", |f| {
            let [va, vb, vd, vc, vy, vx] = f.remap(
                [S, S, S, R, R, R],
                ["va", "vb", "vd", "vc", "vy", "vx"],
                [&loops[0], &loops[1], &loops[2], &loops[3], &loops[4], &loops[5]],
            );
            let out = [va.clone(), vb.clone(), vd.clone()];
            let [channel, row, column] = if last { [vd, va, vb] } else { [va, vb, vd] };
            let from = channel.clone().floor_div(int(members)) * int(inputs) + vc.clone();
            let weight = match last {
                true => [vy.clone(), vx.clone(), vc, channel],
                false => [channel, vc, vy.clone(), vx.clone()],
            };
            f.init(|f| f.store(&y, out.clone(), 0));
            let product = x.at(order(from, row + vy, column + vx)) * w.at(weight);
            f.store(&y, out.clone(), y.at(out) + product);
        });
    });
    let shapes = vec![shapes[0].to_vec(), weights.to_vec(), shapes[1].to_vec()];
    Kernel { function: f.finish(), shapes }
}
