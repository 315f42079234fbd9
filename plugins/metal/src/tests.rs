//! Tests that need no host.
