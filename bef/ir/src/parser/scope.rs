//! Names of values: the meaning of `%x` at each place. A name may be used before its definition.

use std::collections::HashMap;
use std::collections::hash_map::Entry as MapEntry;

use super::{Failed, Parsed, Parser, UnresolvedOperand};
use crate::source::Span;
use crate::{MAX_DIAGNOSTICS, Type, ValueId};

/// The values of one name: `%x` or `%x#0`, `%x#1`, ….
#[derive(Clone, Debug, Default)]
struct Entry {
    first: Option<ValueId>,
    rest: Vec<Option<ValueId>>,
    /// The place of its definition, or of its first use if it is not defined.
    span: Span,
    state: State,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    /// Used, but not defined yet.
    #[default]
    Forward,
    Defined,
    /// Its definition did not parse, so every use is accepted.
    Poisoned,
}

impl Entry {
    fn defined(values: &[ValueId], span: Span) -> Entry {
        let rest = values.iter().skip(1).map(|&value| Some(value)).collect();
        Entry { first: values.first().copied(), rest, span, state: State::Defined }
    }

    fn slot(&mut self, index: usize) -> &mut Option<ValueId> {
        match index.checked_sub(1) {
            None => &mut self.first,
            Some(index) => {
                if self.rest.len() <= index {
                    self.rest.resize(index + 1, None);
                }
                &mut self.rest[index]
            }
        }
    }

    fn len(&self) -> usize {
        1 + self.rest.len()
    }
}

/// The names of an isolated operation, such as a function, and of the regions inside it.
#[derive(Debug, Default)]
pub(super) struct Scope<'s> {
    entries: HashMap<&'s [u8], Entry>,
    /// For each open region, the names that it defined and their meaning before.
    frames: Vec<Vec<(&'s [u8], Option<Entry>)>>,
}

/// The most results that an operation may have.
pub(super) const MAX_RESULTS: u32 = 1 << 16;

/// The most results of all operations together whose results are given by number instead of by
/// type.
pub(super) const MAX_COUNTED_RESULTS: usize = 1 << 22;

impl<'s> Parser<'s, '_> {
    fn scope(&mut self) -> &mut Scope<'s> {
        if self.scopes.is_empty() {
            self.scopes.push(Scope::default());
        }
        let last = self.scopes.len() - 1;
        &mut self.scopes[last]
    }

    /// Opens the scope of a function or module.
    pub(super) fn push_isolated_scope(&mut self) {
        self.scopes.push(Scope::default());
    }

    /// Closes the scope of a function or module, and reports names that were used but never
    /// defined.
    pub(super) fn pop_isolated_scope(&mut self) {
        let Some(scope) = self.scopes.pop() else { return };
        let undefined = scope.entries.iter().filter(|(_, entry)| entry.state == State::Forward);
        let mut undefined: Vec<(Span, &[u8])> = undefined.map(|(name, entry)| (entry.span, *name)).collect();
        undefined.sort_by_key(|(span, _)| span.start);
        let known = scope.entries.iter().filter(|(_, entry)| entry.state != State::Forward);
        let known: Vec<&str> = known.filter_map(|(name, _)| std::str::from_utf8(name).ok()).collect();
        for (span, name) in undefined.into_iter().take(MAX_DIAGNOSTICS) {
            let name = String::from_utf8_lossy(name);
            let hint = crate::suggest::closest(&name, known.iter().copied());
            let hint = hint.map_or(String::new(), |hint| format!("; did you mean '%{hint}'?"));
            self.error(span, format!("use of undeclared SSA value name '%{name}'{hint}"));
        }
    }

    /// Opens the scope of a region.
    pub(super) fn push_frame(&mut self) {
        self.scope().frames.push(Vec::new());
    }

    /// Closes the scope of a region: its names have their earlier meaning again.
    pub(super) fn pop_frame(&mut self) {
        let scope = self.scope();
        for (name, before) in scope.frames.pop().unwrap_or_default().into_iter().rev() {
            match before {
                Some(entry) => scope.entries.insert(name, entry),
                None => scope.entries.remove(name),
            };
        }
    }

    /// Returns the value that an operand names, which must have type `ty`.
    pub fn resolve(&mut self, operand: &UnresolvedOperand<'s>, ty: &Type) -> Parsed<ValueId> {
        let index = operand.index as usize;
        let entry = self
            .scope()
            .entries
            .entry(operand.name)
            .or_insert_with(|| Entry { span: operand.span, ..Entry::default() });
        let (state, span, len) = (entry.state, entry.span, entry.len());
        if state == State::Defined && index >= len {
            let diagnostic = self.diagnostic(operand.span, "reference to invalid result number").note(
                self.source.location(span.start),
                format!("the operation defines {len} result{} here", if len == 1 { "" } else { "s" }),
            );
            self.report(diagnostic);
            return Err(Failed);
        }
        if state == State::Poisoned {
            return Ok(self.module.undefined_value(ty.clone()));
        }
        if let Some(value) = *entry.slot(index) {
            self.check_same_type(operand, value, ty, span)?;
            return Ok(value);
        }
        let value = self.module.undefined_value(ty.clone());
        if let Some(entry) = self.scope().entries.get_mut(operand.name) {
            *entry.slot(index) = Some(value);
        }
        Ok(value)
    }

    fn check_same_type(
        &mut self,
        operand: &UnresolvedOperand<'s>,
        value: ValueId,
        ty: &Type,
        prior: Span,
    ) -> Parsed<()> {
        let known = self.module.value_type(value);
        if known == ty {
            return Ok(());
        }
        let name = String::from_utf8_lossy(operand.name);
        let message =
            format!("use of value '%{name}' expects different type than prior uses: '{ty}' vs '{known}'");
        let diagnostic =
            self.diagnostic(operand.span, message).note(self.source.location(prior.start), "prior use here");
        self.report(diagnostic);
        Err(Failed)
    }

    /// Defines `%x` or one of several `%x#1` and returns its value. Names of block arguments are
    /// defined one by one.
    pub(super) fn define_one(&mut self, name: &UnresolvedOperand<'s>, ty: &Type) -> Parsed<ValueId> {
        let index = name.index as usize;
        let entry = self.scope().entries.get(name.name);
        let defined = entry.is_some_and(|entry| entry.state == State::Defined);
        if index == 0 && entry.is_none_or(|entry| !defined || entry.first.is_some()) {
            let values = self.define(name.name, name.span, std::slice::from_ref(ty))?;
            return values.first().copied().ok_or(Failed);
        }
        let value = self.module.undefined_value(ty.clone());
        if !defined {
            self.insert_entry(name.name, Entry::defined(&[], name.span), None);
        }
        let mut taken = false;
        if let Some(entry) = self.scope().entries.get_mut(name.name) {
            taken = entry.slot(index).replace(value).is_some();
        }
        if taken {
            return Err(self.error(name.span, "redefinition of SSA value"));
        }
        Ok(value)
    }

    /// Defines a name as values of these types and returns the values: those that earlier uses
    /// created, or new ones.
    pub(super) fn define(&mut self, name: &'s [u8], span: Span, types: &[Type]) -> Parsed<Vec<ValueId>> {
        if self.scopes.is_empty() {
            self.scopes.push(Scope::default());
        }
        let Some(Scope { entries, frames }) = self.scopes.last_mut() else { return Err(Failed) };
        let known = match entries.entry(name) {
            MapEntry::Occupied(known) => known,
            MapEntry::Vacant(vacant) => {
                let values: Vec<ValueId> =
                    types.iter().map(|ty| self.module.undefined_value(ty.clone())).collect();
                vacant.insert(Entry::defined(&values, span));
                if let Some(frame) = frames.last_mut() {
                    frame.push((name, None));
                }
                return Ok(values);
            }
        };
        match known.get().state {
            State::Forward => {
                let entry = known.remove();
                if entry.len() > types.len() {
                    self.error(entry.span, "reference to invalid result number");
                }
                self.define_forward(name, span, types, entry)
            }
            State::Defined => {
                let prior = self.source.location(known.get().span.start);
                let text = String::from_utf8_lossy(name);
                let message = format!("redefinition of SSA value '%{text}'");
                let diagnostic = self.diagnostic(span, message).note(prior, "previously defined here");
                Err(self.report(diagnostic))
            }
            State::Poisoned => {
                let values: Vec<ValueId> =
                    types.iter().map(|ty| self.module.undefined_value(ty.clone())).collect();
                let before = known.remove();
                self.insert_entry(name, Entry::defined(&values, span), Some(before));
                Ok(values)
            }
        }
    }

    fn define_forward(
        &mut self,
        name: &'s [u8],
        span: Span,
        types: &[Type],
        mut entry: Entry,
    ) -> Parsed<Vec<ValueId>> {
        let mut values = Vec::with_capacity(types.len());
        let mut result = Ok(());
        for (index, ty) in types.iter().enumerate() {
            let value = match *entry.slot(index) {
                None => self.module.undefined_value(ty.clone()),
                Some(value) => {
                    let definition = UnresolvedOperand { name, index: 0, span };
                    if let Err(failed) = self.check_same_type(&definition, value, ty, entry.span) {
                        result = Err(failed);
                    }
                    value
                }
            };
            values.push(value);
        }
        self.insert_entry(name, Entry::defined(&values, span), None);
        result.map(|()| values)
    }

    fn insert_entry(&mut self, name: &'s [u8], entry: Entry, before: Option<Entry>) {
        let scope = self.scope();
        scope.entries.insert(name, entry);
        if let Some(frame) = scope.frames.last_mut() {
            frame.push((name, before));
        }
    }

    /// Records that the definition of a name did not parse, so that its uses are not reported too.
    pub(super) fn poison(&mut self, name: &'s [u8], span: Span) {
        if self.scope().entries.get(name).is_some_and(|entry| entry.state == State::Defined) {
            return;
        }
        let before = self.scope().entries.remove(name).filter(|entry| entry.state != State::Forward);
        self.insert_entry(name, Entry { span, state: State::Poisoned, ..Entry::default() }, before);
    }
}
