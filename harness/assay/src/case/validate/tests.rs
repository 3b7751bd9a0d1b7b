//! What is said about wrong case files: each edit of a right one, as its author sees it.

mod servers;

use crate::case::CaseFile;
use crate::clauses::Clauses;
use proptest::prelude::*;
use std::fmt::Write as _;
use std::sync::LazyLock;

static CLAUSES: LazyLock<Clauses> = LazyLock::new(clauses);

const CASE: &str = r#"title     = "Bytes after the terminal event change nothing"
revisions = ["2025-06-18"]
limits    = { max_line_bytes = 256 }

[vary]
suffix = { bom = { hex = "efbbbf" }, many = { repeat = ":", times = 257, then = "\n\n" } }
slice  = ["whole", "each-cut"]

[[peer]]
on     = "tools/call"
hold   = "h1"
stream = [{ result = "snow" }, { bytes = "$suffix" }]
slice  = "$slice"
then   = "hold"

[[step]]
call  = "echo"
as    = "first"
start = true

[[step]]
release = "h1"
after   = "held:h1"

[[step]]
await = "first"

[[check]]
id     = "delivered"
clause = "sse.eol"
level  = "should"
when   = { slice = "whole" }
needs  = ["max_line_bytes"]
result = { of = "first", text = "snow" }

[[check]]
id     = "released"
row    = "EX-SSE-01"
policy = "exagent"
closed = { by = "client", request = "first" }
"#;

fn clauses() -> Clauses {
    let folder = tempfile::tempdir().unwrap();
    let clauses = "[[clause]]\nid = 'sse.eol'\nrevisions = ['2025-06-18']\nlevel = 'should'\nbasis = 'whatwg'\n\
                   text = 'Lines end.'\nsource = 'WHATWG HTML'\n\n[[clause]]\nid = 'sse.late'\nrevisions = \
                   ['2025-11-25']\nlevel = 'must'\nbasis = 'spec'\ntext = 'Late.'\nsource = 'MCP'\n";
    let rows = "[[section]]\nprefix = 'EX-SSE'\ntitle = 'Streams'\n\n[[row]]\nid = 'EX-SSE-01'\npolicy = 'exagent'\n\
                title = 'Lines end'\nclient = 'ok'\nevidence = 'T'\n";
    std::fs::write(folder.path().join("sse.toml"), clauses).unwrap();
    std::fs::write(folder.path().join("rows-exagent.toml"), rows).unwrap();
    Clauses::load(folder.path(), "fixtures/clauses").unwrap()
}

fn rendered(text: &str) -> String {
    let file = CaseFile::parse("suffix/any".parse().unwrap(), "fixtures/cases/suffix/any.toml", text);
    let errors = match file {
        Ok(file) => file.validate(&CLAUSES),
        Err(errors) => errors,
    };
    errors.iter().map(|error| error.rendered()).collect::<Vec<_>>().concat()
}

/// The findings for each edit `(from, to)` of the right case, under the edit.
fn edits(edits: &[(&str, &str)]) -> String {
    edits_of(CASE, edits)
}

fn edits_of(case: &str, edits: &[(&str, &str)]) -> String {
    let mut all = String::new();
    for (from, to) in edits {
        assert!(case.contains(from), "{from} must be there to be replaced");
        let found = rendered(&case.replacen(from, to, 1));
        assert!(!found.is_empty(), "nothing is said about {to:?} in place of {from:?}");
        writeln!(all, "# {from:?} -> {to:?}\n{found}").unwrap();
    }
    all
}

#[test]
fn the_right_case_has_no_findings() {
    assert_eq!(rendered(CASE), "");
}

#[test]
fn form() {
    let found = edits(&[
        ("hold   =", "holds  ="),
        ("start = true", "start = 1"),
        ("id     = \"delivered\"\n", ""),
        ("[\"2025-06-18\"]", "[\"2025-06-19\"]"),
        ("[\"2025-06-18\"]", "[]"),
        ("[\"2025-06-18\"]", "[\"2025-11-25\", \"2025-06-18\"]"),
        ("[[step]]", "[[step]"),
        ("title ", "id = \"suffix/any\"\ntitle "),
    ]);
    insta::assert_snapshot!(found);
}

#[test]
fn vary() {
    let found = edits(&[
        ("\"$slice\"", "\"whole\""),
        ("\"$slice\"", "\"$slise\""),
        ("[\"whole\", \"each-cut\"]\n", "[\"each-cut\", \"at-marks\"]\n"),
        ("slice  = [\"whole\"", "wire  = [\"whole\""),
        ("[\"whole\", \"each-cut\"]", "[\"whole\", \"whole\"]"),
        ("[\"whole\", \"each-cut\"]", "[]"),
        ("[\"whole\", \"each-cut\"]", "[\"whole\", [\"each-cut\"]]"),
        ("[\"whole\", \"each-cut\"]", "\"whole\""),
        ("[\"whole\", \"each-cut\"]", "[\"whole\", \"a;b\"]"),
        ("[\"whole\", \"each-cut\"]", "[\"whole\", \"each-cat\"]"),
        ("times = 257", "tmies = 257"),
        ("hex = \"efbbbf\"", "hex = \"efbbb\""),
        ("hex = \"efbbbf\"", "text = \"$slice\""),
        ("limits ", "max_variants = 3\nlimits "),
    ]);
    insta::assert_snapshot!(found);
}

#[test]
fn rules() {
    let found = edits(&[
        ("\"tools/call\"", "\"POST\""),
        ("\"tools/call\"", "\"initalize\""),
        ("{ result = \"snow\" }", "{}"),
        ("{ result = \"snow\" }", "{ result = \"snow\", text = \"rain\" }"),
        ("{ result = \"snow\" }", "{ text = \"snow\", id = \"1\" }"),
        ("{ result = \"snow\" }", "{ result = \"snow\", id = \"ping\" }"),
        ("{ result = \"snow\" }", "{ result = \"{{pad}}\" }"),
        ("{ result = \"snow\" }", "{ result = \"{{sesion}}\" }"),
        ("then   = \"hold\"", "then   = \"hold\"\nbound = { unit = \"line\", limit = \"max_line_bytes\" }"),
        ("{ result = \"snow\" }", "{ result = \"{{port}}\" }"),
        (
            "then   = \"hold\"",
            "then   = \"hold\"\nsession = \"{{pad}}\"\nbound = { unit = \"session\", limit = \"max_sesion_bytes\" }",
        ),
        ("then   = \"hold\"", "then   = \"hold\"\nbody = []"),
        ("then   = \"hold\"", "then   = \"hold\"\nlength_lie = 3"),
        ("then   = \"hold\"", "then   = \"drip\""),
        ("then   = \"hold\"", "then   = \"hold\"\nstatus = 100"),
        ("then   = \"hold\"", "then   = \"hold\"\nrelease = \"h2\""),
        ("then   = \"hold\"", "then   = \"hold\"\nheaders = [[\"set-cookie\", \"a=1; path=/\"]]"),
        ("max_line_bytes = 256", "max_lines_bytes = 256"),
    ]);
    insta::assert_snapshot!(found);
}

#[test]
fn steps() {
    let found = edits(&[
        ("call  = \"echo\"", "call  = \"echo\"\nlist = true"),
        ("call  = \"echo\"\n", ""),
        ("start = true", "start = false"),
        ("await = \"first\"", "await = \"fist\""),
        ("await = \"first\"", "list = true\nas = \"first\""),
        ("await = \"first\"", "list = true\nargs = {}"),
        ("await = \"first\"", "connect = { url = \"http://{{hots}}/mcp\" }"),
        ("await = \"first\"", "connect = { url = \"http://{{host}}/{{pad}}\" }"),
        ("await = \"first\"", "connect = { headers = [[\"x-a\", \"1\"], [\"Cookie\", \"a=1\"]] }"),
        ("await = \"first\"", "connect = { headers = [[\"Authorization\", \"Basic dTpw\"]] }"),
        ("await = \"first\"", "call = \"echo\"\nargs_json = '{'"),
        ("await = \"first\"", "linger = { ms = 5, because = \"\" }"),
        ("held:h1", "held:h2"),
        ("held:h1", "helt:h1"),
        ("held:h1", "began:first"),
        ("held:h1", "replied:frist"),
        ("held:h1", "seen:tools/call#0"),
        ("release = \"h1\"", "release = \"h2\""),
        ("as    = \"first\"", "as    = \"first\"\nafter = \"ended:first\""),
        ("held:h1", "replied:late\"\n[[step]]\nlist = true\nas = \"late"),
        ("await = \"first\"", "connect = { url = \"http://{{host}}/{{pad}}\", pad_to = 4294967295 }"),
    ]);
    insta::assert_snapshot!(found);
}

#[test]
fn checks() {
    let found = edits(&[
        ("\"delivered\"", "\"Delivered\""),
        ("\"delivered\"", "\"released\""),
        ("\"sse.eol\"", "\"sse.eoll\""),
        ("\"sse.eol\"", "\"sse.late\""),
        ("clause = \"sse.eol\"\n", ""),
        ("\"should\"", "\"must\""),
        ("row    = \"EX-SSE-01\"", "row    = \"EX-SSE-02\""),
        ("policy = \"exagent\"\n", ""),
        ("policy = \"exagent\"", "policy = \"exagnet\""),
        ("{ slice = \"whole\" }", "{ slices = \"whole\" }"),
        ("{ slice = \"whole\" }", "{ slice = [\"whole\", \"hole\"] }"),
        ("[\"max_line_bytes\"]", "[\"max_line_byte\"]"),
        ("result = { of = \"first\", text = \"snow\" }", "result = { of = \"frist\" }"),
        ("result = { of = \"first\", text = \"snow\" }", "error = { of = \"first\", kind = \"timeout\" }"),
        ("result = { of = \"first\", text = \"snow\" }", "alive = \"first\"\nerror = { of = \"first\" }"),
        ("result = { of = \"first\", text = \"snow\" }", "count = { of = { on = \"GET\" } }"),
        ("result = { of = \"first\", text = \"snow\" }", "given = { ok = \"last\" }"),
        ("result = { of = \"first\", text = \"snow\" }", "order = [\"initialize\", \"closed:last\"]"),
        (
            "result = { of = \"first\", text = \"snow\" }",
            "seen = { on = \"reply\", body = { id = \"$id:last\" } }",
        ),
        ("result = { of = \"first\", text = \"snow\" }", "seen = { on = \"any\", absent = \"/id\" }"),
        (
            "result = { of = \"first\", text = \"snow\" }",
            "seen = { on = \"any\", absent = [\"/id\", \"id\"] }",
        ),
        ("result = { of = \"first\", text = \"snow\" }", "never = { on = \"any\", absent = [\"/a~2b\"] }"),
        (
            "result = { of = \"first\", text = \"snow\" }",
            "never = { on = \"any\", target = \"http://h/mcp\" }",
        ),
        (
            "result = { of = \"first\", text = \"snow\" }",
            "seen = { on = \"any\", header = [\"Accept\", \"$any:text\"] }",
        ),
        ("request = \"first\"", "request = \"tools/call#x\""),
    ]);
    insta::assert_snapshot!(found);
}

#[test]
fn memory() {
    let result = "result = { of = \"first\", text = \"snow\" }";
    let found = edits(&[
        (result, "memory = { at_most = 1, since = \"first\" }"),
        (result, "given = { ended = \"first\" }\nmemory = { at_most = 0 }"),
        (result, "given = { ended = \"first\" }\nmemory = { at_most = -1 }"),
        (result, "given = { ended = \"first\" }\nmemory = { since = \"first\" }"),
        (result, "given = { ended = \"first\" }\nmemory = { at_most = 1, since = \"frist\" }"),
        (result, "given = { ended = \"first\" }\nmemory = { at_most = 1, since = \"step-3\" }"),
        (
            "clause = \"sse.eol\"\nlevel  = \"should\"\nwhen   = { slice = \"whole\" }\nneeds  = [\"max_line_bytes\"]\nresult = { of = \"first\", text = \"snow\" }",
            "given = { ended = \"first\" }\nmemory = { at_most = 1 }",
        ),
    ]);
    insta::assert_snapshot!(found);
}

proptest! {
    /// Whatever stands in a file, it is read or refused, and every finding lies in the file.
    #[test]
    fn any_edit_is_survived(at in 0..CASE.len(), len in 0_usize..40, put in "[\\[\\]{}=\"$,\n a-z0-9雪]{0,12}") {
        let border = |at: usize| (at.min(CASE.len())..).find(|at| CASE.is_char_boundary(*at)).unwrap();
        let text = format!("{}{put}{}", &CASE[..border(at)], &CASE[border(at + len)..]);
        let errors = match CaseFile::parse("a/b".parse().unwrap(), "fixtures/cases/a/b.toml", &text) {
            Ok(file) => file.validate(&CLAUSES),
            Err(errors) => errors,
        };
        for error in errors {
            let span = error.span().unwrap_or_default();
            prop_assert!(text.get(span.clone()).is_some(), "{span:?} of {error}");
        }
    }
}
