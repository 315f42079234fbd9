//! Debug information (rule V11).
