//! Kernel records, which are read in place.

use crate::table::NONSTRICT_BIT;

/// The number of words of a kernel's header.
const HEADER_WORDS: usize = 7;

/// One kernel of a function: its name, its inputs, and the kernels that wait for its results.
///
/// The slices point into the file.
#[derive(Clone, Copy, Debug, Default)]
pub struct KernelRecord<'a> {
    kernel_code: u32,
    location: u32,
    special_metadata: u32,
    operand_count: u32,
    arguments: &'a [u32],
    attributes: &'a [u32],
    functions: &'a [u32],
    results: &'a [u32],
    used_by_counts: &'a [u32],
    used_bys: &'a [u32],
}

impl<'a> KernelRecord<'a> {
    /// Reads the record that starts at `words[start]`. Returns `None` if it exceeds `words`.
    pub(crate) fn read(words: &'a [u32], start: u32, operand_count: u32) -> Option<Self> {
        let record = words.get(start as usize..)?;
        let (header, rest) = record.split_first_chunk::<HEADER_WORDS>()?;
        let &[kernel_code, location, arguments, attributes, functions, results, special_metadata] = header;
        let (used_by_counts, rest) = rest.split_at_checked(results as usize)?;
        let (arguments, rest) = rest.split_at_checked(arguments as usize)?;
        let (attributes, rest) = rest.split_at_checked(attributes as usize)?;
        let (functions, rest) = rest.split_at_checked(functions as usize)?;
        let (results, rest) = rest.split_at_checked(results as usize)?;
        let users: u64 = used_by_counts.iter().map(|&count| u64::from(count)).sum();
        let used_bys = rest.get(..usize::try_from(users).ok()?)?;
        Some(Self {
            kernel_code,
            location,
            special_metadata,
            operand_count,
            arguments,
            attributes,
            functions,
            results,
            used_by_counts,
            used_bys,
        })
    }

    /// Returns the length of the record in 32-bit words.
    pub(crate) const fn word_count(&self) -> usize {
        HEADER_WORDS
            + self.arguments.len()
            + self.attributes.len()
            + self.functions.len()
            + 2 * self.results.len()
            + self.used_bys.len()
    }

    pub(crate) const fn special_metadata(&self) -> u32 {
        self.special_metadata
    }

    /// Returns the index of the kernel's name. Meaningless for the pseudo kernel.
    pub const fn kernel_code(&self) -> u32 {
        self.kernel_code
    }

    /// Returns the kernel's place in the source, for [`crate::VerifiedBef::location`]. Meaningless
    /// for the pseudo kernel.
    pub const fn location(&self) -> u32 {
        self.location
    }

    /// Returns how many arguments must be available before the kernel starts.
    pub const fn operand_count(&self) -> u32 {
        self.operand_count
    }

    /// Returns the registers that the kernel reads.
    pub const fn arguments(&self) -> &'a [u32] {
        self.arguments
    }

    /// Returns the offsets of its attributes, for [`crate::VerifiedBef::attribute`].
    pub const fn attributes(&self) -> &'a [u32] {
        self.attributes
    }

    /// Returns the indices of the functions passed to the kernel.
    pub const fn functions(&self) -> &'a [u32] {
        self.functions
    }

    /// Returns the registers that the kernel defines. The first result of the pseudo kernel is not
    /// a register of the function: its index is the number of registers, and its users are the
    /// kernels without arguments.
    pub const fn results(&self) -> &'a [u32] {
        self.results
    }

    /// Returns the indices of the kernels that read result number `result`, once for every read.
    pub fn used_bys(&self, result: usize) -> &'a [u32] {
        self.uses().nth(result).map_or(&[], |(_, used_bys)| used_bys)
    }

    /// Returns each result's register with the indices of the kernels that read it, once for every
    /// read.
    pub fn uses(&self) -> impl Iterator<Item = (u32, &'a [u32])> + use<'a> {
        let mut rest = self.used_bys;
        self.results.iter().zip(self.used_by_counts).map(move |(&register, &count)| {
            let (used_bys, after) = rest.split_at_checked(count as usize).unwrap_or((rest, &[]));
            rest = after;
            (register, used_bys)
        })
    }

    /// Returns true if the kernel starts as soon as one argument is available.
    pub const fn nonstrict(&self) -> bool {
        self.special_metadata & NONSTRICT_BIT != 0
    }
}
