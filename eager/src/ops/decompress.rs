//! `tf.DecodeCompressed`: strings that are compressed as zlib or gzip files.

use std::io::{BufRead, BufReader, Read};

use bstr::BString;
use flate2::bufread::{MultiGzDecoder, ZlibDecoder};
use tfrt_host::Diagnostic;

use super::strings::each;
use super::support::{Computed, invalid};
use super::types;
use crate::{CpuCall, Forms, OpRegistry, attr};

/// How much is decompressed at a time.
const CHUNK_BYTES: usize = 1 << 16;

/// All that a reader gives. What does not fit memory is an error.
fn read_all(reader: impl Read) -> Result<BString, Diagnostic> {
    let (mut all, mut reader) = (Vec::new(), BufReader::with_capacity(CHUNK_BYTES, reader));
    loop {
        let chunk = reader.fill_buf().map_err(|error| invalid(format!("cannot decompress: {error}")))?;
        let count = chunk.len();
        if count == 0 {
            return Ok(all.into());
        }
        all.try_reserve(count).map_err(|_| invalid("the decompressed string does not fit memory"))?;
        all.extend_from_slice(chunk);
        reader.consume(count);
    }
}

fn decode(call: &CpuCall<'_>) -> Computed {
    match call.attrs.optional::<&str>("compression_type")?.unwrap_or("") {
        "" => each(call, |text| Ok(text.into())),
        "ZLIB" => each(call, |text| read_all(ZlibDecoder::new(text))),
        "GZIP" => each(call, |text| read_all(MultiGzDecoder::new(text))),
        other => Err(invalid(format!("Only ZLIB, GZIP or NONE are supported compressions, got '{other}'"))),
    }
}

pub(super) fn register(ops: &mut OpRegistry) {
    ops.add("tf.DecodeCompressed")
        .types(types::STRINGS)
        .attrs([attr::string_or("compression_type", "")])
        .metadata(super::support::same)
        .cpu(|call| decode(&call))
        .forms(Forms::STRING);
}
