//! The meaning of a function's names, by block.

use std::collections::{HashMap, hash_map};

use super::{
    ast::{LabelId, PrototypeId, RegisterId, TableId, VariableId},
    types::Type,
};
use crate::Span;

/// The meaning of a name.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Entry {
    Register(RegisterId),
    /// A register `.v2` or `.v4`, whose components have consecutive ids.
    VectorRegister {
        first: RegisterId,
        width: u32,
    },
    Variable(VariableId),
    Parameter(u32),
    Return(u32),
    Label(LabelId),
    BranchTable(TableId),
    CallTable(TableId),
    Prototype(PrototypeId),
    /// It was used but not declared, which was reported.
    Undeclared,
}

impl Entry {
    /// Returns the description in messages.
    pub(super) fn describe(self) -> &'static str {
        match self {
            Entry::Register(_) => "a register",
            Entry::VectorRegister { .. } => "a vector register",
            Entry::Variable(_) => "a variable",
            Entry::Parameter(_) => "a parameter",
            Entry::Return(_) => "a return parameter",
            Entry::Label(_) => "a label",
            Entry::BranchTable(_) => "a list of branch targets",
            Entry::CallTable(_) => "a list of call targets",
            Entry::Prototype(_) => "a prototype",
            Entry::Undeclared => "not declared",
        }
    }
}

/// Registers declared together: `%r<100>`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Family {
    pub(super) ty: Type,
    pub(super) width: u32,
    pub(super) count: u64,
    pub(super) span: Span,
}

/// A block `{ }`, or a function's outermost one.
#[derive(Debug, Default)]
struct Scope<'s> {
    names: HashMap<&'s str, (Entry, Span)>,
    families: HashMap<&'s str, Family>,
    /// For names that end in a number, except labels: by the part before the number, the smallest
    /// number and the place of its declaration.
    numbered: HashMap<&'s str, (u64, Span)>,
    /// Labels that were used but are not defined yet.
    pending: HashMap<&'s str, LabelId>,
    /// Labels of enclosing blocks that were used in this one.
    borrowed: HashMap<&'s str, LabelId>,
}

impl<'s> Scope<'s> {
    /// Returns the family of a name. If there is none, the error may contain the first family that
    /// is too small for it.
    fn member(&self, name: &'s str) -> Result<Family, Option<(&'s str, Family)>> {
        let mut near = None;
        if !self.families.is_empty() {
            for (prefix, number) in splits(name) {
                match self.families.get(prefix) {
                    Some(family) if number < family.count => return Ok(*family),
                    Some(family) => near = near.or(Some((prefix, *family))),
                    None => {}
                }
            }
        }
        Err(near)
    }
}

/// The names of the open blocks.
#[derive(Debug)]
pub(super) struct Scopes<'s> {
    open: Vec<Scope<'s>>,
}

/// The result of looking up a name.
pub(super) enum Found<'s> {
    Entry(Entry),
    /// A member of a family that was not used before, with the number of its scope.
    Member(Family, usize),
    /// Nothing. A family with that name, if there is one, is too small.
    Nothing(Option<(&'s str, Family)>),
}

/// The state of a label before its definition.
pub(super) enum Definition {
    /// It was not used before.
    New,
    /// It was used before.
    Pending(LabelId),
    /// A label with this name of an enclosing block was used in this block before.
    Ambiguous,
}

impl<'s> Scopes<'s> {
    /// Creates scopes with one open block.
    pub(super) fn new() -> Scopes<'s> {
        Scopes { open: vec![Scope::default()] }
    }

    pub(super) fn depth(&self) -> usize {
        self.open.len()
    }

    pub(super) fn push(&mut self) {
        self.open.push(Scope::default());
    }

    /// Closes the innermost block. Labels that it used but did not define may belong to the
    /// enclosing block. Calls `same` for pairs of labels that turn out to be one. Returns the
    /// labels that no enclosing block can define.
    pub(super) fn pop(&mut self, mut same: impl FnMut(LabelId, LabelId)) -> Vec<LabelId> {
        let Some(closed) = self.open.pop() else { return Vec::new() };
        let Some(outer) = self.open.last_mut() else {
            let mut left: Vec<LabelId> = closed.pending.into_values().collect();
            left.sort_unstable();
            return left;
        };
        for (name, id) in closed.pending {
            match (outer.names.get(name), outer.pending.get(name)) {
                (Some(&(Entry::Label(known), _)), _) | (_, Some(&known)) => same(id, known),
                _ => {
                    outer.pending.insert(name, id);
                }
            }
        }
        Vec::new()
    }

    /// Declares a name in the innermost block. The error is the place of an earlier declaration
    /// there.
    pub(super) fn declare(&mut self, name: &'s str, entry: Entry, span: Span) -> Result<(), Span> {
        let depth = self.open.len() - 1;
        let scope = &mut self.open[depth];
        if let Ok(family) = scope.member(name) {
            return Err(family.span);
        }
        if !matches!(entry, Entry::Label(_)) {
            for (prefix, number) in splits(name) {
                let least = scope.numbered.entry(prefix).or_insert((number, span));
                *least = (*least).min((number, span));
            }
        }
        self.declare_at(depth, name, entry, span)
    }

    /// Declares a name in the block with this number.
    pub(super) fn declare_at(
        &mut self,
        depth: usize,
        name: &'s str,
        entry: Entry,
        span: Span,
    ) -> Result<(), Span> {
        let scope = &mut self.open[depth];
        let (known, place) = *scope.names.entry(name).or_insert((entry, span));
        if known == Entry::Undeclared {
            scope.names.insert(name, (entry, span));
        } else if known != entry {
            return Err(place);
        }
        Ok(())
    }

    /// Declares a family in the innermost block. The error is the place of an earlier declaration
    /// of it or a member there.
    pub(super) fn declare_family(&mut self, name: &'s str, family: Family) -> Result<(), Span> {
        let Some(scope) = self.open.last_mut() else { return Ok(()) };
        if let Some(&(number, span)) = scope.numbered.get(name)
            && number < family.count
        {
            return Err(span);
        }
        match scope.families.entry(name) {
            hash_map::Entry::Occupied(known) => Err(known.get().span),
            hash_map::Entry::Vacant(free) => {
                free.insert(family);
                Ok(())
            }
        }
    }

    /// Records that a name is not declared, so that it is reported once.
    pub(super) fn set_undeclared(&mut self, name: &'s str, span: Span) {
        self.open[0].names.entry(name).or_insert((Entry::Undeclared, span));
    }

    /// Looks up a name other than a label; labels may be defined after their use.
    pub(super) fn find(&self, name: &'s str) -> Found<'s> {
        let mut near = None;
        for (depth, scope) in self.open.iter().enumerate().rev() {
            if let Some(&(entry, _)) = scope.names.get(name) {
                return Found::Entry(entry);
            }
            match scope.member(name) {
                Ok(family) => return Found::Member(family, depth),
                Err(small) => near = near.or(small),
            }
        }
        Found::Nothing(near)
    }

    /// Returns the label with this name in the current block: defined, or used before in this
    /// block.
    pub(super) fn find_label(&mut self, name: &'s str) -> Option<LabelId> {
        let (innermost, outer) = self.open.split_last_mut()?;
        if let Some(&(Entry::Label(id), _)) = innermost.names.get(name) {
            return Some(id);
        }
        if let Some(&id) = innermost.pending.get(name).or(innermost.borrowed.get(name)) {
            return Some(id);
        }
        let depth =
            outer.iter().rposition(|scope| matches!(scope.names.get(name), Some((Entry::Label(_), _))))?;
        let Some(&(Entry::Label(id), _)) = outer[depth].names.get(name) else { return None };
        for scope in &mut self.open[depth + 1..] {
            scope.borrowed.insert(name, id);
        }
        Some(id)
    }

    /// Records the use of a label that is not defined yet.
    pub(super) fn set_pending(&mut self, name: &'s str, id: LabelId) {
        if let Some(scope) = self.open.last_mut() {
            scope.pending.insert(name, id);
        }
    }

    /// Returns the state of a label that is about to be defined in the innermost block.
    pub(super) fn define_label(&mut self, name: &'s str) -> Definition {
        let Some(scope) = self.open.last_mut() else { return Definition::New };
        if scope.borrowed.contains_key(name) {
            return Definition::Ambiguous;
        }
        scope.pending.remove(name).map_or(Definition::New, Definition::Pending)
    }
}

/// Returns the ways to read a name as one of a family: `%r12` is number 12 of `%r` or number 2 of
/// `%r1`.
fn splits(name: &str) -> impl Iterator<Item = (&str, u64)> {
    /// A family has less than 2^32 members.
    const MAX_DIGITS: usize = 10;
    let digits = name.bytes().rev().take(MAX_DIGITS).take_while(u8::is_ascii_digit).count();
    (1..=digits).rev().filter_map(move |count| {
        let (prefix, number) = name.split_at(name.len() - count);
        let plain = count == 1 || !number.starts_with('0');
        let number = number.parse().ok().filter(|_| plain && !prefix.is_empty())?;
        Some((prefix, number))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_may_be_of_several_families() {
        let all =
            |name| splits(name).map(|(prefix, number)| format!("{prefix}<{number}>")).collect::<Vec<_>>();
        assert_eq!(all("%r12"), ["%r<12>", "%r1<2>"]);
        assert_eq!(all("%r10"), ["%r<10>", "%r1<0>"]);
        assert_eq!(all("%r05"), ["%r0<5>"]);
        assert_eq!(all("%r0"), ["%r<0>"]);
        assert_eq!(all("%r"), Vec::<String>::new());
        assert_eq!(all("x1234567890123"), all("x1234567890123"));
    }
}
