"""Every example of the documentation runs, and prints what it says."""

from __future__ import annotations

import contextlib
import io
import re
import sys
from pathlib import Path

import pytest
from conftest import Server

HERE = Path(__file__).parents[1]
PAGES = [HERE / "README.md", HERE.parents[1] / "docs" / "python.md"]
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
EXPECTED = re.compile(r"print\(.*\)  # (.*)$", re.MULTILINE)
ADDRESS = "http://127.0.0.1:4747"
NEWER_PYTHON = ("pydantic_ai",)


def examples() -> list[object]:
    found: list[object] = []
    for page in PAGES:
        text = page.read_text()
        for match in BLOCK.finditer(text):
            line = text[: match.start()].count("\n") + 2
            found.append(pytest.param(match[1], id=f"{page.name}:{line}"))
    return found


@pytest.mark.parametrize("code", examples())
def test_example(code: str, binary: str, data: Path, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    if sys.version_info < (3, 11) and any(name in code for name in NEWER_PYTHON):
        pytest.skip("pydantic-ai needs a newer Python")
    monkeypatch.setenv("ISOLITH_BINARY", binary)
    monkeypatch.delenv("AGENTS_KEY", raising=False)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code.replace(ADDRESS, server.url), "example.py", "exec"), {"__name__": "__main__"})
    expected = [match.replace("…", "") for match in EXPECTED.findall(code)]
    lines = printed.getvalue().splitlines()
    assert len(lines) == len(expected), lines
    for line, start in zip(lines, expected, strict=True):
        assert line.startswith(start)


def test_there_are_examples() -> None:
    assert len(examples()) >= 8
