//! Gives the library the name by which the real driver is asked for: once a test has opened it by its path, the plugin's
//! `dlopen` in the same process is answered by it. No file of that name is left anywhere.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libcuda.so.1");
}
