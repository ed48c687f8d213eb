//! Builds function bodies.

use crate::cursor::{put_alignment, put_integer, put_word};
use crate::error::{At, BefError};
use crate::table::{KERNEL_ALIGNMENT, NONSTRICT_BIT, SectionId};
use crate::writer::{AttributeId, FunctionId, KernelId, LocationId, NameId, TypeId};

/// The code and location in the pseudo kernel's record, which has neither.
const PSEUDO_KERNEL_CODE: u32 = 0xABAB_ABAB;
const PSEUDO_KERNEL_LOCATION: u32 = 0xCDCD_CDCD;

/// A register of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Register(u32);

impl Register {
    /// Returns the register's number in the file.
    pub const fn get(self) -> u32 {
        self.0
    }
}

/// A kernel to add to a function.
#[derive(Clone, Copy, Debug)]
pub struct KernelSpec<'a> {
    /// The name.
    pub kernel: KernelId,
    /// The place in the source.
    pub location: LocationId,
    /// The registers that it reads.
    pub arguments: &'a [Register],
    /// The attributes with their names.
    pub attributes: &'a [(NameId, AttributeId)],
    /// The functions passed to it.
    pub functions: &'a [FunctionId],
    /// The types of its results.
    pub result_types: &'a [TypeId],
    /// Whether it starts as soon as one argument is available.
    pub nonstrict: bool,
}

#[derive(Debug)]
struct Kernel {
    kernel: KernelId,
    location: LocationId,
    arguments: Vec<Register>,
    attributes: Vec<(NameId, AttributeId)>,
    functions: Vec<FunctionId>,
    first_result: u32,
    result_count: u32,
    nonstrict: bool,
}

/// Builds the body of a function.
#[derive(Debug)]
pub struct FunctionBuilder {
    location: LocationId,
    argument_types: Vec<TypeId>,
    register_types: Vec<TypeId>,
    kernels: Vec<Kernel>,
}

impl FunctionBuilder {
    /// Creates a function without kernels. `location` is its place in the source.
    pub fn new(location: LocationId, argument_types: &[TypeId]) -> Self {
        Self {
            location,
            argument_types: argument_types.to_vec(),
            register_types: argument_types.to_vec(),
            kernels: Vec::new(),
        }
    }

    /// Returns the registers that hold the arguments.
    pub fn arguments(&self) -> Vec<Register> {
        (0..self.argument_types.len() as u32).map(Register).collect()
    }

    /// Appends a kernel and returns the registers of its results.
    pub fn kernel(&mut self, spec: &KernelSpec<'_>) -> Vec<Register> {
        let first_result = self.register_types.len() as u32;
        self.register_types.extend_from_slice(spec.result_types);
        self.kernels.push(Kernel {
            kernel: spec.kernel,
            location: spec.location,
            arguments: spec.arguments.to_vec(),
            attributes: spec.attributes.to_vec(),
            functions: spec.functions.to_vec(),
            first_result,
            result_count: spec.result_types.len() as u32,
            nonstrict: spec.nonstrict,
        });
        (first_result..first_result + spec.result_types.len() as u32).map(Register).collect()
    }

    /// Returns the type of a register, or `None` for a register of another function.
    pub fn register_type(&self, register: Register) -> Option<TypeId> {
        self.register_types.get(register.0 as usize).copied()
    }

    pub(super) fn argument_types(&self) -> &[TypeId] {
        &self.argument_types
    }

    /// Returns the function's part of the RegisterTypes section.
    pub(super) fn type_table(&self) -> Vec<u8> {
        let mut out = Vec::new();
        put_integer(&mut out, self.register_types.len() as u64);
        self.register_types.iter().for_each(|id| put_integer(&mut out, u64::from(id.0)));
        out
    }

    /// Returns the function's part of the AttributeNames section.
    pub(super) fn name_table(&self) -> Vec<u8> {
        let mut out = Vec::new();
        put_integer(&mut out, self.kernels.len() as u64 + 1);
        out.push(0);
        for kernel in &self.kernels {
            out.push(if kernel.nonstrict { NONSTRICT_BIT as u8 } else { 0 });
            kernel.attributes.iter().for_each(|(name, _)| put_integer(&mut out, u64::from(name.0)));
        }
        out
    }

    /// Appends the body to the Functions section.
    pub(super) fn write(&self, results: &[Register], out: &mut Vec<u8>) -> Result<(), BefError> {
        let users = self.users(results)?;
        put_integer(out, u64::from(self.location.0));
        put_integer(out, self.register_types.len() as u64);
        let mut use_counts: Vec<u64> = users.registers.iter().map(|users| users.len() as u64).collect();
        results.iter().for_each(|result| use_counts[result.0 as usize] += 1);
        use_counts.iter().for_each(|&count| put_integer(out, count));
        let (table, records) = self.records(&users);
        put_integer(out, self.kernels.len() as u64 + 1);
        for (offset, operand_count) in table {
            let offset = u32::try_from(offset)
                .map_err(|_| At(Some(SectionId::Functions), out.len()).limit("a function is too long"))?;
            put_integer(out, u64::from(offset));
            put_integer(out, operand_count as u64);
        }
        results.iter().for_each(|result| put_integer(out, u64::from(result.0)));
        put_alignment(out, KERNEL_ALIGNMENT);
        out.extend_from_slice(&records);
        Ok(())
    }

    /// Returns the kernel records, and for each its start and the number of operands it waits for.
    fn records(&self, users: &Users) -> (Vec<(usize, usize)>, Vec<u8>) {
        let mut records = Vec::new();
        let mut table = vec![(0, 0)];
        let pseudo_register = self.register_types.len() as u32;
        let arguments: Vec<u32> =
            std::iter::once(pseudo_register).chain(0..self.argument_types.len() as u32).collect();
        put_record(
            &mut records,
            [PSEUDO_KERNEL_CODE, PSEUDO_KERNEL_LOCATION, 0],
            [&[], &[], &[], &arguments],
            users,
        );
        for kernel in &self.kernels {
            let operand_count = kernel.arguments.len().min(if kernel.nonstrict { 1 } else { usize::MAX });
            table.push((records.len(), operand_count));
            let metadata = if kernel.nonstrict { NONSTRICT_BIT } else { 0 };
            let results: Vec<u32> =
                (kernel.first_result..kernel.first_result + kernel.result_count).collect();
            let lists = [
                &kernel.arguments.iter().map(|register| register.0).collect::<Vec<_>>()[..],
                &kernel.attributes.iter().map(|(_, attribute)| attribute.0).collect::<Vec<_>>(),
                &kernel.functions.iter().map(|function| function.0).collect::<Vec<_>>(),
                &results,
            ];
            put_record(&mut records, [kernel.kernel.0, kernel.location.0, metadata], lists, users);
        }
        (table, records)
    }

    /// Returns the kernels that read each register.
    fn users(&self, results: &[Register]) -> Result<Users, BefError> {
        let mut users = Users { registers: vec![Vec::new(); self.register_types.len()], pseudo: Vec::new() };
        let missing = |register: Register| {
            At(Some(SectionId::Functions), 0)
                .inconsistent(format!("register {} is read before it is defined", register.0))
        };
        for (index, kernel) in self.kernels.iter().enumerate() {
            let number = index as u32 + 1;
            if kernel.arguments.is_empty() {
                users.pseudo.push(number);
            }
            for &argument in &kernel.arguments {
                if argument.0 >= kernel.first_result {
                    return Err(missing(argument));
                }
                users.registers.get_mut(argument.0 as usize).ok_or_else(|| missing(argument))?.push(number);
            }
        }
        // The last user first. Readers accept any order, but a single-threaded executor starts
        // kernels in this one. Programs that do not order their output by chains then print in the
        // same order as with the original's files.
        users.registers.iter_mut().for_each(|list| list.reverse());
        match results.iter().find(|result| result.0 as usize >= self.register_types.len()) {
            Some(&result) => Err(missing(result)),
            None => Ok(users),
        }
    }
}

/// The numbers of the kernels that read each register, and of those that read none.
struct Users {
    registers: Vec<Vec<u32>>,
    pseudo: Vec<u32>,
}

impl Users {
    fn of(&self, register: u32) -> &[u32] {
        self.registers.get(register as usize).unwrap_or(&self.pseudo)
    }
}

/// Appends a record: `[code, location, metadata]`, then arguments, attributes, functions, results.
fn put_record(out: &mut Vec<u8>, [code, location, metadata]: [u32; 3], lists: [&[u32]; 4], users: &Users) {
    put_word(out, code);
    put_word(out, location);
    lists.iter().for_each(|list| put_word(out, list.len() as u32));
    put_word(out, metadata);
    let [.., results] = lists;
    results.iter().for_each(|&result| put_word(out, users.of(result).len() as u32));
    lists.iter().flat_map(|list| list.iter()).for_each(|&word| put_word(out, word));
    results.iter().flat_map(|&result| users.of(result)).for_each(|&user| put_word(out, user));
}
