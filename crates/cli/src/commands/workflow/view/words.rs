//! Numbers, times and widths, as people read them.

use ratatui::text::Span;

/// How many cells of a terminal a text takes.
pub(super) fn cells(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { Span::raw(text).width() }
}

/// A text in exactly `room` cells: cut with a sign that it was, or filled up.
pub(super) fn fit(text: &str, room: usize) -> String {
    let wide = cells(text);
    if wide <= room {
        return format!("{text}{}", " ".repeat(room - wide));
    }
    let (mut kept, mut used) = (String::new(), 0);
    for c in text.chars() {
        let wide = cells(c.encode_utf8(&mut [0; 4]));
        if used + wide + 1 > room {
            break;
        }
        used += wide;
        kept.push(c);
    }
    if used < room {
        kept.push('…');
        used += 1;
    }
    format!("{kept}{}", " ".repeat(room.saturating_sub(used)))
}

/// A text in lines of at most `room` cells, broken between words where that is possible.
pub(super) fn wrap(text: &str, room: usize) -> Vec<String> {
    text.split('\n').flat_map(|line| wrap_line(line, room.max(2))).collect()
}

fn wrap_line(text: &str, room: usize) -> Vec<String> {
    let (mut done, mut line, mut used) = (Vec::new(), String::new(), 0);
    for word in text.split_inclusive(' ') {
        let (bare, wide) = (cells(word.trim_end_matches(' ')), cells(word));
        if used > 0 && used + bare > room {
            done.push(std::mem::take(&mut line));
            used = 0;
        }
        if bare <= room {
            line.push_str(word);
            used += wide;
            continue;
        }
        for c in word.chars() {
            let wide = cells(c.encode_utf8(&mut [0; 4]));
            if used + wide > room {
                done.push(std::mem::take(&mut line));
                used = 0;
            }
            line.push(c);
            used += wide;
        }
    }
    done.push(line);
    done
}

/// `950`, `12.3k`, `200k`, `4.5M`.
pub(super) fn number(count: u64) -> String {
    let tenths = |unit: u64| match count % unit * 10 / unit {
        0 => (count / unit).to_string(),
        tenth => format!("{}.{tenth}", count / unit),
    };
    match count {
        0..1_000 => count.to_string(),
        1_000..1_000_000 => format!("{}k", tenths(1_000)),
        _ => format!("{}M", tenths(1_000_000)),
    }
}

/// `0:07`, `12:30`, `3:05:09`.
pub(super) fn time(ms: u64) -> String {
    let seconds = ms / 1000;
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    if hours > 0 { format!("{hours}:{minutes:02}:{seconds:02}") } else { format!("{minutes}:{seconds:02}") }
}

#[cfg(test)]
mod tests {
    use super::{cells, fit, number, time, wrap};

    #[test]
    fn a_text_fits_whatever_it_is() {
        assert_eq!(fit("abc", 5), "abc  ");
        assert_eq!(fit("abcdef", 4), "abc…");
        assert_eq!(fit("日本語", 4), "日… ");
        assert_eq!(fit("abc", 0), "");
        for room in 0..9 {
            assert_eq!(cells(&fit("日a本b語c", room)), room);
        }
    }

    #[test]
    fn lines_break_between_words_and_long_words_anywhere() {
        assert_eq!(wrap("one two three", 8), ["one two ", "three"]);
        assert_eq!(wrap("abcdefgh ij", 4), ["abcd", "efgh", " ij"]);
        assert_eq!(wrap("a\n\nb", 4), ["a", "", "b"]);
        assert_eq!(wrap("日本語", 1), ["日", "本", "語"]);
        assert_eq!(wrap("", 4), [""]);
    }

    #[test]
    fn numbers_and_times_are_short() {
        let numbers = [0, 999, 1_000, 12_345, 999_999, 4_560_000].map(number);
        assert_eq!(numbers, ["0", "999", "1k", "12.3k", "999.9k", "4.5M"]);
        assert_eq!([0, 7_900, 750_000, 11_109_000].map(time), ["0:00", "0:07", "12:30", "3:05:09"]);
    }
}
