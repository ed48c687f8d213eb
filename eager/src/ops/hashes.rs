//! Hashes of strings: `tf.StringToHashBucketFast` and its kin, and `tf.Fingerprint`.

use tfrt_host::{DType, Diagnostic};
use tfrt_tensor::{Accessor, Element, HostTensor, TensorMetadata, with_element};

use super::plain::tensor;
use super::strings::strings;
use super::support::{Computed, Described, int_attr, invalid, one, room_for, take, unsupported};
use super::types;
use crate::{CpuCall, Forms, MetadataCall, OpRegistry, OpResult, attr};

static ME: Accessor = Accessor::new("tf.Fingerprint");

const K0: u64 = 0xc3a5_c85c_97cb_3127;
const K1: u64 = 0xb492_b66f_be98_f273;
const K2: u64 = 0x9ae1_6a3b_2f90_404f;

fn word(bytes: &[u8], at: usize) -> u64 {
    let mut word = [0; 8];
    word.copy_from_slice(&bytes[at..at + 8]);
    u64::from_le_bytes(word)
}

fn half(bytes: &[u8], at: usize) -> u64 {
    let mut word = [0; 4];
    word.copy_from_slice(&bytes[at..at + 4]);
    u64::from(u32::from_le_bytes(word))
}

fn mixed(x: u64) -> u64 {
    x ^ (x >> 47)
}

fn pair(u: u64, v: u64, by: u64) -> u64 {
    let a = mixed((u ^ v).wrapping_mul(by));
    mixed((v ^ a).wrapping_mul(by)).wrapping_mul(by)
}

/// The state of one half of a block of 64 bytes.
fn weak(bytes: &[u8], at: usize, a: u64, b: u64) -> (u64, u64) {
    let [w, x, y, z] = [0, 8, 16, 24].map(|offset| word(bytes, at + offset));
    let a = a.wrapping_add(w);
    let b = b.wrapping_add(a).wrapping_add(z).rotate_right(21);
    let c = a.wrapping_add(x).wrapping_add(y);
    (c.wrapping_add(z), b.wrapping_add(c.rotate_right(44)).wrapping_add(a))
}

fn up_to_16(s: &[u8]) -> u64 {
    let len = s.len() as u64;
    let by = K2.wrapping_add(len.wrapping_mul(2));
    if s.len() >= 8 {
        let (a, b) = (word(s, 0).wrapping_add(K2), word(s, s.len() - 8));
        let c = b.rotate_right(37).wrapping_mul(by).wrapping_add(a);
        let d = a.rotate_right(25).wrapping_add(b).wrapping_mul(by);
        pair(c, d, by)
    } else if s.len() >= 4 {
        pair(len.wrapping_add(half(s, 0) << 3), half(s, s.len() - 4), by)
    } else if let (Some(&first), Some(&last)) = (s.first(), s.last()) {
        let y = u64::from(first).wrapping_add(u64::from(s[s.len() / 2]) << 8);
        let z = len.wrapping_add(u64::from(last) << 2);
        mixed(y.wrapping_mul(K2) ^ z.wrapping_mul(K0)).wrapping_mul(K2)
    } else {
        K2
    }
}

/// What strings of 17 to 64 bytes have in common.
fn ends(s: &[u8], factor: u64) -> (u64, u64, u64, u64) {
    let by = K2.wrapping_add((s.len() as u64).wrapping_mul(2));
    let (a, b) = (word(s, 0).wrapping_mul(factor), word(s, 8));
    let (c, d) = (word(s, s.len() - 8).wrapping_mul(by), word(s, s.len() - 16).wrapping_mul(K2));
    let y = a.wrapping_add(b).rotate_right(43).wrapping_add(c.rotate_right(30)).wrapping_add(d);
    let z = pair(y, a.wrapping_add(b.wrapping_add(K2).rotate_right(18)).wrapping_add(c), by);
    (a, y, z, by)
}

fn up_to_64(s: &[u8]) -> u64 {
    let (a, y, z, by) = ends(s, K2);
    let (e, f) = (word(s, 16).wrapping_mul(by), word(s, 24));
    let g = y.wrapping_add(word(s, s.len() - 32)).wrapping_mul(by);
    let h = z.wrapping_add(word(s, s.len() - 24)).wrapping_mul(by);
    let u = e.wrapping_add(f).rotate_right(43).wrapping_add(g.rotate_right(30)).wrapping_add(h);
    pair(u, e.wrapping_add(f.wrapping_add(a).rotate_right(18)).wrapping_add(g), by)
}

/// The fingerprint of FarmHash, which is the same on every platform.
pub(super) fn fingerprint(s: &[u8]) -> u64 {
    match s.len() {
        0..=16 => return up_to_16(s),
        17..=32 => return ends(s, K1).2,
        33..=64 => return up_to_64(s),
        _ => {}
    }
    let mut x = 81u64;
    let mut y = x.wrapping_mul(K1).wrapping_add(113);
    let mut z = mixed(y.wrapping_mul(K2).wrapping_add(113)).wrapping_mul(K2);
    let (mut v, mut w) = ((0u64, 0u64), (0u64, 0u64));
    x = x.wrapping_mul(K2).wrapping_add(word(s, 0));
    let rest = (s.len() - 1) % 64;
    let blocks = (s.len() - 1) / 64;
    for block in 0..=blocks {
        let is_last = block == blocks;
        let at = if is_last { s.len() - 64 } else { block * 64 };
        let by = if is_last { K1.wrapping_add((z & 0xff) << 1) } else { K1 };
        let weight = if is_last { 9u64 } else { 1 };
        if is_last {
            w.0 = w.0.wrapping_add(rest as u64);
            v.0 = v.0.wrapping_add(w.0);
            w.0 = w.0.wrapping_add(v.0);
        }
        let sum = x.wrapping_add(y).wrapping_add(v.0).wrapping_add(word(s, at + 8));
        x = sum.rotate_right(37).wrapping_mul(by);
        y = y.wrapping_add(v.1).wrapping_add(word(s, at + 48)).rotate_right(42).wrapping_mul(by);
        x ^= w.1.wrapping_mul(weight);
        y = y.wrapping_add(v.0.wrapping_mul(weight)).wrapping_add(word(s, at + 40));
        z = z.wrapping_add(w.0).rotate_right(33).wrapping_mul(by);
        v = weak(s, at, v.1.wrapping_mul(by), x.wrapping_add(w.0));
        w = weak(s, at + 32, z.wrapping_add(w.1), y.wrapping_add(word(s, at + 16)));
        std::mem::swap(&mut z, &mut x);
        if is_last {
            let u = pair(v.0, w.0, by).wrapping_add(mixed(y).wrapping_mul(K0)).wrapping_add(z);
            return pair(u, pair(v.1, w.1, by).wrapping_add(x), by);
        }
    }
    x
}

/// SipHash with two rounds for each word and four at the end.
fn sip_hash([k0, k1]: [u64; 2], bytes: &[u8]) -> u64 {
    let mut v = [
        k0 ^ 0x736f_6d65_7073_6575,
        k1 ^ 0x646f_7261_6e64_6f6d,
        k0 ^ 0x6c79_6765_6e65_7261,
        k1 ^ 0x7465_6462_7974_6573,
    ];
    fn round(v: &mut [u64; 4]) {
        v[0] = v[0].wrapping_add(v[1]);
        v[2] = v[2].wrapping_add(v[3]);
        v[1] = v[1].rotate_left(13) ^ v[0];
        v[3] = v[3].rotate_left(16) ^ v[2];
        v[0] = v[0].rotate_left(32);
        v[2] = v[2].wrapping_add(v[1]);
        v[0] = v[0].wrapping_add(v[3]);
        v[1] = v[1].rotate_left(17) ^ v[2];
        v[3] = v[3].rotate_left(21) ^ v[0];
        v[2] = v[2].rotate_left(32);
    }
    let absorb = |v: &mut [u64; 4], word: u64| {
        v[3] ^= word;
        round(v);
        round(v);
        v[0] ^= word;
    };
    let chunks = bytes.chunks_exact(8);
    let mut last = (bytes.len() as u64) << 56;
    for (number, &byte) in chunks.remainder().iter().enumerate() {
        last |= u64::from(byte) << (8 * number);
    }
    chunks.for_each(|chunk| absorb(&mut v, word(chunk, 0)));
    absorb(&mut v, last);
    v[2] ^= 0xff;
    (0..4).for_each(|_| round(&mut v));
    v[0] ^ v[1] ^ v[2] ^ v[3]
}

/// The hash of TensorFlow's older ops: MurmurHash64A.
fn murmur(bytes: &[u8]) -> u64 {
    const BY: u64 = 0xc6a4_a793_5bd1_e995;
    let mut hash = 0x00DE_CAFC_AFFE_u64 ^ (bytes.len() as u64).wrapping_mul(BY);
    let chunks = bytes.chunks_exact(8);
    let rest = chunks.remainder();
    for chunk in chunks {
        let k = mixed(word(chunk, 0).wrapping_mul(BY)).wrapping_mul(BY);
        hash = (hash ^ k).wrapping_mul(BY);
    }
    if !rest.is_empty() {
        let last = rest.iter().rev().fold(0, |last, &byte| last << 8 | u64::from(byte));
        hash = (hash ^ last).wrapping_mul(BY);
    }
    mixed(mixed(hash).wrapping_mul(BY))
}

fn bucket_metadata(call: MetadataCall<'_>) -> Described {
    let [x] = call.take()?;
    if x.dtype != DType::String {
        return Err(invalid(format!("the op takes a tensor of strings, got {}", x.dtype)));
    }
    one(TensorMetadata::new(DType::I64, x.shape.clone()))
}

/// The number of a bucket for each string.
fn buckets(call: &CpuCall<'_>, hash: impl Fn(&[u8]) -> u64) -> Computed {
    let [x] = take(call)?;
    let count = int_attr(call.attrs, "num_buckets")?.and_then(|count| u64::try_from(count).ok());
    let count = count.filter(|&count| count > 0).ok_or_else(|| invalid("num_buckets must be at least 1"))?;
    let mut out = call.allocate_unset(0)?;
    for (out, text) in out.elements_mut::<i64>()?.iter_mut().zip(strings(x)?.strings()) {
        *out = (hash(text) % count) as i64;
    }
    Ok(out.into())
}

/// The fingerprint of each row's bytes, as eight bytes.
fn row_fingerprints(call: &CpuCall<'_>) -> Computed {
    let [data, method] = take(call)?;
    match super::strings::text(method, "method", 0)? {
        "farmhash64" => {}
        other => return Err(invalid(format!("method '{other}' is not supported; farmhash64 is"))),
    }
    let Some(&rows) = data.shape().dims().first() else {
        return Err(invalid("data must have at least one dimension"));
    };
    fn hashes<T: Element>(data: &HostTensor, rows: usize) -> Result<Vec<u8>, Diagnostic> {
        let elements = data.dense()?.read::<T>(&ME)?;
        let bytes: &[u8] = bytemuck::cast_slice(&elements);
        let size = bytes.len().checked_div(rows).unwrap_or(0);
        let mut prints = room_for(rows.saturating_mul(8))?;
        prints.extend((0..rows).flat_map(|row| fingerprint(&bytes[row * size..][..size]).to_le_bytes()));
        Ok(prints)
    }
    let bytes = match data {
        HostTensor::String(texts) if texts.shape().rank() == 1 => {
            texts.strings().iter().flat_map(|text| fingerprint(text).to_le_bytes()).collect()
        }
        data => {
            with_element!(data.dtype(), |T| hashes::<T>(data, rows)?, else return Err(unsupported("tf.Fingerprint", data.dtype())))
        }
    };
    Ok(OpResult::from(tensor(call, &[rows, 8], &bytes)?))
}

pub(super) fn register(ops: &mut OpRegistry) {
    ops.add("tf.StringToHashBucketFast")
        .types(types::STRINGS)
        .attrs([attr::int("num_buckets")])
        .metadata(bucket_metadata)
        .cpu(|call| buckets(&call, fingerprint))
        .forms(Forms::STRING);
    ops.add("tf.StringToHashBucket")
        .types(types::STRINGS)
        .attrs([attr::int("num_buckets")])
        .metadata(bucket_metadata)
        .cpu(|call| buckets(&call, murmur))
        .forms(Forms::STRING);
    ops.add("tf.StringToHashBucketStrong")
        .types(types::STRINGS)
        .attrs([attr::int("num_buckets"), attr::ints("key")])
        .metadata(bucket_metadata)
        .cpu(|call| match *call.attrs.required::<&[i64]>("key")? {
            [k0, k1] => buckets(&call, |text| sip_hash([k0 as u64, k1 as u64], text)),
            _ => Err(invalid("key must have two elements")),
        })
        .forms(Forms::STRING);
    ops.add("tf.Fingerprint")
        .types(types::ANY)
        .results([crate::ResultType::is(DType::UI8).rank(2)])
        .cpu(|call| row_fingerprints(&call))
        .forms(Forms::STRING);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_those_of_their_authors() {
        let bytes: Vec<u8> = (0..15).collect();
        let key = [0x0706_0504_0302_0100, 0x0f0e_0d0c_0b0a_0908];
        assert_eq!(sip_hash(key, &bytes), 0xa129_ca61_49be_45e5);
        assert_eq!(fingerprint(b""), K2);
    }
}
