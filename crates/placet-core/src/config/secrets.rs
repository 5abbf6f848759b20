//! What is kept from others: where a configuration says secrets are, and the variables that are for Placet alone.
//!
//! Nothing here is matched with `..`: a new section or key does not compile until it says whether it holds secrets.

use std::collections::BTreeSet;
use std::iter;

use super::{
    Channel, ChannelKind, Config, Database, DatabaseUrl, EnvValue, McpServer, McpTransport, Model, Secret,
    Server, Store, Tokens, file, tree,
};
use crate::people::Person;

impl Config {
    /// The variables of an environment that are for Placet alone: those that hold secrets the configuration names, and those
    /// that are settings. What an agent runs must not see them: with an approver's token it could answer for people.
    pub fn own_variables(&self, environment: impl Iterator<Item = String>) -> BTreeSet<String> {
        let secrets = self.secrets().into_iter().filter_map(|secret| match secret {
            Secret::Env(name) => Some(name.clone()),
            Secret::File(_) => None,
        });
        let settings = environment.filter(|name| tree::is_setting(name, &file::SECTIONS));
        secrets.chain(settings).collect()
    }

    /// Every place of a secret that the configuration names.
    pub fn secrets(&self) -> Vec<&Secret> {
        let Self {
            approval: _,
            policy: _,
            tools: _,
            inspect: _,
            people,
            channels,
            server,
            push: _,
            store:
                Store {
                    path: _,
                    url,
                    seal_key,
                    lease: _,
                },
            workspace: _,
            agent: _,
            models,
            databases,
            workflows: _,
            mcp_servers,
            emptied: _,
        } = self;
        let mut found = of_server(server);
        found.extend(url.iter().filter_map(of_url));
        found.extend(seal_key);
        found.extend(people.people().filter_map(of_person));
        found.extend(channels.values().flat_map(of_channel));
        found.extend(models.values().filter_map(of_model));
        found.extend(databases.values().filter_map(of_database));
        found.extend(mcp_servers.values().flat_map(of_mcp_server));
        found
    }
}

fn of_server(server: &Server) -> Vec<&Secret> {
    let Server {
        listen: _,
        hosts: _,
        admins: _,
        agents,
        connections_max: _,
        requests_per_second: _,
        metrics_names_max: _,
        tokens: Tokens {
            agent,
            approver,
            admin,
        },
    } = server;
    let roles = [agent, approver, admin].into_iter().flatten();
    agents.values().chain(roles).collect()
}

fn of_person(person: &Person) -> Option<&Secret> {
    let Person {
        name: _,
        token,
        accounts: _,
    } = person;
    token.as_ref()
}

fn of_channel(channel: &Channel) -> Vec<&Secret> {
    let Channel {
        kind,
        timeout: _,
        locale: _,
    } = channel;
    match kind {
        ChannelKind::Webhook { url: _, secret, ca } => iter::once(secret).chain(ca).collect(),
    }
}

fn of_model(model: &Model) -> Option<&Secret> {
    match model {
        Model::Vendor {
            protocol: _,
            model: _,
            base_url: _,
            api_key,
            proxy: _,
            tokens_max: _,
        } => api_key.as_ref(),
        Model::Scripted { script: _ } => None,
    }
}

fn of_database(database: &Database) -> Option<&Secret> {
    let Database { dialect: _, url } = database;
    of_url(url)
}

fn of_url(url: &DatabaseUrl) -> Option<&Secret> {
    match url {
        DatabaseUrl::Plain(_) => None,
        DatabaseUrl::Kept(secret) => Some(secret),
    }
}

fn of_mcp_server(server: &McpServer) -> Vec<&Secret> {
    let McpServer {
        transport,
        tools: _,
        start_timeout: _,
        call_timeout: _,
        sandbox: _,
    } = server;
    match transport {
        McpTransport::Command {
            program: _,
            args: _,
            env,
        } => {
            let kept = env.values().filter_map(|value| match value {
                EnvValue::Plain(_) => None,
                EnvValue::Secret(secret) => Some(secret),
            });
            kept.collect()
        }
        McpTransport::Url { url: _, bearer } => bearer.iter().collect(),
    }
}
