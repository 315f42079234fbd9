//! Loops and choices.
