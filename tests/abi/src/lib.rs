//! The boundary: the header in C and C++, layouts, plugins that break a clause, values that cross.
