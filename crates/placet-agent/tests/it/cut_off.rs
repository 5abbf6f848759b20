//! Turns that the model did not finish: nothing of them runs, and they end no run as if it were complete.

use placet_agent::model::{Cut, Ended, ModelError};

use crate::models::{BOTH, Protocol, hello, home_with, speak};
use crate::provider::{Provider, Reply};
use crate::support::{House, last, names, rest};

impl Protocol {
    fn limit(self) -> &'static str {
        match self {
            Self::OpenAi => "length",
            Self::Anthropic => "max_tokens",
        }
    }

    fn refusal(self) -> &'static str {
        match self {
            Self::OpenAi => "content_filter",
            Self::Anthropic => "refusal",
        }
    }

    /// The same stream, ended for another reason; `null` means no reason.
    fn ended(self, text: &str, calls: &[(&str, &str)], reason: &str) -> Reply {
        let (key, usual) = match (self, calls) {
            (Self::OpenAi, []) => ("finish_reason", "stop"),
            (Self::OpenAi, _) => ("finish_reason", "tool_calls"),
            (Self::Anthropic, []) => ("stop_reason", "end_turn"),
            (Self::Anthropic, _) => ("stop_reason", "tool_use"),
        };
        let reason = match reason {
            "null" => reason.to_owned(),
            word => format!("\"{word}\""),
        };
        let whole = self.stream(text, calls);
        let body = whole.replace(&format!("\"{key}\":\"{usual}\""), &format!("\"{key}\":{reason}"));
        assert_ne!(body, whole);
        Reply::Stream {
            body,
            piece_bytes: 64,
        }
    }
}

#[tokio::test]
async fn only_an_end_that_is_known_makes_a_turn_whole() {
    for protocol in BOTH {
        let provider = |word: &str| Cut::Provider(word.to_owned());
        for (reason, cut) in [
            (protocol.limit(), Cut::TokenLimit),
            (protocol.refusal(), provider(protocol.refusal())),
            ("tired", provider("tired")),
        ] {
            let server = Provider::start(vec![protocol.ended("hm", &[("bash", "{}")], reason)]).await;
            let (spoken, _) = speak(&*protocol.model(&server.url), &hello()).await;
            assert_eq!(spoken.unwrap().ended, Ended::CutOff(cut), "{protocol:?}");
        }
        let server = Provider::start(vec![protocol.ended("hm", &[], "null")]).await;
        let (spoken, _) = speak(&*protocol.model(&server.url), &hello()).await;
        assert!(
            matches!(spoken, Err(ModelError::Again { .. })),
            "{protocol:?}: {spoken:?}"
        );
    }
}

/// The name of a tool and no arguments is a whole call to some models, and half of one to others.
#[tokio::test]
async fn no_call_of_a_turn_that_was_cut_off_runs_and_the_model_is_told() {
    for protocol in BOTH {
        for reason in [protocol.limit(), protocol.refusal()] {
            let house = House::new();
            house.put("notes.txt", "buy tea");
            let calls = [("read", r#"{"path":"notes.txt"}"#), ("ls", "")];
            let provider = Provider::start(vec![
                protocol.ended("Let me see", &calls, reason),
                protocol.whole("I was cut off.", &[]),
            ])
            .await;
            let home = home_with(&house, protocol.model(&provider.url)).await;
            let events = rest(&mut home.say("What is there?").await).await;
            let results: Vec<_> = events
                .iter()
                .filter(|event| event.what.name() == "OBSERVATION")
                .map(|event| event.what.data())
                .collect();
            assert_eq!(results.len(), 2, "{:?}", names(&events));
            for result in &results {
                assert_eq!(result["ok"], false, "{protocol:?} {reason}: {result}");
                assert!(
                    result.to_string().contains("nothing of this turn ran"),
                    "{result}"
                );
            }
            assert_eq!(last(&events, "COMPLETED")["text"], "I was cut off.");
            let told = provider.asked()[1].body.to_string();
            assert!(told.contains("cut") && !told.contains("buy tea"), "{told}");
            home.close().await;
        }
    }
}

#[tokio::test]
async fn half_a_last_word_fails_the_run_and_the_next_message_goes_on_from_it() {
    for protocol in BOTH {
        let house = House::new();
        let provider = Provider::start(vec![
            protocol.ended("The first of three reasons", &[], protocol.limit()),
            protocol.whole("is tea.", &[]),
        ])
        .await;
        let home = home_with(&house, protocol.model(&provider.url)).await;
        let events = rest(&mut home.say("Why?").await).await;
        let error = last(&events, "ERROR");
        assert_eq!(error["how"], "failed", "{protocol:?}");
        let message = error["message"].as_str().unwrap();
        assert!(
            message.contains("cut off at its token limit") && message.contains("`tokens_max`"),
            "{message}"
        );
        assert_eq!(last(&events, "THINKING")["text"], "The first of three reasons");
        let events = rest(&mut home.say("Go on").await).await;
        assert_eq!(last(&events, "COMPLETED")["text"], "is tea.");
        let told = provider.asked()[1].body.to_string();
        assert!(told.contains("The first of three reasons"), "{told}");
        home.close().await;
    }
}
