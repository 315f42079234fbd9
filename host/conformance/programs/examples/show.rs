//! Prints the program of a seed: `cargo run -p chipdock-programs --example show -- SEED [threads]`.

use chipdock_programs::{Options, arbitrary};

fn main() {
    let mut args = std::env::args().skip(1);
    let seed = args.next().and_then(|text| text.parse().ok()).unwrap_or(0);
    let options = if args.next().is_some() { Options::with_threads() } else { Options::default() };
    println!("{}", arbitrary(seed, &options).text());
}
