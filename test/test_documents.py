#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of the Markdown files: every link leads to a file and a heading that are there, decimals begin with a digit, and the pages on
performance are those that benchmarks/report.py writes from the records."""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent
FILES = sorted(
    [*REPOSITORY.glob("*.md"), *(REPOSITORY / "docs").rglob("*.md"), *(REPOSITORY / "examples").rglob("*.md")],
    key=lambda path: str(path),
)
TEMPLATES = sorted((REPOSITORY / "benchmarks").glob("*.md"))
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")


def without_code(text):
    """The text without blocks and spans of code."""
    text = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"^    .*$", "", text, flags=re.MULTILINE)
    return re.sub(r"`[^`\n]*`", "", text)


def anchors_of(path):
    """The names that GitHub gives to the headings of a file."""
    text = re.sub(r"^```.*?^```$", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ +(.*?) *$", text, flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


class DocumentsTest(unittest.TestCase):
    def test_links_lead_somewhere(self):
        links = 0
        for path in FILES:
            # Links stand on one line or over two.
            for target in LINK.findall(re.sub(r"\s*\n\s*", " ", re.sub(r"`[^`\n]*`", "", path.read_text(encoding="utf-8")))):
                if target.startswith(("https://", "http://")):
                    continue
                links += 1
                with self.subTest(file=str(path.relative_to(REPOSITORY)), link=target):
                    name, _, anchor = target.partition("#")
                    file = (path.parent / name).resolve() if name else path
                    self.assertTrue(file.exists(), "there is no such file")
                    self.assertTrue(file.is_relative_to(REPOSITORY))
                    if anchor:
                        self.assertIn(anchor, anchors_of(file))
        self.assertGreater(links, 50)

    def test_every_picture_is_shown(self):
        texts = "".join(path.read_text(encoding="utf-8") for path in FILES)
        for picture in sorted((REPOSITORY / "docs").rglob("*.png")):
            with self.subTest(picture.name):
                self.assertIn(picture.name + ")", texts)

    def test_decimals_begin_with_a_digit(self):
        for path in (*FILES, *TEMPLATES):
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
                with self.subTest(file=path.name, line=number):
                    self.assertNotRegex(line, r"(^|[\s(|])\.\d")

    def test_words_of_plain_texts(self):
        for path in (*FILES, *TEMPLATES):
            text = without_code(path.read_text(encoding="utf-8"))
            with self.subTest(file=path.name):
                self.assertNotRegex(text, r"\bin\s+place\s+of\b")

    def test_pages_on_performance_are_those_of_the_records(self):
        with tempfile.TemporaryDirectory() as folder:
            docs = pathlib.Path(folder) / "docs"
            docs.mkdir()
            shutil.copy(REPOSITORY / "README.md", folder)
            program = REPOSITORY / "benchmarks/report.py"
            subprocess.run(
                [sys.executable, "-B", str(program), "--no-plots", "--docs", str(docs)], check=True, stdout=subprocess.DEVNULL
            )
            for name in ("README.md", "docs/performance.md", "docs/performance_limits.md"):
                with self.subTest(name):
                    written = (pathlib.Path(folder) / name).read_text(encoding="utf-8")
                    self.assertEqual(written, (REPOSITORY / name).read_text(encoding="utf-8"), "run benchmarks/report.py")


if __name__ == "__main__":
    unittest.main()
