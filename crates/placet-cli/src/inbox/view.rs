//! The inbox as a picture.

use std::time::Duration;

use placet_channels::terminal::line;
use placet_channels::terminal::palette::Palette;
use placet_channels::terminal::prompt::Size;
use placet_core::interaction::Locale;
use placet_core::messages::inbox;
use placet_core::render::SafeText;
use placet_core::time::Millis;
use ratatui::Frame;
use ratatui::backend::FromCrossterm as _;
use ratatui::layout::{Constraint, Layout, Position, Rect};
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use super::app::{App, Focus};
use super::waiting::Waiting;

/// From here on list and question fit side by side.
const SIDE_BY_SIDE_COLS: u16 = 110;
/// As wide as the longest risk.
const RISK_COLS: usize = 6;

/// Draws everything.
pub(super) fn draw(frame: &mut Frame<'_>, app: &mut App, palette: Palette, now: Duration) {
    let [title, main, status] =
        Layout::vertical([Constraint::Length(1), Constraint::Min(0), Constraint::Length(1)])
            .areas(frame.area());
    frame.render_widget(Paragraph::new(top(app)), title);
    frame.render_widget(Paragraph::new(bottom(app, palette)), status);
    let (list, detail) = panes(app, main);
    if let Some(list) = list {
        let rows = rows(app, list, palette, now);
        frame.render_widget(Paragraph::new(rows), list);
    }
    let lines = match &app.focus {
        Focus::Help => help(app.locale),
        _ => detail_lines(frame, app, detail, palette, now),
    };
    frame.render_widget(Paragraph::new(lines), detail);
    if let Focus::Searching(field) = &app.focus {
        let text = SafeText::line(&field.text());
        let column = u16::try_from(text.width() + 1)
            .unwrap_or(0)
            .min(status.width.saturating_sub(1));
        frame.set_cursor_position(Position::new(status.x + column, status.y));
    }
}

/// Where the list goes, and where the question. A small screen gives all of it to what the person looks at.
fn panes(app: &App, main: Rect) -> (Option<Rect>, Rect) {
    let wide = main.width >= SIDE_BY_SIDE_COLS;
    match (&app.focus, wide) {
        (_, true) => {
            let [list, gap, detail] = Layout::horizontal([
                Constraint::Percentage(42),
                Constraint::Length(1),
                Constraint::Min(0),
            ])
            .areas(main);
            let _ = gap;
            (Some(list), detail)
        }
        (Focus::Question | Focus::Together(_) | Focus::Help, false) => (None, main),
        (Focus::List | Focus::Searching(_), false) => {
            let [list, detail] =
                Layout::vertical([Constraint::Percentage(35), Constraint::Min(0)]).areas(main);
            (Some(list), detail)
        }
    }
}

fn top(app: &App) -> Line<'static> {
    let bold = Style::new().add_modifier(Modifier::BOLD);
    let (listed, all) = (app.listed().count(), app.waiting.len());
    let count = if app.filter.is_off() {
        inbox::pending(all)
    } else {
        inbox::listed(all, app.filter.words(), listed)
    };
    let count = count.say(app.locale);
    let who = app.by.to_string();
    let text = format!(
        " placet inbox · {} · {}",
        SafeText::line(&who),
        SafeText::line(&count)
    );
    Line::styled(text, bold)
}

fn bottom(app: &App, palette: Palette) -> Line<'static> {
    if let Some(note) = &app.note {
        return Line::styled(format!(" {note}"), look(palette, line::SpanStyle::Caution));
    }
    let message = match &app.focus {
        Focus::Searching(field) => return Line::raw(format!("/{}", SafeText::line(&field.text()))),
        Focus::List => inbox::keys_list(),
        Focus::Question => inbox::keys_question(),
        Focus::Together(_) => inbox::keys_together(),
        Focus::Help => inbox::keys_help(),
    };
    Line::styled(message.say(app.locale), look(palette, line::SpanStyle::Faint))
}

/// The list around the selected question.
fn rows(app: &App, area: Rect, palette: Palette, now: Duration) -> Vec<Line<'static>> {
    let height = usize::from(area.height).max(1);
    let at = app.position();
    let first = at.saturating_sub(height / 2);
    let listed: Vec<&Waiting> = app.listed().collect();
    let first = first.min(listed.len().saturating_sub(height));
    if listed.is_empty() {
        let words = format!(" {}", inbox::none().say(app.locale));
        return vec![Line::styled(words, look(palette, line::SpanStyle::Faint))];
    }
    let mut lines = Vec::new();
    for (index, waiting) in listed.iter().enumerate().skip(first).take(height) {
        let neighbour = |other: Option<&&Waiting>| {
            waiting.group().is_some() && other.and_then(|other| other.group()) == waiting.group()
        };
        let before = index.checked_sub(1).and_then(|index| listed.get(index));
        let mark = match (neighbour(before), neighbour(listed.get(index + 1))) {
            (false, true) => "┌",
            (true, true) => "│",
            (true, false) => "└",
            (false, false) => " ",
        };
        let selected = index == at;
        lines.push(row(app, waiting, mark, selected, palette, now));
    }
    lines
}

fn row(
    app: &App,
    waiting: &Waiting,
    mark: &str,
    selected: bool,
    palette: Palette,
    now: Duration,
) -> Line<'static> {
    let passed = u64::try_from(app.since_looked_up(now).as_millis()).unwrap_or(u64::MAX);
    let left = Millis::new(waiting.remaining().get().saturating_sub(passed));
    let seconds = left.get().div_ceil(1000);
    let clock = match seconds {
        0..=5999 => format!("{}:{:02}", seconds / 60, seconds % 60),
        _ => format!("{}h", seconds / 3600),
    };
    let style = waiting
        .risk()
        .map_or(line::SpanStyle::Faint, line::SpanStyle::Risk);
    let mut risk = waiting
        .risk()
        .map_or_else(String::new, |risk| risk.label(app.locale));
    let room = RISK_COLS.saturating_sub(SafeText::line(&risk).width());
    risk.push_str(&" ".repeat(room));
    let lead = if selected { "›" } else { " " };
    let line = Line::from(vec![
        Span::raw(format!("{lead}{mark}{clock:>6} ")),
        Span::styled(risk, look(palette, style)),
        Span::styled(
            format!(" {} ", waiting.code()),
            look(palette, line::SpanStyle::Strong),
        ),
        Span::raw(format!("{} ", waiting.about())),
        Span::styled(waiting.gist.to_string(), look(palette, line::SpanStyle::Faint)),
    ]);
    if selected {
        line.style(Style::new().add_modifier(Modifier::REVERSED))
    } else {
        line
    }
}

fn detail_lines(
    frame: &mut Frame<'_>,
    app: &mut App,
    area: Rect,
    palette: Palette,
    now: Duration,
) -> Vec<Line<'static>> {
    let size = Size {
        cols: usize::from(area.width),
        rows: usize::from(area.height),
    };
    let locale = app.locale;
    if let Focus::Together(together) = &mut app.focus {
        let (all, high) = together.count();
        let heading = inbox::together(all, high).say(locale);
        together.sheet.fit_width(size.cols);
        together.sheet.fit_height(size.rows.saturating_sub(2));
        // Keys that do not count yet look like it.
        let role = if together.guard.counts(now) {
            line::SpanStyle::Strong
        } else {
            line::SpanStyle::Faint
        };
        let mut lines = vec![Line::styled(heading, look(palette, role))];
        let place = together.sheet.place();
        lines.extend(together.sheet.visible().iter().map(|line| styled(line, palette)));
        if let Some(place) = place {
            let words = format!("── {}–{} / {}", place.first, place.last, place.all);
            lines.push(Line::styled(words, look(palette, line::SpanStyle::Caution)));
        }
        return lines;
    }
    let Some(prompt) = &mut app.prompt else {
        return Vec::new();
    };
    let screen = match &app.focus {
        Focus::Question => prompt.draw(size, now),
        _ => prompt.preview(size, now),
    };
    if let (Some((row, column)), Focus::Question) = (screen.cursor, &app.focus) {
        let row = area.y.saturating_add(u16::try_from(row).unwrap_or(0));
        let column = area.x.saturating_add(u16::try_from(column).unwrap_or(0));
        frame.set_cursor_position(Position::new(column, row));
    }
    screen.lines.iter().map(|line| styled(line, palette)).collect()
}

fn help(locale: Locale) -> Vec<Line<'static>> {
    let lines = [
        Some(inbox::help_list()),
        None,
        Some(inbox::help_choose()),
        Some(inbox::help_group()),
        Some(inbox::help_search()),
        Some(inbox::help_filter()),
        Some(inbox::help_leave()),
        None,
        Some(inbox::help_keys()),
    ];
    let said = lines.map(|line| line.map_or_else(String::new, |line| line.say(locale)));
    said.into_iter().map(Line::raw).collect()
}

fn styled(line: &line::Line, palette: Palette) -> Line<'static> {
    let span = |span: &line::Span| Span::styled(span.text.clone(), look(palette, span.role));
    Line::from(line.spans.iter().map(span).collect::<Vec<_>>())
}

fn look(palette: Palette, role: line::SpanStyle) -> Style {
    Style::from_crossterm(palette.style(role))
}
