//! Globs of variants in which any cut will do: which cuts an open plan stands for is not known before it runs.

/// Where in a glob a character stands.
#[derive(Clone, Copy, Eq, PartialEq)]
enum At {
    /// Among those that are taken over.
    Text,
    /// In a class, `[…]`, where nothing has its usual meaning.
    Class,
    /// Behind an `@`, in so many choices that began there: part of a cut, and left out.
    Cut(u32),
}

/// A glob with `*` in place of the cut behind each `@`: `slice=each-cut@17;wire=*` becomes `slice=each-cut@*;wire=*`.
///
/// A cut ends where its key does (`;`), at a `*`, or where the choice it stands in goes on (`{whole,each-cut@3}`).
pub(super) fn loosened(glob: &str) -> String {
    let mut loose = String::new();
    let (mut at, mut choices, mut escaped) = (At::Text, 0_u32, false);
    for c in glob.chars() {
        if let At::Cut(inner) = &mut at {
            match c {
                '{' => *inner += 1,
                '}' if *inner > 0 => *inner -= 1,
                ';' | '*' => at = At::Text,
                ',' | '}' if *inner == 0 && choices > 0 => at = At::Text,
                _ => {}
            }
            if at != At::Text {
                continue;
            }
        }
        loose.push(c);
        if std::mem::take(&mut escaped) {
            continue;
        }
        match (at, c) {
            (At::Text, '\\') => escaped = true,
            (At::Text, '[') => at = At::Class,
            (At::Class, ']') => at = At::Text,
            (At::Text, '{') => choices += 1,
            (At::Text, '}') => choices = choices.saturating_sub(1),
            (At::Text, '@') => {
                loose.push('*');
                at = At::Cut(0);
            }
            _ => {}
        }
    }
    loose
}

#[cfg(test)]
mod tests {
    use super::loosened;

    #[test]
    fn any_cut_stands_where_one_stood() {
        for (glob, loose) in [
            ("*slice=each-cut@17;wire=tcp", "*slice=each-cut@*;wire=tcp"),
            ("*slice=each-cut@17", "*slice=each-cut@*"),
            ("*slice=each-cut@1*;*", "*slice=each-cut@**;*"),
            ("*slice={whole,each-cut@{3,4}};*", "*slice={whole,each-cut@*};*"),
            ("*slice={each-cut@3,whole};*", "*slice={each-cut@*,whole};*"),
            ("*slice=each-cut[@]17;*", "*slice=each-cut[@]17;*"),
            ("text=a\\@b;*", "text=a\\@b;*"),
            ("*", "*"),
        ] {
            assert_eq!(loosened(glob), loose, "{glob}");
        }
    }
}
