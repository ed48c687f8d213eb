//! Verifies function bodies: their tables, their kernel records, and that the data flow is
//! consistent.

use crate::contents::{Contents, FunctionBody, FunctionInfo, KernelEntry};
use crate::cursor::Cursor;
use crate::error::{At, BefError};
use crate::kernel::KernelRecord;
use crate::table::{FunctionKind, KERNEL_ALIGNMENT, NONSTRICT_BIT, SectionId};
use crate::verify::Errors;

/// Reads and checks the bodies of all functions that have one.
pub(super) fn read(bytes: &[u8], contents: &mut Contents, errors: &mut Errors) {
    let range = contents.section_range(SectionId::Functions).unwrap_or(0..0);
    let mut order: Vec<usize> = (0..contents.functions.len())
        .filter(|&index| contents.functions[index].kind != FunctionKind::Native)
        .collect();
    order.sort_by_key(|&index| contents.functions[index].offset);
    contents.bodies = vec![None; contents.functions.len()];
    // Ordered by offset, so that a body that starts within another is found before its contents are
    // read.
    let mut free_from = range.start;
    for index in order {
        let checker =
            Checker { bytes, section_start: range.start, contents, info: &contents.functions[index] };
        let start = range.start + checker.info.offset as usize;
        if start < free_from {
            errors.push(checker.at(start).limit(format!("{} overlaps the one before it", checker.name())));
            return;
        }
        let Some(body) = errors.note(checker.read(bytes.get(..range.end).unwrap_or(&[]), start)) else {
            return;
        };
        free_from = body.records.end;
        checker.check(&body, errors);
        contents.bodies[index] = Some(body);
    }
}

struct Checker<'a> {
    bytes: &'a [u8],
    section_start: usize,
    contents: &'a Contents,
    info: &'a FunctionInfo,
}

impl<'a> Checker<'a> {
    /// Returns the place of errors at an offset of the file.
    fn at(&self, offset: usize) -> At {
        At(Some(SectionId::Functions), offset.saturating_sub(self.section_start))
    }

    fn name(&self) -> String {
        match self.info.name.as_str() {
            "" => format!("the unnamed function at byte {}", self.info.offset),
            name => format!("function '{name}'"),
        }
    }

    /// Reads the tables in front of the kernel records, and locates the records.
    fn read(&self, bytes: &[u8], start: usize) -> Result<FunctionBody, BefError> {
        let section = bytes.get(self.section_start..).unwrap_or(&[]);
        let mut cursor = Cursor::new(Some(SectionId::Functions), section, start - self.section_start);
        let location_at = cursor.at();
        let location = cursor.integer32("a function's location")?;
        self.check_location(location, location_at)?;
        let register_count = cursor.count("the number of registers", 1)?;
        let register_use_counts = cursor.integers(register_count, "a register's use count")?;
        let kernel_count = cursor.count("the number of kernels", 2)?;
        let mut kernels = Vec::with_capacity(kernel_count);
        for _ in 0..kernel_count {
            let at = cursor.at();
            let offset = cursor.integer32("a kernel's offset")?;
            let operand_count = cursor.integer32("a kernel's number of operands")?;
            if !(offset as usize).is_multiple_of(KERNEL_ALIGNMENT) {
                return Err(at.malformed(format!("a kernel starts at byte {offset}, which is not aligned")));
            }
            kernels.push(KernelEntry { start: offset / KERNEL_ALIGNMENT as u32, operand_count });
        }
        let result_registers = cursor.integers(self.info.result_types.len(), "a result's register")?;
        cursor.align(self.section_start, KERNEL_ALIGNMENT)?;
        let first = self.section_start + cursor.offset();
        let last = self.record_end(bytes, first, &kernels)?;
        Ok(FunctionBody {
            location,
            register_use_counts,
            kernels,
            result_registers,
            records: first..last,
            ..FunctionBody::default()
        })
    }

    /// Checks that the records lie in the section one after the other. Returns the end of the last
    /// one.
    fn record_end(&self, bytes: &[u8], first: usize, kernels: &[KernelEntry]) -> Result<usize, BefError> {
        let words = words(bytes, first..bytes.len());
        let mut free_from = 0;
        for (index, entry) in kernels.iter().enumerate() {
            let at = self.at(first + entry.start as usize * KERNEL_ALIGNMENT);
            if (entry.start as usize) < free_from {
                return Err(at.limit(format!("kernel {index} of {} overlaps the one before it", self.name())));
            }
            let record = KernelRecord::read(words, entry.start, entry.operand_count).ok_or_else(|| {
                at.out_of_bounds(format!("kernel {index} of {} exceeds the section", self.name()))
            })?;
            free_from = entry.start as usize + record.word_count();
        }
        Ok(first + free_from * KERNEL_ALIGNMENT)
    }

    fn check_location(&self, offset: u32, at: At) -> Result<(), BefError> {
        let locations = &self.contents.locations;
        if locations.is_empty() || locations.binary_search_by_key(&offset, |entry| entry.offset).is_ok() {
            Ok(())
        } else {
            Err(at.out_of_bounds(format!(
                "no location starts at byte {offset} of the LocationPositions section"
            )))
        }
    }

    /// Checks the kernels and the data flow between them.
    fn check(&self, body: &FunctionBody, errors: &mut Errors) {
        let words = words(self.bytes, body.records.clone());
        let Some(records) = body
            .kernels
            .iter()
            .map(|entry| KernelRecord::read(words, entry.start, entry.operand_count))
            .collect::<Option<Vec<_>>>()
        else {
            return;
        };
        let Some((pseudo, kernels)) = records.split_first() else {
            let at = self.at(body.records.start);
            errors.push(at.malformed(format!("{} has no kernels, not even the pseudo kernel", self.name())));
            return;
        };
        let flow = errors.note(self.check_pseudo_kernel(body, pseudo)).and_then(|()| {
            for (index, (kernel, entry)) in kernels.iter().zip(body.kernels.iter().skip(1)).enumerate() {
                let at = self.at(body.records.start + entry.start as usize * KERNEL_ALIGNMENT);
                errors.note(self.check_kernel(kernel, index + 1, at))?;
            }
            errors.note(self.check_definitions(body, &records))
        });
        if flow.is_some() {
            errors.note(self.check_uses(body, &records));
        }
    }

    /// Checks kernel 0. It defines the arguments, after a separate register that stands for *the
    /// function was called*.
    fn check_pseudo_kernel(&self, body: &FunctionBody, pseudo: &KernelRecord<'_>) -> Result<(), BefError> {
        let fault = |message: &str| {
            Err(self
                .at(body.records.start)
                .malformed(format!("the pseudo kernel of {} {message}", self.name())))
        };
        if !pseudo.arguments().is_empty() || !pseudo.attributes().is_empty() || !pseudo.functions().is_empty()
        {
            return fault("has arguments, attributes or functions");
        }
        if pseudo.special_metadata() != 0 || pseudo.operand_count() != 0 {
            return fault("waits for something");
        }
        if pseudo.results().len() != self.info.argument_types.len() + 1 {
            return fault("does not define exactly the arguments");
        }
        if pseudo.results().first().map(|&register| register as usize) != Some(body.register_use_counts.len())
        {
            return fault("does not define the pseudo register first");
        }
        Ok(())
    }

    fn check_kernel(&self, kernel: &KernelRecord<'_>, index: usize, at: At) -> Result<(), BefError> {
        let subject = || format!("kernel {index} of {}", self.name());
        if kernel.kernel_code() as usize >= self.contents.kernels.len() {
            return Err(at.out_of_bounds(format!(
                "{} has the unknown code {}",
                subject(),
                kernel.kernel_code()
            )));
        }
        self.check_location(kernel.location(), at)?;
        if kernel.special_metadata() & !NONSTRICT_BIT != 0 {
            let metadata = kernel.special_metadata();
            return Err(at.unsupported(format!("{} has unknown special metadata {metadata:#x}", subject())));
        }
        let function_count = self.contents.functions.len();
        if let Some(function) =
            kernel.functions().iter().find(|&&function| function as usize >= function_count)
        {
            return Err(at.out_of_bounds(format!(
                "{} refers to function {function}, which does not exist",
                subject()
            )));
        }
        let attributes_len =
            self.contents.section_range(SectionId::Attributes).map_or(0, |range| range.len());
        if let Some(offset) = kernel.attributes().iter().find(|&&offset| offset as usize > attributes_len) {
            return Err(at.out_of_bounds(format!("{} refers to the attribute at byte {offset}", subject())));
        }
        let expected = kernel.arguments().len().min(if kernel.nonstrict() { 1 } else { usize::MAX });
        if kernel.operand_count() as usize != expected {
            let count = kernel.operand_count();
            return Err(
                at.inconsistent(format!("{} waits for {count} operands instead of {expected}", subject()))
            );
        }
        Ok(())
    }

    /// Checks that each register is defined once, before it is read.
    fn check_definitions(&self, body: &FunctionBody, records: &[KernelRecord<'_>]) -> Result<(), BefError> {
        let register_count = body.register_use_counts.len();
        let mut defined = vec![false; register_count];
        for (index, (record, entry)) in records.iter().zip(&body.kernels).enumerate() {
            let at = self.at(body.records.start + entry.start as usize * KERNEL_ALIGNMENT);
            let subject = || format!("kernel {index} of {}", self.name());
            for &register in record.arguments() {
                if !defined.get(register as usize).copied().unwrap_or(false) {
                    return Err(
                        at.inconsistent(format!("{} reads the undefined register {register}", subject()))
                    );
                }
            }
            // The pseudo kernel's first result is not a register of the table.
            for &register in record.results().iter().skip(usize::from(index == 0)) {
                match defined.get_mut(register as usize) {
                    Some(slot) if !*slot => *slot = true,
                    Some(_) => {
                        return Err(at.inconsistent(format!("{} redefines register {register}", subject())));
                    }
                    None => {
                        let message =
                            format!("{} defines register {register} of {register_count}", subject());
                        return Err(at.out_of_bounds(message));
                    }
                }
            }
        }
        let at = self.at(body.records.start);
        if let Some(register) = defined.iter().position(|&defined| !defined) {
            return Err(at.inconsistent(format!("no kernel of {} defines register {register}", self.name())));
        }
        match body.result_registers.iter().find(|&&register| register as usize >= register_count) {
            Some(register) => Err(at
                .out_of_bounds(format!("{} returns register {register}, which does not exist", self.name()))),
            None => Ok(()),
        }
    }

    /// Checks that use counts and used-by lists agree with the arguments. Registers are known to be
    /// in range here.
    fn check_uses(&self, body: &FunctionBody, records: &[KernelRecord<'_>]) -> Result<(), BefError> {
        let register_count = body.register_use_counts.len();
        // The users of each register, ordered by kernel. The pseudo register comes last.
        let mut ends = vec![0_usize; register_count + 1];
        for register in records.iter().skip(1).flat_map(|record| reads(record, register_count)) {
            ends[register] += 1;
        }
        let counts = ends.clone();
        let mut total = 0;
        for end in &mut ends {
            total += *end;
            *end = total - *end;
        }
        let mut users = vec![0_u32; total];
        for (index, record) in records.iter().enumerate().skip(1) {
            for register in reads(record, register_count) {
                users[ends[register]] = index as u32;
                ends[register] += 1;
            }
        }
        for (index, (record, entry)) in records.iter().zip(&body.kernels).enumerate() {
            for (register, used_bys) in record.uses() {
                let register = register as usize;
                let mut listed = used_bys.to_vec();
                listed.sort_unstable();
                if listed != users[ends[register] - counts[register]..ends[register]] {
                    let at = self.at(body.records.start + entry.start as usize * KERNEL_ALIGNMENT);
                    let message =
                        format!("kernel {index} of {} lists wrong users of register {register}", self.name());
                    return Err(at.inconsistent(message));
                }
            }
        }
        self.check_use_counts(body, &counts)
    }

    fn check_use_counts(&self, body: &FunctionBody, counts: &[usize]) -> Result<(), BefError> {
        let mut counts = counts.to_vec();
        for &register in &body.result_registers {
            counts[register as usize] += 1;
        }
        for (register, (&stated, &counted)) in body.register_use_counts.iter().zip(&counts).enumerate() {
            if stated as usize != counted {
                let message =
                    format!("register {register} of {} has {counted} uses, not {stated}", self.name());
                return Err(self.at(body.records.start).inconsistent(message));
            }
        }
        Ok(())
    }
}

/// Returns the registers that a kernel reads. A kernel without arguments reads the pseudo register,
/// which comes after all others.
fn reads<'a>(record: &KernelRecord<'a>, register_count: usize) -> impl Iterator<Item = usize> + use<'a> {
    let pseudo = record.arguments().is_empty().then_some(register_count);
    record.arguments().iter().map(|&register| register as usize).chain(pseudo)
}

/// Returns the 32-bit words of a range of the file that starts aligned. Bytes after the last whole
/// word are dropped.
fn words(bytes: &[u8], range: std::ops::Range<usize>) -> &[u32] {
    let bytes = bytes.get(range).unwrap_or(&[]);
    bytes
        .get(..bytes.len() - bytes.len() % KERNEL_ALIGNMENT)
        .and_then(|whole| bytemuck::try_cast_slice(whole).ok())
        .unwrap_or(&[])
}
