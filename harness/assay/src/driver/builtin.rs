//! The built-in client as a driver, in-process: every verb is one call of its public API.

use super::{ClientUnderTest, Connect, Driver, Ending, Pending, Verb, Way};
use crate::judge::Offers;
use crate::returned::Returned;
use mcp_assay_client::{Arguments, CallOptions, Client, Effect, Error, Limits, Policy};
use std::collections::HashMap;
use std::future::{Future, ready};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::oneshot;

/// How the built-in client reaches the peer.
pub type Connector = Arc<dyn mcp_assay_client::Connect>;

/// The built-in client under one policy.
#[derive(Clone, Debug)]
pub struct BuiltinClient {
    policy: Policy,
    offers: Offers,
}

impl BuiltinClient {
    /// The client under the policy of this name; none where no policy has it.
    #[must_use]
    pub fn named(policy: &str) -> Option<Self> {
        let known = Policy::exagent();
        // It can do all that any case asks for.
        (policy == known.name).then(|| Self { policy: known, offers: Offers::default() })
    }

    /// The policy itself.
    #[must_use]
    pub fn policy_value(&self) -> Policy {
        self.policy
    }

    /// The revisions it speaks.
    #[must_use]
    pub fn revisions(&self) -> &'static [&'static str] {
        self.policy.versions.all()
    }
}

impl ClientUnderTest for BuiltinClient {
    fn name(&self) -> &str {
        "mcp-assay-client"
    }

    fn version(&self) -> &str {
        env!("CARGO_PKG_VERSION")
    }

    fn policy(&self) -> Option<&str> {
        Some(self.policy.name)
    }

    fn offers(&self) -> &Offers {
        &self.offers
    }

    fn driver(&self, way: Way) -> Arc<dyn Driver> {
        let connector: Option<Connector> = match way {
            Way::Memory(wire) => Some(Arc::new(wire)),
            Way::Tcp => None,
        };
        Arc::new(Builtin::new(self.policy, connector))
    }
}

/// The driver of the built-in client for one variant.
pub struct Builtin {
    policy: Policy,
    connector: Option<Connector>,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    clients: Mutex<HashMap<String, Client>>,
    /// What ends the pending verb of a step: dropping its future is how this client cancels.
    cancels: Mutex<HashMap<String, (String, oneshot::Sender<()>)>>,
}

impl Builtin {
    /// A driver for one variant. Without a connector the client uses its own TCP.
    #[must_use]
    pub fn new(policy: Policy, connector: Option<Connector>) -> Self {
        Self { policy, connector, shared: Arc::default() }
    }
}

impl Driver for Builtin {
    fn perform(&self, client: &str, step: &str, verb: Verb) -> Pending {
        let shared = self.shared.clone();
        let (client, step) = (client.to_owned(), step.to_owned());
        match verb {
            Verb::Connect(connect) => {
                let (policy, connector) = (self.policy, self.connector.clone());
                Box::pin(async move {
                    let made = make(policy, connector, *connect);
                    let connecting = async { made?.connect().await };
                    match shared.cancellable(&client, &step, connecting).await {
                        Some(Ok(made)) => {
                            lock(&shared.clients).insert(client, made);
                            ok(None)
                        }
                        Some(Err(error)) => failed(&error),
                        None => cancelled(),
                    }
                })
            }
            Verb::ListTools => shared.with(client, step, async |client: Client| {
                client.list_tools().await.map(|tools| Returned::Ok {
                    text: None,
                    tools: Some(tools.iter().map(describe).collect()),
                })
            }),
            Verb::CallTool { tool, arguments, timeout } => {
                shared.with(client, step, async move |client: Client| {
                    let arguments = Arguments::from_json(&arguments)?;
                    let options = timeout.map_or_else(CallOptions::new, |t| CallOptions::new().timeout(t));
                    let output = client.call_tool(&tool, arguments, options).await?;
                    Ok(ok(Some(output.text)))
                })
            }
            Verb::Reconnect => {
                shared.with(client, step, async |client: Client| client.reconnect().await.map(|()| ok(None)))
            }
            Verb::Close => {
                shared.with(client, step, async |client: Client| client.close().await.map(|()| ok(None)))
            }
            Verb::Cancel { step: named } => Box::pin(async move {
                lock(&shared.cancels).remove(&named);
                ok(None)
            }),
            Verb::Kill => Box::pin(async move {
                lock(&shared.cancels).retain(|_, (owner, _)| *owner != client);
                lock(&shared.clients).remove(&client);
                ok(None)
            }),
            Verb::Unheard(name) => {
                let message = format!("the built-in client has no verb {name:?}");
                Box::pin(async move { Returned::Unsupported { message } })
            }
        }
    }

    fn end(&self) -> Ending<'_> {
        lock(&self.shared.cancels).clear();
        lock(&self.shared.clients).clear();
        Box::pin(ready(Ok(())))
    }
}

impl Shared {
    /// Runs a verb of a connected client.
    fn with<F, Fut>(self: Arc<Self>, client: String, step: String, verb: F) -> Pending
    where
        F: FnOnce(Client) -> Fut + Send + 'static,
        Fut: Future<Output = Result<Returned, Error>> + Send + 'static,
    {
        Box::pin(async move {
            let Some(handle) = lock(&self.clients).get(&client).cloned() else {
                return Returned::Error {
                    kind: "not_connected".to_owned(),
                    message: "the step before that connects this client did not succeed".to_owned(),
                    effect: None,
                    status: None,
                    code: None,
                    text: None,
                };
            };
            match self.cancellable(&client, &step, verb(handle)).await {
                Some(Ok(returned)) => returned,
                Some(Err(error)) => failed(&error),
                None => cancelled(),
            }
        })
    }

    /// The verb's outcome, or nothing when it was given up first.
    async fn cancellable<T>(&self, client: &str, step: &str, verb: impl Future<Output = T>) -> Option<T> {
        let (sender, mut given_up) = oneshot::channel();
        lock(&self.cancels).insert(step.to_owned(), (client.to_owned(), sender));
        let settled = tokio::select! {
            biased;
            _ = &mut given_up => None,
            settled = verb => Some(settled),
        };
        lock(&self.cancels).remove(step);
        settled
    }
}

fn make(
    policy: Policy,
    connector: Option<Connector>,
    connect: Connect,
) -> Result<mcp_assay_client::Builder, Error> {
    let mut limits = Limits::default();
    for (name, value) in &connect.limits {
        limits.set(name, *value)?;
    }
    let mut builder = Client::builder(connect.url)
        .policy(policy)
        .limits(limits)
        .protocol_version(connect.protocol_version)
        .client_info("mcp-assay", env!("CARGO_PKG_VERSION"))
        .headers(connect.headers);
    if let Some(connector) = connector {
        builder = builder.connector(connector);
    }
    Ok(builder)
}

fn describe(tool: &mcp_assay_client::Tool) -> serde_json::Value {
    let mut described = serde_json::Map::new();
    described.insert("name".to_owned(), tool.name.as_str().into());
    if let Some(description) = &tool.description {
        described.insert("description".to_owned(), description.as_str().into());
    }
    // The client checked the schema's JSON; a value this parser refuses all the same is shown as null.
    let schema = serde_json::from_str(tool.input_schema.get()).unwrap_or_default();
    described.insert("inputSchema".to_owned(), schema);
    serde_json::Value::Object(described)
}

fn ok(text: Option<String>) -> Returned {
    Returned::Ok { text, tools: None }
}

fn cancelled() -> Returned {
    Returned::Error {
        kind: "cancelled".to_owned(),
        message: "given up by a cancel or kill step".to_owned(),
        effect: None,
        status: None,
        code: None,
        text: None,
    }
}

fn failed(error: &Error) -> Returned {
    Returned::Error {
        kind: error.kind().to_owned(),
        message: error.to_string(),
        effect: Some(
            match error.effect() {
                Effect::NotSent => "not-sent",
                Effect::Uncertain => "uncertain",
                Effect::Answered => "answered",
            }
            .to_owned(),
        ),
        status: error.http_status(),
        code: error.rpc_code(),
        text: error.tool_text().map(str::to_owned),
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Every critical section is one call of a map, so a poisoned map is still whole.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
