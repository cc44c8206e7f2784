//! Questions to servers on 127.0.0.1.

use std::time::Duration;

use serde_json::Value;
use ureq::Agent;

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// Asks without a proxy, and takes only answers that say that all is well.
fn agent() -> Agent {
    Agent::new_with_config(Agent::config_builder().timeout_global(Some(PATIENCE)).proxy(None).build())
}

/// What is there.
pub(super) fn get(url: &str) -> Result<String, String> {
    let told = |error: ureq::Error| format!("{url}: {error}");
    agent().get(url).call().map_err(told)?.body_mut().read_to_string().map_err(told)
}

/// The answer to a question in JSON.
pub(super) fn post(url: &str, question: &Value) -> Result<String, String> {
    let told = |error: ureq::Error| format!("{url}: {error}");
    let asked = agent().post(url).header("Content-Type", "application/json").send(question.to_string());
    asked.map_err(told)?.body_mut().read_to_string().map_err(told)
}

/// A text as a part of a URL: its UTF-8 bytes but letters and digits by their codes.
pub(super) fn quoted(text: &str) -> String {
    let byte = |byte: u8| match byte {
        b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' => char::from(byte).to_string(),
        other => format!("%{other:02X}"),
    };
    text.bytes().map(byte).collect()
}

/// Reads JSON.
pub(super) fn json(text: &str) -> Result<Value, String> {
    serde_json::from_str(text).map_err(|error| format!("{error}: `{text}`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_are_written_by_their_codes() {
        assert_eq!(quoted(r#"{a=~"B.+"}"#), "%7Ba%3D%7E%22B%2E%2B%22%7D");
    }
}
