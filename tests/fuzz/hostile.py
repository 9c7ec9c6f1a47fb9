"""Hostile files by name: which parser meets them, how they are made, and what they may cost."""

from __future__ import annotations

import gzip
import io
import json
import struct
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass

MB = 1 << 20


@dataclass(frozen=True)
class Hostile:
    """A hostile input: `seconds` of CPU and `megabytes` are the most that its parser may take for it."""

    name: str
    target: str
    make: Callable[[], bytes]
    seconds: float = 10
    megabytes: int = 512
    cheap: bool = True


def _json(value: object) -> bytes:
    return json.dumps(value).encode()


def _eval(grader: object, task: str = "t") -> bytes:
    return _json(
        {"id": "e1", "task": task, "metadata": {}, "data_node": "latch://1.node", "grader": grader}
    )


def _case(kind: str, config: object, answer: object) -> bytes:
    return _json({"type": kind, "config": config, "answer": answer})


def _zip(name: str, data: bytes, claim: int | None = None) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr(name, data)
    raw = bytearray(made.getvalue())
    if claim is not None:
        at = raw.rindex(b"PK\x01\x02")
        raw[at + 24 : at + 28] = struct.pack("<I", claim)
    return bytes(raw)


def _record(answer: object) -> bytes:
    return _json(
        {
            "result": {
                "agent_answer": answer,
                "passed": False,
                "grader_result": {
                    "agent_answer": answer,
                    "passed": False,
                    "score": 0.0,
                    "field_scores": {},
                },
            }
        }
    )


_HEAD = b"HTTP/1.1 200 OK\r\n"
_CHUNKED = _HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
_N = 100_000

HOSTILE: tuple[Hostile, ...] = (
    # JSON
    Hostile("json_nested_100k", "json", lambda: b"[" * _N + b"]" * _N),
    Hostile("json_objects_nested_100k", "json", lambda: b'{"a":' * _N + b"1" + b"}" * _N),
    Hostile("json_integer_4400_digits", "json", lambda: b"9" * 4400),
    Hostile(
        "json_integers_4300_digits", "json", lambda: b"[" + b",".join([b"9" * 4300] * 2000) + b"]"
    ),
    Hostile(
        "json_1e400",
        "evaluation",
        lambda: b'{"id":"a","task":1e400,"grader":{"type":"x","config":-1e999}}',
    ),
    Hostile("json_lone_surrogate", "json", lambda: b'["\\ud800", {"\\udfff": 1}]'),
    Hostile("json_utf16", "json", lambda: '{"a": 1}'.encode("utf-16")),
    Hostile(
        "json_million_keys",
        "json",
        lambda: _json({f"k{n}": n for n in range(1_000_000)}),
        20,
        cheap=False,
    ),
    Hostile(
        "json_duplicate_keys",
        "record",
        lambda: b"{" + b",".join([b'"answer":"A"'] * 200_000) + b"}",
    ),
    Hostile(
        "json_60mb_of_empty_lists", "json", lambda: b"[" + b"[]," * (20 * MB) + b"1]", cheap=False
    ),
    Hostile("json_60mb_of_numbers", "json", lambda: b"[" + b"1," * (30 * MB) + b"1]", cheap=False),
    Hostile(
        "json_60mb_of_objects", "json", lambda: b"[" + b'{"a":1},' * (7 * MB) + b"1]", cheap=False
    ),
    Hostile("json_60mb_text", "json", lambda: b'"' + b"x" * (60 * MB) + b'"', cheap=False),
    # manifests, evaluations, lint
    Hostile(
        "manifest_200k_rows",
        "manifest",
        lambda: _json([{"task": "t", "kit": "k", "eval_id": f"e{n}"} for n in range(200_000)]),
        40,
        1500,
        cheap=False,
    ),
    Hostile(
        "manifest_200k_equal_rows",
        "manifest",
        lambda: _json([{"task": "t", "kit": "k", "eval_id": "e"}] * 200_000),
        40,
        1500,
        cheap=False,
    ),
    Hostile(
        "handle_of_slashes", "evaluation", lambda: _json({"id": "a", "data_node": "/" * 300_000})
    ),
    Hostile(
        "handle_of_schemes",
        "evaluation",
        lambda: _json({"id": "a", "data_node": "://" * 100_000 + "#"}),
    ),
    Hostile("prompt_of_quotes", "lint", lambda: _eval({}, '{"' + '\\"' * 100_000)),
    Hostile("prompt_of_spaces", "lint", lambda: _eval({}, '{"a"' + " " * 300_000 + '"b"')),
    Hostile("prompt_of_braces", "lint", lambda: _eval({}, "{" * 300_000)),
    Hostile("prompt_of_dots", "lint", lambda: _eval({}, "0.0 - " * 50_000 + "/home/" * 50_000)),
    Hostile(
        "prompt_of_accessions",
        "lint",
        lambda: _eval({}, "10.1234/" * 60_000 + "C:\\\\Users\\\\" * 30_000),
    ),
    Hostile("prompt_of_decimals", "lint", lambda: _eval({}, "round to 1" * 60_000 + ". " * 60_000)),
    Hostile(
        "readme_of_negations",
        "lint",
        lambda: _eval({}, "{" + "-" * 3000 + "1}" + "{" + "(" * 3000 + "}"),
    ),
    Hostile(
        "grader_nested_60",
        "evaluation",
        lambda: _eval(
            json.loads('{"type":"all_of","config":{"children":[' * 60 + "1" + "]}}" * 60)
        ),
    ),
    Hostile(
        "grader_100k_children",
        "evaluation",
        lambda: _eval(
            {
                "type": "all_of",
                "config": {"children": [{"type": "numeric_tolerance", "config": {}}] * _N},
            }
        ),
        30,
        1000,
        cheap=False,
    ),
    Hostile(
        "tolerances_10k",
        "lint",
        lambda: _eval(
            {
                "type": "numeric_tolerance",
                "config": {
                    "ground_truth": {f"f{n}": n for n in range(10_000)},
                    "tolerances": {
                        f"f{n}": {"type": "absolute", "value": 1} for n in range(10_000)
                    },
                },
            },
            '{"f1": <int>}',
        ),
        60,
        1000,
        cheap=False,
    ),
    # graders
    Hostile(
        "subsequence_distinct_100k",
        "grade",
        lambda: _case(
            "longest_subsequence",
            {
                "answer_field": "a",
                "ground_truth": list(range(_N)),
                "scoring": {"pass_threshold": 0.5},
            },
            {"a": list(range(_N))},
        ),
        20,
    ),
    Hostile(
        "subsequence_equal_100k",
        "grade",
        lambda: _case(
            "longest_subsequence",
            {"answer_field": "a", "ground_truth": ["x"] * _N, "scoring": {"pass_threshold": 0.5}},
            {"a": ["x"] * _N},
        ),
        20,
    ),
    Hostile(
        "labels_200k",
        "grade",
        lambda: _case(
            "label_set_jaccard",
            {
                "answer_field": "a",
                "ground_truth_labels": [f"l{n}" for n in range(200_000)],
                "scoring": {"pass_threshold": 0.5},
            },
            {"a": [f"l{n}" for n in range(200_000)]},
        ),
        20,
    ),
    Hostile(
        "labels_of_lists",
        "grade",
        lambda: _case(
            "label_set_jaccard",
            {"answer_field": "a", "ground_truth_labels": ["x"]},
            {"a": [["a"]] * _N},
        ),
    ),
    Hostile(
        "markers_200k",
        "grade",
        lambda: _case(
            "marker_gene_precision_recall",
            {
                "answer_field": "a",
                "canonical_markers": [f"g{n}" for n in range(200_000)],
                "scoring": {"pass_thresholds": {"precision_at_k": 0.5, "recall_at_k": 0.5}},
            },
            {"a": [f"g{n}" for n in range(200_000)]},
        ),
        20,
    ),
    Hostile(
        "distribution_100k",
        "grade",
        lambda: _case(
            "distribution_comparison",
            {
                "ground_truth": {"cell_type_distribution": {f"c{n}": 0.001 for n in range(_N)}},
                "tolerances": {"cell_type_percentages": {"value": 3}},
            },
            {"cell_type_distribution": {f"c{n}": 0.001 for n in range(_N)}},
        ),
        20,
    ),
    Hostile(
        "answer_huge_integer",
        "grade",
        lambda: (
            b'{"type":"numeric_tolerance","config":{"ground_truth":{"a":1},'
            b'"tolerances":{"a":{"type":"absolute","value":1}}},"answer":{"a":'
            + b"9" * 4300
            + b"}}"
        ),
    ),
    Hostile(
        "answer_long_number_text",
        "grade",
        lambda: _case(
            "numeric_tolerance",
            {"ground_truth": {"a": 1}, "tolerances": {"a": {"type": "absolute", "value": 1}}},
            {"a": "9" * 5_000_000},
        ),
    ),
    Hostile(
        "record_answer_1m", "record", lambda: _record(list(range(1_000_000))), 20, 800, cheap=False
    ),
    # published tables
    Hostile(
        "csv_field_100mb",
        "published_csv",
        lambda: b"model,accuracy\n" + b"x" * (60 * MB) + b",1\n",
        cheap=False,
    ),
    Hostile(
        "csv_million_columns",
        "published_csv",
        lambda: b"model,accuracy" + b",ab" * 1_000_000 + b"\na,1\n",
    ),
    Hostile(
        "csv_million_rows",
        "published_csv",
        lambda: b"model,accuracy,n\n" + b"a,1,10\n" * 1_000_000,
        30,
    ),
    Hostile(
        "csv_2000_rows",
        "published_csv",
        lambda: (
            b"model,harness,accuracy,n\n"
            + b"".join(b"m%d,h,50.%d,10\n" % (n, n % 9) for n in range(1990))
        ),
        30,
    ),
    Hostile(
        "csv_60mb_cells",
        "published_csv",
        lambda: b"model,accuracy\n" + (b"ab," * 30 + b"\n") * 660_000,
        30,
        cheap=False,
    ),
    Hostile("csv_quotes", "published_csv", lambda: b'model,accuracy\n"' + b'""' * 1_000_000),
    Hostile(
        "markdown_million_columns",
        "published_markdown",
        lambda: (
            b"|a" * 1_000_000 + b"|\n" + b"|-" * 1_000_000 + b"|\n" + b"|1" * 1_000_000 + b"|\n"
        ),
    ),
    Hostile("markdown_bars", "published_markdown", lambda: b"\\|" * 3_000_000 + b"\n|---|\n"),
    Hostile(
        "markdown_rules",
        "published_markdown",
        lambda: b"|" + b" " * 300_000 + b":\n|" + b"-" * 3_000_000 + b" x|\n",
    ),
    Hostile(
        "markdown_heads", "published_markdown", lambda: b"|Model|Accuracy|\n|-|-|\n" * 100_000, 30
    ),
    Hostile(
        "published_json_100k_models",
        "published_json",
        lambda: _json({"models": [{"model": f"m{n}", "accuracy": 50.5} for n in range(_N)]}),
        20,
        800,
    ),
    Hostile(
        "published_json_1900_models",
        "published_json",
        lambda: _json(
            {
                "models": [
                    {
                        "model": f"m{n}",
                        "n_evals": 10,
                        "accuracy": {"mean": 50.5, "ci_low": 5e-324, "ci_high": 1e11},
                    }
                    for n in range(1900)
                ]
            }
        ),
        30,
    ),
    # licences
    Hostile("licence_20k_words", "licence", lambda: _licence(2), 30),
    Hostile("licence_equal_words", "licence", lambda: _licence(1) + b" the" * 1500, 30),
    Hostile("licence_60mb", "licence", lambda: b"a-" * (30 * MB), 30, 512, cheap=False),
    # git's objects
    Hostile(
        "tree_million_entries",
        "tree_object",
        lambda: b"".join(b"100644 f%07d\0" % n + bytes(20) for n in range(1_000_000)),
        30,
        1500,
        cheap=False,
    ),
    Hostile(
        "tree_long_name", "tree_object", lambda: b"100644 " + b"a" * (20 * MB) + b"\0" + bytes(20)
    ),
    Hostile(
        "tree_dot_git",
        "tree_object",
        lambda: b"40000 .git\0" + bytes(20) + b"100644 ..\0" + bytes(20),
    ),
    Hostile(
        "tree_hfs_dot_git",
        "tree_object",
        lambda: b"100644 " + b"\xe2\x80\x8c" * 500_000 + b".git\0" + bytes(20),
    ),
    Hostile(
        "commit_million_parents",
        "commit_object",
        lambda: (
            b"tree "
            + b"a" * 40
            + b"\n"
            + (b"parent " + b"b" * 40 + b"\n") * 500_000
            + b"committer a <b> 1 +0000\n\n"
        ),
        20,
    ),
    Hostile(
        "commit_endless_year",
        "commit_object",
        lambda: b"tree " + b"a" * 40 + b"\ncommitter a <b> " + b"9" * 5_000_000 + b" +0000\n\n",
    ),
    Hostile(
        "commit_spaces",
        "commit_object",
        lambda: b"tree " + b"a" * 40 + b"\ncommitter a <b>" + b"> " * 500_000 + b" x +0000\n\n",
    ),
    # archives
    Hostile("zip_bomb", "content", lambda: _zip("blobs/" + "a" * 40, bytes(200 * MB), 100)),
    Hostile(
        "zip_bomb_honest", "content", lambda: _zip("blobs/" + "a" * 40, bytes(200 * MB)), 20, 1200
    ),
    # HTTP
    Hostile(
        "http_gzip_bomb",
        "http",
        lambda: _HEAD + b"Content-Encoding: gzip\r\n\r\n" + gzip.compress(bytes(8 * MB)),
    ),
    Hostile("gzip_bomb_1gb", "decode_body", lambda: _bomb(1 << 30)),
    Hostile("gzip_million_members", "decode_body", lambda: gzip.compress(b"") * 1_000_000, 5),
    Hostile("http_headers_for_ever", "http_endless", lambda: _HEAD + b"\0\0X-A: b\r\n"),
    Hostile("http_header_without_end", "http_endless", lambda: _HEAD + b"X-A: \0\0aaaaaaa"),
    Hostile("http_status_without_end", "http_endless", lambda: b"HTTP/1.1 200 \0\0aaaaaaa"),
    Hostile("http_100_for_ever", "http_endless", lambda: b"\0\0HTTP/1.1 100 Continue\r\n\r\n"),
    Hostile("http_body_for_ever", "http_endless", lambda: _HEAD + b"\r\n\0\0aaaa"),
    Hostile("http_chunks_for_ever", "http_endless", lambda: _CHUNKED + b"\0\x001\r\na\r\n"),
    Hostile("http_chunk_size_without_end", "http_endless", lambda: _CHUNKED + b"\0\x000000000"),
    Hostile(
        "http_chunk_extension_without_end", "http_endless", lambda: _CHUNKED + b"1;\0\0xxxxxxx"
    ),
    Hostile("http_trailers_for_ever", "http_endless", lambda: _CHUNKED + b"0\r\n\0\0T: x\r\n"),
    Hostile("http_chunk_of_2e60", "http", lambda: _CHUNKED + b"f" * 15 + b"\r\nabc"),
    Hostile("http_negative_length", "http", lambda: _HEAD + b"Content-Length: -5\r\n\r\nabc"),
    Hostile(
        "headers_of_digits",
        "headers",
        lambda: b"Retry-After: " + b"9" * 3_000_000 + b"\nContent-Length: " + b"9" * 1000 + b"\n\n",
    ),
    Hostile(
        "error_page_of_spaces",
        "headers",
        lambda: b"A: b\n\n" + b" " * 3_000_000 + b"<?xml " + b"x" * 1000,
    ),
    Hostile("error_page_of_comments", "headers", lambda: b"A: b\n\n<!--" + b" --" * 500_000),
    Hostile("url_of_dots", "url", lambda: b"https://" + b"a." * 100_000 + b"\xe9/"),
    Hostile(
        "github_million_rows",
        "github",
        lambda: _json(
            {
                "id": 1,
                "full_name": "o/n",
                "sha": "a" * 40,
                "commit": {
                    "tree": {"sha": "b" * 40},
                    "committer": {"date": "2026-01-01T00:00:00Z"},
                },
                "tree": [{"path": "a"}] * 300_000,
            }
        ),
        40,
        1500,
        cheap=False,
    ),
    # HDF5 and containers
    Hostile("hdf5_signature_only", "hdf5_walker", lambda: b"\x89HDF\r\n\x1a\n"),
    Hostile("hdf5_header_loop", "hdf5_walker", lambda: _hdf5_loop()),
    Hostile("gzip_head_bomb", "container", lambda: _bomb(64 * MB)[:4096]),
    # YAML
    Hostile("yaml_billion_laughs", "config", lambda: _laughs("[{}]")),
    Hostile(
        "yaml_merge_laughs",
        "config",
        lambda: (
            b"a0: &a0 {x: 1, y: 2}\n"
            + b"".join(
                b"a%d: &a%d {<<: [%s]}\n" % (n, n, b",".join([b"*a%d" % (n - 1)] * 9))
                for n in range(1, 10)
            )
        ),
    ),
    Hostile("yaml_nested_50k", "config", lambda: b"a: " + b"[" * 50_000),
    Hostile(
        "yaml_nested_blocks", "accepted", lambda: b"".join(b" " * n + b"- \n" for n in range(900))
    ),
    Hostile("yaml_self", "accepted", lambda: b"accepted: &a [*a]\n"),
    Hostile("yaml_sexagesimal", "accepted", lambda: b"accepted: 1" + b":59" * 80_000 + b"\n"),
    Hostile("yaml_50mb", "claims", lambda: b"claims: [" + b"a," * (25 * MB) + b"]\n", cheap=False),
    Hostile("yaml_laughs_of_claims", "claims", lambda: _laughs("{claims: 1}")),
    # reports that somebody hands over
    Hostile("seal_nested", "seal", lambda: b'{"complete":' + b"[" * _N),
    Hostile(
        "seal_100mb",
        "seal",
        lambda: b'{"complete": true, "files": {' + b'"a":1,' * (16 * MB) + b'"b":1}}',
        cheap=False,
    ),
    Hostile("status_nested", "status", lambda: b"[" * _N),
    Hostile("answer_60mb", "answer", lambda: b"[" + b"1," * (30 * MB) + b"1]", cheap=False),
    Hostile("parquet_zero_bomb", "parquet", lambda: _parquet_bomb(), 20, 1500, cheap=False),
    # texts that are shown
    Hostile("backticks_1m", "finding_texts", lambda: b"`" * 1_000_000),
    Hostile("escapes_3m", "shown", lambda: b"\x1b[31m" * 600_000, 20, 600),
)


def _licence(times: int) -> bytes:
    from benchproof.inventory.apache import TEXT

    words = TEXT.split()
    return " ".join(words[::-1] if times > 1 else words).encode()


def _bomb(size: int) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, zlib.MAX_WBITS | 16)
    block = bytes(MB)
    return b"".join(packer.compress(block) for _ in range(size // MB)) + packer.flush()


def _laughs(leaf: str) -> bytes:
    lines = [f"a0: &a0 {leaf}"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 10)]
    return "\n".join(lines).encode() + b"\n"


def _hdf5_loop() -> bytes:
    """A root header whose continuations lead to itself, with a tree whose node is its own child."""
    body = bytearray(8192)
    body[:8] = b"\x89HDF\r\n\x1a\n"
    body[8:24] = b"\0\0\0\0\0\x08\x08\0" + struct.pack("<HHI", 4, 16, 0)
    struct.pack_into("<QQQQ", body, 24, 0, 2**64 - 1, len(body), 2**64 - 1)
    struct.pack_into("<QQI4xQQ", body, 56, 0, 512, 1, 1024, 2048)
    struct.pack_into("<BBHII", body, 512, 1, 0, 3, 1, 48)
    struct.pack_into("<HHB3xQQ", body, 528, 0x10, 16, 0, 528, 48)
    struct.pack_into("<4sBBHQQQ", body, 1024, b"TREE", 0, 5, 1, 0, 0, 0)
    struct.pack_into("<Q", body, 1024 + 32, 1024)
    return bytes(body)


def _parquet_bomb() -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    file = io.BytesIO()
    pq.write_table(pa.table({"repo": ["x" * 1000] * 1_000_000}), file, compression="zstd")
    return file.getvalue()


BY_NAME = {item.name: item for item in HOSTILE}
