//! The compact form of a function, and the translation to it, which checks every instruction's types and modifiers.
