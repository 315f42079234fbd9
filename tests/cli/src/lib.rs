//! Tests of the command `chipdock` as a user runs it, with the plugins of this repository: exit
//! code, both streams, files left behind.
