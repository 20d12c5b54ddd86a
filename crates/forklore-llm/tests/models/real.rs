//! Tests with a real small model, in both API formats that its server supports.

use forklore_agent::model::{EndReason, Model as _, Options, Request};
use forklore_core::Message;
use forklore_llm::{HttpModel, Provider};
use forklore_smollm::Server;

use crate::asking::{
    ask, assistant, call, calls, end, model, request, result, texts, usage, user, weather,
};

const BOTH: [Provider; 2] = [Provider::OpenAi, Provider::Anthropic];

fn models(server: &Server) -> [HttpModel; 2] {
    [model(BOTH[0], &server.openai()), model(BOTH[1], &server.anthropic())]
}

#[tokio::test]
async fn an_answer_streams_and_says_what_it_took() {
    let server = Server::start().unwrap();
    for model in models(&server) {
        let pieces = ask(&model, &request(vec![user("Name three colours.")])).await.unwrap();

        assert_eq!(texts(&pieces).len(), 8, "one piece for each token: {pieces:?}");
        assert_eq!(end(&pieces).reason, EndReason::Length);
        let usage = usage(&pieces);
        assert_eq!(usage.output, Some(8));
        assert!(usage.input > Some(8) && usage.cached.is_some(), "{usage:?}");
        assert!(end(&pieces).request_id.as_ref().is_some_and(|id| id.starts_with("chatcmpl-")));
    }
}

#[tokio::test]
async fn a_second_request_reads_the_first_from_the_cache() {
    for provider in BOTH {
        let server = Server::start().unwrap();
        let model = model(provider, &server.openai());
        let mut history = vec![user("Tell me about the sea, the wind and the sky.")];
        let first = ask(&model, &request(history.clone())).await.unwrap();
        history.extend([assistant(&texts(&first).concat()), user("And the stars?")]);
        let second = ask(&model, &request(history)).await.unwrap();

        let (first, second) = (usage(&first), usage(&second));
        assert_eq!(first.cached, Some(0));
        assert!(second.cached >= first.input, "{first:?} {second:?}");
        assert!(second.input > second.cached, "{second:?}");
    }
}

#[tokio::test]
async fn a_tool_is_called_when_one_must_be_and_its_result_goes_back() {
    let server = Server::start().unwrap();
    for model in models(&server) {
        let mut history = vec![user("What is the weather in Paris?")];
        let options =
            Options { must_call: true, max_output_tokens: Some(100), ..Options::default() };
        let first = Request { tools: vec![weather()], options, ..request(history.clone()) };
        let pieces = ask(&model, &first).await.unwrap();

        let [called] = calls(&pieces)[..] else { panic!("{pieces:?}") };
        assert_eq!(
            (called.name.as_str(), end(&pieces).reason.clone()),
            ("weather", EndReason::Calls)
        );
        assert!(called.arguments.get().contains("\"city\""), "{called:?}");

        history.push(call(&called.id, "weather", called.arguments.get()));
        history.push(result(&called.id, "Sunny."));
        let answered = Request { tools: vec![weather()], ..request(history) };
        let pieces = ask(&model, &answered).await.unwrap();
        assert!(!texts(&pieces).is_empty(), "{pieces:?}");
    }
}

/// Returns a conversation of about 1,000 tokens.
fn long() -> Vec<Message> {
    let text = "The harbour lies in the north of the bay, where ships from many countries wait. ";
    let question = |n: usize| user(&format!("Part {n}. {}", text.repeat(4)));
    (0..11).flat_map(|n| [question(n), assistant("I have read this part.")]).collect()
}

async fn fork_of_a_warm_conversation(provider: Provider) {
    let server = Server::start().unwrap();
    let model = model(provider, &server.openai());
    let mut parent = long();
    parent.push(user("What is this about?"));
    let cold = usage(&ask(&model, &request(parent)).await.unwrap());

    let mut child = long();
    let shared = child.len();
    child.push(user("Which ships are there?"));
    let warm = usage(&ask(&model, &Request { shared, ..request(child) }).await.unwrap());

    let (input, cached) = (warm.input.unwrap(), warm.cached.unwrap());
    assert!(cold.input.unwrap() >= 1000 && cold.cached == Some(0), "{cold:?}");
    assert!(cached * 10 >= input * 9, "{cached} of {input}");
}

#[tokio::test]
async fn a_fork_of_a_warm_conversation_reuses_nine_tenths_of_it() {
    fork_of_a_warm_conversation(Provider::OpenAi).await;
}

#[tokio::test]
async fn so_does_one_in_the_form_of_anthropic() {
    fork_of_a_warm_conversation(Provider::Anthropic).await;
}

#[tokio::test]
async fn tokens_are_counted_where_the_server_counts() {
    let server = Server::start().unwrap();
    let [openai, anthropic] = models(&server);
    let request = request(vec![user("Name three colours.")]);
    let counted = anthropic.count(&request).await.unwrap();
    assert_eq!(counted, usage(&ask(&anthropic, &request).await.unwrap()).input);
    assert_eq!(openai.count(&request).await.unwrap(), None);
}

#[tokio::test]
async fn a_history_that_does_not_fit_differs_from_other_failures() {
    use forklore_agent::model::ModelErrorKind;
    let server = Server::start().unwrap();
    let words = "word ".repeat(usize::try_from(forklore_smollm::CONTEXT).unwrap() + 10);
    for model in models(&server) {
        let error = ask(&model, &request(vec![user(&words)])).await.unwrap_err();
        assert_eq!(error.kind, ModelErrorKind::TooLong, "{error}");
    }
}

#[tokio::test]
async fn a_stream_that_is_dropped_leaves_the_server_to_others() {
    use futures_util::StreamExt as _;
    let server = Server::start().unwrap();
    for model in models(&server) {
        let options = Options { max_output_tokens: Some(3000), ..Options::default() };
        let endless = Request { options, ..request(vec![user("Write a very long story.")]) };
        for _ in 0..6 {
            let mut pieces = model.stream(&endless).await.unwrap();
            assert!(pieces.next().await.unwrap().is_ok());
        }
        assert!(ask(&model, &request(vec![user("Hello")])).await.is_ok());
    }
}
