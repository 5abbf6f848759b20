//! The terminal: an inline question to the person who sits at it.
//!
//! [`open`] gives two halves. [`Terminal`] is the channel an engine delivers to; [`Attendant`] draws the questions, one at a
//! time, and gives the answers to the broker. Without a terminal there are no halves, and a call that came from one has
//! no approver.
//!
//! ```no_run
//! use placet_channels::terminal::{self, Colours, TerminalUser};
//! use placet_core::config::Config;
//! use placet_core::interaction::Locale;
//! use placet_engine::Engine;
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let config = Config::builtin(placet_inspect::builtin());
//! let user = TerminalUser::of_user(&config.people)?;
//! let (terminal, attendant) = terminal::open(user, Locale::English, Colours::Auto)?;
//! let engine = Engine::builder(config).channel(terminal).start_in_memory().await?;
//! tokio::spawn(attendant.run(engine.clone(), Default::default()));
//! # Ok(())
//! # }
//! ```
//!
//! | part | what it does |
//! |---|---|
//! | [`prompt`] | the machine: keys in, effects out; drawing: state in, lines out. Shared with the inbox |
//! | [`scroll`], [`line`](mod@line), [`field`] | a document, a line, a text being typed |
//! | [`arguments`] | arguments as a person edits them |
//! | [`guard`], [`burst`] | when keys count: not too soon, not several at once |
//! | [`palette`], [`user`] | colours for roles; who sits there |
//! | `inline`, `raw`, `editor` | the real terminal |
//! | `queue`, `attendant` | one question after the other, between the channel and the broker |
//! | `questions` | the broker as the attendant sees it: of this process, or of the store's owner |

use std::sync::Arc;

use async_trait::async_trait;
use placet_core::call::{Chat, Origin};
use placet_core::ids::{AgentId, ChannelName, PersonId};
use placet_core::interaction::{Locale, Shown};
use placet_core::principal::{Principal, Via};
use placet_core::render::{SafeText, Surface};
use placet_engine::channel::{Channel, Content, Delivery, DeliveryError, FormInput, Receipt};

pub mod arguments;
mod attendant;
pub mod burst;
mod choices;
mod editor;
pub mod field;
pub mod guard;
mod inline;
pub mod line;
pub mod palette;
pub mod prompt;
mod questions;
mod queue;
mod raw;
pub mod scroll;
pub mod user;

pub use attendant::{AttendError, Attendant, Attended, Delivered, Settle};
pub use editor::edit;
pub use inline::{Inline, size};
pub use palette::Colours;
pub use questions::{Given, Questions};
pub use raw::{NoTerminal, Raw, Taken, restore};
#[cfg(unix)]
pub use raw::{restore_on_other_signals, restore_on_signals};
pub use user::TerminalUser;

use palette::Palette;
use queue::Queue;
use raw::Out;

/// The channel's name.
pub const NAME: &str = "terminal";

/// The terminal of this process, as a channel.
pub struct Terminal {
    chat: Chat,
    person: PersonId,
    queue: Arc<Queue>,
}

/// Whether this process has an interactive terminal; the reason, if not.
pub fn attended() -> Result<(), NoTerminal> {
    Out::find().map(drop)
}

/// The terminal of this process, if it is interactive.
pub fn open(
    seat: TerminalUser,
    locale: Locale,
    colours: Colours,
) -> Result<(Arc<Terminal>, Attendant), NoTerminal> {
    let out = Out::find()?;
    if colours == Colours::Always {
        crossterm::style::force_color_output(true);
    }
    let queue = Arc::new(Queue::default());
    let terminal = Terminal {
        chat: seat.chat.clone(),
        person: seat.person.clone(),
        queue: Arc::clone(&queue),
    };
    let attendant = Attendant {
        inline: Inline::new(out, Palette::of(colours), locale),
        queue,
        chat: seat.chat,
        by: Principal::Person {
            person: seat.person,
            via: Via::Inbox,
        },
    };
    Ok((Arc::new(terminal), attendant))
}

impl Terminal {
    /// The chat that is this terminal.
    pub fn chat(&self) -> &Chat {
        &self.chat
    }

    /// Where a call of an agent working at this terminal comes from: its questions are asked here.
    pub fn origin(&self, agent: AgentId) -> Origin {
        Origin {
            agent,
            agent_path: Vec::new(),
            chat: Some(self.chat.clone()),
            user: Some(self.person.clone()),
        }
    }
}

#[async_trait]
impl Channel for Terminal {
    fn name(&self) -> &ChannelName {
        &self.chat.channel
    }

    /// As much as the terminal can scroll; the sheet draws the document itself.
    fn surface(&self) -> Surface {
        Surface::UNBOUNDED
    }

    fn forms(&self) -> &'static [FormInput] {
        &[FormInput::Text, FormInput::Data, FormInput::Edits]
    }

    async fn deliver(&self, delivery: Delivery<'_>) -> Result<Receipt, DeliveryError> {
        if *delivery.chat != self.chat.id {
            let error = format!("`{}` does not sit at this terminal", delivery.chat);
            return Err(DeliveryError::Impossible(error));
        }
        let shown = match delivery.content {
            Content::Question { asked, document, .. } => {
                self.queue.push(asked.id.clone());
                Shown::Whole(document.digest())
            }
            Content::Decided {
                asked,
                document,
                copy,
                ..
            } => {
                self.queue.settle(&asked.id, document);
                return Ok(copy.clone());
            }
            Content::Message { text } => {
                self.queue.say(SafeText::block(text));
                Shown::Program
            }
        };
        Ok(Receipt {
            reference: None,
            shown,
        })
    }
}
