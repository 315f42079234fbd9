use proptest::prelude::*;

use super::*;

/// A file of version 1.0 with that text as header.
fn file(text: &str, data: &[u8]) -> Vec<u8> {
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend(u16::try_from(text.len()).unwrap().to_le_bytes());
    bytes.extend(text.as_bytes());
    bytes.extend(data);
    bytes
}

fn read_bytes(bytes: &[u8]) -> std::result::Result<Array, String> {
    let known = read(&mut &bytes[..], Some(bytes.len() as u64));
    let streamed = read(&mut &bytes[..], None);
    assert_eq!(known.is_ok(), streamed.is_ok(), "the same with and without a known size");
    if let (Ok(known), Ok(streamed)) = (&known, &streamed) {
        assert_eq!(known, streamed);
    }
    known.map_err(|error| error.to_string())
}

#[test]
fn both_orders_of_axes_give_the_same_array() {
    let c =
        read_bytes(&file("{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3)}", &[1, 2, 3, 4, 5, 6]));
    let f =
        read_bytes(&file("{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3)}", &[1, 4, 2, 5, 3, 6]));
    assert_eq!(c.unwrap(), f.unwrap());
}

#[test]
fn both_orders_of_bytes_give_the_same_array() {
    let little = read_bytes(&file("{'descr': '<i4', 'fortran_order': False, 'shape': (1,)}", &[1, 2, 3, 4]));
    let big = read_bytes(&file("{'descr': '>i4', 'fortran_order': False, 'shape': (1,), }\n", &[4, 3, 2, 1]));
    assert_eq!(little.unwrap(), big.unwrap());
}

#[test]
fn scalars_and_empty_arrays_are_arrays() {
    let scalar = read_bytes(&file("{'descr': '<f8', 'fortran_order': False, 'shape': ()}", &[0; 8])).unwrap();
    assert_eq!((scalar.shape.len(), scalar.bytes.len()), (0, 8));
    let text = "{'descr': '<f8', 'fortran_order': True, 'shape': (0, 9223372036854775807, 4)}";
    assert_eq!(read_bytes(&file(text, &[])).unwrap().shape, [0, i64::MAX, 4]);
}

#[test]
fn a_malformed_array_says_why() {
    let good = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}";
    let replaced = |from: &str, to: &str| file(&good.replace(from, to), &[0; 8]);
    let mut newer = file(good, &[0; 8]);
    newer[6] = 9;
    let mut long = b"\x93NUMPY\x02\x00\xff\xff\xff\xff".to_vec();
    long.extend([b' '; 100]);
    for (bytes, says) in [
        (Vec::new(), "not an .npy file"),
        (b"PK\x03\x04 a zip file".to_vec(), "not an .npy file"),
        (b"\x93NUMPY".to_vec(), "not an .npy file"),
        (newer, "version 9.0"),
        (b"\x93NUMPY\x01\x00\x40".to_vec(), "ends within its header"),
        (b"\x93NUMPY\x01\x00\x40\x00{'descr'".to_vec(), "ends within its header"),
        (long, "header says it has 4294967295 bytes"),
        (file("\u{0}", b""), "expected `{`"),
        (file(&"(".repeat(60_000), b""), "expected `{`"),
        (replaced("(2,)", &"(".repeat(60_000)), "expected an extent"),
        (replaced("(2,)", "(-2,)"), "expected an extent"),
        (replaced("(2,)", "(2.0,)"), "expected `)`"),
        (replaced("(2,)", "(99999999999999999999,)"), "expected an extent"),
        (replaced("(2,)", "(4294967296, 4294967296)"), "more than memory can hold"),
        (replaced("(2,)", "(1099511627776,)"), "which takes 4398046511104 bytes; it holds 8 bytes"),
        (replaced("(2,)", "(1,)"), "takes 4 bytes; it holds"),
        (replaced("(2,)", &format!("({})", "1,".repeat(65))), "more than 64 axes"),
        (replaced("<f4", "<c8"), "its elements are \"<c8\""),
        (replaced("<f4", "<f16"), "its elements are \"<f16\""),
        (replaced("<f4", "|b2"), "its elements are \"|b2\""),
        (replaced("<f4", "|f1"), "its elements are \"|f1\""),
        (replaced("<f4", "?f4"), "its elements are \"?f4\""),
        (replaced("<f4", "|O"), "its elements are \"|O\""),
        (replaced("'<f4'", "[('a', '<f4')]"), "records"),
        (replaced("False", "Maybe"), "expected True or False"),
        (replaced("'shape'", "'shap'"), "the key \"shap\""),
        (replaced("'shape'", "'descr'"), "found \"(2,)}\""),
        (replaced("(2,)}", "(2,), 'shape': (2,)}"), "twice"),
        (replaced(", 'shape': (2,)", ""), "lacks the key \"shape\""),
        (replaced("}", "} and more"), "goes on after the dict"),
        (replaced("}", ""), "expected `}`"),
        (
            file("{'descr': '|b1', 'fortran_order': False, 'shape': (2,)}", &[1, 7]),
            "boolean element 1 is the byte 7",
        ),
    ] {
        let what = read_bytes(&bytes).unwrap_err();
        assert!(what.contains(says), "{what} should say {says}");
    }
}

/// Gives zeros for ever, and counts them.
struct Endless {
    given: u64,
}

impl Read for Endless {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        assert!(self.given < 1 << 30, "more was read than the header says");
        buffer.fill(0);
        self.given += buffer.len() as u64;
        Ok(buffer.len())
    }
}

/// Fails as a disk does.
struct Failing;

impl Read for Failing {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        Err(io::Error::other("the disk is gone"))
    }
}

/// Rule 3: 2^60 elements are claimed; what is allocated is what is there, or nothing.
#[test]
fn a_claim_is_no_allocation() {
    let claim = file("{'descr': '<u1', 'fortran_order': True, 'shape': (1152921504606846976, 2)}", &[1, 2]);
    // With a size that agrees, as of a sparse file, memory is asked for and refused.
    let size = (claim.len() as u64 - 2) + (1 << 61);
    assert!(matches!(
        read(&mut &claim[..], Some(size)),
        Err(Error::OutOfMemory { size_bytes: 0x2000_0000_0000_0000 })
    ));
    assert!(matches!(read(&mut &claim[..], Some(claim.len() as u64)), Err(Error::Malformed(_))));
    assert!(matches!(read(&mut &claim[..], None), Err(Error::Malformed(_))));
}

#[test]
fn a_reader_that_never_ends_is_read_to_one_byte_too_many() {
    let text = file("{'descr': '<u1', 'fortran_order': False, 'shape': (3,)}", &[]);
    let error = read(&mut (&text[..]).chain(Endless { given: 0 }), None).unwrap_err();
    assert!(error.to_string().contains("takes 3 bytes; it holds more"), "{error}");
    let error = read(&mut b"\x93NUMPY\x02\x00"[..].chain(Endless { given: 0 }), None).unwrap_err();
    assert!(error.to_string().contains("is damaged"), "{error}");
}

/// Rule 4: the reader's own failure is no fault of the file, wherever it happens.
#[test]
fn a_failing_reader_is_an_io_error() {
    let whole = file("{'descr': '<u1', 'fortran_order': False, 'shape': (3,)}", &[1]);
    for length in [0, 7, 9, 12, whole.len()] {
        let error = read(&mut whole[..length].chain(Failing), None).unwrap_err();
        assert!(matches!(error, Error::Io(_)), "after {length} bytes: {error}");
    }
}

#[test]
fn axes_of_one_element_cost_nothing_and_change_nothing() {
    let shape = format!("({}2, 1, 3)", "1, ".repeat(61));
    let text = format!("{{'descr': '<u1', 'fortran_order': True, 'shape': {shape}}}");
    assert_eq!(read_bytes(&file(&text, &[1, 4, 2, 5, 3, 6])).unwrap().bytes, [1, 2, 3, 4, 5, 6]);
}

#[test]
fn arrays_that_cannot_be_read_back_are_not_written() {
    for (dtype, shape, size) in [
        (DType::BFLOAT16, &[2_i64][..], 4),
        (DType::HANDLE, &[1], 8),
        (DType::FLOAT32.with_lanes(4), &[1], 16),
        (DType::FLOAT32, &[2], 4),
        (DType::FLOAT32, &[-1, -1], 4),
        (DType::FLOAT32, &[-1, 0], 0),
        (DType::UINT8, &[1; 65], 1),
        (DType::UINT8, &[i64::MAX, i64::MAX], 1),
    ] {
        let mut out = Vec::new();
        let error = write(&mut out, dtype, shape, &vec![0; size]).unwrap_err();
        assert_eq!((error.kind(), out.len()), (io::ErrorKind::InvalidInput, 0), "{dtype} {shape:?}");
    }
}

fn dtypes() -> impl Strategy<Value = DType> {
    let all: Vec<DType> = DType::SCALARS.iter().filter_map(|dtype| file_dtype(*dtype)).collect();
    proptest::sample::select(all)
}

proptest! {
    #[test]
    fn a_written_document_reads_back(dtype in dtypes(), shape in proptest::collection::vec(0_i64..5, 0..5), seed: u8) {
        let count: i64 = shape.iter().product();
        let size = usize::try_from(count).unwrap() * dtype.size_bytes();
        let modulus = if dtype.is_bool() { 2 } else { 251 };
        let bytes: Vec<u8> = (0..size).map(|i| ((i + usize::from(seed)) % modulus) as u8).collect();
        let mut written = Vec::new();
        write(&mut written, dtype, &shape, &bytes).unwrap();
        // A peer reads the same, and the data is aligned as NumPy's own.
        let peer = npyz::NpyFile::new(&written[..]).unwrap();
        prop_assert_eq!(peer.shape().iter().map(|e| i64::try_from(*e).unwrap()).collect::<Vec<_>>(), shape.clone());
        prop_assert_eq!(peer.dtype().descr(), format!("'{}'", descr(dtype)));
        prop_assert_eq!((written.len() - bytes.len()) % 64, 0);
        prop_assert_eq!(read_bytes(&written).unwrap(), Array { dtype, shape, bytes });
    }

    #[test]
    fn files_of_a_peer_read_back(values: Vec<f64>, fortran: bool) {
        use npyz::WriterBuilder as _;
        let order = if fortran { npyz::Order::Fortran } else { npyz::Order::C };
        let mut written = Vec::new();
        let shape = [1, values.len() as u64];
        let options = npyz::WriteOptions::new().default_dtype().shape(&shape).order(order);
        let mut writer = options.writer(&mut written).begin_nd().unwrap();
        writer.extend(&values).unwrap();
        writer.finish().unwrap();
        let array = read_bytes(&written).unwrap();
        prop_assert_eq!(array.dtype, DType::FLOAT64);
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        prop_assert_eq!(array.bytes, bytes);
    }

    #[test]
    fn no_bytes_panic(bytes: Vec<u8>, flips in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4)) {
        let _ = read_bytes(&bytes);
        let mut damaged = Vec::new();
        write(&mut damaged, DType::INT32, &[2, 2], &[0; 16]).unwrap();
        for (index, byte) in flips {
            let index = index.index(damaged.len());
            damaged[index] = byte;
        }
        let _ = read_bytes(&damaged);
    }

    #[test]
    fn no_header_panics(text in "[{}()',: 0-9a-zA-Z<>|]{0,80}", data in proptest::collection::vec(any::<u8>(), 0..32)) {
        let _ = read_bytes(&file(&text, &data));
    }
}
