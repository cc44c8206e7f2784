//! Reads the tokens of a filter into conditions.

use std::iter::Peekable;
use std::ops::Range;
use std::vec::IntoIter;

use super::field::{FIELDS, Field, FieldKind, nearest, normalised_word};
use super::token::{Token, TokenKind, tokens};
use super::{Comparison, Condition, Moment, Test, Value};
use crate::AppError;

/// Parentheses and `not` inside one another, at most.
const DEPTH_MAX: usize = 64;

const OPERATORS: &str = "= != < <= > >= in like contains";

/// The condition of a text.
pub(super) fn condition(text: &str) -> Result<Condition, AppError> {
    let mut parser = Parser { text, tokens: tokens(text)?.into_iter().peekable(), depth: 0 };
    let condition = parser.any()?;
    match parser.tokens.next() {
        None => Ok(condition),
        Some(token) => Err(parser
            .fault("filter::trailing_text", "the filter goes on after its end", token.span)
            .help("join conditions with `and` or `or`; put a value of several words in quotes")),
    }
}

struct Parser<'a> {
    text: &'a str,
    tokens: Peekable<IntoIter<Token>>,
    depth: usize,
}

impl Parser<'_> {
    fn any(&mut self) -> Result<Condition, AppError> {
        let mut conditions = vec![self.all()?];
        while self.take_keyword("or").is_some() {
            conditions.push(self.all()?);
        }
        Ok(one_or(conditions, Condition::Any))
    }

    fn all(&mut self) -> Result<Condition, AppError> {
        let mut conditions = vec![self.unit()?];
        while self.take_keyword("and").is_some() {
            conditions.push(self.unit()?);
        }
        Ok(one_or(conditions, Condition::All))
    }

    fn unit(&mut self) -> Result<Condition, AppError> {
        if let Some(span) = self.take_keyword("not") {
            self.deeper(&span)?;
            let inner = self.unit()?;
            self.depth -= 1;
            return Ok(Condition::Not(Box::new(inner)));
        }
        let Some(open) = self.take_sign("(") else { return self.test() };
        self.deeper(&open)?;
        let inner = self.any()?;
        self.depth -= 1;
        self.close(open)?;
        Ok(inner)
    }

    fn test(&mut self) -> Result<Condition, AppError> {
        let field = self.field()?;
        let negated = self.take_keyword("not").is_some();
        let test = self.operation(field, negated)?;
        let condition = Condition::Test { field, test };
        Ok(if negated { Condition::Not(Box::new(condition)) } else { condition })
    }

    fn field(&mut self) -> Result<&'static Field, AppError> {
        let Some(token) = self.tokens.next() else { return Err(self.ended("a field")) };
        let TokenKind::Bare(name) = &token.kind else {
            return Err(self
                .fault("filter::expected_field", "a condition begins with a field", token.span)
                .help(known_fields()));
        };
        Field::named(name).ok_or_else(|| {
            let near = nearest(name, FIELDS.iter().map(|field| field.name));
            let help = match near {
                Some(near) => format!("did you mean `{near}`? {}", known_fields()),
                None => known_fields(),
            };
            self.fault("filter::unknown_field", format!("there is no field `{name}`"), token.span).help(help)
        })
    }

    fn operation(&mut self, field: &'static Field, negated: bool) -> Result<Test, AppError> {
        let Some(token) = self.tokens.next() else { return Err(self.ended("an operator")) };
        let operator = match &token.kind {
            TokenKind::Sign(sign) => (*sign).to_owned(),
            TokenKind::Bare(word) => word.to_lowercase(),
            TokenKind::Quoted(_) => String::new(),
        };
        if let Some(comparison) = comparison(&operator).filter(|_| !negated) {
            return Ok(Test::Compare(comparison, self.value(field)?));
        }
        match operator.as_str() {
            "in" => self.list(field).map(Test::In),
            "like" => self.text_value().map(|pattern| Test::Like(pattern.to_lowercase())),
            "contains" => self.text_value().map(|part| Test::Contains(part.to_lowercase())),
            _ => {
                let wanted = if negated { "in like contains" } else { OPERATORS };
                let message = format!("an operator must follow `{}`", field.name);
                Err(self
                    .fault("filter::unknown_operator", message, token.span)
                    .help(format!("operators: {wanted}")))
            }
        }
    }

    fn list(&mut self, field: &'static Field) -> Result<Vec<Value>, AppError> {
        let Some(open) = self.take_sign("(") else {
            return match self.tokens.next() {
                Some(token) => Err(self
                    .fault("filter::expected_list", "a list in parentheses must follow `in`", token.span)
                    .help(format!("write `{} in (one, two)`", field.name))),
                None => Err(self.ended("a list in parentheses")),
            };
        };
        let mut values = vec![self.value(field)?];
        while self.take_sign(",").is_some() {
            values.push(self.value(field)?);
        }
        self.close(open)?;
        Ok(values)
    }

    fn value(&mut self, field: &'static Field) -> Result<Value, AppError> {
        let (text, span) = self.any_value()?;
        match field.kind {
            FieldKind::Text => Ok(Value::Text(text)),
            FieldKind::Word => self.word(field, &text, span),
            FieldKind::Number => text.parse().map(Value::Number).map_err(|_| {
                let message = format!("`{text}` is not a whole number, which `{}` is", field.name);
                self.fault("filter::not_a_number", message, span)
            }),
            FieldKind::Time => Moment::read(&text).map(Value::Moment).ok_or_else(|| {
                self.fault("filter::not_a_time", format!("`{text}` is not a day or an instant"), span).help(
                    "write `2026-11-01` for the UTC day, or an instant with its zone: `2026-11-01T09:30:00Z`",
                )
            }),
        }
    }

    fn word(&self, field: &'static Field, text: &str, span: Range<usize>) -> Result<Value, AppError> {
        let words = field.words();
        let normalised = normalised_word(text);
        if words.iter().any(|word| normalised_word(word) == normalised) {
            return Ok(Value::Word(normalised));
        }
        let near = nearest(text, words.iter().copied());
        let near = near.map(|near| format!("did you mean `{near}`? ")).unwrap_or_default();
        let message = format!("`{}` is never `{text}`", field.name);
        let help = format!("{near}words of `{}`: {}", field.name, words.join(", "));
        Err(self.fault("filter::unknown_word", message, span).help(help))
    }

    fn text_value(&mut self) -> Result<String, AppError> {
        self.any_value().map(|(text, _)| text)
    }

    fn any_value(&mut self) -> Result<(String, Range<usize>), AppError> {
        let Some(token) = self.tokens.next() else { return Err(self.ended("a value")) };
        match token.kind {
            TokenKind::Bare(text) | TokenKind::Quoted(text) => Ok((text, token.span)),
            TokenKind::Sign(sign) => {
                let message = format!("a value must stand here, not `{sign}`");
                Err(self.fault("filter::expected_value", message, token.span))
            }
        }
    }

    fn close(&mut self, open: Range<usize>) -> Result<(), AppError> {
        if self.take_sign(")").is_some() {
            return Ok(());
        }
        Err(self.fault("filter::unclosed_parenthesis", "the parenthesis is not closed", open))
    }

    fn deeper(&mut self, span: &Range<usize>) -> Result<(), AppError> {
        self.depth += 1;
        if self.depth <= DEPTH_MAX {
            return Ok(());
        }
        let message = format!("more than {DEPTH_MAX} conditions inside one another");
        Err(self.fault("filter::too_deep", message, span.clone()))
    }

    fn take_keyword(&mut self, keyword: &str) -> Option<Range<usize>> {
        let is_it = |token: &Token| match &token.kind {
            TokenKind::Bare(word) => word.eq_ignore_ascii_case(keyword),
            TokenKind::Quoted(_) | TokenKind::Sign(_) => false,
        };
        self.tokens.next_if(is_it).map(|token| token.span)
    }

    fn take_sign(&mut self, sign: &'static str) -> Option<Range<usize>> {
        self.tokens.next_if(|token| token.kind == TokenKind::Sign(sign)).map(|token| token.span)
    }

    fn ended(&self, wanted: &str) -> AppError {
        let end = self.text.len();
        let error = self.fault(
            "filter::unexpected_end",
            format!("the filter ends where {wanted} must stand"),
            end..end,
        );
        if wanted == "a field" { error.help(known_fields()) } else { error }
    }

    fn fault(&self, code: &str, message: impl Into<String>, span: Range<usize>) -> AppError {
        AppError::new(code, message).at("--where").span(self.text, span)
    }
}

fn comparison(operator: &str) -> Option<Comparison> {
    match operator {
        "=" => Some(Comparison::Equal),
        "!=" => Some(Comparison::NotEqual),
        "<" => Some(Comparison::Less),
        "<=" => Some(Comparison::LessOrEqual),
        ">" => Some(Comparison::Greater),
        ">=" => Some(Comparison::GreaterOrEqual),
        _ => None,
    }
}

fn known_fields() -> String {
    let names: Vec<&str> = FIELDS.iter().map(|field| field.name).collect();
    format!("fields: {}", names.join(", "))
}

fn one_or(mut conditions: Vec<Condition>, join: fn(Vec<Condition>) -> Condition) -> Condition {
    match conditions.pop() {
        Some(only) if conditions.is_empty() => only,
        Some(last) => {
            conditions.push(last);
            join(conditions)
        }
        None => join(conditions),
    }
}
