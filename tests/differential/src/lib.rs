//! Compares every backend present with the reference interpreter, and with each other.
