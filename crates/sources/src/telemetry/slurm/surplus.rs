//! Fits rows that have more fields than the header: a delimiter inside a text column is not escaped by Slurm.

/// Columns into which users write freely.
const FREE: [&str; 7] =
    ["admincomment", "comment", "extra", "jobname", "submitline", "systemcomment", "workdir"];

/// Surplus fields up to which every distribution over the free-text columns is tried.
const MAX_SPREAD: usize = 4;

/// Surplus fields above which a row is not tried at all.
const MAX_SURPLUS: usize = 256;

/// The fields of a row with too many parts, one a column, or `None` if they cannot be told apart.
///
/// A layout must keep every other column in its form. Of those that do, the one is taken whose job name stands in its
/// submit line, the longest first, then the one that gives most to the last column; a tie is not guessed.
pub(super) fn fit(columns: &[String], parts: &[&str], delimiter: &str) -> Option<Vec<String>> {
    let surplus = parts.len().checked_sub(columns.len()).filter(|surplus| *surplus <= MAX_SURPLUS)?;
    let free: Vec<usize> = columns
        .iter()
        .enumerate()
        .filter(|(_, name)| FREE.contains(&name.as_str()))
        .map(|(at, _)| at)
        .collect();
    let mut best: Option<(usize, usize)> = None;
    let mut layout = None;
    for extra in spreads(surplus, free.len()) {
        let Some(fields) = lay_out(columns, parts, (&free, &extra)) else { continue };
        let fields: Vec<String> = fields.iter().map(|field| field.join(delimiter)).collect();
        let last = if free.last() == Some(&(columns.len() - 1)) { extra.last().copied() } else { None };
        let score = (name_in_submit_line(columns, &fields), last.unwrap_or(0));
        if best == Some(score) {
            layout = None;
        } else if best.is_none_or(|best| best < score) {
            best = Some(score);
            layout = Some(fields);
        }
    }
    layout
}

/// Every way to spread `surplus` over `places`; for a large surplus, only those that give all to one place.
fn spreads(surplus: usize, places: usize) -> Vec<Vec<usize>> {
    if surplus > MAX_SPREAD {
        let only = |place| (0..places).map(|at| if at == place { surplus } else { 0 }).collect();
        return (0..places).map(only).collect();
    }
    let mut spreads = vec![vec![0; places]];
    for _ in 0..surplus {
        let mut grown: Vec<Vec<usize>> = Vec::new();
        for spread in &spreads {
            // Only places from the last one used on, so that no spread comes twice.
            let from = spread.iter().rposition(|count| *count > 0).unwrap_or(0);
            for place in from..places {
                let mut next = spread.clone();
                if let Some(count) = next.get_mut(place) {
                    *count += 1;
                }
                grown.push(next);
            }
        }
        spreads = grown;
    }
    spreads
}

/// The parts of every column under a spread, if the columns that are not free keep their form.
fn lay_out<'p>(
    columns: &[String],
    parts: &'p [&'p str],
    (free, extra): (&[usize], &[usize]),
) -> Option<Vec<&'p [&'p str]>> {
    let (mut fields, mut from) = (Vec::with_capacity(columns.len()), 0);
    for (at, column) in columns.iter().enumerate() {
        let place = free.iter().position(|free| *free == at);
        let length = 1 + place.and_then(|place| extra.get(place)).copied().unwrap_or(0);
        let field = parts.get(from..from + length)?;
        if place.is_none() && !field.iter().all(|text| in_form(column, text)) {
            return None;
        }
        fields.push(field);
        from += length;
    }
    Some(fields)
}

/// Whether a text can stand in a column that is not free.
fn in_form(column: &str, text: &str) -> bool {
    let made_of = |extra: &str| text.chars().all(|c| c.is_ascii_digit() || extra.contains(c));
    match column {
        "submit" | "start" | "end" | "eligible" => {
            text.is_empty() || ["Unknown", "None"].contains(&text) || made_of("T:+-.Z")
        }
        "jobid" | "jobidraw" => text.starts_with(|c: char| c.is_ascii_digit()) && !text.contains(' '),
        "dbindex" => !text.is_empty() && made_of(""),
        "elapsedraw" | "ncpus" | "nnodes" | "restarts" | "uid" | "gid" | "alloccpus" | "allocnodes"
        | "reqcpus" => made_of(""),
        "elapsed" | "suspended" | "planned" | "reserved" | "exitcode" | "derivedexitcode" | "totalcpu" => {
            made_of(":-.")
        }
        "state" => text.is_empty() || text.starts_with(|c: char| c.is_ascii_uppercase()),
        "alloctres" | "reqtres" => text.is_empty() || text.contains('=') && !text.contains(' '),
        "sluid" | "originalsluid" => text.chars().all(|c| c.is_ascii_alphanumeric()),
        "nodelist" => text == "None assigned" || !text.contains(' '),
        _ => true,
    }
}

/// Length of the job name, if it stands in the submit line, where it still has the quotes that Slurm stores as backticks.
fn name_in_submit_line(columns: &[String], fields: &[String]) -> usize {
    let field = |name: &str| columns.iter().position(|column| column == name).and_then(|at| fields.get(at));
    let (Some(name), Some(line)) = (field("jobname"), field("submitline")) else { return 0 };
    if line.replace('"', "`").contains(&name.replace('"', "`")) { name.len() } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fitted(columns: &str, row: &str) -> Option<Vec<String>> {
        let columns: Vec<String> = columns.split('|').map(str::to_owned).collect();
        let parts: Vec<&str> = row.split('|').collect();
        fit(&columns, &parts, "|")
    }

    // Trap2: a `|` in a name is not escaped.
    #[test]
    fn a_last_text_column_takes_the_surplus() {
        assert_eq!(
            fitted("jobid|state|jobname", "3|TIMEOUT|exp|44|x").unwrap(),
            ["3", "TIMEOUT", "exp|44|x"]
        );
        assert_eq!(fitted("jobid|comment|jobname", "3|note|exp|44").unwrap(), ["3", "note", "exp|44"]);
        assert_eq!(fitted("jobid|state|jobname", "3|TIMEOUT|a|b|c|d|e|f|g").unwrap()[2], "a|b|c|d|e|f|g");
    }

    #[test]
    fn a_middle_text_column_takes_it_only_if_the_others_hold() {
        assert_eq!(fitted("jobid|jobname|state", "3|exp|44|TIMEOUT").unwrap(), ["3", "exp|44", "TIMEOUT"]);
        assert_eq!(fitted("jobid|state|nnodes", "3|TIMEOUT|1|2"), None);
        assert_eq!(fitted("jobid|comment|jobname|state", "3|a|b|c|TIMEOUT"), None);
    }

    #[test]
    fn the_submit_line_tells_the_job_name() {
        let fields = fitted("jobid|submitline|jobname", r#"3|sbatch -J e|4 "q" x.sh|e|4 `q`"#).unwrap();
        assert_eq!(fields, ["3", r#"sbatch -J e|4 "q" x.sh"#, "e|4 `q`"]);
    }
}
