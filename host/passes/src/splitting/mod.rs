//! Host and device apart, and the packed functions of the host.

pub(crate) mod ask_to_go_on;
pub(crate) mod bind_target;
pub(crate) mod callees;
pub(crate) mod capture;
pub(crate) mod lower_workspace;
pub(crate) mod make_packed_api;
pub(crate) mod outline_parallel;
pub(crate) mod split_host_device;
