"""What proves the rows of the table: recorded outcomes that depend on them."""

from .proof import (
    LACKS,
    Proof,
    claims,
    holds_in,
    is_claim,
    key_of,
    lack,
    proof_of,
    reverted,
    unproven,
    without,
)

__all__ = [
    "LACKS",
    "Proof",
    "claims",
    "holds_in",
    "is_claim",
    "key_of",
    "lack",
    "proof_of",
    "reverted",
    "unproven",
    "without",
]
