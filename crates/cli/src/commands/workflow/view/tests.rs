//! Made-up runs, drawn on a terminal in memory and reported.

use super::{Board, Look, Paint, Wish, draw, report};
use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use isolith_workflow::Event;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::style::Color;
use serde_json::{Value, json};

/// A run that can be told and looked at.
struct Played {
    board: Board,
    look: Look,
    at: u64,
}

impl Played {
    fn new() -> Played {
        let mut played = Played { board: Board::default(), look: Look::new(Paint::Coloured), at: 1_000_000 };
        played.tell("run-started", json!({ "runId": "run-7", "name": "review", "budgetTotal": 100_000 }));
        for phase in ["Scout", "Review"] {
            played.tell("phase-started", json!({ "phase": phase }));
        }
        played
    }

    /// Something happens, a second after what was before.
    fn tell(&mut self, kind: &str, about: Value) {
        self.board.hear(&Event::new(kind, self.at, about));
        self.at += 1000;
    }

    fn queue(&mut self, key: &str) {
        let parts: Vec<&str> = key.splitn(3, ':').collect();
        let prompt = format!("Look at {}.", parts[2]);
        self.tell("agent-queued", json!({ "key": key, "label": parts[2], "phase": parts[1], "prompt": prompt }));
    }

    fn start(&mut self, key: &str) {
        self.queue(key);
        self.tell("agent-started", json!({ "key": key, "model": "large-1" }));
    }

    fn done(&mut self, key: &str, text: &str) {
        self.start(key);
        self.tell("agent-output", json!({ "key": key, "text": text }));
        let usage = json!({ "inputTokens": 5000, "outputTokens": 1234 });
        self.tell("agent-finished", json!({ "key": key, "usage": usage, "cached": false }));
    }

    fn terminal(&self, width: u16, height: u16) -> Terminal<TestBackend> {
        let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
        terminal.draw(|frame| draw(frame, &self.board, &self.look, self.at)).unwrap();
        terminal
    }

    fn rows(&self, width: u16, height: u16) -> Vec<String> {
        let terminal = self.terminal(width, height);
        let cells = terminal.backend().buffer().content();
        let row = |cells: &[ratatui::buffer::Cell]| cells.iter().map(|cell| cell.symbol()).collect::<String>();
        cells.chunks(width.into()).map(|cells| row(cells).trim_end().to_owned()).collect()
    }

    fn key(&mut self, code: KeyCode) -> Option<Wish> {
        // What can be scrolled is known from what was drawn.
        self.terminal(100, 30);
        self.look.key(KeyEvent::new(code, KeyModifiers::NONE), &self.board)
    }

    fn keys(&mut self, keys: &str) {
        keys.chars().for_each(|key| assert_eq!(self.key(KeyCode::Char(key)), None));
    }
}

fn half_way() -> Played {
    let mut played = Played::new();
    played.done("1:Scout:list files", "a.rs and b.rs");
    played.tell("agent-output", json!({ "key": "2:Scout:old", "text": "", "data": { "found": [1] } }));
    played.tell("agent-finished", json!({ "key": "2:Scout:old", "usage": { "outputTokens": 10 }, "cached": true }));
    played.queue("4:Review:b.rs");
    played.start("3:Review:a.rs");
    played.tell("log", json!({ "message": "two files" }));
    played
}

fn assert_row(rows: &[String], parts: &[&str]) {
    let has = |row: &&String| parts.iter().all(|part| row.contains(part));
    assert!(rows.iter().any(|row| has(&row)), "{parts:?} are in no row of\n{}", rows.join("\n"));
}

#[test]
fn a_run_half_way_shows_phases_agents_detail_and_sums() {
    let rows = half_way().rows(100, 16);
    let expected = "\
review  runs  run-7
 phases ────────────  agents 2/2 ────────────────────────────  a.rs ────────────────────────────────
 ✓ Scout         2/2  … b.rs                                  working · large-1 · 0:02
▸● Review        0/2 ▸● a.rs                             0:02
                                                              Prompt
                                                              Look at a.rs.







two files
0:13 · agents 2/4 · tokens 1.2k of 100k out, 5k in
↑↓ move  tab column  enter detail  l log  p pause  x stop  q leave";
    assert_eq!(rows.join("\n"), expected);
}

#[test]
fn a_narrow_terminal_has_the_detail_below() {
    let rows = half_way().rows(60, 15);
    assert_row(&rows, &[" phases ", " agents 2/2 "]);
    let lists = rows.iter().position(|row| row.contains("▸● a.rs")).unwrap();
    let detail = rows.iter().position(|row| row.starts_with(" a.rs ─")).unwrap();
    assert!(lists < detail, "{rows:?}");
    assert_row(&rows, &["Look at a.rs."]);
    assert_row(&rows, &["p pause  x stop  q leave"]);
}

#[test]
fn answers_that_were_known_say_so_and_data_is_shown() {
    let mut played = half_way();
    played.key(KeyCode::Left);
    played.keys("g");
    played.key(KeyCode::Right);
    played.keys("G");
    let rows = played.rows(100, 20);
    assert_row(&rows, &["▸✓ old", "10", "cached"]);
    assert_row(&rows, &["\"found\": ["]);
}

#[test]
fn an_end_stops_the_clock_and_is_reported() {
    let mut played = half_way();
    played.done("3:Review:a.rs", "fine");
    played.done("4:Review:b.rs", "fine too");
    played.tell("run-finished", json!({ "status": "finished" }));
    played.at += 3_600_000;
    let rows = played.rows(100, 16);
    assert_row(&rows, &["review", "finished", "run-7"]);
    assert_row(&rows, &["✓ Review", "2/2"]);
    assert_row(&rows, &["0:21 · agents 4/4 · tokens 3.7k of 100k out, 15k in"]);
    assert!(!rows.iter().any(|row| row.contains("x stop")), "{rows:?}");
    let expected = "\
phase   agent       state   tokens  time
Scout   list files  done      1.2k  0:02
Scout   old         cached      10      \n\
Review  b.rs        done      1.2k  0:02
Review  a.rs        done      1.2k  0:02
0:21 · agents 4/4 · tokens 3.7k of 100k out, 15k in
";
    assert_eq!(report(&played.board), expected);
}

#[test]
fn a_failure_is_seen_in_every_place() {
    let mut played = half_way();
    let error = json!({ "kind": "Timeout", "what": "agent", "ms": 600 });
    played.tell("agent-failed", json!({ "key": "3:Review:a.rs", "error": error }));
    let rows = played.rows(100, 20);
    assert_row(&rows, &["▸✗ Review", "1/2", "▸✗ a.rs"]);
    assert_row(&rows, &["Error"]);
    assert_row(&rows, &["ms: 600"]);
    assert_row(&rows, &["agents 3/4 · 1 failed"]);
    played.tell("run-finished", json!({ "status": "failed", "error": error }));
    let rows = played.rows(100, 20);
    assert_row(&rows, &["review  failed"]);
    assert_row(&rows, &["✗ Timeout ", "ms: 600"]);
    let text = report(&played.board);
    assert!(text.contains("a.rs        failed") && text.contains("b.rs        unfinished"), "{text}");
}

#[test]
fn a_run_that_goes_on_forgets_what_was_interrupted() {
    let mut played = half_way();
    played.tell("run-finished", json!({ "status": "failed" }));
    played.tell("run-resumed", json!({ "runId": "run-7" }));
    assert_row(&played.rows(100, 16), &["review  runs"]);
    assert_row(&played.rows(100, 16), &["… Review", "0/2", "▸… a.rs"]);
    played.done("3:Review:a.rs", "fine");
    assert_row(&played.rows(100, 16), &["● Review", "1/2", "▸✓ a.rs"]);
}

#[test]
fn a_question_is_shown_until_it_is_answered() {
    let mut played = half_way();
    played.tell("question-asked", json!({ "key": "go", "question": "Go on?", "choices": ["yes", "no"] }));
    assert_row(&played.rows(80, 20), &["? Go on? [yes / no] (go)"]);
    played.tell("question-answered", json!({ "key": "go" }));
    assert_row(&played.rows(80, 20), &["two files"]);
}

#[test]
fn a_tiny_terminal_is_told_so_and_nothing_breaks() {
    let mut played = half_way();
    assert_eq!(played.rows(59, 15)[0], "too small: 60×15 needed, q leaves");
    assert!(played.rows(59, 15)[1..].iter().all(String::is_empty));
    for size in (1..200).step_by(9) {
        played.rows(size, 15);
        played.rows(size, 1);
        played.rows(60, size);
    }
    played.key(KeyCode::Enter);
    (1..200).step_by(9).for_each(|size| drop(played.rows(size, size)));
    let empty = Played { board: Board::default(), ..Played::new() };
    assert_row(&empty.rows(60, 15), &["none yet"]);
    assert_eq!(report(&empty.board), "0:00 · agents 0/0 · tokens 0 out, 0 in\n");
}

#[test]
fn five_hundred_agents_are_walked_through() {
    let mut played = Played::new();
    (0..500).for_each(|n| played.done(&format!("{n}:Review:part {n}"), "fine"));
    assert_row(&played.rows(100, 20), &["agents 500/500", "part 499"]);
    assert_row(&played.rows(100, 20), &["▸✓ part 499"]);
    played.keys("gjj");
    assert_row(&played.rows(100, 20), &["agents 3/500"]);
    assert_row(&played.rows(100, 20), &["▸✓ part 2 "]);
    played.key(KeyCode::PageDown);
    assert_row(&played.rows(100, 20), &["▸✓ part 12 "]);
    played.keys("Gk");
    assert_row(&played.rows(100, 20), &["▸✓ part 498 "]);
    let text = report(&played.board);
    assert!(text.contains("Review  500 agents  done     617k  33:18"), "{text}");
    assert_eq!(text.lines().count(), 3);
}

#[test]
fn agents_and_texts_without_end_are_counted_and_cut() {
    let mut played = Played::new();
    let long = "x".repeat(1 << 20);
    (0..2_500).for_each(|n| played.done(&format!("{n}:P{}:{n}", n % 300), if n % 1000 == 7 { &long } else { "" }));
    (0..500).for_each(|n| played.tell("log", json!({ "message": format!("line {n}") })));
    let kept: usize = played.board.phases.iter().map(|phase| phase.agents.len()).sum();
    assert_eq!((kept, played.board.phases.len(), played.board.logs.len()), (2_000, 200, 200));
    let agents = played.board.phases.iter().flat_map(|phase| &phase.agents);
    assert!(agents.map(|agent| agent.output.len() + agent.prompt.len()).max().unwrap() <= 64 << 10);
    assert_row(&played.rows(100, 20), &["agents 2500/2500"]);
    assert_eq!(played.board.logs[0], "line 499");
}

#[test]
fn hostile_text_reaches_no_terminal() {
    let hostile = "a\u{1b}]0;owned\u{7}\u{1b}[2J\u{9b}31m\u{202e}\r\n日本\u{200b}";
    let mut played = Played::new();
    played.tell("run-started", json!({ "runId": hostile, "name": hostile }));
    played.done(&format!("1:{hostile}:{hostile}"), hostile);
    played.tell("agent-failed", json!({ "key": "2:x:y", "error": { hostile: hostile } }));
    played.tell("agent-started", json!({ "key": "2:x:y", "model": hostile }));
    played.tell("question-asked", json!({ "key": hostile, "question": hostile, "choices": [hostile] }));
    let harmless =
        |text: &str| !text.contains(|c: char| (c.is_control() && c != '\n') || c == '\u{202e}' || c == '\u{200b}');
    for key in [KeyCode::Esc, KeyCode::Char('g'), KeyCode::Enter] {
        played.key(key);
        let rows = played.rows(100, 20).join("\n");
        assert!(harmless(&rows) && rows.contains("a]0;owned[2J"), "{rows}");
    }
    played.tell("log", json!({ "message": hostile }));
    played.tell("run-finished", json!({ "status": "failed", "error": hostile }));
    assert!(harmless(&played.rows(100, 20).join("\n")));
    assert!(harmless(&report(&played.board)), "{}", report(&played.board));
}

#[test]
fn keys_move_between_columns_and_back_to_what_happens() {
    let mut played = half_way();
    played.key(KeyCode::Left);
    played.key(KeyCode::Up);
    assert_row(&played.rows(100, 20), &["▸✓ Scout", "▸✓ list files"]);
    played.key(KeyCode::Tab);
    played.keys("j");
    assert_row(&played.rows(100, 20), &["▸✓ old"]);
    played.keys("jjjkkkk");
    assert_row(&played.rows(100, 20), &["▸✓ list files"]);
    played.key(KeyCode::Esc);
    assert_row(&played.rows(100, 20), &["▸● Review", "▸● a.rs"]);
    played.start("5:Scout:again");
    assert_row(&played.rows(100, 20), &["▸● Scout"]);
    assert_row(&played.rows(100, 20), &["▸● again"]);
}

#[test]
fn the_detail_scrolls_to_its_ends_and_no_further() {
    let mut played = Played::new();
    let text: Vec<String> = (0..200).map(|n| format!("line {n}")).collect();
    played.done("1:Scout:long", &text.join("\n"));
    played.key(KeyCode::Enter);
    let rows = played.rows(100, 30);
    assert!(!rows.iter().any(|row| row.contains("phases")), "{rows:?}");
    assert_row(&rows, &[" long ↓"]);
    played.keys("Gjjj");
    assert_row(&played.rows(100, 30), &["line 199"]);
    played.keys("k");
    let rows = played.rows(100, 30);
    assert!(!rows.iter().any(|row| row.contains("line 199")), "{rows:?}");
    assert_row(&rows, &["line 198"]);
    played.keys("g");
    assert_row(&played.rows(100, 30), &["Look at long."]);
    // Whoever reads is not moved on by what begins meanwhile.
    played.start("2:Scout:other");
    assert_row(&played.rows(100, 30), &["Look at long."]);
    played.key(KeyCode::Esc);
    assert_row(&played.rows(100, 30), &["phases"]);
}

#[test]
fn the_log_takes_the_place_of_the_detail() {
    let mut played = half_way();
    played.tell("log", json!({ "message": "newer" }));
    played.keys("l");
    let rows = played.rows(120, 20);
    let row = |text: &str| rows.iter().position(|row| row.contains(text)).unwrap();
    assert!(row("newer") < row("two files"), "{rows:?}");
    played.keys("l");
    assert_row(&played.rows(120, 20), &["Look at a.rs."]);
}

#[test]
fn keys_wish() {
    let mut played = half_way();
    let wishes = ['p', 'p', 'p', 'x', 'p', 'q'].map(|key| played.key(KeyCode::Char(key)));
    let (pause, resume) = (Some(Wish::Pause), Some(Wish::Resume));
    assert_eq!(wishes, [pause, resume, pause, Some(Wish::Stop), None, Some(Wish::Leave)]);
    assert_row(&played.rows(100, 20), &["review  stopping"]);
    let released = KeyEvent { kind: KeyEventKind::Release, ..KeyEvent::new(KeyCode::Char('q'), KeyModifiers::NONE) };
    assert_eq!(played.look.key(released, &played.board), None);
    played.tell("run-finished", json!({ "status": "finished" }));
    assert_eq!(['p', 'x'].map(|key| played.key(KeyCode::Char(key))), [None, None]);
}

#[test]
fn a_pause_is_shown_with_the_key_that_ends_it() {
    let mut played = half_way();
    played.key(KeyCode::Char('p'));
    assert_row(&played.rows(100, 20), &["review  paused"]);
    assert_row(&played.rows(100, 20), &["p resume"]);
}

#[test]
fn without_colours_there_are_none() {
    let colours = |paint: Paint| {
        let played = Played { look: Look::new(paint), ..half_way() };
        let terminal = played.terminal(100, 20);
        terminal.backend().buffer().content().iter().filter(|cell| cell.fg != Color::Reset).count()
    };
    assert!(colours(Paint::Coloured) > 0);
    assert_eq!(colours(Paint::Plain), 0);
}
