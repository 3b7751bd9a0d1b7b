//! Marks, stops, regions and cuts.

use super::super::{Stop, Until};
use super::{CompileError, compiled, marks, try_compiled};
use std::time::Duration;

#[test]
fn marks_arise_on_their_layer_and_map_outwards() {
    //        chunk 1: "3\r\nabc\r\n" at 0, data at 3; chunk 2: "a\r\n…" at 8, data at 11
    let reply = compiled(
        "stream = [{ text = \"abc\", mark = \"mine\" }, { event = [\"雪\", \"\\r\"], eol = \"crlf\" }]\nthen = \"hold\"",
    );
    assert_eq!(&reply.bytes[reply.body.clone()], "3\r\nabc\r\na\r\n雪\r\n\r\r\n\r\n\r\n".as_bytes());
    assert_eq!(marks(&reply, "head-end"), [0]);
    assert_eq!(marks(&reply, "mine"), [6]);
    assert_eq!(marks(&reply, "event:1"), [21]);
    assert_eq!(marks(&reply, "inside-utf8"), [12, 13]);
    assert_eq!(marks(&reply, "between-cr-lf"), [15, 18, 20]);
    assert_eq!(marks(&reply, "chunk-size-line"), [0, 1, 2, 3, 8, 9, 10, 11]);
    assert!(reply.marks.is_sorted_by_key(|mark| mark.at));
}

#[test]
fn the_last_chunk_s_size_line_is_marked_too() {
    let reply = compiled("stream = [{ text = \"abc\" }]");
    assert_eq!(marks(&reply, "chunk-size-line"), [0, 1, 2, 3, 8, 9, 10, 11]);
    let wide =
        compiled("stream = [{ text = \"0123456789abcdef\" }]\nthen = \"hold\"\nchunk_extension = \";x\"");
    assert_eq!(marks(&wide, "chunk-size-line"), [0, 2, 5, 6]);
}

#[test]
fn many_marks_are_thinned_out_from_the_middle() {
    let reply = compiled("body = [{ repeat = \"雪\", times = 100000 }]");
    let inside = marks(&reply, "inside-utf8");
    assert_eq!((inside.len(), inside[0], inside[255]), (256, 1, 299_999));
    let chunks = compiled("stream = [{ repeat = \"x\", times = 1000 }]\nchunks = \"every-byte\"");
    assert_eq!(marks(&chunks, "chunk-size-line").len(), 256);
    let events = compiled("stream = [{ event = [\"data\"], times = 500 }]");
    assert_eq!(marks(&events, "event:500").len(), 1);
}

#[test]
fn stops_stand_behind_the_chunk_that_ends_there() {
    let stream = "stream = [{ text = \"ab\" }, { pause_ms = 30 }, { text = \"cd\" }, { hold = \"h\" }]\nthen = \"hold\"";
    let stops = |rule: &str| {
        let reply = compiled(rule);
        let end = reply.head.end;
        reply.stops.into_iter().map(|stop| Stop { at: stop.at - end, ..stop }).collect::<Vec<_>>()
    };
    let (pause, hold) = (Until::Passed(Duration::from_millis(30)), Until::Released("h".to_owned()));
    let expected = |a, b| vec![Stop { at: a, until: pause.clone() }, Stop { at: b, until: hold.clone() }];
    assert_eq!(stops(stream), expected(7, 14));
    assert_eq!(stops(&format!("{stream}\nchunks = \"whole\"")), expected(5, 9));
    assert_eq!(stops(&format!("{stream}\nframing = \"close\"")), expected(2, 4));
    assert_eq!(stops("stream = [{ hold = \"h\" }, { text = \"x\" }]"), [Stop { at: 0, until: hold.clone() }]);
}

#[test]
fn slices_cut_their_region_only() {
    let cuts = |more: &str| {
        let rule = "framing = \"close\"\nstream = [{ result_json = {}, mark = \"m\" }, { text = \"later\" }]";
        let reply = compiled(&format!("{rule}\n{more}"));
        (reply.cuts.clone(), reply.head.end, reply.suffix.clone())
    };
    let (whole, head, suffix) = cuts("");
    assert!(whole.is_empty());
    assert_eq!(suffix.len(), 5);
    assert!(cuts("slice = \"whole\"").0.is_empty());
    assert_eq!(cuts("slice = \"every-byte\"").0, (1..suffix.end).collect::<Vec<_>>());
    assert_eq!(cuts("slice = \"every-byte\"\nslice_over = \"head\"").0, (1..head).collect::<Vec<_>>());
    assert_eq!(cuts("slice = \"every-2\"\nslice_over = \"suffix\"").0, [0, 2, 4].map(|at| suffix.start + at));
    assert_eq!(cuts("slice = \"each-cut@3\"\nslice_over = \"body\"").0, [head + 3]);
    assert!(cuts("slice = \"each-cut\"").0.is_empty());
    assert_eq!(cuts("slice = \"at-marks\"").0, [head, suffix.start]);
    let outside = try_compiled("body = [{ text = \"abc\" }]\nslice = \"at:1,3\"\nslice_over = \"body\"");
    assert_eq!(outside, Err(CompileError::CutOutside { plan: "at:1,3".to_owned(), reach: 3, len: 3 }));
    assert!(matches!(try_compiled("slice = \"each\""), Err(CompileError::Plan(_))));
}
