use super::*;

#[test]
fn a_case_binds_who_one_of_its_checks_binds() {
    let case: Case = toml::from_str(
        "title = 'x'\nrevisions = ['2025-06-18', '2025-11-25']\n\
         [[check]]\nid = 'a'\nrow = 'EX-1'\npolicy = 'exagent'\nalive = 'connect'\n\
         [[check]]\nid = 'b'\nclause = 'a.b'\nrevisions = ['2025-11-25']\nalive = 'connect'\n",
    )
    .unwrap();
    assert!(case.binds(Some("exagent"), Revision::V20250618));
    assert!(!case.binds(None, Revision::V20250618));
    assert!(!case.binds(Some("snodo"), Revision::V20250618));
    assert!(case.binds(None, Revision::V20251125));
}
