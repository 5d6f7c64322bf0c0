//! The binary forms of a histogram: V2, V1 and V0 of older logs, and histograms of decimals, as in
//! `AbstractHistogram` of the Java library 2.2.2.
//!
//! All numbers are big-endian. Packed: a cookie, the length, and a zlib stream of the following. V2
//! and V1: cookie, length of the counts, an unused offset, digits (4 bytes each), lowest, highest,
//! a factor (8 bytes each), counts. V0: cookie, digits, lowest, highest, total, counts. Bits 4 to 7
//! of the cookie are the bytes of a count in V1 and V0. In V2 a count is a ZigZag LEB128 number,
//! and a negative one stands for as many zeros.

use std::io::{self, BufRead, BufReader, Read, Write};

use base64::{
    DecodeError, Engine,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig, general_purpose::STANDARD},
};
use flate2::{Compression, read::ZlibDecoder, write::ZlibEncoder};

use super::{Histogram, Layout, Range};

#[derive(Debug, Default)]
pub(crate) struct Decoded {
    pub digits: u8,
    /// 1, except for histograms of decimals.
    pub ratio: f64,
    /// Made for decimals; that does not determine the size of a unit.
    pub is_double: bool,
    pub parts: u64,
    /// Ascending; no count is 0.
    pub counts: Vec<(Range, u64)>,
}

/// Reuses its memory for a sequence of histograms.
#[derive(Debug, Default)]
pub(crate) struct Decoder {
    bytes: Vec<u8>,
    decoded: Decoded,
}

impl Decoder {
    /// An error contains the problem, and at which byte of the base64 text.
    pub(crate) fn decode(&mut self, text: &[u8]) -> Result<&Decoded, (usize, String)> {
        self.bytes.clear();
        let broken = |error| match error {
            DecodeError::InvalidByte(at, byte) => (at, format!("{:?} is not base64", char::from(byte))),
            DecodeError::InvalidLastSymbol { offset, .. } => (offset, "the base64 breaks off".to_owned()),
            _ => (text.len(), "the base64 breaks off".to_owned()),
        };
        BASE64.decode_vec(text, &mut self.bytes).map_err(broken)?;
        outer(&self.bytes, &mut self.decoded).map_err(|problem| (0, problem))?;
        Ok(&self.decoded)
    }

    pub(crate) fn histogram(&self) -> &Decoded {
        &self.decoded
    }
}

/// As V2, compressed, in base64.
pub(crate) fn encode(histogram: &Histogram) -> String {
    let mut counts = Vec::new();
    let mut zeros = 0;
    for &count in histogram.counts() {
        if count == 0 {
            zeros += 1;
            continue;
        }
        put_zeros(&mut counts, zeros);
        zeros = 0;
        // A count of more than 2^63 cannot be encoded.
        put(&mut counts, i64::try_from(count).unwrap_or(i64::MAX));
    }
    let nothing = u32::from(counts.is_empty());
    put_zeros(&mut counts, nothing);
    let mut plain = Vec::with_capacity(HEADER + counts.len());
    plain.extend((V2 | TOP_BIT).to_be_bytes());
    plain.extend(length_of(&counts).to_be_bytes());
    plain.extend(0_u32.to_be_bytes());
    plain.extend(u32::from(histogram.digits()).to_be_bytes());
    plain.extend(1_u64.to_be_bytes());
    plain.extend(histogram.max().max(2).to_be_bytes());
    plain.extend(1.0_f64.to_be_bytes());
    plain.extend(counts);
    let mut packer = ZlibEncoder::new(Vec::new(), Compression::best());
    let packed = packer.write_all(&plain).and_then(|()| packer.finish()).expect("a vector takes all");
    let mut bytes = Vec::with_capacity(8 + packed.len());
    bytes.extend((V2_PACKED | TOP_BIT).to_be_bytes());
    bytes.extend(length_of(&packed).to_be_bytes());
    bytes.extend(packed);
    STANDARD.encode(bytes)
}

fn length_of(bytes: &[u8]) -> u32 {
    u32::try_from(bytes.len()).expect("the largest histogram has six million counts of nine bytes at most")
}

fn put_zeros(bytes: &mut Vec<u8>, zeros: u32) {
    match zeros {
        0 => {}
        1 => put(bytes, 0),
        zeros => put(bytes, -i64::from(zeros)),
    }
}

/// ZigZag LEB128, whose ninth byte has eight bits of the number.
fn put(bytes: &mut Vec<u8>, value: i64) {
    let mut rest = ((value << 1) ^ (value >> 63)).cast_unsigned();
    for _ in 0..8 {
        let [low, ..] = rest.to_le_bytes();
        rest >>= 7;
        if rest == 0 {
            bytes.push(low & 0x7F);
            return;
        }
        bytes.push(low | 0x80);
    }
    bytes.push(rest.to_le_bytes()[0]);
}

fn outer(bytes: &[u8], decoded: &mut Decoded) -> Result<(), String> {
    decoded.is_double = false;
    let Some((cookie, rest)) = cookie(bytes) else { return Err(ends()) };
    if cookie != DOUBLE && cookie != DOUBLE_PACKED {
        return integers(bytes, decoded);
    }
    // The same as in the histogram inside.
    let inside = rest.get(12..).ok_or_else(ends)?;
    integers(inside, decoded)?;
    decoded.is_double = true;
    Ok(())
}

fn integers(bytes: &[u8], decoded: &mut Decoded) -> Result<(), String> {
    let Some((cookie, rest)) = cookie(bytes) else { return Err(ends()) };
    match cookie & !WORD_BITS {
        V2_PACKED | V1_PACKED | V0_PACKED => {
            let (length, packed) = rest.split_first_chunk().ok_or_else(ends)?;
            let length = usize::try_from(u32::from_be_bytes(*length)).unwrap_or(usize::MAX);
            let packed = packed.get(..length).ok_or_else(ends)?;
            plain(BufReader::new(ZlibDecoder::new(packed)), decoded)
        }
        V2 | V1 | V0 => plain(bytes, decoded),
        _ => Err(format!("0x{cookie:08x} is the cookie of no histogram")),
    }
}

fn cookie(bytes: &[u8]) -> Option<(u32, &[u8])> {
    let (cookie, rest) = bytes.split_first_chunk()?;
    Some((u32::from_be_bytes(*cookie), rest))
}

/// Declared sizes do not allocate memory.
fn plain(mut input: impl BufRead, decoded: &mut Decoded) -> Result<(), String> {
    let cookie = u32::from_be_bytes(array(&mut input)?);
    let version = cookie & !WORD_BITS;
    let (length, digits, lowest) = match version {
        V2 | V1 => {
            let length = u32::from_be_bytes(array(&mut input)?);
            let _offset: [u8; 4] = array(&mut input)?;
            let (digits, lowest) = (array(&mut input)?, array(&mut input)?);
            let _highest: [u8; 8] = array(&mut input)?;
            decoded.ratio = f64::from_be_bytes(array(&mut input)?);
            (Some(length), digits, lowest)
        }
        V0 => {
            let (digits, lowest) = (array(&mut input)?, array(&mut input)?);
            let _highest_and_total: [u8; 16] = array(&mut input)?;
            decoded.ratio = 1.0;
            (None, digits, lowest)
        }
        _ => return Err(format!("0x{cookie:08x} is the cookie of no histogram")),
    };
    let layout = layout(u32::from_be_bytes(digits), u64::from_be_bytes(lowest), decoded)?;
    if !(decoded.ratio.is_finite() && decoded.ratio > 0.0) {
        return Err(format!("its values would be multiplied by {}", decoded.ratio));
    }
    decoded.counts.clear();
    let mut words = Words { input: input.take(length.map_or(u64::MAX, u64::from)), read: 0 };
    let bytes = (cookie & 0xE0) >> 4;
    match (version, bytes) {
        (V2, _) => words.zigzag(layout, &mut decoded.counts)?,
        (_, 2) => words.fixed::<2>(layout, &mut decoded.counts)?,
        (_, 4) => words.fixed::<4>(layout, &mut decoded.counts)?,
        (_, 8) => words.fixed::<8>(layout, &mut decoded.counts)?,
        (_, bytes) => return Err(format!("its counts have {bytes} bytes each, which no version writes")),
    }
    if length.is_some_and(|length| words.read < u64::from(length)) {
        return Err(ends());
    }
    // The checksum of a zlib stream is only checked if its end is read.
    words.input.into_inner().fill_buf().map(drop).map_err(|error| unpacking(&error))
}

fn layout(digits: u32, lowest: u64, decoded: &mut Decoded) -> Result<Layout, String> {
    decoded.digits = u8::try_from(digits)
        .ok()
        .filter(|digits| *digits <= 5)
        .ok_or_else(|| format!("it claims {digits} significant digits, of 5 at most"))?;
    let unit_bits = lowest.checked_ilog2().ok_or_else(|| "it claims to tell apart values of 0".to_owned())?;
    let layout = Layout::new(decoded.digits, unit_bits);
    decoded.parts = layout.parts();
    match layout.range(0) {
        Some(_) => Ok(layout),
        None => Err(format!("its lowest value, {lowest}, leaves no room for larger ones")),
    }
}

struct Words<R> {
    input: io::Take<R>,
    read: u64,
}

impl<R: BufRead> Words<R> {
    fn zigzag(&mut self, layout: Layout, counts: &mut Vec<(Range, u64)>) -> Result<(), String> {
        let mut index = 0_usize;
        while let Some(first) = self.byte()? {
            let mut value = u64::from(first & 0x7F);
            let (mut more, mut shift) = (first & 0x80 != 0, 7);
            while more {
                let byte = self.byte()?.ok_or_else(ends)?;
                more = byte & 0x80 != 0 && shift < 56;
                let bits = if shift < 56 { byte & 0x7F } else { byte };
                value |= u64::from(bits) << shift;
                shift += 7;
            }
            let count = (value >> 1).cast_signed() ^ -(value & 1).cast_signed();
            index = match count {
                0.. => place(index, count.unsigned_abs(), layout, counts)?,
                _ => usize::try_from(count.unsigned_abs())
                    .ok()
                    .and_then(|zeros| index.checked_add(zeros))
                    .ok_or_else(beyond)?,
            };
        }
        Ok(())
    }

    fn fixed<const BYTES: usize>(
        &mut self,
        layout: Layout,
        counts: &mut Vec<(Range, u64)>,
    ) -> Result<(), String> {
        let mut index = 0;
        while let Some(first) = self.byte()? {
            let mut value = i64::from(first.cast_signed());
            for _ in 1..BYTES {
                value = value << 8 | i64::from(self.byte()?.ok_or_else(ends)?);
            }
            let count = u64::try_from(value).map_err(|_| format!("it counts {value} events of one kind"))?;
            index = place(index, count, layout, counts)?;
        }
        Ok(())
    }

    fn byte(&mut self) -> Result<Option<u8>, String> {
        let buffer = self.input.fill_buf().map_err(|error| unpacking(&error))?;
        let byte = buffer.first().copied();
        if byte.is_some() {
            self.input.consume(1);
            self.read += 1;
        }
        Ok(byte)
    }
}

/// Returns the index of the next bucket.
fn place(index: usize, count: u64, layout: Layout, counts: &mut Vec<(Range, u64)>) -> Result<usize, String> {
    let range = layout.range(index).ok_or_else(beyond)?;
    if count > 0 {
        counts.push((range, count));
    }
    Ok(index + 1)
}

fn array<const BYTES: usize>(input: &mut impl Read) -> Result<[u8; BYTES], String> {
    let mut bytes = [0; BYTES];
    input.read_exact(&mut bytes).map_err(|error| unpacking(&error))?;
    Ok(bytes)
}

fn unpacking(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => ends(),
        _ => format!("it cannot be unpacked ({error})"),
    }
}

fn ends() -> String {
    "the histogram ends too early".to_owned()
}

fn beyond() -> String {
    "it has more buckets than there are values".to_owned()
}

/// The standard alphabet, with or without "=" at the end.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &base64::alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

const V0: u32 = 0x1C84_9308;
const V0_PACKED: u32 = 0x1C84_9309;
const V1: u32 = 0x1C84_9301;
const V1_PACKED: u32 = 0x1C84_9302;
const V2: u32 = 0x1C84_9303;
const V2_PACKED: u32 = 0x1C84_9304;
const DOUBLE: u32 = 0x0C72_124E;
const DOUBLE_PACKED: u32 = 0x0C72_124F;

const WORD_BITS: u32 = 0xF0;

/// The value of V2.
const TOP_BIT: u32 = 0x10;

const HEADER: usize = 40;

#[cfg(test)]
mod tests {
    use hdrhistogram::serialization::{Deserializer, Serializer, V2DeflateSerializer, V2Serializer};
    use proptest::prelude::*;

    use super::*;

    fn decode(text: &[u8]) -> Result<Vec<(Range, u64)>, String> {
        let mut decoder = Decoder::default();
        decoder.decode(text).map(|decoded| decoded.counts.clone()).map_err(|(_, problem)| problem)
    }

    fn reference(values: &[(u64, u64)], digits: u8) -> hdrhistogram::Histogram<u64> {
        let mut histogram = hdrhistogram::Histogram::new(digits).unwrap();
        values.iter().for_each(|&(value, count)| histogram.record_n(value, count).unwrap());
        histogram
    }

    #[test]
    fn numbers_are_as_long_as_they_must_be() {
        for bits in 0..63 {
            for value in [(1_i64 << bits) - 1, 1 << bits, -(1 << bits)] {
                let mut bytes = Vec::new();
                put(&mut bytes, value);
                let zigzag = ((value << 1) ^ (value >> 63)).cast_unsigned();
                let length = ((64 - zigzag.leading_zeros()).div_ceil(7)).clamp(1, 9);
                assert_eq!(bytes.len(), length as usize, "{value}");
            }
        }
    }

    #[test]
    fn what_lies_about_itself() {
        let valid = STANDARD.decode(encode(&{
            let mut histogram = Histogram::new(3);
            histogram.record_n(1_000_000, 7);
            histogram
        }));
        let valid = valid.unwrap();
        let refused = |bytes: &[u8]| decode(STANDARD.encode(bytes).as_bytes()).unwrap_err();
        assert_eq!(refused(&[]), ends());
        assert_eq!(refused(b"no histogram"), "0x6e6f2068 is the cookie of no histogram");
        for length in 0..valid.len() {
            assert_eq!(refused(&valid[..length]), ends(), "{length}");
        }
        let mut flipped = valid.clone();
        *flipped.last_mut().unwrap() ^= 1;
        assert!(refused(&flipped).contains("cannot be unpacked"), "{}", refused(&flipped));
        let plain = |digits: u32, lowest: u64, ratio: f64, counts: &[u8]| {
            let mut bytes = Vec::new();
            bytes.extend((V2 | TOP_BIT).to_be_bytes());
            bytes.extend(length_of(counts).to_be_bytes());
            bytes.extend(0_u32.to_be_bytes());
            bytes.extend(digits.to_be_bytes());
            bytes.extend(lowest.to_be_bytes());
            bytes.extend(u64::MAX.to_be_bytes());
            bytes.extend(ratio.to_be_bytes());
            bytes.extend(counts);
            bytes
        };
        assert!(decode(STANDARD.encode(plain(3, 1, 1.0, &[2])).as_bytes()).is_ok());
        assert!(refused(&plain(6, 1, 1.0, &[2])).contains("6 significant digits"));
        assert!(refused(&plain(u32::MAX, 1, 1.0, &[2])).contains("significant digits"));
        assert!(refused(&plain(3, 0, 1.0, &[2])).contains("values of 0"));
        assert!(refused(&plain(3, 1 << 60, 1.0, &[2])).contains("leaves no room"));
        for ratio in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(refused(&plain(3, 1, ratio, &[2])).contains("multiplied by"));
        }
        let mut counts = Vec::new();
        put(&mut counts, i64::MIN + 1);
        put(&mut counts, 1);
        assert_eq!(refused(&plain(3, 1, 1.0, &counts)), beyond());
        assert_eq!(refused(&plain(3, 1, 1.0, &[0x80])), ends());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        fn the_other_library_reads_ours(values in prop::collection::vec((0..1_u64 << 45, 1..1_u64 << 40), 1..40), digits in 1..5_u8) {
            let mut histogram = Histogram::new(digits);
            values.iter().for_each(|&(value, count)| histogram.record_n(value, count));
            let bytes = STANDARD.decode(encode(&histogram)).unwrap();
            let theirs: hdrhistogram::Histogram<u64> = Deserializer::new().deserialize(&mut bytes.as_slice()).unwrap();
            prop_assert_eq!(theirs, reference(&values, digits));
        }

        #[test]
        fn ours_reads_theirs(values in prop::collection::vec((0..1_u64 << 45, 1..1_u64 << 40), 0..40), digits in 1..5_u8) {
            let histogram = reference(&values, digits);
            let expected: Vec<(u64, u64)> =
                histogram.iter_recorded().map(|step| (step.value_iterated_to(), step.count_at_value())).collect();
            let (mut plain, mut packed) = (Vec::new(), Vec::new());
            V2Serializer::new().serialize(&histogram, &mut plain).unwrap();
            V2DeflateSerializer::new().serialize(&histogram, &mut packed).unwrap();
            for bytes in [plain, packed] {
                let decoded = decode(STANDARD.encode(bytes).as_bytes()).unwrap();
                let ours: Vec<(u64, u64)> = decoded.into_iter().map(|(range, count)| (range.high(), count)).collect();
                prop_assert_eq!(&ours, &expected);
            }
        }
    }

    proptest! {
        #[test]
        fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..80), cookie in prop::sample::select(vec![V0, V1, V2, V2_PACKED, DOUBLE])) {
            let _ = decode(&bytes);
            let _ = decode(STANDARD.encode([&cookie.to_be_bytes(), bytes.as_slice()].concat()).as_bytes());
        }
    }
}
