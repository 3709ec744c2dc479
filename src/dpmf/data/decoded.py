"""The bytes of a text file in; its text out."""

import codecs

from dpmf.data.delimited import ending
from dpmf.errors import DataError

# Those of UTF-32 come first: that of UTF-16 begins in the same way.
_MARKS = {
    codecs.BOM_UTF32_LE: "utf-32-le",
    codecs.BOM_UTF32_BE: "utf-32-be",
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}


def decoded(raw: bytes, *, source: str) -> str:
    """The text: UTF-8 unless a byte-order mark says otherwise.

    Other encodings cannot be told apart from each other, so they are refused.

    Raises:
        DataError: It is no such text; the message says where.
    """
    mark = next((one for one in _MARKS if raw.startswith(one)), b"")
    encoding = _MARKS.get(mark, "utf-8")
    body = raw[len(mark) :]
    try:
        return body.decode(encoding)
    except UnicodeDecodeError as error:
        before = body[: error.start].decode(encoding, "ignore")
        name = encoding.upper().removesuffix("-LE").removesuffix("-BE")
        raise DataError(
            f"{source}: {ending(before)}: found bytes that are no {name} text "
            f"({error.reason} at byte {len(mark) + error.start}), expected a CSV file in "
            "UTF-8; save it so."
        ) from error
