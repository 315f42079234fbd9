//! A case as one file that is read back exactly: TVMScript, preceded by the exact bits of the
//! arguments as comments.
//!
//! ```text
//! #: function kernel
//! #: tensor float32 2,3 0000803f…      type, extents (`-` for none), the bytes in hexadecimal
//! #: int -3
//! #: float 0x3ff8000000000000          the bits of a float64
//! ```

use chipdock_interpret::{Arg, Array};
use chipdock_ir::{DType, IrModule};

use crate::Case;

/// Prefix of a line that is read back.
const MARK: &str = "#: ";

impl Case {
    /// Returns the case as a file: the lines that [`Self::of_file`] reads, then [`Self::text`].
    #[must_use]
    pub fn file(&self) -> String {
        let mut text = format!("{MARK}function {}\n", self.function);
        for arg in &self.args {
            text.push_str(MARK);
            text.push_str(&match arg {
                Arg::Tensor(array) => tensor(array),
                Arg::Int(value) => format!("int {value}\n"),
                Arg::Float(value) => format!("float {:#018x}\n", value.to_bits()),
            });
        }
        text + &self.text()
    }

    /// Reads a case back; `module` is the parsed TVMScript of the same text.
    ///
    /// # Errors
    ///
    /// The line that cannot be read or does not fit the function.
    pub fn of_file(text: &str, module: IrModule) -> Result<Self, String> {
        let (mut function, mut args) = (None, Vec::new());
        for line in text.lines().filter_map(|line| line.strip_prefix(MARK)) {
            let wrong =
                || format!("expected a line as `{MARK}tensor float32 2,3 0000…`, found `{MARK}{line}`");
            let (what, rest) = line.split_once(' ').ok_or_else(wrong)?;
            match what {
                "function" => function = Some(rest.to_owned()),
                "tensor" => args.push(Arg::Tensor(read_tensor(rest).ok_or_else(wrong)?)),
                "int" => args.push(Arg::Int(rest.parse().map_err(|_| wrong())?)),
                "float" => {
                    let bits = rest.strip_prefix("0x").and_then(|hex| u64::from_str_radix(hex, 16).ok());
                    args.push(Arg::Float(f64::from_bits(bits.ok_or_else(wrong)?)));
                }
                _ => return Err(wrong()),
            }
        }
        let function =
            function.ok_or_else(|| format!("expected a line `{MARK}function NAME`, found none"))?;
        let kernel = module.function(&function).ok_or_else(|| format!("there is no function {function}"))?;
        if kernel.params.len() != args.len() {
            let (expected, found) = (kernel.params.len(), args.len());
            return Err(format!("function {function} takes {expected} arguments, found {found} in comments"));
        }
        Ok(Self { module, function, args })
    }
}

fn tensor(array: &Array) -> String {
    let extents: Vec<String> = array.shape.iter().map(usize::to_string).collect();
    let extents = if extents.is_empty() { "-".to_owned() } else { extents.join(",") };
    let bytes: String = array.data.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("tensor {} {extents} {bytes}\n", array.dtype)
}

fn read_tensor(text: &str) -> Option<Array> {
    let mut parts = text.split(' ');
    let dtype: DType = parts.next()?.parse().ok()?;
    let shape = match parts.next()? {
        "-" => Vec::new(),
        extents => extents.split(',').map(|extent| extent.parse().ok()).collect::<Option<Vec<usize>>>()?,
    };
    let hex = parts.next().unwrap_or_default().as_bytes();
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let bytes = hex.chunks(2).map(|pair| Some((digit(pair[0])? << 4 | digit(*pair.get(1)?)?) as u8));
    let array = Array { dtype, shape, data: bytes.collect::<Option<Vec<u8>>>()? };
    array.is_well_formed().then_some(array)
}
