//! Times as text.

use std::time::{SystemTime, UNIX_EPOCH};

/// A time in UTC to the second: `2026-11-30T13:28:58Z`. A clock before 1970 reads as 1970.
///
/// ```
/// let time = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_796_045_338);
/// assert_eq!(mcp_assay::receipt::writer::utc(time), "2026-11-30T13:28:58Z");
/// ```
#[must_use]
pub fn utc(time: SystemTime) -> String {
    let seconds = time.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    // Civil date from a day number, in years that begin on 1 March and eras of 400 of them.
    let from_march = days + 719_468;
    let (era, day) = (from_march / 146_097, from_march % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    let year = era * 400 + year + next;
    let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn times_are_those_of_the_calendar() {
        // By `date -u -d @N +%FT%TZ`.
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (4_107_542_399, "2100-02-28T23:59:59Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
            (1_735_689_599, "2024-12-31T23:59:59Z"),
        ] {
            assert_eq!(utc(UNIX_EPOCH + Duration::from_secs(seconds)), text);
        }
    }
}
