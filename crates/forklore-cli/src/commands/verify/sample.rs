//! `verify --sample`: checks sessions that a seed selects.

use forklore::api::{SampleSize, VerifySample};

use super::{end, failure, show_problems};
use crate::app::App;
use crate::failure::Result;
use crate::output::{Output, Page, Tone, count, grouped};

/// Parses the value of `--sample`: a number of sessions, or a share of them in percent.
pub(super) fn size(text: &str) -> std::result::Result<SampleSize, String> {
    let size = match text.strip_suffix('%') {
        Some(share) => {
            let share = share.parse().ok().filter(|share| (1..=100).contains(share));
            share.map(SampleSize::Percent)
        }
        None => text.parse().ok().filter(|number| *number > 0).map(SampleSize::Sessions),
    };
    size.ok_or_else(|| "a sample is a number of sessions, such as 100, or 1% to 100%".to_owned())
}

pub(super) fn run(
    size: SampleSize,
    seed: Option<u64>,
    app: &App,
    output: &mut Output,
) -> Result<()> {
    let answer = app.engine()?.verify_sample(&VerifySample { size, seed })?;
    let (report, seed) = (&answer.verification, answer.seed);
    let people = |page: &mut Page| {
        show_problems(page, &report.problems);
        let read = format!(
            "{} of {}, {}",
            grouped(report.sessions),
            count(answer.of, "session"),
            count(report.events, "event")
        );
        match report.problems.len() as u64 {
            0 => page.put(Tone::Good, "All is well in a sample: ").put(Tone::Plain, read),
            number => page
                .put(Tone::Bad, count(number, "problem"))
                .put(Tone::Plain, format!(" in a sample: {read}")),
        };
        page.put(Tone::Dim, format!("  seed {seed}")).end();
    };
    output.answer_with(&answer, people, failure(&report.problems).as_ref())?;
    if report.problems.is_empty() {
        let typed = match size {
            SampleSize::Sessions(number) => number.to_string(),
            SampleSize::Percent(share) => format!("{share}%"),
        };
        let again = format!("forklore verify --sample {typed} --seed {seed}");
        output.hint(&again, "check the same sessions again");
    }
    end(&report.problems, output)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_is_a_number_or_a_share() {
        assert_eq!(size("100"), Ok(SampleSize::Sessions(100)));
        assert_eq!(size("5%"), Ok(SampleSize::Percent(5)));
        assert_eq!(size("100%"), Ok(SampleSize::Percent(100)));
        for wrong in ["", "0", "-1", "%", "0%", "101%", "half"] {
            assert!(size(wrong).is_err(), "{wrong}");
        }
    }
}
