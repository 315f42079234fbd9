//! Every backend present against the reference interpreter, and against each other.
