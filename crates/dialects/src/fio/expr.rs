//! Arithmetic in option values: `size=(4*1024)`, `size=2*$mb_memory`.
//!
//! Source: fio's manual, "Job file parameters": `+ - * / % ^` and parentheses. The caller parses
//! numbers with units, which differ between sizes and times.

/// Maximum nesting of parentheses and signs, so that no input can exhaust the stack.
const DEEPEST: u32 = 64;

/// Evaluates an expression. `number` parses a number with its unit, such as `4k`.
pub(crate) fn evaluate(
    text: &str,
    number: &dyn Fn(&str) -> Result<f64, String>,
) -> Result<f64, String> {
    let mut parser = Parser {
        rest: text,
        depth: 0,
        number,
    };
    let value = parser.sum()?;
    match parser.peek() {
        None if value.is_finite() => Ok(value),
        None => Err("the value of the expression is not finite".to_owned()),
        Some(_) => Err(format!(
            "unexpected `{}` after the expression",
            parser.rest.trim()
        )),
    }
}

struct Parser<'a> {
    rest: &'a str,
    depth: u32,
    number: &'a dyn Fn(&str) -> Result<f64, String>,
}

impl Parser<'_> {
    fn peek(&mut self) -> Option<char> {
        self.rest = self.rest.trim_start();
        self.rest.chars().next()
    }

    /// Consumes one of these sign characters, if it comes next.
    fn sign(&mut self, signs: &str) -> Option<char> {
        let next = self.peek().filter(|c| signs.contains(*c))?;
        self.rest = &self.rest[next.len_utf8()..];
        Some(next)
    }

    fn sum(&mut self) -> Result<f64, String> {
        let mut left = self.product()?;
        while let Some(sign) = self.sign("+-") {
            let right = self.product()?;
            left = if sign == '+' {
                left + right
            } else {
                left - right
            };
        }
        Ok(left)
    }

    fn product(&mut self) -> Result<f64, String> {
        let mut left = self.power()?;
        while let Some(sign) = self.sign("*/%") {
            let right = self.power()?;
            left = match sign {
                '*' => left * right,
                _ if right == 0.0 => return Err("the expression divides by zero".to_owned()),
                '/' => left / right,
                _ => left % right,
            };
        }
        Ok(left)
    }

    fn power(&mut self) -> Result<f64, String> {
        let base = self.atom()?;
        match self.sign("^") {
            None => Ok(base),
            Some(_) => Ok(base.powf(self.nested(Self::power)?)),
        }
    }

    fn atom(&mut self) -> Result<f64, String> {
        if self.sign("-").is_some() {
            return Ok(-self.nested(Self::atom)?);
        }
        if self.sign("(").is_some() {
            let value = self.nested(Self::sum)?;
            return self
                .sign(")")
                .map(|_| value)
                .ok_or_else(|| "missing closing parenthesis".to_owned());
        }
        self.peek();
        let end = self
            .rest
            .find(|c: char| !(c.is_ascii_alphanumeric() || c == '.'))
            .unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        if word.is_empty() {
            return Err("expected a number at the end of the expression".to_owned());
        }
        self.rest = rest;
        (self.number)(word)
    }

    fn nested(&mut self, part: fn(&mut Self) -> Result<f64, String>) -> Result<f64, String> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(format!(
                "the expression is nested more than {DEEPEST} levels deep"
            ));
        }
        let value = part(self);
        self.depth -= 1;
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(text: &str) -> Result<f64, String> {
        evaluate(text, &|word| {
            word.parse()
                .map_err(|_| format!("`{word}` is not a number"))
        })
    }

    #[test]
    fn arithmetic_is_the_one_of_school() {
        for (text, value) in [
            ("(4*1024)", 4096.0),
            ("2+3*4", 14.0),
            ("(2+3)*4", 20.0),
            ("2^3^2", 512.0),
            ("7 % 4 - -1", 4.0),
            ("8/2/2", 2.0),
            (" ( 1 + 1 ) ", 2.0),
        ] {
            assert_eq!(plain(text), Ok(value), "{text}");
        }
    }

    #[test]
    fn what_is_no_expression_says_why() {
        for (text, part) in [
            ("(1+", "expected a number at the end"),
            ("(1", "missing closing parenthesis"),
            ("1/0", "divides by zero"),
            ("1 2", "unexpected `"),
            ("x", "`x` is not a number"),
            ("9^9^9", "not finite"),
        ] {
            let error = plain(text).unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
        assert!(
            plain(&"(".repeat(100_000))
                .unwrap_err()
                .contains("64 levels deep")
        );
        assert!(
            plain(&"-".repeat(100_000))
                .unwrap_err()
                .contains("64 levels deep")
        );
    }
}
