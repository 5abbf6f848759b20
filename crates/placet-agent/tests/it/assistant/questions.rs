//! `askUserQuestion` of an assistant: the program answers, or the call fails as `nobody_to_ask`. And what an assistant does
//! not read of its configuration.

use std::sync::{Arc, Mutex};

use placet_agent::assistant::{InitError, Message};
use placet_core::config::Config;
use placet_core::interaction::InteractionRequest;
use placet_core::policy::Mode;
use placet_engine::QuestionAnswer;
use serde_json::json;

use super::{assistant, of, sent};
use crate::support::{House, calls, on, says};

fn which() -> serde_json::Value {
    let options = json!([
        { "optionId": "redis", "label": "Redis" },
        { "optionId": "rethink", "label": "Something else", "action": "RETRY_WITH_FEEDBACK", "requiresInput": true },
    ]);
    calls(&[(
        "askUserQuestion",
        json!({ "title": "Cache", "message": "Which one?", "options": options }),
    )])
}

#[tokio::test]
async fn user_questions_always_need_input_and_reach_the_handler_of_the_program_in_every_mode() {
    for mode in [Mode::Default, Mode::AutoEdit, Mode::Yolo] {
        let house = House::new();
        let turns = json!([which(), on("local, please", says("Local, then."))]);
        let seen = Arc::new(Mutex::new(Vec::new()));
        let noted = Arc::clone(&seen);
        let answer = move |request: InteractionRequest| {
            noted.lock().unwrap().push(request.message);
            std::future::ready(QuestionAnswer::choose("rethink").saying("local, please"))
        };
        let message = Message::new("cache it").on_question(answer);
        let reply = sent(assistant(&house, &turns).approval_mode(mode), message).await;
        assert_eq!(*seen.lock().unwrap(), ["Which one?"], "{mode:?}");
        assert_eq!(reply.text, "Local, then.", "{mode:?}");
    }
}

#[tokio::test]
async fn a_question_without_a_handler_and_without_a_channel_is_a_typed_nobody_to_ask() {
    let house = House::new();
    let turns = json!([which(), on("nobody_to_ask", says("I cannot ask."))]);
    let reply = sent(assistant(&house, &turns), Message::new("cache it")).await;
    assert_eq!(reply.text, "I cannot ask.");
    assert_eq!(
        of(&reply, "askUserQuestion")[0].output["outcome"],
        "nobody_to_ask"
    );
}

#[tokio::test]
async fn a_handler_that_cannot_answer_or_answers_what_is_not_offered_answers_nothing() {
    for answer in [None, Some(QuestionAnswer::choose("no such option"))] {
        let house = House::new();
        let turns = json!([which(), on("cancelled", says("Without a cache."))]);
        let handler = move |_: InteractionRequest| std::future::ready(answer.clone());
        let reply = sent(
            assistant(&house, &turns),
            Message::new("cache it").on_question(handler),
        )
        .await;
        assert_eq!(reply.text, "Without a cache.");
    }
}

#[tokio::test]
async fn an_assistant_refuses_what_it_would_not_read_of_its_configuration() {
    for (key, text) in [
        ("[databases]", "[databases.shop]\nurl = 'sqlite:shop.db'\n"),
        ("[mcp.servers]", "[mcp.servers.files]\ncommand = ['files']\n"),
        (
            "[channels]",
            "[channels.ops]\ntype = 'webhook'\nurl = 'https://chat.example.com'\nsecret = 'env:OPS'\n",
        ),
        (
            "[models]",
            "[models.small]\nprovider = 'anthropic'\nmodel = 'small'\n",
        ),
        ("[workflows]", "[workflows]\ntriage = 'triage.toml'\n"),
    ] {
        let house = House::new();
        let config =
            Config::parse(text, "placet.toml", std::iter::empty(), placet_inspect::builtin()).unwrap();
        let started = assistant(&house, &json!([says("Hi.")]))
            .config(config)
            .start()
            .await;
        match started.err() {
            Some(InitError::NotForAssistants { key: refused, .. }) => assert_eq!(refused, key),
            other => panic!("{key}: {other:?}"),
        }
    }
}
