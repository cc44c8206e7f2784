//! Expands node lists such as `d09n04s[01-02],d13n[03,05,07-08,16]` into names.

use super::fault::Refusal;

/// Nodes that one record may hold; the largest machines have some ten thousand.
pub(super) const MAX_NODES: usize = 16_384;

/// Digits of a number in a range.
const MAX_DIGITS: usize = 9;

/// The names of a node list, in its order; nothing for a record that holds no node.
pub(super) fn expand(list: &str) -> Result<Vec<String>, Refusal> {
    let list = list.trim();
    if list.is_empty() || list.eq_ignore_ascii_case("none assigned") || list.eq_ignore_ascii_case("none") {
        return Ok(Vec::new());
    }
    let mut names = Vec::new();
    for item in items(list).ok_or_else(|| malformed(list))? {
        let grown = pattern(item).ok_or_else(|| malformed(list))?;
        names.extend(grown.map_err(|TooMany| too_many(list))?);
        if names.len() > MAX_NODES {
            return Err(too_many(list));
        }
    }
    Ok(names)
}

/// More names than a record may hold.
struct TooMany;

fn malformed(list: &str) -> Refusal {
    Refusal::new("slurm::bad_node_list", "NodeList", list, "names with ranges, such as gpu[01-04,07]")
}

fn too_many(list: &str) -> Refusal {
    Refusal::new("slurm::too_many_nodes", "NodeList", list, format!("at most {MAX_NODES} nodes"))
}

/// Splits at commas outside brackets; `None` for brackets that do not match.
fn items(list: &str) -> Option<Vec<&str>> {
    let (mut items, mut from, mut inside) = (Vec::new(), 0, false);
    for (at, c) in list.char_indices() {
        match c {
            '[' if inside => return None,
            ']' if !inside => return None,
            '[' | ']' => inside = c == '[',
            ',' if !inside => {
                items.push(list.get(from..at)?);
                from = at + 1;
            }
            c if c.is_whitespace() => return None,
            _ => {}
        }
    }
    items.push(list.get(from..)?);
    (!inside && items.iter().all(|item| !item.is_empty())).then_some(items)
}

/// The names of one item: every bracket multiplies what stands before it.
fn pattern(item: &str) -> Option<Result<Vec<String>, TooMany>> {
    let mut names = vec![String::new()];
    let mut rest = item;
    while let Some((plain, tail)) = rest.split_once('[') {
        let (ranges, after) = tail.split_once(']')?;
        let Ok(numbers) = numbers(ranges)? else { return Some(Err(TooMany)) };
        if names.len().saturating_mul(numbers.len()) > MAX_NODES {
            return Some(Err(TooMany));
        }
        names =
            names.iter().flat_map(|name| numbers.iter().map(move |n| format!("{name}{plain}{n}"))).collect();
        rest = after;
    }
    for name in &mut names {
        name.push_str(rest);
    }
    Some(Ok(names))
}

/// The numbers between brackets as text, with the zeros of the range's first number kept.
fn numbers(ranges: &str) -> Option<Result<Vec<String>, TooMany>> {
    let mut numbers = Vec::new();
    for range in ranges.split(',') {
        let (low, high) = range.split_once('-').unwrap_or((range, range));
        let (first, last) = (number(low)?, number(high)?);
        if last < first {
            return None;
        }
        let count = usize::try_from(last - first).unwrap_or(MAX_NODES);
        if numbers.len().saturating_add(count) >= MAX_NODES {
            return Some(Err(TooMany));
        }
        let width = low.len();
        numbers.extend((first..=last).map(|n| format!("{n:0width$}")));
    }
    Some(Ok(numbers))
}

fn number(text: &str) -> Option<u64> {
    let plain = (1..=MAX_DIGITS).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
    plain.then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_singles_padding_and_several_brackets() {
        assert_eq!(
            expand("d09n04s[01-02],d13n[03,05,07-08,16]").unwrap(),
            ["d09n04s01", "d09n04s02", "d13n03", "d13n05", "d13n07", "d13n08", "d13n16"]
        );
        assert_eq!(expand("g[9-11]").unwrap(), ["g9", "g10", "g11"]);
        assert_eq!(
            expand("r[1-2]n[01-02]-ib,login").unwrap(),
            ["r1n01-ib", "r1n02-ib", "r2n01-ib", "r2n02-ib", "login"]
        );
        assert_eq!(expand("None assigned").unwrap(), Vec::<String>::new());
    }

    #[test]
    fn a_hostile_range_is_refused_before_it_is_expanded() {
        for list in ["g[0-999999999]", "g[0-200]x[0-200]", "g[1-9999],h[1-9999]"] {
            assert_eq!(expand(list).unwrap_err().code, "slurm::too_many_nodes", "for {list}");
        }
        for list in
            ["g[1-", "g]1[", "g[[1]]", "g[2-1]", "g[a-b]", "g[1-99999999999999999999]", "a,,b", "g[]", "a b"]
        {
            assert_eq!(expand(list).unwrap_err().code, "slurm::bad_node_list", "for {list}");
        }
    }
}
