//! The options of an export.

/// Where the device code of an exported library is (EXPORT-X4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DeviceCode {
    /// In the library.
    #[default]
    Embedded,
    /// In a file beside it.
    Aside,
}

/// Options of an export.
#[derive(Clone, Debug, Default)]
pub struct ExportOptions {
    /// Where device code goes.
    pub device_code: DeviceCode,
    /// The name of the file beside the library, for [`DeviceCode::Aside`]; without it, that of the
    /// library with the suffix `chipdock`.
    pub aside: Option<String>,
    /// The C compiler that links, with arguments of its own, in words. Without it, that of the
    /// variables `CHIPDOCK_LINKER` and `CC`, else the usual names for the machine that the code is
    /// for.
    pub linker: Option<String>,
}
