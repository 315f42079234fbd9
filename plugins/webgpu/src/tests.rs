//! Tests that need no host.

mod support;
