//! Example 1: the simple default mode: reading is allowed, most other calls need approval. You are asked at your terminal.

use placet_agent::assistant::{Assistant, Message, Provider};
use placet_channels::terminal::{self, Colours, TerminalUser};
use placet_core::config::Config;
use placet_core::interaction::Locale;
use placet_core::policy::Mode;
use tokio_util::sync::CancellationToken;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let user = TerminalUser::of_user(&Config::builtin(placet_inspect::builtin()).people)?;
    let person = user.person.to_string();
    let (channel, attendant) = terminal::open(user, Locale::English, Colours::Auto)?;

    let assistant = Assistant::builder("MyApp", "1.0.0")
        .model("zhipuai/glm-4.7")
        // The key and, if it is not the vendor's own, the address: ZHIPUAI_API_KEY, ZHIPUAI_BASE_URL.
        .provider("zhipuai", Provider::from_env("zhipuai"))
        .approval_mode(Mode::Default)
        .user(person)
        .asks_in(channel.clone(), channel.chat().clone())
        .start()
        .await?;
    let stop = CancellationToken::new();
    let attending = tokio::spawn(attendant.run(assistant.engine().clone(), stop.clone()));

    // You are asked before anything is written.
    let reply = assistant
        .send_message(Message::new("Write a function in TypeScript").write())
        .await?;

    stop.cancel();
    attending.await??;
    println!("{}", reply.text);
    assistant.shutdown().await?;
    Ok(())
}
