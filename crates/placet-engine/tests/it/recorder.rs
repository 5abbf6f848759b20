//! A channel that writes down what it was given, and fails when told to.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use placet_core::ids::{ChannelName, InteractionId};
use placet_core::interaction::Resolution;
use placet_core::render::{Markup, Surface, to_text};
use placet_engine::channel::{Channel, Content, Delivery, DeliveryError, Receipt};
use tokio::sync::{oneshot, watch};

use crate::support::soon;

/// One thing a channel was given.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Item {
    pub(crate) key: String,
    pub(crate) chat: String,
    pub(crate) what: What,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum What {
    Question {
        id: InteractionId,
        text: String,
        options: Vec<String>,
    },
    Decided {
        id: InteractionId,
        resolution: Resolution,
        copy: Option<String>,
    },
    Message(String),
}

/// How a channel takes the next thing.
pub(crate) enum Mood {
    Fail(DeliveryError),
    /// It can show only so many characters.
    Small(usize),
    /// It shows the thing, and answers once told to.
    Slow(oneshot::Receiver<()>),
    /// It never answers.
    Hang,
    /// It has a defect.
    Panic,
}

pub(crate) struct Recorder {
    name: ChannelName,
    given: Mutex<Vec<Item>>,
    moods: Mutex<VecDeque<Mood>>,
    count: watch::Sender<usize>,
}

impl Recorder {
    pub(crate) fn new(name: &str) -> Arc<Self> {
        Arc::new(Self {
            name: ChannelName::new(name).unwrap(),
            given: Mutex::default(),
            moods: Mutex::default(),
            count: watch::Sender::new(0),
        })
    }

    pub(crate) fn next(&self, mood: Mood) {
        self.moods.lock().unwrap().push_back(mood);
    }

    /// Everything given so far, once it is at least `count` things.
    pub(crate) async fn given(&self, count: usize) -> Vec<Item> {
        let mut seen = self.count.subscribe();
        soon(seen.wait_for(|given| *given >= count)).await.unwrap();
        self.given.lock().unwrap().clone()
    }

    /// What was said in plain messages, once there are `count` things in all.
    pub(crate) async fn messages(&self, count: usize) -> Vec<String> {
        let said = |item: Item| match item.what {
            What::Message(text) => Some(text),
            What::Question { .. } | What::Decided { .. } => None,
        };
        self.given(count).await.into_iter().filter_map(said).collect()
    }

    fn write_down(&self, item: Item) {
        let mut given = self.given.lock().unwrap();
        given.push(item);
        self.count.send_replace(given.len());
    }

    fn item(delivery: &Delivery<'_>, surface: &Surface) -> (Item, Receipt) {
        let whole = placet_core::journal::genesis();
        let (what, shown) = match &delivery.content {
            Content::Question {
                asked,
                document,
                options,
            } => {
                let rendered = to_text(document, surface);
                let options = options.iter().map(|option| option.option_id.clone()).collect();
                let shown = rendered.shown();
                (
                    What::Question {
                        id: asked.id.clone(),
                        text: rendered.text,
                        options,
                    },
                    shown,
                )
            }
            Content::Decided {
                asked,
                resolution,
                copy,
                ..
            } => {
                let (id, resolution) = (asked.id.clone(), (*resolution).clone());
                (
                    What::Decided {
                        id,
                        resolution,
                        copy: copy.reference.clone(),
                    },
                    copy.shown,
                )
            }
            Content::Message { text } => (
                What::Message((*text).to_owned()),
                placet_core::interaction::Shown::Whole(whole),
            ),
        };
        let key = delivery.idempotency_key.to_owned();
        let receipt = Receipt {
            reference: Some(format!("ref-{key}")),
            shown,
        };
        (
            Item {
                key,
                chat: delivery.chat.to_string(),
                what,
            },
            receipt,
        )
    }
}

fn surface(chars_max: Option<usize>) -> Surface {
    Surface {
        width: None,
        chars_max,
        markup: Markup::Plain,
        elsewhere: Some("placet inbox".into()),
    }
}

#[async_trait]
impl Channel for Recorder {
    fn name(&self) -> &ChannelName {
        &self.name
    }

    /// As it says when it delivers; see [`Mood::Small`].
    fn surface(&self) -> Surface {
        surface(None)
    }

    async fn deliver(&self, delivery: Delivery<'_>) -> Result<Receipt, DeliveryError> {
        let mood = self.moods.lock().unwrap().pop_front();
        let chars_max = match &mood {
            Some(Mood::Small(chars)) => Some(*chars),
            Some(Mood::Fail(_) | Mood::Slow(_) | Mood::Hang | Mood::Panic) | None => None,
        };
        let (item, receipt) = Self::item(&delivery, &surface(chars_max));
        self.write_down(item);
        match mood {
            Some(Mood::Fail(error)) => Err(error),
            Some(Mood::Hang) => std::future::pending().await,
            Some(Mood::Slow(told)) => {
                told.await.unwrap();
                Ok(receipt)
            }
            Some(Mood::Panic) => panic!("a defect of the channel"),
            Some(Mood::Small(_)) | None => Ok(receipt),
        }
    }
}
