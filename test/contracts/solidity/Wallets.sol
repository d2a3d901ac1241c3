// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

/// A contract wallet whose owner's key signs for it, with a version byte in front of the signature.
contract OwnedWallet {
    address private immutable owner;

    constructor(address owner_) {
        owner = owner_;
    }

    function isValidSignature(bytes32 hash, bytes calldata signature) external view returns (bytes4) {
        if (signature.length != 66 || signature[0] != 0x01) return 0xffffffff;
        (bytes32 r, bytes32 s) = abi.decode(signature[1:65], (bytes32, bytes32));
        return ecrecover(hash, uint8(signature[65]), r, s) == owner ? bytes4(0x1626ba7e) : bytes4(0xffffffff);
    }
}

/// Takes the plain signature of its owner's key; without an owner that of its own address, as code for EIP-7702.
contract PlainWallet {
    address private immutable owner;

    constructor(address owner_) {
        owner = owner_;
    }

    function isValidSignature(bytes32 hash, bytes calldata signature) external view returns (bytes4) {
        (bytes32 r, bytes32 s) = abi.decode(signature, (bytes32, bytes32));
        address signer = owner == address(0) ? address(this) : owner;
        bool isSigned = signature.length == 65 && ecrecover(hash, uint8(signature[64]), r, s) == signer;
        return isSigned ? bytes4(0x1626ba7e) : bytes4(0xffffffff);
    }
}

/// Code for a wallet with EIP-7702 that takes no plain signature, as those that ask for a wrapped one.
contract RefusingDelegate {
    function isValidSignature(bytes32, bytes calldata) external pure returns (bytes4) {
        return 0xffffffff;
    }
}

/// A wallet that answers as badly as it can; the first byte of the signature says how.
contract HostileWallet {
    uint256 private written;

    function isValidSignature(bytes32, bytes calldata signature) external returns (bytes4) {
        bytes1 how = signature[0];
        if (how == 0x01) {
            while (true) {} // burns all gas it is given
        }
        if (how == 0x02) _answer(true, 1_000_000); // a megabyte that begins with the magic value
        if (how == 0x03) _answer(false, 1_000_000); // reverts with a megabyte
        if (how == 0x04) _answer(true, 4); // the magic value, in too few bytes
        if (how == 0x05) written++; // tries to write
        if (how == 0x06) {
            assembly {
                mstore(0, not(0))
                return(0, 0x20)
            }
        }
        return 0x1626ba7e;
    }

    function _answer(bool well, uint256 length) private pure {
        assembly {
            mstore(0, shl(224, 0x1626ba7e))
            // What lies between the first word and the end is whatever memory holds.
            switch well
            case 1 { return(0, length) }
            default { revert(0, length) }
        }
    }
}
