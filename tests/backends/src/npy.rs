//! Reading the committed `.npy` files of the examples.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use chipdock_interpret::Array;
use chipdock_ir::DType;

use super::Result;

/// Reads a C-ordered array of uint8 or float32.
///
/// # Errors
///
/// No such file, not an .npy file, or another type or order.
pub fn read(path: &Path) -> Result<Array> {
    let context = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let file = File::open(path).map_err(|error| context(&error))?;
    let reader = npyz::NpyFile::new(BufReader::new(file)).map_err(|error| context(&error))?;
    if reader.order() != npyz::Order::C {
        return Err(context(&"expected C order"));
    }
    let shape: Vec<usize> = reader.shape().iter().map(|extent| *extent as usize).collect();
    match reader.dtype().descr().trim_matches('\'') {
        "|u1" => {
            let data = reader.into_vec::<u8>().map_err(|error| context(&error))?;
            Ok(Array { dtype: DType::UINT8, shape, data })
        }
        "<f4" => {
            let values = reader.into_vec::<f32>().map_err(|error| context(&error))?;
            Ok(Array::from_f32(&shape, &values))
        }
        other => Err(context(&format!("expected uint8 or float32, found {other}"))),
    }
}
