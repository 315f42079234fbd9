//! Launches of one kernel that take turns, for drivers that cannot run two of them at once.
//!
//! PoCL before 6.0 compiles a kernel again for a larger grid, but identifies the users of the
//! compiled code only by kernel and block: two launches with grids of different sizes that run at
//! once can end the process by an assertion (fixed in PoCL by its commit c9ac4c0c3). There, a
//! launch waits for the previous one of the same kernel on another stream; a stream itself is in
//! order.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex, Weak};

use chipdock_plugin_api::kit::lock;

use crate::driver::{Event, Progress, Queued};

/// The platform name of PoCL.
const POCL: &str = "Portable Computing Language";
/// The first major version of PoCL whose launches need no turns.
const POCL_MENDED: u32 = 6;

/// Returns true if launches of one kernel must take turns with a driver.
pub(crate) fn are_needed(platform_name: &str, driver_version: &str) -> bool {
    let digits = driver_version.split(|c: char| !c.is_ascii_digit()).next().unwrap_or_default();
    platform_name == POCL && digits.parse::<u32>().is_ok_and(|major| major < POCL_MENDED)
}

/// The turns of a device's kernels, by the key by which the driver identifies kernels.
#[derive(Default)]
pub(crate) struct Turns(Mutex<HashMap<u64, Weak<Turn>>>);

impl Turns {
    /// The turn of a kernel of a program: modules that are loaded twice share it.
    pub(crate) fn of(&self, text: &str, options: &[String], symbol: &str) -> Arc<Turn> {
        // Kernels with the same hash take turns unnecessarily, which is harmless.
        let mut hasher = DefaultHasher::new();
        (text, options, symbol).hash(&mut hasher);
        let mut turns = lock(&self.0);
        turns.retain(|_, turn| turn.strong_count() > 0);
        let entry = turns.entry(hasher.finish()).or_default();
        entry.upgrade().unwrap_or_else(|| {
            let turn = Arc::new(Turn::default());
            *entry = Arc::downgrade(&turn);
            turn
        })
    }
}

/// The turn of one kernel: its last launch, and the stream of that launch.
#[derive(Default)]
pub(crate) struct Turn(Mutex<Option<(usize, Event)>>);

impl Turn {
    /// Queues a launch on the stream with that number by `enqueue`, which receives the event to
    /// wait for.
    pub(crate) fn launch(&self, stream: usize, enqueue: impl FnOnce(Option<&Event>) -> Queued) -> Queued {
        let mut last = lock(&self.0);
        let before = last.as_ref().map(|(other, event)| (*other, event));
        let elsewhere = before.filter(|(other, event)| {
            // On one stream, the stream's own order suffices.
            *other != stream && event.progress() == Progress::Pending
        });
        let event = enqueue(elsewhere.map(|(_, event)| event))?;
        *last = event.shared().ok().map(|event| (stream, event));
        Ok(event)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        // The same module may be loaded and launched again.
        if let Some((_, event)) = lock(&self.0).take() {
            let _ = event.wait();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_versions_with_the_fault_take_turns() {
        for version in ["1.8", "3.1+debian", "5.0-rc1"] {
            assert!(are_needed(POCL, version), "{version}");
        }
        for version in ["6.0", "7.1", "10.2", "", "main"] {
            assert!(!are_needed(POCL, version), "{version}");
        }
        assert!(!are_needed("NVIDIA CUDA", "3.1"));
    }

    #[test]
    fn a_kernel_has_one_turn_while_a_module_has_it() {
        let turns = Turns::default();
        let first = turns.of("text", &[], "f");
        assert!(Arc::ptr_eq(&first, &turns.of("text", &[], "f")));
        assert!(!Arc::ptr_eq(&first, &turns.of("text", &[], "g")));
        assert!(!Arc::ptr_eq(&first, &turns.of("text", &["-x".into()], "f")));
        drop(first);
        turns.of("other", &[], "f");
        assert_eq!(lock(&turns.0).len(), 1, "those of modules that are gone are forgotten");
    }
}
