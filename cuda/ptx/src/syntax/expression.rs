//! Constant expressions: 64-bit integers, signed or unsigned, and double-precision numbers, with
//! C's operators.

use super::{
    MAX_DEPTH,
    ast::Immediate,
    lexer::Tok,
    number::Number,
    parser::{Failed, Parser},
};
use crate::Span;

/// An intermediate value.
#[derive(Clone, Copy, Debug)]
enum Value {
    Integer { bits: u64, unsigned: bool },
    Float(f64),
}

impl Value {
    fn signed(value: i64) -> Value {
        Value::Integer { bits: value as u64, unsigned: false }
    }

    fn is_true(self) -> bool {
        match self {
            Value::Integer { bits, .. } => bits != 0,
            Value::Float(value) => value != 0.0,
        }
    }
}

impl<'s> Parser<'s> {
    /// Parses a constant: a number, or an expression of several.
    pub(super) fn constant(&mut self) -> Result<Immediate, Failed> {
        if let Tok::Number(Number::F32(bits)) = self.token.kind {
            self.bump();
            return Ok(Immediate::F32(bits));
        }
        Ok(match self.ternary(0)? {
            Value::Integer { bits, unsigned } => Immediate::Integer { bits, unsigned },
            Value::Float(value) => Immediate::F64(value.to_bits()),
        })
    }

    /// Parses a constant that must be an integer, as two's complement.
    pub(super) fn constant_integer(&mut self) -> Result<i64, Failed> {
        let span = self.token.span;
        match self.constant()? {
            Immediate::Integer { bits, .. } => Ok(bits as i64),
            _ => self.fail(span, "expected an integer, found a floating-point number"),
        }
    }

    fn ternary(&mut self, depth: usize) -> Result<Value, Failed> {
        let condition = self.binary(0, depth)?;
        if self.token.kind != Tok::Question {
            return Ok(condition);
        }
        self.bump();
        self.check_depth(depth)?;
        let then = self.ternary(depth + 1)?;
        self.expect(Tok::Colon, "':' of the conditional expression")?;
        let otherwise = self.ternary(depth + 1)?;
        Ok(if condition.is_true() { then } else { otherwise })
    }

    fn binary(&mut self, strength_min: u32, depth: usize) -> Result<Value, Failed> {
        let mut left = self.unary(depth)?;
        loop {
            let operator = self.token.kind;
            let Some(strength) = strength(operator).filter(|&strength| strength >= strength_min) else {
                return Ok(left);
            };
            let span = self.token.span;
            self.bump();
            let right = self.binary(strength + 1, depth)?;
            left = self.apply(operator, left, right, span)?;
        }
    }

    fn unary(&mut self, depth: usize) -> Result<Value, Failed> {
        let token = self.token;
        match token.kind {
            Tok::Number(Number::Integer { bits, unsigned }) => {
                self.bump();
                Ok(Value::Integer { bits, unsigned })
            }
            Tok::Number(Number::F64(bits)) => {
                self.bump();
                Ok(Value::Float(f64::from_bits(bits)))
            }
            Tok::Number(Number::F32(_)) => {
                self.fail(token.span, format!("'{}' cannot be part of an expression", token.text))
            }
            Tok::Word if token.text == "WARP_SZ" => {
                self.bump();
                Ok(Value::signed(32))
            }
            Tok::Plus | Tok::Minus | Tok::Tilde | Tok::Bang => {
                self.bump();
                self.check_depth(depth)?;
                let value = self.unary(depth + 1)?;
                self.negate(token.kind, value, token.span)
            }
            Tok::LParen => {
                self.bump();
                self.check_depth(depth)?;
                if self.token.kind == Tok::Dotted {
                    return self.cast(depth);
                }
                let value = self.ternary(depth + 1)?;
                self.expect(Tok::RParen, "')'")?;
                Ok(value)
            }
            _ => self.unexpected("a constant"),
        }
    }

    /// Parses `.s64) value` or `.u64) value`.
    fn cast(&mut self, depth: usize) -> Result<Value, Failed> {
        let target = self.token;
        let unsigned = match target.text {
            "s64" => false,
            "u64" => true,
            _ => return self.fail(target.span, "constants can be converted to .s64 or .u64 only"),
        };
        self.bump();
        self.expect(Tok::RParen, "')'")?;
        match self.unary(depth + 1)? {
            Value::Integer { bits, .. } => Ok(Value::Integer { bits, unsigned }),
            Value::Float(_) => {
                self.fail(target.span, "a floating-point number cannot be converted to an integer")
            }
        }
    }

    fn check_depth(&mut self, depth: usize) -> Result<(), Failed> {
        if depth < MAX_DEPTH {
            return Ok(());
        }
        self.fail(self.token.span, format!("the expression is nested deeper than {MAX_DEPTH} levels"))
    }

    fn negate(&mut self, operator: Tok, value: Value, span: Span) -> Result<Value, Failed> {
        Ok(match (operator, value) {
            (Tok::Plus, value) => value,
            (Tok::Minus, Value::Float(value)) => Value::Float(-value),
            (Tok::Minus, Value::Integer { bits, unsigned }) => {
                Value::Integer { bits: bits.wrapping_neg(), unsigned }
            }
            (Tok::Tilde, Value::Integer { bits, unsigned }) => Value::Integer { bits: !bits, unsigned },
            (Tok::Bang, value) => Value::signed(i64::from(!value.is_true())),
            _ => return self.fail(span, "'~' needs an integer"),
        })
    }

    fn apply(&mut self, operator: Tok, left: Value, right: Value, span: Span) -> Result<Value, Failed> {
        match (left, right) {
            (
                Value::Integer { bits: a, unsigned: left_unsigned },
                Value::Integer { bits: b, unsigned: right_unsigned },
            ) => match integers(operator, (a, left_unsigned), (b, right_unsigned)) {
                Ok(value) => Ok(value),
                Err(message) => self.fail(span, message),
            },
            (Value::Float(a), Value::Float(b)) => match floats(operator, a, b) {
                Some(value) => Ok(value),
                None => self.fail(span, "this operator needs integers"),
            },
            _ if matches!(operator, Tok::AmpersandAmpersand | Tok::PipePipe) => {
                Ok(logic(operator, left.is_true(), right.is_true()))
            }
            _ => self.fail(span, "an integer and a floating-point number cannot be combined"),
        }
    }
}

/// Returns how tightly an operator binds, as in C.
fn strength(operator: Tok) -> Option<u32> {
    Some(match operator {
        Tok::PipePipe => 1,
        Tok::AmpersandAmpersand => 2,
        Tok::Pipe => 3,
        Tok::Caret => 4,
        Tok::Ampersand => 5,
        Tok::EqualEqual | Tok::BangEqual => 6,
        Tok::Less | Tok::LessEqual | Tok::Greater | Tok::GreaterEqual => 7,
        Tok::ShiftLeft | Tok::ShiftRight => 8,
        Tok::Plus | Tok::Minus => 9,
        Tok::Star | Tok::Slash | Tok::Percent => 10,
        _ => return None,
    })
}

fn logic(operator: Tok, left: bool, right: bool) -> Value {
    let truth = if operator == Tok::PipePipe { left || right } else { left && right };
    Value::signed(i64::from(truth))
}

/// Computes with 64-bit integers. The result is unsigned if an operand is; that of a shift, if the
/// first operand is.
fn integers(operator: Tok, left: (u64, bool), right: (u64, bool)) -> Result<Value, &'static str> {
    let ((a, left_unsigned), (b, right_unsigned)) = (left, right);
    let unsigned = left_unsigned || right_unsigned;
    let ordering = if unsigned { a.cmp(&b) } else { (a as i64).cmp(&(b as i64)) };
    let truth = |truth: bool| Ok(Value::signed(i64::from(truth)));
    let bits = match operator {
        Tok::PipePipe | Tok::AmpersandAmpersand => return Ok(logic(operator, a != 0, b != 0)),
        Tok::EqualEqual => return truth(a == b),
        Tok::BangEqual => return truth(a != b),
        Tok::Less => return truth(ordering.is_lt()),
        Tok::LessEqual => return truth(ordering.is_le()),
        Tok::Greater => return truth(ordering.is_gt()),
        Tok::GreaterEqual => return truth(ordering.is_ge()),
        Tok::ShiftLeft | Tok::ShiftRight if b >= 64 => return Err("a shift by 64 or more bits has no value"),
        Tok::ShiftLeft => return Ok(Value::Integer { bits: a << b, unsigned: left_unsigned }),
        Tok::ShiftRight if left_unsigned => return Ok(Value::Integer { bits: a >> b, unsigned: true }),
        Tok::ShiftRight => return Ok(Value::signed((a as i64) >> b)),
        Tok::Slash | Tok::Percent if b == 0 => return Err("division by zero"),
        Tok::Slash if unsigned => a / b,
        Tok::Slash => (a as i64).wrapping_div(b as i64) as u64,
        Tok::Percent if unsigned => a % b,
        Tok::Percent => (a as i64).wrapping_rem(b as i64) as u64,
        Tok::Plus => a.wrapping_add(b),
        Tok::Minus => a.wrapping_sub(b),
        Tok::Star => a.wrapping_mul(b),
        Tok::Pipe => a | b,
        Tok::Caret => a ^ b,
        _ => a & b,
    };
    Ok(Value::Integer { bits, unsigned })
}

fn floats(operator: Tok, a: f64, b: f64) -> Option<Value> {
    let truth = |truth: bool| Some(Value::signed(i64::from(truth)));
    Some(Value::Float(match operator {
        Tok::Plus => a + b,
        Tok::Minus => a - b,
        Tok::Star => a * b,
        Tok::Slash => a / b,
        Tok::EqualEqual => return truth(a == b),
        Tok::BangEqual => return truth(a != b),
        Tok::Less => return truth(a < b),
        Tok::LessEqual => return truth(a <= b),
        Tok::Greater => return truth(a > b),
        Tok::GreaterEqual => return truth(a >= b),
        Tok::PipePipe | Tok::AmpersandAmpersand => return Some(logic(operator, a != 0.0, b != 0.0)),
        _ => return None,
    }))
}
