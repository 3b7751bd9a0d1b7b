//! Escapes: what a fold uses as signs is written `%` and two hexadecimal digits a byte.

/// Names with a place of their own in an id; a `vary` key of such a name is told apart by an escaped first letter.
const RESERVED: [&str; 3] = ["revision", "server", "wire"];

/// Escapes a value.
pub(super) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    let mut before = None;
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        // Two dots make a range; one alone is common in values and stays.
        let dots = c == '.' && (before == Some('.') || rest.peek() == Some(&'.'));
        if dots || c.is_control() || matches!(c, '%' | ';' | '=' | '{' | '}' | '|' | '(') {
            let mut buffer = [0; 4];
            c.encode_utf8(&mut buffer).bytes().for_each(|byte| push(&mut escaped, byte));
        } else {
            escaped.push(c);
        }
        before = Some(c);
    }
    escaped
}

/// Escapes the name of a `vary` key.
pub(super) fn name(text: &str) -> String {
    match text.bytes().next() {
        Some(first) if RESERVED.contains(&text) => {
            let mut escaped = String::new();
            push(&mut escaped, first);
            escaped + &text[1..]
        }
        _ => escape(text),
    }
}

/// Takes escapes away; none where an escape is cut short or the bytes are no UTF-8.
pub(super) fn unescape(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let mut digit = || char::from(rest.next()?).to_digit(16);
            let (high, low) = (digit()?, digit()?);
            bytes.push(u8::try_from(high << 4 | low).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok()
}

fn push(text: &mut String, byte: u8) {
    text.push_str(&format!("%{byte:02x}"));
}
