"""New names for old ones: what refers to each other, what matches and what sorts stays the same.

A name is cut into words of letters and digits. Each word gets a new one, everywhere the same; what
is between the words stays. So ``train-a`` and its pod ``train-a-worker-3`` still begin alike, and a
label still matches its selector. New words sort as the old ones do. All characters that may stand
between words in a name of Kubernetes sort before letters and digits, so whole names, and names
joined by ``/``, sort as before, too.

A few names stay as they are, because Volcano or Kubernetes knows them, such as the queue ``root``;
and so do numbers at the end of a name, because the scheduler reads the index of a pod there.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping

_WORD = re.compile(r"[^\W_]+")
_NUMBER = re.compile(r"[0-9]{1,5}")
_LONG_NUMBER = re.compile(r"[0-9]+")

KNOWN_NAMES = frozenset(
    {
        *("default", "root", "volcano", "volcano-system", "volcano-scheduler", "default-scheduler"),
        *(
            "kube-system",
            "kube-public",
            "kube-node-lease",
            "kwok-controller",
            "volcano-controllers",
        ),
        *("system-cluster-critical", "system-node-critical", "system-cluster", "latest", "*"),
        "0.0.0.0",  # noqa: S104 -- the API's name for all addresses of a node
        *("127.0.0.1", "localhost", "true", "false", "linux", "windows", "amd64"),
        *("arm64", "kubernetes-admin", "volcano-global"),
    }
)
"""Names that are the same in every cluster."""

_ALPHABET = "0123456789abcdefghijklmnopqrstuvwxyz"
_HASH_DIGITS = 4
_FEWEST_OF_ADDRESS = 4
"""So many numbers in a row may be the address of a machine."""


class Renaming:
    """The words of names that have been seen; :meth:`settle` makes the map of new names."""

    def __init__(self) -> None:
        self.words: set[str] = set()
        self.numbers: set[str] = set()
        self.names: set[str] = set()
        self._new: Mapping[str, str] | None = None

    def name(self, text: str) -> str:
        """Return the new name for a name; before the map is made, note it and return it."""
        if text in KNOWN_NAMES:
            return text
        self.names.add(text)
        return self._renamed(text, _NUMBER if _has_index(text) else None)

    def words_of(self, text: str, known: frozenset[str] = frozenset()) -> str:
        """Return a text with new words; all numbers in it stay, and words that are known."""
        return _WORD.sub(
            lambda match: match[0] if match[0] in known else self._word(match[0], _LONG_NUMBER),
            text,
        )

    def known(self, text: str) -> str:
        """Return a text in which the words of names are new."""
        new = self._new or {}
        return _WORD.sub(lambda match: new.get(match[0], match[0]), text)

    def settle(self, salt: bytes) -> Mapping[str, str]:
        """Make the map of old words to new ones, and return it."""
        self._new = new_words(self.words, self.numbers, salt)
        return self._new

    def _renamed(self, text: str, staying: re.Pattern[str] | None) -> str:
        return _WORD.sub(lambda match: self._word(match[0], staying), text)

    def _word(self, word: str, staying: re.Pattern[str] | None) -> str:
        if staying is not None and staying.fullmatch(word):
            self.numbers.add(word)
            return word
        if self._new is None:
            self.words.add(word)
            return word
        return self._new[word]


def _has_index(text: str) -> bool:
    """Return whether numbers in a name are indexes: it has other words, and is no address."""
    words = _WORD.findall(text)
    numbers = [_LONG_NUMBER.fullmatch(word) is not None for word in words]
    in_a_row = most = 0
    for number in numbers:
        in_a_row = in_a_row + 1 if number else 0
        most = max(most, in_a_row)
    # Four numbers in a row may be an address of a node, which must not stay.
    return not all(numbers) and most < _FEWEST_OF_ADDRESS


def new_words(words: Iterable[str], numbers: Iterable[str], salt: bytes) -> dict[str, str]:
    """Return a new word for each word; they sort as the old ones do, also among kept words.

    :param numbers: that stay as they are. :param salt: a secret, so that no one finds the old word
        by trying.
    """
    ordered = sorted(words)
    staying = sorted({*numbers, *(_WORD.findall(name)[0] for name in KNOWN_NAMES if name != "*")})
    width = 1
    while len(_ALPHABET) ** width < len(ordered):
        width += 1
    new = {}
    for rank, word in enumerate(ordered):
        place = bisect_right(staying, word)
        low = staying[place - 1] if place else ""
        # Between a word and the same word with zeros nothing ends in a letter: the next one is the
        # limit.
        while place < len(staying) and _leaves_no_room(low, staying[place]):
            place += 1
        high = staying[place] if place < len(staying) else None
        digest = hmac.digest(salt, word.encode(), hashlib.sha256).hex()[:_HASH_DIGITS]
        new[word] = f"{between(low, high)}{_digits(rank, width)}{digest}"
    return new


def _leaves_no_room(low: str, high: str) -> bool:
    """Return whether only zeros are added to a word: nothing that ends in a letter is between."""
    return high.startswith(low) and not high[len(low) :].strip("0")


def _digits(number: int, width: int) -> str:
    text = ""
    for _ in range(width):
        number, digit = divmod(number, len(_ALPHABET))
        text = _ALPHABET[digit] + text
    return text


def between(low: str, high: str | None) -> str:
    """Return a text that sorts after ``low`` and before ``high``, also with more text after it.

    It ends in a letter, so that no one reads a number in what begins with it.
    """
    begun = low
    while True:
        for end in range(len(begun) + 1):
            # n first: a letter in the middle leaves room on both sides.
            for letter in "n" + _ALPHABET[10:]:
                candidate = begun[:end] + letter
                after = candidate > low and not low.startswith(candidate)
                if after and (
                    high is None or (candidate < high and not high.startswith(candidate))
                ):
                    return candidate
        begun += "0"


def back(new: Mapping[str, str]) -> Callable[[str], str]:
    """Return a function that puts the old words back into a text.

    :param new: old words to new ones.
    """
    old = {word: was for was, word in new.items()}

    def named(text: str) -> str:
        original: str = _WORD.sub(lambda word: old.get(word[0], word[0]), text)
        return original

    return named
