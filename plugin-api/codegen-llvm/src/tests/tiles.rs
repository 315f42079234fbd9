//! Tests of products of tiles (LLVM-V15): which loops are such products, and what stands around
//! them.

use chipdock_ir::build::{self, Body, Loop};
use chipdock_ir::{AttrValue, Buffer, DType, Expr, ExprKind, ForKind, IrModule, Op, StorageScope, attr};

use super::support::Plain;
use crate::{DotInstructions, Options, TileInstructions, write_module};

/// A nest, with whatever makes it a product of tiles or not.
struct Nest {
    mark: AttrValue,
    rows: i32,
    columns: i32,
    groups: i32,
    /// From one row of sums to the next, and from one tile to the next.
    sums: [i32; 2],
    /// From one group of a row to the next.
    group: i32,
    kind: ForKind,
    /// Whether the sums are a parameter.
    is_param: bool,
    /// Whether another buffer is in the memory of the sums.
    is_viewed: bool,
    /// Whether the sums depend on the step.
    moves: bool,
    /// Whether a function is called within the steps, or around them.
    calls: [bool; 2],
}

impl Default for Nest {
    fn default() -> Self {
        Self {
            mark: AttrValue::Int(1),
            rows: 32,
            columns: 2,
            groups: 16,
            sums: [32, 16],
            group: 4,
            kind: ForKind::Serial,
            is_param: false,
            is_viewed: false,
            moves: false,
            calls: [false; 2],
        }
    }
}

impl Nest {
    fn module(&self) -> IrModule {
        let mut f = build::function("f");
        f.lowered();
        let a = f.buffer("A", [1 << 16], DType::UINT8);
        let b = f.buffer("B", [1 << 16], DType::INT8);
        let out = f.buffer("C", [1 << 12], DType::INT32);
        let own = f.alloc("S", [1 << 12], DType::INT32, StorageScope::LOCAL);
        let sums = if self.is_param { &out } else { &own };
        if self.is_viewed {
            let view = f.view("V", [1 << 12], DType::INT32, &own.data);
            f.bind("p", view.data.expr().reinterpret(DType::UINT64));
        }
        f.for_each(Loop::serial("o", 3), |f, o| {
            if self.calls[1] {
                call(f);
            }
            let steps = Loop::new("s", self.kind, o + Expr::i32(1)).annotate(attr::TILES, self.mark.clone());
            f.for_each(steps, |f, s| {
                if self.calls[0] {
                    call(f);
                }
                f.grid(["k", "r", "j"], [self.groups, self.rows, self.columns], |f, [k, r, j]| {
                    self.dot(f, [&a, &b, sums], [&s, &k, &r, &j]);
                });
            });
            f.store(&out, [&Expr::i32(0)], own.at([&Expr::i32(5)]));
        });
        build::module([f.finish()])
    }

    fn dot(&self, f: &mut Body, [a, b, sums]: [&Buffer; 3], [s, k, r, j]: [&Expr; 4]) {
        let times = |e: &Expr, by: i32| e.clone() * Expr::i32(by);
        let moved = if self.moves { s.clone() } else { Expr::i32(0) };
        let at_sums = times(r, self.sums[0]) + times(j, self.sums[1]) + moved;
        let at_a = times(s, 2048) + times(r, 64) + times(k, self.group);
        let at_b = times(s, 2048) + times(j, 64) + times(k, 128);
        let load =
            |buffer: &Buffer, at: Expr, lanes: u16| Expr::load(buffer, vec![at.ramp(Expr::i32(1), lanes)]);
        let lanes = ExprKind::Shuffle {
            vectors: vec![load(a, at_a, 4)],
            indices: (0..64).map(|lane| lane % 4).collect(),
        };
        let a = Expr::new(lanes, DType::UINT8.with_lanes(64));
        let args = vec![load(sums, at_sums.clone(), 16), a, load(b, at_b, 64)];
        let sum = Expr::call(Op::DotAdd, args, DType::INT32.with_lanes(16));
        f.store(sums, [&at_sums.ramp(Expr::i32(1), 16)], sum);
    }

    /// The text for a processor with tiles.
    fn text(&self) -> String {
        let target = Plain {
            dots: DotInstructions::X86 { bits: 512, vnni_bits: 512, has_bf16: true },
            tiles: TileInstructions { has_int8: true, has_bf16: false },
            ..Plain::default()
        };
        write_module(&self.module(), &target, &Options::default()).unwrap().text
    }
}

fn call(f: &mut Body) {
    let arg = vec![Expr::i32(1)];
    let callee = chipdock_ir::Callee::Extern { name: "rand_r".into(), pure: false };
    f.evaluate(Expr::new(ExprKind::Call { callee, args: arg }, DType::INT32));
}

/// Products that differ in sizes and distances, with their tiles of sums.
#[test]
fn products_of_tiles_are_found() {
    let all = [
        (Nest::default(), 4),
        (Nest { rows: 16, ..Nest::default() }, 2),
        (Nest { columns: 1, ..Nest::default() }, 2),
        (Nest { rows: 16, columns: 3, sums: [48, 16], ..Nest::default() }, 3),
        (Nest { sums: [16, 512], ..Nest::default() }, 4),
        (Nest { rows: 48, columns: 1, sums: [16, 0], ..Nest::default() }, 3),
        (Nest { mark: AttrValue::Bool(true), ..Nest::default() }, 4),
    ];
    for (nest, tiles) in all {
        let text = nest.text();
        let count = |what: &str| text.matches(what).count();
        assert_eq!(count("call void @llvm.x86.tdpbusd("), tiles, "{text}");
        assert_eq!(count("call void @llvm.x86.tilestored64("), tiles, "{text}");
        assert_eq!(count("call void @llvm.x86.ldtilecfg("), 1, "{text}");
        assert_eq!(count("call void @llvm.x86.tilerelease("), 1, "{text}");
        // The loops as they are written, for processes that may not use tiles.
        assert!(count("vpdpbusd.512(<16 x i32>") >= 1, "{text}");
    }
}

#[test]
fn other_loops_are_written_as_they_are() {
    let all = [
        ("not marked", Nest { mark: AttrValue::None, ..Nest::default() }),
        ("marked with 0", Nest { mark: AttrValue::Int(0), ..Nest::default() }),
        ("rows that are no tile", Nest { rows: 24, ..Nest::default() }),
        ("half of the groups", Nest { groups: 8, ..Nest::default() }),
        ("too many tiles", Nest { columns: 3, sums: [48, 16], ..Nest::default() }),
        ("rows that overlap", Nest { sums: [8, 512], ..Nest::default() }),
        ("tiles that overlap", Nest { sums: [16, 16], ..Nest::default() }),
        ("one sum for all rows", Nest { sums: [0, 16], ..Nest::default() }),
        ("groups that are apart", Nest { group: 8, ..Nest::default() }),
        ("groups that are one", Nest { group: 0, ..Nest::default() }),
        ("sums of a parameter", Nest { is_param: true, ..Nest::default() }),
        ("sums that something points to", Nest { is_viewed: true, ..Nest::default() }),
        ("sums that move", Nest { moves: true, ..Nest::default() }),
        ("a parallel loop", Nest { kind: ForKind::Parallel, ..Nest::default() }),
        ("a call within", Nest { calls: [true, false], ..Nest::default() }),
    ];
    for (why, nest) in all {
        let text = nest.text();
        assert!(!text.contains("llvm.x86.tdp") && !text.contains("ldtilecfg"), "{why}:\n{text}");
    }
    let text = write_module(&Nest::default().module(), &Plain::default(), &Options::default());
    assert!(text.is_err(), "a target without dot products refuses them");
}

/// The shape of tiles is set around the outermost loop that calls nothing.
#[test]
fn no_function_is_called_between_setting_and_releasing() {
    for calls in [false, true] {
        let text = Nest { calls: [false, calls], ..Nest::default() }.text();
        let place = |what: &str| text.find(what).unwrap_or_else(|| panic!("no {what} in\n{text}"));
        let (set, released) =
            (place("call void @llvm.x86.ldtilecfg"), place("call void @llvm.x86.tilerelease"));
        let outer = place("loop");
        assert!(set < released);
        assert_eq!(set < outer, !calls, "{text}");
        if calls {
            assert!(place("@rand_r(") < set, "{text}");
        }
        assert!(!text[set..released].contains("@rand_r("), "{text}");
    }
}
