//! A prompt as lines: the question, then how to answer it.

use std::time::Duration;

use placet_core::interaction::Locale;
use placet_core::messages::{Message, prompt, request};
use placet_core::render::SafeText;
use placet_core::standing::{GrantReach, Scope};

use super::super::choices::{Choice, Does};
use super::super::line::{Line, SpanStyle, flow};
use super::{EditForm, Fits, Interrupting, Mode, Past, Prompt, ScrollView, Style, Terms, TypedFor, times};

/// Narrower than this, a question cannot be read.
const COLS_MIN: usize = 24;
/// Fewer lines of the question than this are not worth answering from.
const SHEET_ROWS_MIN: usize = 2;
/// Rows a text being typed may take.
const FIELD_ROWS_MAX: usize = 6;

/// How much room there is, in columns and rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    /// Columns.
    pub cols: usize,
    /// Rows.
    pub rows: usize,
}

/// What to draw.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Screen {
    /// The lines, none wider and none more than the room there is.
    pub lines: Vec<Line>,
    /// Row and column of the cursor, where a text is being typed.
    pub cursor: Option<(usize, usize)>,
}

impl Prompt {
    /// Draws the question into the room there is. Say [`Prompt::drawn`] once the person can see it.
    pub fn draw(&mut self, size: Size, now: Duration) -> Screen {
        let (foot, cursor) = self.foot(size);
        // The title and the line that counts lines are there as well.
        if size.cols < COLS_MIN || size.rows < foot.len() + SHEET_ROWS_MIN + 2 {
            self.fits = Fits::No;
            return self.too_small(size);
        }
        self.fits = Fits::Yes;
        let mut lines = vec![self.top(size.cols, now)];
        let sheet = match &mut self.mode {
            Mode::Reviewing { sheet, .. } | Mode::Granting { sheet, .. } => sheet,
            _ => &mut self.sheet,
        };
        fit(sheet, size.cols, size.rows.saturating_sub(foot.len() + 1));
        lines.extend(sheet.visible().iter().cloned());
        lines.extend(more(sheet, size.cols, self.ask.locale));
        let above = lines.len();
        let counts = self.guard.counts(now);
        // Keys that do not count yet look like it.
        lines.extend(
            foot.into_iter()
                .map(|line| if counts { line } else { line.faint() }),
        );
        Screen {
            lines,
            cursor: cursor.map(|(row, column)| (above + row, column)),
        }
    }

    /// Draws the question while one of several is chosen. Its own keys mean something else there, so none is shown.
    pub fn preview(&mut self, size: Size, now: Duration) -> Screen {
        if size.cols < COLS_MIN || size.rows < SHEET_ROWS_MIN + 2 {
            return self.too_small(size);
        }
        let mut lines = vec![self.top(size.cols, now)];
        fit(&mut self.sheet, size.cols, size.rows.saturating_sub(1));
        lines.extend(self.sheet.visible().iter().cloned());
        if let Some(place) = self.sheet.place() {
            let below = place.all - place.last;
            lines.push(Line::new(SpanStyle::Faint, self.said(&prompt::more_below(below))));
        }
        Screen { lines, cursor: None }
    }

    fn too_small(&self, size: Size) -> Screen {
        let message = match self.ask.interrupting {
            Interrupting::Refuses => prompt::too_small_refuses(),
            Interrupting::Leaves => prompt::too_small_leaves(),
        };
        let mut lines = Line::new(SpanStyle::Caution, self.said(&message)).broken(size.cols.max(2));
        lines.truncate(size.rows.max(1));
        Screen { lines, cursor: None }
    }

    fn top(&self, cols: usize, now: Duration) -> Line {
        let asked = self.asked();
        let clock = times::clock(self.remaining(now));
        let left = self.said(&prompt::left(clock));
        let others = match self.others_waiting {
            0 => String::new(),
            count => self.said(&prompt::others(count)),
        };
        let title = format!("━━ placet · {} · {left} {others}", asked.code);
        let style = asked.stated_risk().map_or(SpanStyle::Strong, SpanStyle::Risk);
        let line = Line::new(style, title);
        let rest = cols.saturating_sub(line.width());
        let line = line.and(style, "━".repeat(rest));
        line.broken(cols).into_iter().next().unwrap_or_default()
    }

    /// What stands below the question, and where the cursor is in it.
    fn foot(&self, size: Size) -> (Vec<Line>, Option<(usize, usize)>) {
        let cols = size.cols;
        let mut lines = vec![Line::new(SpanStyle::Faint, "─".repeat(cols))];
        if let Some(message) = &self.instruction {
            let label = self.said(&prompt::message());
            let line =
                Line::new(SpanStyle::Faint, label).and(SpanStyle::Plain, SafeText::line(message).to_string());
            lines.extend(line.broken(cols));
        }
        if let Some(note) = &self.note {
            lines.extend(Line::new(SpanStyle::Caution, note.to_string()).broken(cols));
        }
        // Whatever happens, some of the question stays visible.
        let room = size.rows.saturating_sub(lines.len() + 4).max(1);
        let mut cursor = None;
        match &self.mode {
            Mode::Choosing { at } => match self.choices.style {
                Style::Keys => lines.extend(self.keys(cols)),
                Style::List => lines.extend(self.list(*at, size.cols, room)),
            },
            Mode::Confirming { option } => lines.extend(self.confirm(&option.label, cols)),
            Mode::Typing { wanted, field } => {
                lines.extend(Line::new(SpanStyle::Strong, self.wants(wanted)).broken(cols));
                let rows = field.rows(cols.saturating_sub(2), FIELD_ROWS_MAX.min(room));
                cursor = Some((lines.len() + rows.row, rows.column + 2));
                for (index, row) in rows.texts.iter().enumerate() {
                    let lead = if index == 0 { "› " } else { "  " };
                    lines.push(Line::new(SpanStyle::Key, lead).and(SpanStyle::Plain, row));
                }
                lines.extend(self.typing_keys(wanted, cols));
            }
            Mode::Reviewing { .. } => lines.extend(self.review_keys(cols)),
            Mode::Remembering(terms) => lines.extend(self.remember(*terms, cols, room)),
            Mode::Granting { terms, past, .. } => lines.extend(self.grant_keys(*terms, *past, cols)),
            Mode::Helping => lines.extend(self.help(cols, room)),
            Mode::Sending { .. } => {
                lines.push(Line::new(SpanStyle::Faint, self.said(&prompt::sending())));
            }
        }
        let lines = lines.into_iter().flat_map(|line| line.broken(cols)).collect();
        (lines, cursor)
    }

    fn keys(&self, cols: usize) -> Vec<Line> {
        let item = |(index, choice): (usize, &Choice)| {
            let key = choice.key.unwrap_or(' ');
            // The capital is what Enter takes, as everywhere on terminals.
            let is_default = self.choices.default == Some(index);
            let key = if is_default { key.to_ascii_uppercase() } else { key };
            let role = match &choice.does {
                Does::Take(option) if option.is_dangerous => SpanStyle::Caution,
                _ if is_default => SpanStyle::Strong,
                _ => SpanStyle::Plain,
            };
            Line::new(SpanStyle::Key, format!("[{key}]")).and(role, format!(" {}", choice.label))
        };
        let shown = self.choices.shown();
        let mut items: Vec<Line> = shown.into_iter().map(item).collect();
        let more = if self.choices.all.len() > items.len() {
            prompt::more_key()
        } else {
            prompt::help_key()
        };
        items.push(Line::new(SpanStyle::Key, "[?]").and(SpanStyle::Plain, self.said(&more)));
        flow(items, cols)
    }

    fn list(&self, at: Option<usize>, cols: usize, room: usize) -> Vec<Line> {
        let mut rows: Vec<(usize, Line)> = Vec::new();
        for (index, choice) in self.choices.all.iter().enumerate() {
            let selected = at == Some(index);
            let mark = if selected { "› " } else { "  " };
            let key = choice.key.map_or("   ".to_owned(), |key| format!("[{key}]"));
            let label = if selected {
                SpanStyle::Selected
            } else {
                SpanStyle::Plain
            };
            let about = match choice.about.as_str() {
                "" => String::new(),
                about => format!(" — {about}"),
            };
            let warning = match &choice.does {
                Does::Take(option) if option.is_dangerous => " ⚠".to_owned(),
                Does::Take(option) if option.is_default => self.said(&request::default_option()),
                _ => String::new(),
            };
            let line = Line::new(SpanStyle::Key, format!("{mark}{key} "))
                .and(label, choice.label.to_string())
                .and(SpanStyle::Faint, about)
                .and(SpanStyle::Caution, warning);
            rows.extend(line.broken(cols).into_iter().map(|line| (index, line)));
        }
        let hint = Line::new(SpanStyle::Faint, self.said(&prompt::list_hint()));
        let mut lines = windowed(rows, at.unwrap_or(0), room.saturating_sub(1), self.ask.locale);
        lines.extend(hint.broken(cols));
        lines
    }

    fn confirm(&self, label: &str, cols: usize) -> Vec<Line> {
        let words = self.said(&prompt::choose(SafeText::line(label)));
        let mut lines = Line::new(SpanStyle::Caution, words).broken(cols);
        lines.extend(self.offers([("y", prompt::yes()), ("N", prompt::back())], cols));
        lines
    }

    fn offers<const N: usize>(&self, offers: [(&str, Message); N], cols: usize) -> Vec<Line> {
        let item = |(key, label): (&str, Message)| {
            let words = format!(" {}", self.said(&label));
            Line::new(SpanStyle::Key, format!("[{key}]")).and(SpanStyle::Plain, words)
        };
        flow(offers.into_iter().map(item).collect(), cols)
    }

    fn wants(&self, wanted: &TypedFor) -> String {
        match wanted {
            TypedFor::Text(option) => {
                let prompt = option.input_prompt.as_deref().unwrap_or(&option.label);
                SafeText::line(prompt).to_string()
            }
            TypedFor::Reason(_) => self.said(&prompt::ask_reason()),
            TypedFor::Message => self.said(&prompt::ask_message()),
            TypedFor::Args(EditForm::Command) => self.said(&prompt::ask_command()),
            TypedFor::Args(EditForm::Json) => self.said(&prompt::ask_args()),
        }
    }

    fn typing_keys(&self, wanted: &TypedFor, cols: usize) -> Vec<Line> {
        let enter = match wanted {
            TypedFor::Text(_) => prompt::send(),
            TypedFor::Reason(_) => prompt::reject(),
            TypedFor::Message => prompt::keep(),
            TypedFor::Args(_) => prompt::show_change(),
        };
        self.offers([("Enter", enter), ("Esc", prompt::back())], cols)
    }

    fn review_keys(&self, cols: usize) -> Vec<Line> {
        self.offers(
            [
                ("y", prompt::run_changed()),
                ("e", prompt::edit_again()),
                ("N", prompt::back()),
            ],
            cols,
        )
    }

    fn remember(&self, terms: Terms, cols: usize, room: usize) -> Vec<Line> {
        let heading = Line::new(SpanStyle::Strong, self.said(&prompt::remember()));
        let mut lines = heading.broken(cols);
        let mut times = vec![Line::new(SpanStyle::Strong, self.said(&prompt::lasts()))];
        times.extend(self.lengths(terms.scope).iter().enumerate().map(|(index, time)| {
            let text = times::lasting(*time, self.ask.locale);
            if index == terms.lasts {
                Line::new(SpanStyle::Selected, format!("‹{text}›"))
            } else {
                Line::new(SpanStyle::Faint, text)
            }
        }));
        let mut below = flow(times, cols);
        below.extend(self.offers(
            [
                ("y", prompt::approve_terms()),
                ("↑↓", prompt::what()),
                ("←→", prompt::how_long()),
                ("N", prompt::back()),
            ],
            cols,
        ));
        let scopes = self.ask.scopes.iter().enumerate();
        let all: Vec<Vec<Line>> = scopes
            .map(|(index, scope)| self.scope(index, scope, terms, cols))
            .collect();
        let rows = all.iter().map(Vec::len).sum::<usize>();
        if lines.len() + rows + below.len() <= room {
            lines.extend(all.into_iter().flatten());
        } else {
            // The chosen one is always shown in full.
            let (number, of) = (terms.scope + 1, all.len());
            lines.extend(all.into_iter().nth(terms.scope).unwrap_or_default());
            lines.push(Line::new(
                SpanStyle::Caution,
                self.said(&prompt::number_of(of, number)),
            ));
        }
        lines.extend(below);
        lines
    }

    /// One scope of "don't ask again": its number, how far it reaches, exactly what it covers.
    fn scope(&self, index: usize, scope: &Scope, terms: Terms, cols: usize) -> Vec<Line> {
        let (mark, role) = if index == terms.scope {
            ("›", SpanStyle::Selected)
        } else {
            (" ", SpanStyle::Plain)
        };
        let reach = match scope.reach() {
            GrantReach::Call => prompt::this_call(),
            GrantReach::Session => prompt::this_conversation(),
            GrantReach::Project => prompt::this_project(),
            GrantReach::Rule => prompt::as_rule(),
        };
        let covers = SafeText::line(&scope.describe_in(self.ask.locale));
        Line::new(SpanStyle::Key, format!("{mark}{} ", index + 1))
            .and(SpanStyle::Strong, self.said(&reach))
            .and(role, covers.to_string())
            .broken(cols)
    }

    fn grant_keys(&self, terms: Terms, past: Past, cols: usize) -> Vec<Line> {
        if past == Past::Refused {
            return self.offers([("N", prompt::back())], cols);
        }
        let lasts = self.lengths(terms.scope).get(terms.lasts);
        let lasts = lasts.map_or(String::new(), |lasts| times::lasting(*lasts, self.ask.locale));
        let sure = self.said(&prompt::sure(lasts));
        let mut lines = Line::new(SpanStyle::Caution, sure).broken(cols);
        lines.extend(self.offers([("y", prompt::yes()), ("N", prompt::back())], cols));
        lines
    }

    fn help(&self, cols: usize, room: usize) -> Vec<Line> {
        let line = |key: &str, label: &str, about: &str| {
            let about = if about.is_empty() {
                String::new()
            } else {
                format!(" — {about}")
            };
            Line::new(SpanStyle::Key, format!("[{key}] "))
                .and(SpanStyle::Plain, label)
                .and(SpanStyle::Faint, about)
                .broken(cols)
        };
        let mut lines: Vec<Line> = Vec::new();
        for choice in &self.choices.all {
            let key = choice.key.map_or(String::new(), String::from);
            lines.extend(line(&key, choice.label.as_str(), choice.about.as_str()));
        }
        let scrolls = self.said(&prompt::scroll());
        lines.extend(line("Space b ↑ ↓ Home End", &scrolls, ""));
        let interrupts = match self.ask.interrupting {
            Interrupting::Refuses => prompt::interrupt_rejects(),
            Interrupting::Leaves => prompt::interrupt_leaves(),
        };
        lines.extend(line("Ctrl-C", &self.said(&interrupts), ""));
        let rows = lines.into_iter().enumerate().collect();
        windowed(rows, 0, room, self.ask.locale)
    }
}

/// Gives a sheet its room; one row less when there is more than fits, to say so.
fn fit(sheet: &mut ScrollView, cols: usize, room: usize) {
    sheet.fit_width(cols);
    let more = usize::from(sheet.len() > room);
    sheet.fit_height(room.saturating_sub(more));
}

/// What is below or above, when not all of the question fits.
fn more(sheet: &ScrollView, cols: usize, locale: Locale) -> Option<Line> {
    let place = sheet.place()?;
    let words = prompt::lines(place.all, place.first, place.last).say(locale);
    let line = Line::new(SpanStyle::Caution, words);
    line.broken(cols).into_iter().next()
}

/// At most `room` rows around the selected item; what is not shown is counted.
fn windowed(rows: Vec<(usize, Line)>, selected: usize, room: usize, locale: Locale) -> Vec<Line> {
    if rows.len() <= room {
        return rows.into_iter().map(|(_, line)| line).collect();
    }
    let room = room.saturating_sub(1).max(1);
    let at = rows.iter().position(|(item, _)| *item == selected).unwrap_or(0);
    let first = at.saturating_sub(room / 2).min(rows.len().saturating_sub(room));
    let hidden = rows.len().saturating_sub(room);
    let mut lines: Vec<Line> = rows
        .into_iter()
        .skip(first)
        .take(room)
        .map(|(_, line)| line)
        .collect();
    lines.push(Line::new(
        SpanStyle::Caution,
        prompt::more_lines(hidden).say(locale),
    ));
    lines
}
