//! Tests of the rules of `chipdock_plugin_api::kit`: each part separately, laws as properties, and
//! a fake device built from the parts.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod build;
mod device;
mod failures;
mod handles;
mod modules;
mod spaces;

use chipdock_plugin_api::{Error, ErrorKind};

/// An error's kind, with what its message has to contain.
#[track_caller]
fn fails<T>(result: Result<T, Error>, kind: &ErrorKind, words: &[&str]) {
    let Err(error) = result else { panic!("expected {kind}, found success") };
    assert_eq!(error.kind(), *kind, "{error}");
    for word in words {
        assert!(error.message().contains(word), "{word} in {error}");
    }
}
