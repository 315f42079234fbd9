//! The cost of checking an artifact. Measured on demand by
//! `cargo test --release -p chipdock-plugin-vulkan speed -- --ignored --nocapture`. Launches,
//! copies and second runs are measured by `cargo xtask bench`.

use std::time::{Duration, Instant};

use super::by_hand::{Form, add};
use crate::program::interface::{ARTIFACT, Code};

#[test]
#[ignore = "a measurement"]
fn checks_of_an_artifact() {
    let parts = add(Form::Address);
    let check =
        || parts.with(|artifact| Code::of(artifact, &ARTIFACT.index(artifact).unwrap()).map(drop)).unwrap();
    let mut least = Duration::MAX;
    for _ in 0..51 {
        let began = Instant::now();
        check();
        least = least.min(began.elapsed());
    }
    println!("an artifact of {} words is checked in {least:?}", parts.spv.len() / 4);
}
