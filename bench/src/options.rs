//! Arguments of the program `chipdock-bench`.

use std::path::PathBuf;

use super::Result;

/// Arguments from `cargo xtask` and from the user.
#[derive(Debug, Default)]
pub struct Options {
    /// The folder with the plugins.
    pub plugins: PathBuf,
    /// The command `chipdock`.
    pub command: PathBuf,
    /// A Python with numpy, TVM and tvm_ffi.
    pub python: Option<PathBuf>,
    /// A Python with torch.
    pub torch_python: Option<PathBuf>,
    /// Whether to print JSON instead of tables.
    pub json: bool,
    /// Filters: only cases whose name contains one of them are measured; all if empty.
    pub filters: Vec<String>,
}

impl Options {
    /// Reads the arguments of this process.
    ///
    /// # Errors
    ///
    /// An option is unknown, or lacks its value.
    pub fn from_arguments() -> Result<Self> {
        let mut options = Self::default();
        let mut arguments = std::env::args().skip(1);
        while let Some(argument) = arguments.next() {
            let mut path = || arguments.next().map(PathBuf::from).ok_or(format!("{argument} takes a path"));
            match argument.as_str() {
                "--plugins" => options.plugins = path()?,
                "--command" => options.command = path()?,
                "--python" => options.python = Some(path()?),
                "--torch-python" => options.torch_python = Some(path()?),
                "--json" => options.json = true,
                unknown if unknown.starts_with('-') => {
                    return Err(format!("unknown option {unknown}; known: --json"));
                }
                _ => options.filters.push(argument),
            }
        }
        Ok(options)
    }

    /// Checks that each filter matches a name.
    ///
    /// # Errors
    ///
    /// A filter matches no name.
    pub fn check_filters(&self, names: &[&str]) -> Result<()> {
        let unknown = self.filters.iter().find(|filter| !names.iter().any(|name| name.contains(*filter)));
        unknown.map_or(Ok(()), |filter| {
            Err(format!("nothing is called `{filter}`; known: {}", names.join(", ")))
        })
    }

    /// Returns true if a case of that name is selected.
    #[must_use]
    pub fn wants(&self, name: &str) -> bool {
        self.filters.is_empty() || self.filters.iter().any(|filter| name.contains(filter))
    }
}
