//! Gives the library the real driver's SONAME: after a test has opened it by its path, the plugin's
//! `dlopen` in the same process finds it. No file with that name is created.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libcuda.so.1");
}
