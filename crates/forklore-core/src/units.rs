//! Formats sizes and counts for users.

/// Formats a number of bytes in decimal units, such as `1.2 MB`.
#[must_use]
pub fn bytes(bytes: u64) -> String {
    if bytes < 1_000 {
        return format!("{bytes} B");
    }
    let mut amount = bytes as f64;
    let mut unit = "B";
    for next in ["kB", "MB", "GB", "TB"] {
        amount /= 1_000.0;
        unit = next;
        // An amount that would be rounded to 1000.0 is shown in the next larger unit.
        if amount < 999.95 {
            break;
        }
    }
    format!("{amount:.1} {unit}")
}

/// Formats a count with its noun: `1 event`, `5,000 events`.
#[must_use]
pub fn count(number: u64, thing: &str) -> String {
    let plural = match (number, thing) {
        (1, _) => "",
        (_, thing) if thing.ends_with("ch") => "es",
        _ => "s",
    };
    format!("{} {thing}{plural}", grouped(number))
}

/// Formats a number with a comma between groups of three digits: `1,234,567`.
#[must_use]
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_counts_are_short() {
        let sizes = [0, 999, 1_000, 1_234_567, 999_960, 5_000_000_000_000_000].map(bytes);
        assert_eq!(sizes, ["0 B", "999 B", "1.0 kB", "1.2 MB", "1.0 MB", "5000.0 TB"]);
        assert_eq!(count(1, "event"), "1 event");
        assert_eq!(count(1_234_567, "event"), "1,234,567 events");
        assert_eq!(count(2, "branch"), "2 branches");
    }
}
