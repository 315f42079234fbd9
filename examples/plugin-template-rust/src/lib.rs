//! Template.
