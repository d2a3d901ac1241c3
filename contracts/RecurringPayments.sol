// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {IERC20Permit} from "@openzeppelin/contracts/token/ERC20/extensions/IERC20Permit.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";
import {EIP712} from "@openzeppelin/contracts/utils/cryptography/EIP712.sol";
import {SignatureChecker} from "@openzeppelin/contracts/utils/cryptography/SignatureChecker.sol";
import {ReentrancyGuardTransient} from "@openzeppelin/contracts/utils/ReentrancyGuardTransient.sol";

/// @notice A permit whose signature is bytes, as Circle's tokens have it beside EIP-2612: contract wallets sign by it.
interface IPermitByBytes {
    function permit(address owner, address spender, uint256 value, uint256 deadline, bytes calldata signature) external;
}

/// @title Recurring payments in tokens, from the payer's wallet straight to the payee's.
/// @notice A payer signs a mandate once. Its executor may then charge the payer, never more than the mandate says, and
/// only in favour of its payee. The payer lets this contract spend the token by an allowance.
/// @dev The contract has no owner, cannot be upgraded or paused, and never holds a balance. It has not been audited.
contract RecurringPayments is EIP712, ReentrancyGuardTransient {
    using SafeERC20 for IERC20;

    /// @notice What a payer agrees to.
    /// @param payer whose tokens are charged, and who signs
    /// @param payee who receives every charge
    /// @param token the ERC-20 token
    /// @param executor the only address that may charge
    /// @param maxAmount the most that one charge may take, in the token's smallest unit
    /// @param minInterval the least number of seconds between two charges
    /// @param start the first second in which a charge is allowed
    /// @param end the first second in which no charge is allowed any more
    /// @param plan what the mandate is for, in the words of who proposed it; not interpreted here
    /// @param salt makes two mandates with the same terms different
    struct Mandate {
        address payer;
        address payee;
        address token;
        address executor;
        uint256 maxAmount;
        uint64 minInterval;
        uint64 start;
        uint64 end;
        bytes32 plan;
        bytes32 salt;
    }

    /// @notice An EIP-2612 permit for this contract. It sets the payer's allowance to `value`; it does not add to it.
    struct Permit {
        uint256 value;
        uint256 deadline;
        bytes signature;
    }

    /// @notice What happened under a mandate.
    /// @param lastChargedAt the time of its latest charge, zero before the first
    /// @param revoked true once it can never be charged again
    struct Status {
        uint64 lastChargedAt;
        bool revoked;
    }

    /// @notice A charge under a mandate. The token's own `Transfer` stands before it in the same transaction.
    event Charged(
        bytes32 indexed mandateHash,
        bytes32 indexed paymentReference,
        address indexed payee,
        address payer,
        address token,
        uint256 amount
    );
    /// @notice A mandate was ended for ever.
    event Revoked(bytes32 indexed mandateHash);

    /// @notice Only the mandate's executor may charge.
    error NotExecutor(address executor);
    /// @notice Only payer, payee and executor may revoke without a signature.
    error NotParty(address caller);
    /// @notice The signature is not the payer's, or is over something else.
    error InvalidSignature(address payer);
    /// @notice The mandate was ended.
    error MandateRevoked(bytes32 mandateHash);
    /// @notice The mandate cannot be charged before `start`.
    error NotStarted(uint256 start);
    /// @notice The mandate cannot be charged from `end` on.
    error Ended(uint256 end);
    /// @notice The mandate cannot be charged again before `allowedAt`.
    error TooSoon(uint256 allowedAt);
    /// @notice A charge takes at least one unit and at most `maxAmount`.
    error AmountOutOfRange(uint256 amount, uint256 maxAmount);
    /// @notice This was charged already.
    error ReferenceUsed(bytes32 paymentReference);

    bytes32 private constant MANDATE_TYPEHASH = keccak256(
        "Mandate(address payer,address payee,address token,address executor,uint256 maxAmount,uint64 minInterval,"
        "uint64 start,uint64 end,bytes32 plan,bytes32 salt)"
    );
    bytes32 private constant REVOCATION_TYPEHASH = keccak256("Revocation(bytes32 mandate)");

    /// @notice What happened under a mandate, by its hash.
    mapping(bytes32 mandateHash => Status) public statusOf;

    /// @notice Whether a reference was charged under a mandate. Each mandate has references of its own, so that nobody
    /// can use up another's.
    mapping(bytes32 mandateHash => mapping(bytes32 paymentReference => bool)) public isUsed;

    constructor() EIP712("Quittance Recurring Payments", "1") {}

    /// @notice Moves `amount` from the mandate's payer to its payee.
    /// @param signature the payer's, over the mandate
    /// @param paymentReference names what is paid; it can be charged once under this mandate
    function charge(Mandate calldata mandate, bytes calldata signature, uint256 amount, bytes32 paymentReference)
        external
        nonReentrant
    {
        bytes32 mandateHash = _admit(mandate, signature, amount, paymentReference);
        _collect(mandate, mandateHash, amount, paymentReference);
    }

    /// @notice The same, after setting the payer's allowance by a permit. Anybody may have used the permit before;
    /// what counts is whether the allowance suffices.
    function chargeWithPermit(
        Mandate calldata mandate,
        bytes calldata signature,
        uint256 amount,
        bytes32 paymentReference,
        Permit calldata permit
    ) external nonReentrant {
        bytes32 mandateHash = _admit(mandate, signature, amount, paymentReference);
        _tryPermit(mandate, permit);
        _collect(mandate, mandateHash, amount, paymentReference);
    }

    /// @notice Ends a mandate for ever. Its payer, its payee and its executor may do so. Again, it changes nothing.
    function revoke(Mandate calldata mandate) external {
        bool isParty = msg.sender == mandate.payer || msg.sender == mandate.payee || msg.sender == mandate.executor;
        if (!isParty) revert NotParty(msg.sender);
        _revoke(hashOf(mandate));
    }

    /// @notice Ends a mandate for ever by its payer's signature over `Revocation(bytes32 mandate)` with the mandate's
    /// hash. Anybody may bring it.
    function revokeBySignature(Mandate calldata mandate, bytes calldata signature) external {
        bytes32 mandateHash = hashOf(mandate);
        bytes32 digest = _hashTypedDataV4(keccak256(abi.encode(REVOCATION_TYPEHASH, mandateHash)));
        _requireSignature(mandate.payer, digest, signature);
        _revoke(mandateHash);
    }

    /// @notice The EIP-712 hash of a mandate for this contract on this chain: what its payer signs.
    function hashOf(Mandate calldata mandate) public view returns (bytes32) {
        // All fields take one word each, so the struct is encoded as EIP-712 asks for.
        return _hashTypedDataV4(keccak256(abi.encode(MANDATE_TYPEHASH, mandate)));
    }

    /// @dev Checks everything that the mandate says, and records the charge before any other contract can act.
    function _admit(Mandate calldata mandate, bytes calldata signature, uint256 amount, bytes32 paymentReference)
        private
        returns (bytes32 mandateHash)
    {
        if (msg.sender != mandate.executor) revert NotExecutor(mandate.executor);
        if (block.timestamp < mandate.start) revert NotStarted(mandate.start);
        if (block.timestamp >= mandate.end) revert Ended(mandate.end);
        if (amount == 0 || amount > mandate.maxAmount) revert AmountOutOfRange(amount, mandate.maxAmount);

        mandateHash = hashOf(mandate);
        Status storage status = statusOf[mandateHash];
        if (status.revoked) revert MandateRevoked(mandateHash);
        if (isUsed[mandateHash][paymentReference]) revert ReferenceUsed(paymentReference);
        if (status.lastChargedAt != 0) {
            uint256 allowedAt = uint256(status.lastChargedAt) + mandate.minInterval;
            if (block.timestamp < allowedAt) revert TooSoon(allowedAt);
        }
        _requireSignature(mandate.payer, mandateHash, signature);

        status.lastChargedAt = uint64(block.timestamp);
        isUsed[mandateHash][paymentReference] = true;
    }

    /// @dev A permit that fails stops nothing: it may have been used already, and the allowance suffices all the same.
    function _tryPermit(Mandate calldata mandate, Permit calldata permit) private {
        if (permit.signature.length == 65) {
            (bytes32 r, bytes32 s) = abi.decode(permit.signature, (bytes32, bytes32));
            uint8 v = uint8(permit.signature[64]);
            IERC20Permit token = IERC20Permit(mandate.token);
            try token.permit(mandate.payer, address(this), permit.value, permit.deadline, v, r, s) {} catch {}
        } else {
            IPermitByBytes token = IPermitByBytes(mandate.token);
            try token.permit(mandate.payer, address(this), permit.value, permit.deadline, permit.signature) {} catch {}
        }
    }

    function _collect(Mandate calldata mandate, bytes32 mandateHash, uint256 amount, bytes32 paymentReference) private {
        IERC20(mandate.token).safeTransferFrom(mandate.payer, mandate.payee, amount);
        emit Charged(mandateHash, paymentReference, mandate.payee, mandate.payer, mandate.token, amount);
    }

    function _revoke(bytes32 mandateHash) private {
        if (statusOf[mandateHash].revoked) return;
        statusOf[mandateHash].revoked = true;
        emit Revoked(mandateHash);
    }

    /// @dev The key first, whatever code stands at the address: a wallet with EIP-7702 code keeps its key, and its
    /// delegate may refuse plain signatures. Then the code, by ERC-1271.
    function _requireSignature(address payer, bytes32 digest, bytes calldata signature) private view {
        (address signer, ECDSA.RecoverError fault,) = ECDSA.tryRecoverCalldata(digest, signature);
        if (fault == ECDSA.RecoverError.NoError && signer == payer) return;
        if (SignatureChecker.isValidERC1271SignatureNowCalldata(payer, digest, signature)) return;
        revert InvalidSignature(payer);
    }
}
