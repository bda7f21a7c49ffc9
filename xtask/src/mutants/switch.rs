//! Rewrites a source file so that each change of a list is off, and can be switched on while the program runs.
//!
//! A change of cargo-mutants replaces a text in the source: the body of a function, an operator, an arm of a match. Here
//! both variants are compiled, and a call of `is_on` chooses between them:
//!
//! ```text
//! a < b    (match (&(a), &(b)) { (a_, b_) => if is_on(7) { *a_ <= *b_ } else { *a_ < *b_ } })
//! ```
//!
//! Operands are written once, so that nested expressions do not multiply, and are still evaluated once and in order.

use anyhow::{Context, Result};
use serde::Deserialize;
use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::ops::Range;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};

/// Path of the function that tells whether a change is on.
pub(super) const IS_ON: &str = "crate::switched_changes::is_on";

/// A change, as listed by `cargo mutants --list --json`.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Change {
    pub(super) name: String,
    pub(super) file: String,
    genre: Genre,
    replacement: String,
    span: ListedSpan,
    /// Absent for constants, which the compiler computes: nothing can be switched there.
    function: Option<serde::de::IgnoredAny>,
}

/// What is changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
enum Genre {
    /// The body of a function.
    FnValue,
    BinaryOperator,
    UnaryOperator,
    /// An arm, which is deleted.
    MatchArm,
    /// A guard, which becomes `true` or `false`.
    MatchArmGuard,
    /// A field, which is deleted from an expression with a base (`..base`).
    StructField,
    #[serde(other)]
    Other,
}

#[derive(Debug, Clone, Copy, Deserialize)]
struct ListedSpan {
    start: ListedPlace,
}

/// A place in a file; the first line and the first character have the number 1.
#[derive(Debug, Clone, Copy, Deserialize)]
struct ListedPlace {
    line: usize,
    column: usize,
}

/// An alternative text, and the number of its change.
type Variant = (usize, String);

/// A text that is rewritten. Ranges are of bytes in the source.
#[derive(Debug)]
struct Site {
    range: Range<usize>,
    form: Rewrite,
}

#[derive(Debug)]
enum Rewrite {
    /// Early returns, inserted at the beginning of a body.
    Returns(Vec<Variant>),
    Binary {
        left: Range<usize>,
        operator: String,
        right: Range<usize>,
        variants: Vec<Variant>,
    },
    /// An operator that is deleted.
    Unary {
        operator: String,
        operand: Range<usize>,
        change: usize,
    },
    /// An arm with a guard.
    Guard {
        deleted: Option<usize>,
        always: Option<usize>,
        never: Option<usize>,
    },
    /// An arm without a guard gets one behind its pattern.
    NewGuard { deleted: usize },
    Field {
        name: String,
        value: Range<usize>,
        base: Range<usize>,
        change: usize,
    },
}

/// Source with switched changes, and the numbers of those that are in it.
pub(super) struct Switched {
    pub(super) text: String,
    pub(super) changes: BTreeSet<usize>,
}

/// Rewrites a source file.
///
/// # Errors
/// If it cannot be parsed.
pub(super) fn switch(text: &str, changes: &[(usize, &Change)]) -> Result<Switched> {
    let file = syn::parse_file(text).context("cannot parse it")?;
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let offset = |place: ListedPlace| -> usize {
        let before: usize = lines
            .iter()
            .take(place.line - 1)
            .map(|line| line.len())
            .sum();
        let line = lines.get(place.line - 1).copied().unwrap_or_default();
        before
            + line
                .chars()
                .take(place.column - 1)
                .map(char::len_utf8)
                .sum::<usize>()
    };
    let listed = changes
        .iter()
        .filter(|(_, change)| change.function.is_some())
        .map(|&(number, change)| ListedChange {
            number,
            genre: change.genre,
            replacement: &change.replacement,
            at: offset(change.span.start),
        })
        .collect();
    let mut finder = SiteFinder {
        text,
        listed,
        sites: Vec::new(),
        found: BTreeSet::new(),
    };
    finder.find_bodies();
    finder.visit_file(&file);
    let SiteFinder {
        mut sites, found, ..
    } = finder;
    // An insertion precedes what begins at its place; outer sites precede those in them.
    sites.sort_by_key(|site| {
        (
            site.range.start,
            !site.range.is_empty(),
            Reverse(site.range.end),
        )
    });
    let rewriter = Rewriter { text };
    Ok(Switched {
        text: rewriter.rewrite(&sites, 0..text.len()),
        changes: found,
    })
}

struct ListedChange<'a> {
    number: usize,
    genre: Genre,
    replacement: &'a str,
    at: usize,
}

/// Finds the expressions that the listed changes are in.
struct SiteFinder<'a> {
    text: &'a str,
    listed: Vec<ListedChange<'a>>,
    sites: Vec<Site>,
    found: BTreeSet<usize>,
}

impl SiteFinder<'_> {
    /// Changes of a genre that begin at a place.
    fn variants(&self, genre: Genre, at: usize) -> Vec<Variant> {
        self.listed
            .iter()
            .filter(|change| change.genre == genre && change.at == at)
            .map(|change| (change.number, change.replacement.to_owned()))
            .collect()
    }

    fn add(
        &mut self,
        range: Range<usize>,
        form: Rewrite,
        changes: impl IntoIterator<Item = usize>,
    ) {
        self.found.extend(changes);
        self.sites.push(Site { range, form });
    }

    /// The listed place of a body is behind its brace.
    fn find_bodies(&mut self) {
        let bodies: BTreeSet<usize> = self
            .listed
            .iter()
            .filter(|change| change.genre == Genre::FnValue)
            .map(|change| change.at)
            .collect();
        for at in bodies {
            let variants = self.variants(Genre::FnValue, at);
            let numbers: Vec<usize> = variants.iter().map(|(number, _)| *number).collect();
            self.add(at..at, Rewrite::Returns(variants), numbers);
        }
    }
}

impl<'ast> Visit<'ast> for SiteFinder<'_> {
    fn visit_expr_binary(&mut self, expr: &'ast syn::ExprBinary) {
        let operator = expr.op.span().byte_range();
        let variants = self.variants(Genre::BinaryOperator, operator.start);
        let (left, right) = (
            expr.left.span().byte_range(),
            expr.right.span().byte_range(),
        );
        // A condition with `let` binds names for what follows, so it cannot become an operand of a match.
        if !variants.is_empty() && !has_let(&expr.left) && !has_let(&expr.right) {
            let numbers: Vec<usize> = variants.iter().map(|(number, _)| *number).collect();
            let form = Rewrite::Binary {
                left: left.clone(),
                operator: self.text[operator].to_owned(),
                right: right.clone(),
                variants,
            };
            self.add(left.start..right.end, form, numbers);
        }
        visit::visit_expr_binary(self, expr);
    }

    fn visit_expr_unary(&mut self, expr: &'ast syn::ExprUnary) {
        let operator = expr.op.span().byte_range();
        let operand = expr.expr.span().byte_range();
        let deleted = self.variants(Genre::UnaryOperator, operator.start);
        if let Some(&(change, _)) = deleted.first() {
            let range = operator.start..operand.end;
            let operator = self.text[operator].to_owned();
            let form = Rewrite::Unary {
                operator,
                operand,
                change,
            };
            self.add(range, form, [change]);
        }
        visit::visit_expr_unary(self, expr);
    }

    fn visit_arm(&mut self, arm: &'ast syn::Arm) {
        let deleted = self.variants(Genre::MatchArm, arm.span().byte_range().start);
        let deleted = deleted.first().map(|(number, _)| *number);
        match &arm.guard {
            Some((_, guard)) if !has_let(guard) => {
                let range = guard.span().byte_range();
                let variants = self.variants(Genre::MatchArmGuard, range.start);
                let number = |text: &str| {
                    let found = variants.iter().find(|(_, variant)| variant == text);
                    found.map(|(number, _)| *number)
                };
                let (always, never) = (number("true"), number("false"));
                let numbers = [deleted, always, never].into_iter().flatten();
                let form = Rewrite::Guard {
                    deleted,
                    always,
                    never,
                };
                if deleted.is_some() || always.is_some() || never.is_some() {
                    self.add(range, form, numbers);
                }
            }
            Some(_) => (),
            None => {
                let end = arm.pat.span().byte_range().end;
                if let Some(deleted) = deleted {
                    self.add(end..end, Rewrite::NewGuard { deleted }, [deleted]);
                }
            }
        }
        visit::visit_arm(self, arm);
    }

    fn visit_expr_struct(&mut self, expr: &'ast syn::ExprStruct) {
        if let Some(base) = &expr.rest {
            for field in &expr.fields {
                let range = field.span().byte_range();
                let deleted = self.variants(Genre::StructField, range.start);
                if let Some(&(change, _)) = deleted.first() {
                    let form = Rewrite::Field {
                        name: self.text[field.member.span().byte_range()].to_owned(),
                        value: field.expr.span().byte_range(),
                        base: base.span().byte_range(),
                        change,
                    };
                    self.add(range, form, [change]);
                }
            }
        }
        visit::visit_expr_struct(self, expr);
    }
}

/// Whether an expression has a condition with `let`.
fn has_let(expr: &syn::Expr) -> bool {
    struct LetFinder(bool);
    impl<'ast> Visit<'ast> for LetFinder {
        fn visit_expr_let(&mut self, _: &'ast syn::ExprLet) {
            self.0 = true;
        }
    }
    let mut finder = LetFinder(false);
    finder.visit_expr(expr);
    finder.0
}

/// Writes the source anew.
struct Rewriter<'a> {
    text: &'a str,
}

impl Rewriter<'_> {
    /// A part of the source with the sites in it; `sites` are sorted and may lie outside.
    fn rewrite(&self, sites: &[Site], part: Range<usize>) -> String {
        let is_inside = |site: &Site| part.start <= site.range.start && site.range.end <= part.end;
        let (mut out, mut at, mut next) = (String::new(), part.start, 0);
        while let Some(site) = sites.get(next) {
            let behind = sites[next + 1..]
                .iter()
                .position(|other| other.range.start >= site.range.end)
                .map_or(sites.len(), |count| next + 1 + count);
            if !is_inside(site) || site.range.start < at {
                next += 1;
                continue;
            }
            out.push_str(&self.text[at..site.range.start]);
            let inner = match site.range.is_empty() {
                true => &[],
                false => &sites[next + 1..behind],
            };
            out.push_str(&self.site(site, inner));
            at = site.range.end;
            next = if site.range.is_empty() {
                next + 1
            } else {
                behind
            };
        }
        out.push_str(&self.text[at..part.end]);
        out
    }

    fn site(&self, site: &Site, inner: &[Site]) -> String {
        let part = |range: &Range<usize>| self.rewrite(inner, range.clone());
        match &site.form {
            Rewrite::Returns(variants) => variants
                .iter()
                .map(|(number, value)| format!("if {} {{ return {value}; }} ", is_on(*number)))
                .collect(),
            Rewrite::Binary {
                left,
                operator,
                right,
                variants,
            } => binary(&part(left), operator, &part(right), variants),
            Rewrite::Unary {
                operator,
                operand,
                change,
            } => format!(
                "(match {} {{ a_ => if {} {{ a_ }} else {{ {operator}a_ }} }})",
                part(operand),
                is_on(*change)
            ),
            Rewrite::Guard {
                deleted,
                always,
                never,
            } => {
                let mut guard = format!("({})", part(&site.range));
                if let Some(always) = always {
                    guard = format!("({} || {guard})", is_on(*always));
                }
                for off in [never, deleted].into_iter().flatten() {
                    guard = format!("(!{} && {guard})", is_on(*off));
                }
                guard
            }
            Rewrite::NewGuard { deleted } => format!(" if !{}", is_on(*deleted)),
            Rewrite::Field {
                name,
                value,
                base,
                change,
            } => format!(
                "{name}: if {} {{ ({}).{name} }} else {{ {} }}",
                is_on(*change),
                &self.text[base.clone()],
                part(value)
            ),
        }
    }
}

fn is_on(change: usize) -> String {
    format!("{IS_ON}({change})")
}

/// An expression with two operands, and with other operators if their changes are on.
fn binary(left: &str, operator: &str, right: &str, variants: &[Variant]) -> String {
    let choice = |write: &dyn Fn(&str) -> String| {
        let mut out = String::new();
        for (number, other) in variants {
            out += &format!("if {} {{ {} }} else ", is_on(*number), write(other));
        }
        out + &format!("{{ {} }}", write(operator))
    };
    match operator {
        // Comparisons take their operands by reference.
        "==" | "!=" | "<" | "<=" | ">" | ">=" => format!(
            "(match (&({left}), &({right})) {{ (a_, b_) => {} }})",
            choice(&|operator| format!("*a_ {operator} *b_"))
        ),
        // The right operand may not be evaluated.
        "&&" | "||" => format!(
            "(match {left} {{ a_ => {} }})",
            choice(&|operator| format!("a_ {operator} ({right})"))
        ),
        _ if operator.ends_with('=') => format!(
            "({})",
            choice(&|operator| format!("{left} {operator} {right}"))
        ),
        _ => format!(
            "(match ({left}, {right}) {{ (a_, b_) => {} }})",
            choice(&|operator| format!("a_ {operator} b_"))
        ),
    }
}
