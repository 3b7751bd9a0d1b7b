//! Names that somebody may have meant.

/// Help for a name that does not exist: the one it comes closest to, else all there are (up to twelve).
pub(crate) fn help<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    match similar::get_close_matches(name, &known, 1, 0.6).first() {
        Some(near) => format!("did you mean `{near}`?"),
        None if known.is_empty() => "there is none to name".to_owned(),
        None => format!("known: {}", listed(&known)),
    }
}

/// Names in a row, cut after twelve.
pub(crate) fn listed(names: &[&str]) -> String {
    const SHOWN: usize = 12;
    let mut text = names.iter().take(SHOWN).copied().collect::<Vec<_>>().join(", ");
    if names.len() > SHOWN {
        text.push_str(&format!(" and {} more", names.len() - SHOWN));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_near_name_is_offered() {
        assert_eq!(help("max_line_byte", ["max_line_bytes", "timeout"]), "did you mean `max_line_bytes`?");
    }

    #[test]
    fn far_names_are_listed_and_cut() {
        assert_eq!(help("zzz", ["a", "b"]), "known: a, b");
        let many: Vec<String> = (10..30).map(|n| n.to_string()).collect();
        assert!(help("zzz", many.iter().map(String::as_str)).ends_with("20, 21 and 8 more"));
    }
}
