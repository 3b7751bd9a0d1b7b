//! The kind memory: growth beyond what a process took, from the right moment on, and never a number in a claim.

use crate::judge::scene::{Scene, case, results};
use crate::timeline::{EventKind, Taken};
use crate::verdict::Outcome::{self, Fail, Inconclusive, Pass, Unexercised};

/// Two calls, and at most 100 bytes of growth: in all, and since the second.
const CASE: &str = "
[[peer]]
on = 'tools/call'
body = [{ result = 'x' }]
[[step]]
call = 'echo'
as = 'warm-up'
[[step]]
call = 'echo'
as = 'flood'
[[check]]
id = 'whole'
memory = { at_most = 100 }
[[check]]
id = 'since'
memory = { at_most = 100, since = 'flood' }
";

const UNMEASURED: &str =
    "not measured each time: the client has no process of its own, it was gone, or the system does not tell";

/// Two calls; before the first step, before the second call and at the end the process took these, each as peak and
/// what was left.
fn scene(taken: [Option<(u64, u64)>; 3]) -> Scene {
    let push = |scene: Scene, at: usize| {
        scene.push(EventKind::Memory(taken[at].map(|(peak, now)| Taken { peak, now })))
    };
    let called = |scene: Scene, step: &str, number: u32| {
        let id = u64::from(number);
        scene.began(step, "call_tool").call(1, "case:0", id, step).replied(number).ok(step, None)
    };
    let first = push(Scene::new(), 0);
    let mut scene = Scene::connected();
    scene.events.splice(0..0, first.events);
    scene = called(scene, "warm-up", 3);
    scene = called(push(scene, 1), "flood", 4);
    push(scene, 2).teardown()
}

#[track_caller]
fn assert_found(scene: &Scene, whole: (Outcome, &str), since: (Outcome, &str)) {
    let found = results(&case(CASE), scene);
    let found: Vec<_> = found.iter().map(|result| (result.outcome, result.actual.as_str())).collect();
    assert_eq!(found, [whole, since]);
}

const LITTLE: (Outcome, &str) = (Pass, "it grew by at most 100 bytes");
const MUCH: (Outcome, &str) = (Fail, "it grew by more than 100 bytes");

#[test]
fn the_allowed_growth_is_inclusive() {
    assert_found(&scene([Some((900, 500)), Some((600, 550)), Some((650, 550))]), MUCH, LITTLE);
    assert_found(&scene([Some((900, 500)), Some((600, 500)), Some((600, 550))]), LITTLE, LITTLE);
    assert_found(&scene([Some((900, 500)), Some((600, 500)), Some((601, 500))]), MUCH, MUCH);
}

#[test]
fn what_was_taken_before_does_not_count() {
    // The process began larger than it is, and warmed up: both are over when the counting begins.
    assert_found(&scene([Some((9_000, 500)), Some((5_000, 4_000)), Some((4_100, 10))]), MUCH, LITTLE);
}

#[test]
fn a_process_that_shrank_has_not_grown() {
    assert_found(&scene([Some((900, 500)), Some((500, 400)), Some((300, 200))]), LITTLE, LITTLE);
}

#[test]
fn a_client_that_nobody_measured_shows_nothing() {
    let nothing = (Unexercised, UNMEASURED);
    assert_found(&scene([None; 3]), nothing, nothing);
    // Its process was gone at the end.
    assert_found(&scene([Some((900, 500)), None, None]), nothing, nothing);
    assert_found(&scene([None, Some((900, 500)), None]), nothing, nothing);
    // The system told nothing at first: only from the second call on there is something to say.
    assert_found(&scene([None, Some((900, 500)), Some((900, 500))]), nothing, MUCH);
    // What was told earlier stands in for nothing: a warm-up would count then.
    assert_found(&scene([Some((0, 0)), None, Some((900, 500))]), nothing, nothing);
    // A case that nobody asked for: as in a recording of an older harness.
    let mut unasked = scene([Some((0, 0)); 3]);
    unasked.events.retain(|event| !matches!(event.kind, EventKind::Memory(_)));
    assert_found(&unasked, nothing, nothing);
}

#[test]
fn what_is_still_at_work_may_still_grow() {
    let open = |taken: u64| {
        let scene = Scene::new().push(EventKind::Memory(Some(Taken { peak: 0, now: 0 })));
        let mut connected = Scene::connected();
        connected.events.splice(0..0, scene.events);
        let scene = connected.began("warm-up", "call_tool").call(1, "case:0", 2, "warm-up").replied(3);
        scene.push(EventKind::Memory(Some(Taken { peak: taken, now: taken }))).teardown()
    };
    let found = |scene: &Scene| results(&case(CASE), scene).remove(0).outcome;
    assert_eq!((found(&open(100)), found(&open(101))), (Inconclusive, Fail));
}

#[test]
fn what_comes_behind_teardown_does_not_count() {
    let late = scene([Some((900, 500)), Some((500, 500)), Some((500, 500))])
        .push(EventKind::Memory(Some(Taken { peak: 9_000, now: 9_000 })));
    assert_found(&late, LITTLE, LITTLE);
}

#[test]
fn a_claim_never_holds_how_much_it_was() {
    let text = |growth: u64| {
        let found = results(&case(CASE), &scene([Some((0, 0)), Some((0, 0)), Some((growth, 0))]));
        found.into_iter().map(|result| format!("{} {}", result.expected, result.actual)).collect::<Vec<_>>()
    };
    assert_eq!((text(101), text(3)), (text(77_777), text(99)));
    assert_eq!(text(3)[0], "the client's process grows by at most 100 bytes it grew by at most 100 bytes");
    assert_eq!(
        text(101)[1],
        "the client's process grows by at most 100 bytes from step `flood` on it grew by more than 100 bytes"
    );
}
