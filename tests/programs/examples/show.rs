//! Prints the program of a seed.

use chipdock_test_programs::{Options, arbitrary};

fn main() {
    let seed = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(0);
    println!("{}", arbitrary(seed, &Options::default()).text());
}
