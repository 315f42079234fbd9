//! Tests of the boundary: the header in C and C++, layouts, plugins that break a clause, and values
//! that cross it.
