//! How long a file and a function may be, with a list of exceptions that can only shrink.

use super::{Problem, SourceFile, scan};

const FILE_LINES_MAX: usize = 500;
const FUNCTION_LINES_MAX: usize = 70;

/// Something longer than its limit that is let stand, at exactly its present length.
pub(super) struct Exception {
    path: &'static str,
    /// The function, or none for the file itself.
    function: Option<&'static str>,
    lines: usize,
}

/// Shorten what is listed and lower or remove its line; never add one or raise one.
pub(super) const EXCEPTIONS: &[Exception] = &[];

/// A file or function and its length.
struct Measured<'a> {
    path: &'a str,
    function: Option<scan::Function>,
    lines: usize,
}

pub(super) fn check(sources: &[SourceFile], exceptions: &[Exception]) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut excepted = vec![false; exceptions.len()];
    for measured in sources.iter().flat_map(measure).filter(|measured| measured.lines > measured.limit()) {
        let exception = exceptions.iter().position(|exception| measured.is(exception));
        if let Some(index) = exception {
            excepted[index] = true;
        }
        match exception.map(|index| exceptions[index].lines) {
            Some(lines) if lines == measured.lines => {}
            Some(lines) => {
                let message = format!(
                    "is {} lines, its exception says {lines}; exceptions only shrink",
                    measured.lines
                );
                problems.push(Problem::new(measured.place(), message));
            }
            None => {
                let message = format!("is {} lines; the limit is {}", measured.lines, measured.limit());
                problems.push(Problem::new(measured.place(), message));
            }
        }
    }
    let unneeded = exceptions.iter().zip(excepted).filter(|(_, used)| !used);
    problems.extend(
        unneeded.map(|(exception, _)| Problem::new(exception.path, "its exception is not needed any more")),
    );
    problems
}

fn measure(source: &SourceFile) -> Vec<Measured<'_>> {
    let file = Measured { path: &source.path, function: None, lines: source.text.lines().count() };
    let functions = scan::functions(&source.code).into_iter();
    let functions = functions.map(|function| {
        let lines = function.lines;
        Measured { path: &source.path, function: Some(function), lines }
    });
    std::iter::once(file).chain(functions).collect()
}

impl Measured<'_> {
    fn limit(&self) -> usize {
        if self.function.is_some() { FUNCTION_LINES_MAX } else { FILE_LINES_MAX }
    }

    fn is(&self, exception: &Exception) -> bool {
        let name = self.function.as_ref().map(|function| function.name.as_str());
        exception.path == self.path && exception.function == name
    }

    fn place(&self) -> String {
        match &self.function {
            Some(function) => format!("{}:{}: `{}`", self.path, function.line, function.name),
            None => self.path.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(text: &str, exceptions: &[Exception]) -> Vec<String> {
        check(&[SourceFile::new("a.rs", text)], exceptions).iter().map(ToString::to_string).collect()
    }

    fn function_of(lines: usize) -> String {
        format!("fn long() {{\n{}}}\n", "    x();\n".repeat(lines - 2))
    }

    #[test]
    fn what_is_at_its_limit_is_fine() {
        assert_eq!(problems(&function_of(70), &[]), Vec::<String>::new());
        assert_eq!(problems(&"x();\n".repeat(500), &[]), Vec::<String>::new());
    }

    #[test]
    fn what_is_over_its_limit_is_named() {
        assert_eq!(problems(&function_of(71), &[]), ["a.rs:1: `long`: is 71 lines; the limit is 70"]);
        assert_eq!(problems(&"x();\n".repeat(501), &[]), ["a.rs: is 501 lines; the limit is 500"]);
    }

    #[test]
    fn an_exception_holds_for_its_present_length_only() {
        let exception = |lines| [Exception { path: "a.rs", function: Some("long"), lines }];
        assert_eq!(problems(&function_of(80), &exception(80)), Vec::<String>::new());
        let grown = "a.rs:1: `long`: is 81 lines, its exception says 80; exceptions only shrink";
        assert_eq!(problems(&function_of(81), &exception(80)), [grown]);
        let shrunk = "a.rs:1: `long`: is 79 lines, its exception says 80; exceptions only shrink";
        assert_eq!(problems(&function_of(79), &exception(80)), [shrunk]);
        assert_eq!(
            problems(&function_of(70), &exception(80)),
            ["a.rs: its exception is not needed any more"]
        );
    }
}
