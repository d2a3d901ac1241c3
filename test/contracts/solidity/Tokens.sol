// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

/// Says no by its answer alone.
contract FalseToken {
    function transferFrom(address, address, uint256) external pure returns (bool) {
        return false;
    }
}

/// Says yes and moves nothing.
contract LyingToken {
    function transferFrom(address, address, uint256) external pure returns (bool) {
        return true;
    }
}

/// Moves tokens and answers nothing, as the oldest tokens do.
contract SilentToken {
    mapping(address => uint256) public balanceOf;
    mapping(address => mapping(address => uint256)) public allowance;

    function mint(address to, uint256 value) external {
        balanceOf[to] += value;
    }

    function approve(address spender, uint256 value) external {
        allowance[msg.sender][spender] = value;
    }

    function transferFrom(address from, address to, uint256 value) external {
        allowance[from][msg.sender] -= value;
        balanceOf[from] -= value;
        balanceOf[to] += value;
    }
}

/// Calls back into whoever asks it to transfer. It is its own mandate's executor, so that it may charge.
contract ReentrantToken {
    bytes private inner;
    bool public reentered;
    bytes public answer;

    function attack(address target, bytes calldata outer, bytes calldata inner_) external {
        inner = inner_;
        (bool done, bytes memory fault) = target.call(outer);
        if (!done) {
            assembly {
                revert(add(fault, 0x20), mload(fault))
            }
        }
    }

    function transferFrom(address, address, uint256) external returns (bool) {
        (reentered, answer) = msg.sender.call(inner);
        return true;
    }

    function permit(address, address, uint256, uint256, bytes calldata) external {
        (reentered, answer) = msg.sender.call(inner);
    }
}

/// A token whose permits do their worst; the value says how. Its transfers move nothing.
contract HostilePermitToken {
    function permit(address, address, uint256 value, uint256, uint8, bytes32, bytes32) external pure {
        if (value == 1) {
            while (true) {} // burns all gas it is given
        }
        assembly {
            switch value
            case 2 { return(0, 1000000) }
            default { revert(0, 1000000) }
        }
    }

    function transferFrom(address, address, uint256) external pure returns (bool) {
        return true;
    }
}
