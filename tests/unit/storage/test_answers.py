"""What refusing answers mean, and which pages are no objects."""

from __future__ import annotations

import pytest

from benchproof.storage.answers import is_error_page, refusal
from unit.storage.conftest import SECRET, told

HEAD = b'<?xml version="1.0" encoding="UTF-8"?>\n'


def xml(code: str, message: str = "text") -> bytes:
    return HEAD + f"<Error><Code>{code}</Code><Message>{message}</Message></Error>".encode()


@pytest.mark.parametrize(
    ("status", "body", "expected", "reason"),
    [
        pytest.param(403, xml("AccessDenied"), "denied", "access_denied", id="br06-403"),
        pytest.param(403, b"", "denied", "http_403", id="403-says-nothing"),
        pytest.param(403, b"<html>no</html>", "denied", "http_403", id="403-html"),
        pytest.param(401, b"", "denied", "http_401", id="401"),
        pytest.param(
            403, xml("SignatureDoesNotMatch"), "denied", "signature_does_not_match", id="signature"
        ),
        pytest.param(403, xml("RequestTimeTooSkewed"), "unknown", "clock_skew", id="br52-skew"),
        pytest.param(404, xml("NoSuchKey"), "missing", "no_such_key", id="br06-404"),
        pytest.param(404, xml("NoSuchBucket"), "missing", "no_such_bucket", id="no-bucket"),
        pytest.param(410, b"", "missing", "http_410", id="410"),
        pytest.param(412, xml("PreconditionFailed"), "changed", "replaced", id="br03-412"),
        pytest.param(416, xml("InvalidRange"), "unsupported", "range_refused", id="416"),
        pytest.param(400, xml("InvalidArgument"), "unknown", "invalid_argument", id="400"),
        pytest.param(400, b"nope", "unknown", "http_400", id="400-says-nothing"),
        pytest.param(400, xml("x" * 65), "unknown", "http_400", id="endless-code"),
        pytest.param(403, xml("No Code"), "denied", "http_403", id="no-code"),
        pytest.param(403, xml("<b>x</b>"), "denied", "http_403", id="markup-for-a-code"),
        pytest.param(500, xml("InternalError"), "unknown", "http_500", id="500"),
        pytest.param(301, xml("PermanentRedirect"), "unknown", "http_301", id="301"),
        pytest.param(204, b"", "unknown", "http_204", id="204"),
        pytest.param(304, b"", "unknown", "http_304", id="304"),
        pytest.param(418, b"", "unknown", "http_418", id="418"),
    ],
)
def test_refusals(status: int, body: bytes, expected: str, reason: str) -> None:
    """Each refusal has a status and a reason that never depend on free text."""
    found = refusal(status, body, "latch://1.node")
    assert found is not None
    assert (found.status, found.reason, found.expired) == (expected, reason, False)
    assert str(found) == f"latch://1.node: {expected} ({reason})."


@pytest.mark.parametrize("status", [200, 206])
def test_no_refusal(status: int) -> None:
    """What comes with 200 and 206 is judged elsewhere."""
    assert refusal(status, xml("AccessDenied")) is None


@pytest.mark.parametrize(
    ("status", "body"),
    [
        pytest.param(403, xml("AccessDenied", "Request has expired"), id="s3"),
        pytest.param(403, b"Request has expired", id="without-xml"),
        pytest.param(400, xml("ExpiredToken", "The provided token has expired."), id="token"),
        pytest.param(403, xml("ExpiredToken"), id="token-403"),
        pytest.param(403, xml("RequestExpired"), id="code"),
        pytest.param(400, xml("TokenRefreshRequired"), id="refresh"),
        pytest.param(401, b'{"error": "URL expired"}', id="other-storage"),
    ],
)
def test_br05_expiry_by_the_answer(status: int, body: bytes) -> None:
    """A dead URL is told by what the server says."""
    found = refusal(status, body)
    assert found is not None
    assert (found.status, found.reason, found.expired) == ("denied", "expired", True)


def test_a_missing_object_has_not_expired() -> None:
    """Words about expiry count in refusals of the URL alone."""
    found = refusal(404, xml("NoSuchKey", "Request has expired"))
    assert found is not None
    assert not found.expired


def test_br13_refusals_repeat_nothing() -> None:
    """What a server writes beside its code is in no message."""
    body = xml("AccessDenied", f"?X-Amz-Signature={SECRET}")
    for status in (400, 401, 403, 404, 412, 416, 500):
        found = refusal(status, body, "h")
        assert found is not None
        told(found)


HTML = b"<!DOCTYPE html><html><body>Please sign in</body></html>"


@pytest.mark.parametrize(
    ("status", "headers", "head", "page"),
    [
        pytest.param(200, {}, xml("AccessDenied"), True, id="s3-error"),
        pytest.param(200, {"ETag": '"a"'}, xml("InternalError"), True, id="s3-error-with-etag"),
        pytest.param(200, {}, b"\xef\xbb\xbf" + xml("SlowDown"), True, id="s3-error-bom"),
        pytest.param(
            200, {"ETag": '"a"'}, HEAD + b"<Errors><Code>1</Code></Errors>", False, id="xml-object"
        ),
        pytest.param(200, {"ETag": '"a"'}, b"<Error>none</Error>", False, id="error-without-code"),
        pytest.param(200, {}, HTML, True, id="sign-in"),
        pytest.param(200, {}, b"\n <HTML>", True, id="html-upper"),
        pytest.param(200, {}, b"\xef\xbb\xbf<!-- x -->\n<html lang='en'>", True, id="html-comment"),
        pytest.param(200, {}, HEAD + b"<!DOCTYPE html PUBLIC>", True, id="xhtml"),
        pytest.param(
            200,
            {"Content-Type": "text/html; charset=utf-8"},
            b"<script>x</script>",
            True,
            id="by-type",
        ),
        pytest.param(200, {"ETag": '"a"'}, HTML, False, id="html-object-with-etag"),
        pytest.param(
            200, {"ETag": '"a"', "Content-Type": "text/html"}, HTML, False, id="html-object-typed"
        ),
        pytest.param(206, {"ETag": '"a"'}, HTML, False, id="html-part"),
        pytest.param(206, {"ETag": '"a"'}, xml("AccessDenied"), False, id="xml-part"),
        pytest.param(200, {}, b"barcode,<html>\n", False, id="html-further-down"),
        pytest.param(200, {}, b"<htmlish>", False, id="another-tag"),
        pytest.param(200, {}, b"", False, id="empty"),
    ],
)
def test_error_pages(status: int, headers: dict[str, str], head: bytes, page: bool) -> None:
    """A page in place of an object is told from an object that is a page."""
    assert is_error_page(status, headers, head) is page
