//! RFC 6962 trees over whole files: section 2.1 with SHA-256.

use crate::digest::Digest;
use sha2::{Digest as _, Sha256};

/// The hash of a leaf: SHA-256 over 0x00 and the file's bytes.
#[must_use]
pub fn leaf(bytes: &[u8]) -> Digest {
    Digest(Sha256::new().chain_update([0]).chain_update(bytes).finalize().into())
}

/// The root over leaf hashes in their order; the root of no leaf is the digest of nothing.
#[must_use]
pub fn root(leaves: &[Digest]) -> Digest {
    match leaves {
        [] => Digest::of(b""),
        [leaf] => *leaf,
        _ => {
            // The largest power of two below the length, which is at least 2 here.
            let split = 1 << (usize::BITS - 1 - (leaves.len() - 1).leading_zeros());
            let (left, right) = leaves.split_at(split);
            node(root(left), root(right))
        }
    }
}

fn node(left: Digest, right: Digest) -> Digest {
    Digest(Sha256::new().chain_update([1]).chain_update(left.0).chain_update(right.0).finalize().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The inputs and roots of certificate-transparency's reference tests (`merkletree/merkle_tree_test.cc`).
    const INPUTS: [&[u8]; 8] = [
        &[],
        &[0x00],
        &[0x10],
        &[0x20, 0x21],
        &[0x30, 0x31],
        &[0x40, 0x41, 0x42, 0x43],
        &[0x50, 0x51, 0x52, 0x53, 0x54, 0x55, 0x56, 0x57],
        &[0x60, 0x61, 0x62, 0x63, 0x64, 0x65, 0x66, 0x67, 0x68, 0x69, 0x6a, 0x6b, 0x6c, 0x6d, 0x6e, 0x6f],
    ];
    const ROOTS: [&str; 9] = [
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
        "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
        "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
        "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
        "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
        "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
        "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
        "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
    ];

    #[test]
    fn roots_are_those_of_the_reference_tests() {
        let leaves: Vec<Digest> = INPUTS.iter().map(|bytes| leaf(bytes)).collect();
        for (n, expected) in ROOTS.iter().enumerate() {
            assert_eq!(root(&leaves[..n]).to_string(), *expected, "{n} leaves");
        }
    }

    #[test]
    fn a_node_is_no_leaf() {
        let leaves: Vec<Digest> = INPUTS.iter().take(4).map(|bytes| leaf(bytes)).collect();
        let inner = [node(leaves[0], leaves[1]), node(leaves[2], leaves[3])];
        let as_leaf = leaf(&[leaves[0].0, leaves[1].0].concat());
        assert_eq!(root(&leaves), root(&inner));
        assert_ne!(as_leaf, inner[0]);
    }
}
