//! Properties: the judge is total, and unmoved by a shift of time and by events that no check is about.

use crate::exchange::exchange_digest;
use crate::judge::scene::{Scene, call, case, failure, reply, request, results};
use crate::returned::Returned;
use crate::timeline::{Close, Event, EventKind, Side, Taken};
use bytes::Bytes;
use proptest::prelude::*;
use serde_json::json;
use std::sync::Arc;

const CASE: &str = "
[[peer]]
on = 'tools/call'
stream = [{ request = { id = '\"p{{n}}\"', method = 'ping' }, times = 3 }, { result = 'x' }]
then = 'hold'
[[step]]
call = 'echo'
as = 'first'
start = true
[[step]]
release = 'h1'
after = 'held:h1'
[[step]]
await = 'first'
[[step]]
close = true
as = 'close'
[[check]]
id = 'seen'
seen = { on = 'reply', body = { id = '$id:first' }, since = 'first' }
[[check]]
id = 'never'
never = { on = 'any', header = ['a', 'b'] }
[[check]]
id = 'count'
count = { of = { on = 'tools/call' }, is = 1 }
[[check]]
id = 'order'
order = ['initialize', 'tools/call', 'ended:first', 'closed:first', 'tools/call']
[[check]]
id = 'gap'
gap = { from = 'held:h1', to = 'replied:first', min_ms = 5 }
[[check]]
id = 'header'
header = { of = { on = 'any' }, name = 'accept', lists = ['text/event-stream'] }
[[check]]
id = 'result'
given = { replied = 'first' }
result = { of = 'first', text = 'x' }
[[check]]
id = 'error'
error = { of = 'first', kind = 'timeout' }
[[check]]
id = 'closed'
closed = { by = 'client', request = 'first' }
[[check]]
id = 'memory'
memory = { at_most = 5, since = 'first' }
[[check]]
id = 'alive'
alive = 'close'
";

/// Events of every kind with few names and numbers, so that they often concern each other.
fn kinds() -> impl Strategy<Value = EventKind> {
    let step =
        || prop::sample::select(vec!["connect", "first", "step-2", "close", "?"]).prop_map(str::to_owned);
    let side = prop::sample::select(vec![Side::Client, Side::Peer]);
    let name = || prop::sample::select(vec!["h1", "h2", ""]).prop_map(str::to_owned);
    let returned = prop::sample::select(vec![
        Returned::Ok { text: Some("x".to_owned()), tools: None },
        Returned::Ok { text: None, tools: Some(vec![json!(7)]) },
        failure("timeout"),
        Returned::Unsupported { message: String::new() },
    ]);
    let body = prop::sample::select(vec![
        None,
        Some(json!(null)),
        Some(json!([{}])),
        Some(json!({"jsonrpc": "2.0", "id": 1, "method": "initialize"})),
        Some(json!({"jsonrpc": "2.0", "method": "notifications/initialized"})),
        Some(json!({"method": "notifications/cancelled", "params": {"requestId": 2}})),
        Some(json!({"id": "p2", "result": {}})),
        Some(json!({"id": 18446744073709551615_u64, "error": {}})),
        Some(call(2, "first")),
        Some(call(3, "other")),
    ]);
    let method = prop::sample::select(vec!["POST", "GET", "DELETE", ""]);
    let rule = prop::sample::select(vec!["case:0", "case:99", "case:x", "polite:0", "default", ""]);
    prop_oneof![
        1 => Just(EventKind::Teardown),
        4 => (step(), prop::sample::select(vec!["connect", "call_tool", "close"])).prop_map(|(step, verb)| {
            EventKind::StepBegan { step, verb, client: "a".to_owned() }
        }),
        4 => (step(), returned).prop_map(|(step, returned)| EventKind::StepEnded { step, returned }),
        1 => (0..4u32).prop_map(|conn| EventKind::Accepted { conn }),
        6 => (0..4u32, 0..5u32, method, rule, body).prop_map(|(conn, number, method, rule, body)| {
            let mut request = request(conn, rule, method, body.as_ref());
            request.number = number;
            EventKind::Request(Arc::new(request))
        }),
        1 => (0..4u32).prop_map(|conn| EventKind::BadRequest {
            conn,
            raw: Bytes::from_static(b"\xff"),
            problem: "bad".to_owned(),
        }),
        1 => (name(), 0..5u32).prop_map(|(name, request)| EventKind::Held { name, request }),
        1 => name().prop_map(|name| EventKind::Released { name }),
        4 => (0..5u32, any::<bool>()).prop_map(|(number, complete)| {
            EventKind::Replied(Arc::new(reply(number, complete)))
        }),
        3 => (0..4u32, side).prop_map(|(conn, by)| EventKind::Closed { conn, by, how: Close::Rst }),
        1 => any::<Option<(u64, u64)>>().prop_map(|taken| {
            EventKind::Memory(taken.map(|(peak, now)| Taken { peak, now }))
        }),
        1 => Just(EventKind::Witness { journal: json!([]) }),
    ]
}

fn timelines() -> impl Strategy<Value = Vec<Event>> {
    // Times may even run backwards: nothing may rest on their order.
    prop::collection::vec((any::<u64>(), kinds()).prop_map(|(at_us, kind)| Event { at_us, kind }), 0..40)
}

fn scene(events: Vec<Event>) -> Scene {
    let mut scene = Scene::new();
    scene.events = events;
    scene
}

/// Events that concern nothing: connections without requests, holds and replies of nothing, unknown steps.
fn irrelevant() -> impl Strategy<Value = EventKind> {
    prop_oneof![
        (100..200u32).prop_map(|conn| EventKind::Accepted { conn }),
        (100..200u32).prop_map(|conn| EventKind::Closed { conn, by: Side::Client, how: Close::Fin }),
        (100..200u32).prop_map(|number| EventKind::Replied(Arc::new(reply(number, true)))),
        (100..200u32).prop_map(|request| EventKind::Held { name: "elsewhere".to_owned(), request }),
        Just(EventKind::Released { name: "elsewhere".to_owned() }),
        Just(EventKind::Witness { journal: json!({"n": 1}) }),
        Just(EventKind::StepEnded { step: "elsewhere".to_owned(), returned: failure("x") }),
    ]
}

proptest! {
    #[test]
    fn any_timeline_gives_one_bounded_result_a_check(events in timelines()) {
        let case = case(CASE);
        let found = results(&case, &scene(events));
        prop_assert_eq!(found.len(), case.check.len());
        for result in &found {
            prop_assert!(result.actual.len() < 500 && !result.actual.chars().any(char::is_control));
        }
    }

    #[test]
    fn a_shift_of_all_times_changes_nothing(events in timelines(), shift in 0..u64::MAX) {
        let case = case(CASE);
        let events: Vec<Event> =
            events.into_iter().map(|e| Event { at_us: e.at_us % 1_000_000, ..e }).collect();
        let shift = shift / 2;
        let shifted = events.iter().map(|e| Event { at_us: e.at_us + shift, kind: e.kind.clone() }).collect();
        prop_assert_eq!(exchange_digest(&case, &events), exchange_digest(&case, &Vec::clone(&shifted)));
        prop_assert_eq!(results(&case, &scene(events)), results(&case, &scene(shifted)));
    }

    #[test]
    fn irrelevant_events_anywhere_change_nothing(
        events in timelines(),
        added in prop::collection::vec((any::<prop::sample::Index>(), irrelevant()), 0..12),
    ) {
        let case = case(CASE);
        let mut more = events.clone();
        for (place, kind) in added {
            let place = place.index(more.len() + 1);
            let at_us = more.get(place).map_or(0, |event| event.at_us);
            more.insert(place, Event { at_us, kind });
        }
        prop_assert_eq!(exchange_digest(&case, &events), exchange_digest(&case, &more));
        prop_assert_eq!(results(&case, &scene(events)), results(&case, &scene(more)));
    }

    #[test]
    fn whatever_follows_teardown_changes_nothing(events in timelines(), later in timelines()) {
        let case = case(CASE);
        let mut events = events;
        events.push(Event { at_us: 0, kind: EventKind::Teardown });
        // What the peer wrote is no act of the client, and may be recorded late.
        let later = later.into_iter().filter(|e| !matches!(e.kind, EventKind::Replied(_)));
        let more: Vec<Event> = events.iter().cloned().chain(later).collect();
        prop_assert_eq!(exchange_digest(&case, &events), exchange_digest(&case, &more));
        prop_assert_eq!(results(&case, &scene(events)), results(&case, &scene(more)));
    }
}
