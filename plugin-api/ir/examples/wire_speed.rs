//! Measures how long a module takes through the wire, per node, at three sizes:
//! `cargo run --release -p chipdock-ir --features testing --example wire_speed`.

use std::time::Instant;

use chipdock_ir::wire::{self, imagined};
use chipdock_ir::{DType, Expr, IrModule, build};

/// Makes a function of statements `A[i] = A[i + 1] * c + i`, no two of them equal.
fn module(statements: i32) -> IrModule {
    let mut f = build::function("f");
    let a = f.buffer("A", [statements + 1], DType::FLOAT32);
    for i in 0..statements {
        let next = Expr::load(&a, vec![Expr::i32(i + 1)]);
        let factor = Expr::float(f64::from(i) / 8.0, DType::FLOAT32);
        f.store(&a, [Expr::i32(i)], next * factor + Expr::i32(i).cast(DType::FLOAT32));
    }
    build::module([f.finish()])
}

/// Returns the shortest time of several runs, in nanoseconds.
fn least<T>(runs: usize, mut run: impl FnMut() -> T) -> f64 {
    let time = |_| {
        let start = Instant::now();
        drop(run());
        start.elapsed().as_nanos() as f64
    };
    (0..runs).map(time).fold(f64::INFINITY, f64::min)
}

fn main() -> Result<(), wire::WireError> {
    println!("nodes, bytes of a document per node, ns per node: written, read, rewritten and written");
    for statements in [1_430, 14_300, 143_000] {
        let module = module(statements);
        let text = wire::write(&module)?;
        let nodes = text.matches("{\"node\":").count() as f64;
        let runs = if statements > 100_000 { 5 } else { 20 };
        let written = least(runs, || wire::write(&module));
        let read = least(runs, || wire::read(&text));
        let older = least(runs, || imagined::write_at(&module, imagined::OLDER));
        println!(
            "{nodes}, {:.0}, {:.0}, {:.0}, {:.0}",
            text.len() as f64 / nodes,
            written / nodes,
            read / nodes,
            older / nodes
        );
    }
    Ok(())
}
