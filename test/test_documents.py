#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of the Markdown files: every link leads to a file and a heading that are there, every file that a page names exists, the names of
the architecture page occur in the sources, every page is listed, the version is the same everywhere, decimals begin with a digit, and measured times are those that
benchmarks/report.py writes from the records. Every record is used, and says when and where it was measured."""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(REPOSITORY / "benchmarks"))
import records  # noqa: E402
import report  # noqa: E402

FILES = sorted(
    [*REPOSITORY.glob("*.md"), *(REPOSITORY / "docs").rglob("*.md"), *(REPOSITORY / "examples").rglob("*.md")],
    key=lambda path: str(path),
)
RECORDS = REPOSITORY / "benchmarks/records"
SOURCES = {".h", ".hxx", ".cxx", ".cu", ".cuh"}
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
# A path of the repository in a span of code. Names with these words are examples.
PATH = re.compile(r"`((?:benchmarks|cmake|docs|examples|include|scripts|src|test|tools|wrapping)/[\w./*-]*)`")
MADE_UP = ("Trial",)
# A name of the code in CamelCase. The words of a path and of a pattern such as *Fir* are none.
NAME = re.compile(r"(?<![\w./*-])[A-Z]\w*[a-z]\w*(?![\w./*-])")


def words_of_sources():
    """The words of the sources without those of C++ comments, because a comment may keep a name that the code has lost."""
    words = set()
    for folder in ("src", "include", "wrapping", "test"):
        for path in (REPOSITORY / folder).rglob("*"):
            if path.suffix in SOURCES | {".i", ".in", ".py", ".wrap"}:
                text = path.read_text(encoding="utf-8")
                if path.suffix in SOURCES:
                    text = re.sub(r"/\*.*?\*/|//[^\n]*", " ", text, flags=re.DOTALL)
                words.update(re.findall(r"\w+", text))
    return words


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

    def test_files_that_pages_name_exist(self):
        names = 0
        for path in FILES:
            for name in PATH.findall(path.read_text(encoding="utf-8")):
                if any(word in name for word in MADE_UP):
                    continue
                names += 1
                with self.subTest(file=str(path.relative_to(REPOSITORY)), name=name):
                    self.assertTrue(list(REPOSITORY.glob(name.rstrip("/"))), "there is no such file")
        self.assertGreater(names, 50)

    def test_names_on_the_architecture_page_occur_in_the_sources(self):
        text = (REPOSITORY / "docs/developer/architecture.md").read_text(encoding="utf-8")
        names = {name for span in re.findall(r"`([^`\n]+)`", text) for name in NAME.findall(span)}
        for diagram in re.findall(r"^    .*$", text, flags=re.MULTILINE):
            names.update(re.findall(r"\b[A-Z]\w+(?=::|\()", diagram))
        self.assertGreater(len(names), 40)
        words = words_of_sources()
        for name in sorted(names):
            with self.subTest(name):
                self.assertIn(name, words, "no source has this name")

    def test_every_page_is_listed(self):
        index = REPOSITORY / "docs" / "README.md"
        listed = {(index.parent / target).resolve() for target in LINK.findall(index.read_text(encoding="utf-8"))}
        for part in ("user", "developer"):
            for page in sorted((REPOSITORY / "docs" / part).glob("*.md")):
                with self.subTest(page.name):
                    self.assertIn(page, listed)

    def test_versions_agree(self):
        version = re.search(r"(?m)^ *VERSION ([0-9.]+)$", (REPOSITORY / "CMakeLists.txt").read_text(encoding="utf-8"))[1]
        changes = re.search(r"(?m)^## ([0-9.]+) ", (REPOSITORY / "CHANGELOG.md").read_text(encoding="utf-8"))[1]
        citation = re.search(r"(?m)^version: ([0-9.]+)$", (REPOSITORY / "CITATION.cff").read_text(encoding="utf-8"))[1]
        recipe = re.search(r'(?m)^  version: "([0-9.]+)"$', (REPOSITORY / "packaging/conda/recipe.yaml").read_text(encoding="utf-8"))[1]
        self.assertEqual((changes, citation, recipe), (version, version, version))

    def test_decimals_begin_with_a_digit(self):
        for path in FILES:
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
                with self.subTest(file=path.name, line=number):
                    self.assertNotRegex(line, r"(^|[\s(|])\.\d")

    def test_words_of_plain_texts(self):
        for path in FILES:
            text = without_code(path.read_text(encoding="utf-8"))
            with self.subTest(file=path.name):
                self.assertNotRegex(text, r"\bin\s+place\s+of\b")

    def test_figures_are_those_of_the_records(self):
        with tempfile.TemporaryDirectory() as folder:
            shutil.copy(REPOSITORY / "README.md", folder)
            shutil.copytree(REPOSITORY / "docs", pathlib.Path(folder) / "docs")
            program = REPOSITORY / "benchmarks/report.py"
            command = [sys.executable, "-B", str(program), "--no-plots", "--repository", folder]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            for path in report.find_pages(REPOSITORY):
                name = path.relative_to(REPOSITORY)
                with self.subTest(str(name)):
                    written = (pathlib.Path(folder) / name).read_text(encoding="utf-8")
                    self.assertEqual(written, path.read_text(encoding="utf-8"), "run benchmarks/report.py")
                    self.assertNotIn("Not measured.", written, "a table that no record has a row of")

    def test_every_table_has_one_page_at_least(self):
        places = {match["name"] for path in report.find_pages(REPOSITORY) for match in report.PLACE.finditer(path.read_text(encoding="utf-8"))}
        self.assertEqual(sorted(report.TABLES), sorted(places))

    def test_times_stand_where_report_writes_them(self):
        for path in report.find_pages(REPOSITORY):
            text = path.read_text(encoding="utf-8")
            rest = report.PLACE.sub("", text)
            if rest == text:
                continue  # no page on performance
            with self.subTest(path.name):
                self.assertNotRegex(rest, r"\d\s+(ms|us)\b", "a measured time that no record can replace")

    def test_every_record_is_named_by_a_page_or_a_source(self):
        sources = [path for folder in ("src", "include", "benchmarks") for path in (REPOSITORY / folder).rglob("*.*") if path.suffix in SOURCES]
        texts = "".join(path.read_text(encoding="utf-8") for path in (*FILES, *sources))
        paths = sorted(path for path in RECORDS.rglob("*") if path.is_file())
        self.assertGreater(len(paths), 10)
        for path in paths:
            with self.subTest(str(path.relative_to(RECORDS))):
                self.assertTrue(f"benchmarks/records/{path.relative_to(RECORDS)}" in texts, "no page and no source names it")

    def test_records_say_when_and_where_they_were_measured(self):
        for path in sorted(RECORDS.rglob("*.json")):
            record = records.read_record(path)
            with self.subTest(str(path.relative_to(RECORDS))):
                self.assertNotRegex(path.name, r"\d{4}-\d\d", "git keeps the dates")
                self.assertTrue(record["what"])
                for run in record["runs"]:
                    self.assertRegex(run["date"], r"^\d{4}-\d\d-\d\d")
                    self.assertTrue(run["commit"])
                    self.assertTrue(run["machine"]["device"])
                    self.assertTrue(records.row_lists(run), "a run without rows")


if __name__ == "__main__":
    unittest.main()
