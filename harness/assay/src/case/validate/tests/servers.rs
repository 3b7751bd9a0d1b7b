//! What is said about wrong cases for SDK servers.

use super::{edits_of, rendered};

const CASE: &str = r#"title     = "Late bytes after a real answer"
revisions = ["2025-06-18"]
servers   = { session = true, answers = "sse", only = ["ts*"] }
limits    = { max_response_bytes = { measure = "body", of = "first", less = 1 } }

[[tap]]
on         = "tools/call"
nth        = 1
slice      = "each-cut"
slice_over = "body"
inject     = [{ text = ":late\n\n" }]
at         = "end"
eol        = "crlf"
then       = "hold"

[[step]]
call = "echo"
as   = "first"

[[step]]
admin = "expire"

[[check]]
id      = "agrees"
clause  = "sse.eol"
when    = { server = "ts1-*" }
witness = { agrees = true, effects = 0, cancelled = 0 }
"#;

fn edits(edits: &[(&str, &str)]) -> String {
    edits_of(CASE, edits)
}

#[test]
fn the_right_case_for_servers_has_no_findings() {
    assert_eq!(rendered(CASE), "");
}

#[test]
fn servers() {
    let found = edits(&[
        ("session = true", "sessions = true"),
        ("answers = \"sse\"", "answers = \"stream\""),
        ("\"ts*\"", "\"ts[\""),
        ("measure = \"body\"", "measure = \"bodies\""),
        ("servers   = { session = true, answers = \"sse\", only = [\"ts*\"] }\n", ""),
        ("[[step]]", "[[peer]]\non = \"tools/call\"\nbody = [{ result = \"snow\" }]\n\n[[step]]"),
        ("\"ts1-*\"", "\"ts1-[\""),
        (
            "witness = { agrees = true, effects = 0, cancelled = 0 }",
            "memory  = { at_most = 1, since = \"first\" }",
        ),
    ]);
    insta::assert_snapshot!(found);
}

#[test]
fn tap() {
    let found = edits(&[
        ("\"tools/call\"", "\"tools call\""),
        ("nth        = 1", "nth = 0"),
        ("\"each-cut\"", "\"each-cat\""),
        ("slice      = \"each-cut\"\n", ""),
        ("inject     = [{ text = \":late\\n\\n\" }]\n", ""),
        ("{ text = \":late\\n\\n\" }", "{ txet = \":late\" }"),
        ("{ text = \":late\\n\\n\" }", "{ text = \":{{word}}\" }"),
        ("{ text = \":late\\n\\n\" }", "{ pause_ms = 5 }"),
        ("at         = \"end\"", "at = \"start\""),
        ("then       = \"hold\"", "then = \"drip\""),
        ("then       = \"hold\"", "withhold = true"),
        ("then       = \"hold\"", "then = \"hang\""),
        (
            "slice      = \"each-cut\"\nslice_over = \"body\"\ninject     = [{ text = \":late\\n\\n\" }]\nat         \
             = \"end\"\neol        = \"crlf\"\nthen       = \"hold\"\n",
            "",
        ),
    ]);
    insta::assert_snapshot!(found);
}

#[test]
fn answers() {
    let witness = "witness = { agrees = true, effects = 0, cancelled = 0 }";
    let found = edits(&[
        (witness, "seen = { on = \"tools/call\", answered = {} }"),
        (witness, "seen = { on = \"tools/call\", answered = { status = 70000 } }"),
        (witness, "given = { seen = { on = \"GET\", answered = { body = 1 } } }\nnever = { on = \"GET\" }"),
        (witness, "header = { of = { on = \"any\" }, name = \"mcp-session-id\", is = \"$session:fist\" }"),
        (witness, "result = { of = \"first\", schemas = \"{}\" }"),
    ]);
    insta::assert_snapshot!(found);
}

/// What a scripted peer answers is the case's own doing.
#[test]
fn answers_are_those_of_servers() {
    let scripted = |check: &str| {
        rendered(&format!(
            "title = \"Answers\"\nrevisions = [\"2025-06-18\"]\n[[step]]\ncall = \"echo\"\nas = \"first\"\n\
             [[check]]\nid = \"it\"\nclause = \"sse.eol\"\n{check}\n"
        ))
    };
    for check in [
        "seen = { on = \"GET\", answered = { status = 200 } }",
        "never = { on = \"GET\", answered = { status = 200 } }",
        "count = { of = { on = \"GET\", answered = { status = 200 } }, is = 1 }",
        "header = { of = { on = \"GET\", answered = { status = 200 } }, name = \"accept\", absent = true }",
        "given = { seen = { on = \"GET\", answered = { status = 200 } } }\nalive = \"first\"",
    ] {
        assert!(scripted(check).contains("no SDK server is named"), "{check}\n{}", scripted(check));
    }
}

#[test]
fn witness() {
    let found = edits(&[
        ("{ agrees = true, effects = 0, cancelled = 0 }", "{}"),
        ("{ agrees = true, effects = 0, cancelled = 0 }", "{ agrees = false }"),
        ("effects = 0", "effects = -1"),
        ("effects = 0", "effect = 0"),
        ("agrees = true", "agrees = \"yes\""),
    ]);
    insta::assert_snapshot!(found);
}
