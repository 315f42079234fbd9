//! packed
