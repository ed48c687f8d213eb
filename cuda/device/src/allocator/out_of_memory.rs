//! The error of a request that cannot be granted, with a table of the memory's holders.

use std::collections::HashMap;
use std::fmt::{self, Write};

use tfrt_host::{Diagnostic, ErrorCode};

use super::origin::Origin;
use super::statistics::Statistics;

/// The most rows of the table. The rest is summed up in one row.
const MAX_ROWS: usize = 10;

/// A size that displays with a unit.
pub(crate) struct Bytes(pub(crate) u64);

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [(&str, u32); 4] = [("TiB", 40), ("GiB", 30), ("MiB", 20), ("KiB", 10)];
        for (unit, shift) in UNITS {
            if self.0 >> shift != 0 {
                let text = format!("{:.1} {unit}", self.0 as f64 / f64::from(shift).exp2());
                return f.pad(&text);
            }
        }
        f.pad(&format!("{} B", self.0))
    }
}

/// The live blocks of one origin.
#[derive(Debug, Clone, Copy, Default)]
struct Held {
    blocks: u64,
    bytes: u64,
}

/// Creates the error. `live` are the origins and sizes of live blocks. `device` is the device's
/// error, if it was asked.
pub(super) fn out_of_memory<'a>(
    requested: u64,
    origin: &Origin,
    statistics: &Statistics,
    live: impl Iterator<Item = (&'a Origin, u64)>,
    device: Option<&Diagnostic>,
) -> Diagnostic {
    let mut message = format!("out of device memory: {requested} bytes ({}) requested", Bytes(requested));
    if *origin != Origin::default() {
        let _ = write!(message, " by {origin}");
    }
    let Statistics { bytes_in_use, bytes_reserved, largest_free_block_bytes, .. } = *statistics;
    let _ = write!(
        message,
        "; {} in use, {} cached (largest free block {})",
        Bytes(bytes_in_use),
        Bytes(bytes_reserved - bytes_in_use),
        Bytes(largest_free_block_bytes)
    );
    if let Some(limit) = statistics.bytes_limit {
        let _ = write!(message, ", limit {}", Bytes(limit));
    }
    let error = Diagnostic::new(ErrorCode::OutOfMemory, message);
    let error = match device {
        Some(device) => error.note(format!("the device reported: {}", device.message)),
        None => error,
    };
    match table(live) {
        Some(table) => error.note(table),
        None => error,
    }
}

/// Returns a table of the holders, the largest first, or `None` if there are none.
fn table<'a>(live: impl Iterator<Item = (&'a Origin, u64)>) -> Option<String> {
    let mut by_origin: HashMap<&Origin, Held> = HashMap::new();
    for (origin, bytes) in live {
        let held = by_origin.entry(origin).or_default();
        held.blocks += 1;
        held.bytes += bytes;
    }
    if by_origin.is_empty() {
        return None;
    }
    let mut rows: Vec<_> = by_origin.into_iter().map(|(origin, held)| (held, origin.to_string())).collect();
    rows.sort_by(|(a, a_name), (b, b_name)| b.bytes.cmp(&a.bytes).then_with(|| a_name.cmp(b_name)));
    if rows.len() > MAX_ROWS + 1 {
        let rest = rows.split_off(MAX_ROWS);
        let sum = rest.iter().fold(Held::default(), |sum, (held, _)| Held {
            blocks: sum.blocks + held.blocks,
            bytes: sum.bytes + held.bytes,
        });
        rows.push((sum, format!("({} others)", rest.len())));
    }
    let mut text = format!("holders of device memory:\n    {:>10}  {:>6}  from", "bytes", "blocks");
    for (held, name) in rows {
        let _ = write!(text, "\n    {:>10}  {:>6}  {name}", Bytes(held.bytes), held.blocks);
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_lists_the_largest_holders_first_and_sums_up_the_rest() {
        const NAMES: [&str; 13] = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "weights"];
        let origins = NAMES.map(Origin::label);
        let live = origins.iter().enumerate().map(|(i, origin)| (origin, 512 << i));
        let statistics =
            Statistics { bytes_in_use: 4 << 20, bytes_reserved: 6 << 20, ..Statistics::default() };
        let live = live.chain([(&origins[12], 1 << 20)]);
        let error = out_of_memory(3 << 20, &Origin::label("conv"), &statistics, live, None).to_string();
        let lines: Vec<_> = error.lines().map(str::trim).collect();
        assert_eq!(
            lines[0],
            "OutOfMemory: out of device memory: 3145728 bytes (3.0 MiB) requested by conv; 4.0 MiB in use, \
             2.0 MiB cached (largest free block 0 B)"
        );
        assert_eq!(lines[1], "note: holders of device memory:");
        assert_eq!(lines[3], "3.0 MiB       2  weights");
        assert_eq!(lines[4], "1.0 MiB       1  l");
        assert_eq!(lines.last().unwrap(), &"3.5 KiB       3  (3 others)");
    }

    #[test]
    fn bytes_read_well() {
        let text = |bytes| Bytes(bytes).to_string();
        assert_eq!([text(0), text(1023), text(1536), text(5 << 40)], ["0 B", "1023 B", "1.5 KiB", "5.0 TiB"]);
    }
}
