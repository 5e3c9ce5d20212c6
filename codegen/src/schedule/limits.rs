//! Limits of the numbers of a shape.

use super::ScheduleError;
use std::ops::RangeInclusive;

/// Checks that a number of a shape is in a range.
///
/// # Errors
/// The number and the range, if it is outside.
pub(super) fn check_range(
    schedule: &'static str,
    what: &'static str,
    value: u32,
    range: RangeInclusive<u32>,
) -> Result<(), ScheduleError> {
    if range.contains(&value) {
        return Ok(());
    }
    let allowed = match (*range.start(), *range.end()) {
        (least, u32::MAX) => format!("at least {least}"),
        (least, most) => format!("{least} to {most}"),
    };
    Err(unfit(schedule, what, value, allowed))
}

/// Checks that a number of a shape is one of a few.
///
/// # Errors
/// The number and the allowed ones, if it is another.
pub(super) fn check_choice(
    schedule: &'static str,
    what: &'static str,
    value: u32,
    choices: impl IntoIterator<Item = u32>,
) -> Result<(), ScheduleError> {
    let choices: Vec<u32> = choices.into_iter().collect();
    if choices.contains(&value) {
        return Ok(());
    }
    let words: Vec<String> = choices.iter().map(u32::to_string).collect();
    let allowed = match words.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} or {last}", others.join(", ")),
        Some((last, _)) => last.clone(),
        None => "of other sample types: these allow none".into(),
    };
    Err(unfit(schedule, what, value, allowed))
}

/// The error about a number of a shape: its value, and the allowed ones in words.
pub fn unfit(schedule: &'static str, what: &'static str, value: u32, allowed: impl Into<String>) -> ScheduleError {
    ScheduleError::Shape { schedule, what, value: value.into(), allowed: allowed.into() }
}
