//! Both protocols against a provider on this machine: torn chunks, errors, broken arguments, patience.

use std::sync::{Arc, Mutex};

use placet_agent::Model;
use placet_agent::model::{Access, Anthropic, ApiKey, Delta, ModelError, OpenAi, Prompt, Spoken, ToolSpec};
use placet_agent::{Agent, Tools};
use placet_core::config::Config;
use placet_core::ids::AgentId;
use placet_core::run::{Message, Usage};
use placet_engine::Engine;
use serde_json::json;

use crate::provider::{Provider, Reply, anthropic, openai};
use crate::support::{Home, House, last, rest};

#[derive(Debug, Clone, Copy)]
pub(crate) enum Protocol {
    OpenAi,
    Anthropic,
}

pub(crate) const BOTH: [Protocol; 2] = [Protocol::OpenAi, Protocol::Anthropic];

impl Protocol {
    pub(crate) fn model(self, url: &str) -> Arc<dyn Model> {
        let access = Access {
            name: "real".into(),
            model: "vendor-model-1".into(),
            base_url: Some(url.to_owned()),
            key: Some(ApiKey::new("sk-test")),
            proxy: None,
            tokens_max: None,
            product: None,
        };
        match self {
            Self::OpenAi => Arc::new(OpenAi::new(access).unwrap()),
            Self::Anthropic => Arc::new(Anthropic::new(access).unwrap()),
        }
    }

    pub(crate) fn stream(self, text: &str, calls: &[(&str, &str)]) -> String {
        match self {
            Self::OpenAi => openai(text, calls),
            Self::Anthropic => anthropic(text, calls),
        }
    }

    pub(crate) fn whole(self, text: &str, calls: &[(&str, &str)]) -> Reply {
        Reply::Stream {
            body: self.stream(text, calls),
            piece_bytes: 7,
        }
    }
}

pub(crate) async fn speak(model: &dyn Model, transcript: &[Message]) -> (Result<Spoken, ModelError>, String) {
    let heard = Mutex::new(String::new());
    let tools = [ToolSpec {
        name: "bash".into(),
        description: "runs".into(),
        schema: json!({ "type": "object" }),
    }];
    let prompt = Prompt {
        system: "You are a test.",
        transcript,
        tools: &tools,
    };
    let listen = |delta: Delta| {
        if let Delta::Text(piece) = delta {
            heard.lock().unwrap().push_str(&piece);
        }
    };
    let spoken = model.speak(prompt, &listen).await;
    (spoken, heard.into_inner().unwrap())
}

pub(crate) fn hello() -> Vec<Message> {
    vec![Message::User {
        text: "你好".into()
    }]
}

#[tokio::test]
async fn a_stream_torn_anywhere_is_heard_whole() {
    let args = r#"{"command":"echo 你好 \"x\""}"#;
    for protocol in BOTH {
        for piece_bytes in [1, 2, 3, 5, 64, 100_000] {
            let body = protocol.stream("I say 你好 😀 now", &[("bash", args), ("bash", "{}")]);
            let provider = Provider::start(vec![Reply::Stream { body, piece_bytes }]).await;
            let (spoken, heard) = speak(&*protocol.model(&provider.url), &hello()).await;
            let spoken = spoken.unwrap();
            assert_eq!(spoken.text, "I say 你好 😀 now", "{protocol:?} {piece_bytes}");
            assert_eq!(heard, spoken.text);
            let calls: Vec<(&str, &str)> = spoken
                .calls
                .iter()
                .map(|call| (call.tool.as_str(), call.args.as_str()))
                .collect();
            assert_eq!(calls, [("bash", args), ("bash", "{}")]);
            assert_eq!(
                spoken.usage,
                Usage {
                    input_tokens: 11,
                    output_tokens: 7
                }
            );
        }
    }
}

#[tokio::test]
async fn the_key_goes_into_its_header_and_nowhere_else() {
    for protocol in BOTH {
        let provider = Provider::start(vec![protocol.whole("hi", &[])]).await;
        let model = protocol.model(&provider.url);
        speak(&*model, &hello()).await.0.unwrap();
        let asked = &provider.asked()[0];
        let header = match protocol {
            Protocol::OpenAi => "authorization: Bearer sk-test",
            Protocol::Anthropic => "x-api-key: sk-test",
        };
        assert!(asked.head.contains(header), "{}", asked.head);
        assert!(!asked.body.to_string().contains("sk-test"));
        assert_eq!(asked.body["model"], "vendor-model-1");
    }
    assert_eq!(format!("{:?}", ApiKey::new("sk-test")), "ApiKey(****)");
}

#[tokio::test]
async fn a_stream_that_is_cut_off_or_breaks_is_no_turn() {
    for protocol in BOTH {
        let whole = protocol.stream("rm it", &[("bash", r#"{"command":"rm -rf build/tmp"}"#)]);
        let half = whole[..whole.find("build").unwrap_or(whole.len() / 2)].to_owned();
        let error = match protocol {
            Protocol::OpenAi => {
                "data: {\"error\":{\"message\":\"overloaded\",\"type\":\"server_error\"}}\n\n"
            }
            Protocol::Anthropic => {
                "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"overloaded\"}}\n\n"
            }
        };
        let first_half = &whole[..whole.find("\n\n").unwrap() + 2];
        for broken in [
            Reply::CutOff { body: half.clone() },
            Reply::Stream {
                body: half.clone(),
                piece_bytes: 50,
            },
            Reply::Stream {
                body: format!("{first_half}{error}"),
                piece_bytes: 50,
            },
            Reply::Stream {
                body: "data: {not json\n\n".into(),
                piece_bytes: 50,
            },
        ] {
            let provider = Provider::start(vec![broken]).await;
            let (spoken, _) = speak(&*protocol.model(&provider.url), &hello()).await;
            assert!(
                matches!(spoken, Err(ModelError::Again { .. })),
                "{protocol:?}: {spoken:?}"
            );
        }
    }
}

#[tokio::test]
async fn a_busy_provider_is_tried_again_when_it_says_and_a_no_is_final() {
    let status = |code, headers| Reply::Status {
        code,
        headers,
        body: json!({ "error": { "type": "x", "message": "the reason" } }),
    };
    for protocol in BOTH {
        for (code, headers, again) in [
            (429, "retry-after: 7\r\n", Some(Some(7))),
            (529, "", Some(None)),
            (500, "", Some(None)),
            (401, "", None),
            (400, "", None),
            (302, "location: http://127.0.0.1:1/\r\n", None),
        ] {
            let provider = Provider::start(vec![status(code, headers)]).await;
            let (spoken, _) = speak(&*protocol.model(&provider.url), &hello()).await;
            let error = spoken.unwrap_err();
            assert!(error.to_string().contains("the reason"), "{error}");
            let after = match error {
                ModelError::Again { after, .. } => Some(after.map(|after| after.as_secs())),
                ModelError::Never { .. } => None,
            };
            assert_eq!(after, again, "{protocol:?} {code}");
        }
    }
}

pub(crate) async fn home_with(house: &House, model: Arc<dyn Model>) -> Home {
    let tools = Tools::builtin(&house.work());
    let engine = Engine::builder(Config::builtin(placet_inspect::builtin()))
        .workspace(&house.work())
        .toolbox(AgentId::built_in(), tools.clone())
        .start(&house.store())
        .await
        .unwrap();
    let agent = Agent::builder(engine.clone(), tools)
        .model(model)
        .start()
        .await
        .unwrap();
    Home { agent, engine }
}

/// The whole way: two turns with calls, nonsense among them, a 429 in between, and a transcript that the provider accepts.
#[tokio::test]
async fn a_run_with_a_real_protocol_comes_to_its_end() {
    for protocol in BOTH {
        let house = House::new();
        house.put("notes.txt", "buy tea");
        let provider = Provider::start(vec![
            protocol.whole(
                "",
                &[
                    ("read", r#"{"path":"notes.txt"}"#),
                    ("bash", r#"{"command": "touch x"#),
                    ("tele port", "{}"),
                ],
            ),
            Reply::Status {
                code: 429,
                headers: "retry-after: 0\r\n",
                body: json!({ "error": { "message": "slow down" } }),
            },
            protocol.whole("The notes say: buy tea.", &[]),
            protocol.whole("You are welcome.", &[]),
        ])
        .await;
        let home = home_with(&house, protocol.model(&provider.url)).await;
        let events = rest(&mut home.say("What do the notes say?").await).await;
        assert_eq!(
            last(&events, "COMPLETED")["text"],
            "The notes say: buy tea.",
            "{events:?}"
        );
        assert!(house.file("x").is_none(), "half a command is not run");
        let events = rest(&mut home.say("Thanks").await).await;
        assert_eq!(last(&events, "COMPLETED")["text"], "You are welcome.");
        let asked = provider.asked();
        assert_eq!(asked.len(), 4);
        let results = asked[3].body.to_string();
        assert!(
            results.contains("buy tea") && results.contains("not_a_call"),
            "{results}"
        );
        assert!(
            asked[0].body["tools"]
                .as_array()
                .is_some_and(|tools| tools.iter().any(|tool| tool.to_string().contains("\"bash\"")))
        );
        home.close().await;
    }
}

#[tokio::test]
async fn a_model_that_cannot_be_reached_is_named_with_its_address_and_without_its_key() {
    for protocol in BOTH {
        // The server on this port is gone.
        let port = std::net::TcpListener::bind("127.0.0.1:0")
            .unwrap()
            .local_addr()
            .unwrap()
            .port();
        let url = format!("http://127.0.0.1:{port}");
        let (spoken, _) = speak(&*protocol.model(&format!("{url}/v1?key=sk-test")), &hello()).await;
        let Err(ModelError::Again { why, .. }) = spoken else {
            panic!("{spoken:?}");
        };
        let start = format!("the model `real` at {url} cannot be reached: ");
        assert!(why.starts_with(&start) && !why.contains("sk-test"), "{why}");
    }
}
