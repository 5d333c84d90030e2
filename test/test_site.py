#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of the site's programs, without the tools that build it: what Doxygen gets to read of a header, which pages the navigation has, and
which links and blocks of code are found to be wrong."""
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent
SITE = REPOSITORY / "docs/site"
sys.path.insert(0, str(SITE))
import doxygen_headers  # noqa: E402
import pages  # noqa: E402

HEADER = """\
#define itkOwnMacro(name)            \\
  /** Sets it by name: {1}. */       \\
  void Set##name(const char * text)  \\
  {                                  \\
    this->Set##name(Parse(text));    \\
  }                                  \\
                                     \\
private:                             \\
  int m_##name;                      \\
                                     \\
public:                              \\
  static_assert(true, "")
namespace itk::CudaDetail
{
struct Hidden
{
  int Value;
};
} // namespace itk::CudaDetail
namespace itk
{
/** A filter. */
template <typename TImage = std::vector<int>>
class Filter : public Base<TImage>
{
public:
  ITK_DISALLOW_COPY_AND_MOVE(Filter);
  using Self = Filter;
  using SizeType = typename TImage::SizeType;
  itkNewMacro(Self);

  /** The sigma; above 0. */
  itkSetMacro(Sigma, double);
  itkGetConstMacro(Sigma, double);

  itkOwnMacro(Name);

  /** Returns a brace: '}' or "{". */
  char
  GetBrace() const
  {
    return '}'; // {
  }
  int
  GetCount() const
  {
    return 1;
  }

  void
  PrintSelf(std::ostream & os) const override;

protected:
  /** For subclasses. */
  void
  GenerateData();

private:
  int m_Sigma{ 0 }; // a member
};

/** A result. */
struct Result
{
  int Number{ 0 }; // of pixels
  // Seconds of the parts,
  // the first one apart.
  double First{ 0.0 };
  double Second{ 0.0 };

  std::array<int, 2> Box{
    { 0, 0 }
  }; // smallest, largest
};

/** Why it stopped. */
enum class Stop
{
  Converged, // nothing changed
  Aborted
};
} // namespace itk
"""


class DoxygenHeadersTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as folder:
            header = pathlib.Path(folder) / "itkCudaDetailOwn.h"
            header.write_text(HEADER)
            macros = {**doxygen_headers.MACROS, **doxygen_headers.own_macros(header.parent)}
        cls.text = doxygen_headers.filtered(HEADER, macros)
        cls.plain = " ".join(cls.text.split())

    def test_lines_keep_their_numbers(self):
        for word in ("class Filter", "GetBrace", "struct Result", "double Second", "enum class Stop", "Aborted"):
            lines = [[index for index, line in enumerate(text.splitlines()) if word in line] for text in (HEADER, self.text)]
            self.assertEqual(*lines, word)

    def test_macros_become_declarations(self):
        self.assertIn("static Pointer New();", self.plain)
        self.assertIn("/** The sigma; above 0. */ void SetSigma(double value);", self.plain)
        self.assertIn("/** The sigma; above 0. */ double GetSigma() const;", self.plain)
        self.assertRegex(self.plain, r"/\*\* Sets it by name: \{1\}\. \*/ void SetName\(const char \* text\) ;")
        self.assertNotIn("m_Name", self.plain.partition("class Filter")[2])

    def test_comments_hold_for_the_declarations_below(self):
        comment = """/** Returns a brace: '}' or "{". */"""
        self.assertIn(comment + " char GetBrace() const; " + comment + " int GetCount() const;", self.plain)
        self.assertIn("/** Short for <tt>TImage::SizeType</tt>. */ using SizeType", self.plain)
        self.assertIn("/** of pixels */ int Number{ 0 };", self.plain)
        for name in ("First", "Second"):
            self.assertIn(f"/** Seconds of the parts, the first one apart. */ double {name}{{ 0.0 }};", self.plain)
        self.assertIn("/** smallest, largest */ std::array<int, 2> Box{ { 0, 0 } };", self.plain)
        self.assertIn("Converged, ///< nothing changed", self.plain)

    def test_what_is_not_for_users_is_left_out(self):
        for word in ("return", "PrintSelf", "GenerateData", "m_Sigma", "DISALLOW", "Hidden"):
            self.assertNotIn(word, self.plain.partition("namespace itk::CudaDetail")[2], word)
        self.assertEqual(self.text.count("{"), self.text.count("}"))

    def test_every_header_has_balanced_braces(self):
        macros = {**doxygen_headers.MACROS, **doxygen_headers.own_macros(REPOSITORY / "include")}
        for path in sorted((REPOSITORY / "include").glob("*.h")):
            text = re.sub(r"/\*.*?\*/|//[^\n]*|#(?:\\\n|[^\n])*", "", doxygen_headers.filtered(path.read_text(encoding="utf-8"), macros), flags=re.DOTALL)
            with self.subTest(path.name):
                self.assertEqual(text.count("{"), text.count("}"))
                self.assertNotRegex(text, r"\bitk\w+Macro\b", "a macro that docs/site/doxygen_headers.py does not know")


class PagesTest(unittest.TestCase):
    def test_every_page_is_in_the_navigation(self):
        listed = set(re.findall(r"</([\w./-]+)>", pages.navigation(REPOSITORY)))
        for path in [*(REPOSITORY / "docs").rglob("*.md"), *REPOSITORY.glob("*.md")]:
            name = path.relative_to(REPOSITORY).with_suffix("").as_posix()
            if name != "README":
                self.assertIn(name, listed)

    def test_examples_say_what_they_are(self):
        paths = [*(REPOSITORY / "examples/python").glob("*.py"), *(REPOSITORY / "examples").glob("*.cxx")]
        self.assertGreater(len(paths), 8)
        for path in paths:
            first, _, command = pages.example_texts(path)
            with self.subTest(path.name):
                self.assertRegex(first, r"^[A-Z].*\.$")
                self.assertRegex(command, rf"^(python )?{path.stem}(\.py)? \S")


class CheckPagesTest(unittest.TestCase):
    GOOD = {
        "site/index.html": '<h1 id="top">T</h1><a href="#top">a</a><a href="b/c.html#there">b</a><img src="p.png"><a href="https://example.org/x">c</a>',
        "site/b/c.html": '<p id="there"></p><a href="../index.html">up</a>',
        "site/p.png": "",
        "docs/page.md": "```python\nx = 1\n```\n\n```sh\necho 'a'\n```\n",
    }

    def check(self, **changes):
        """Returns exit status and output for the files of GOOD, some of them replaced."""
        with tempfile.TemporaryDirectory() as folder:
            for name, text in {**self.GOOD, **changes}.items():
                path = pathlib.Path(folder) / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            command = [sys.executable, "-B", str(SITE / "check_pages.py"), f"{folder}/site", f"{folder}/docs"]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr

    def test_good_pages_pass(self):
        self.assertEqual(self.check(), (0, "2 pages, 5 links\n2 blocks of code\n"))

    def test_faults_are_found(self):
        for name, text, message in (
            ("site/b/c.html", "<p></p>", "index.html: b/c.html#there names a place that is not there"),
            ("site/b/c.html", '<p id="there"><img src="none.png">', "b/c.html: there is no none.png"),
            ("site/b/c.html", '<p id="there"><a href="../none/">', "b/c.html: there is no ../none/"),
            ("docs/page.md", "text\n```python\nx = (\n```\n", "page.md:2: '(' was never closed"),
            ("docs/page.md", "```sh\nif true\n```\n", "page.md:1: bash: line"),
        ):
            status, output = self.check(**{name: text})
            self.assertEqual(status, 1, output)
            self.assertIn(message, output)

    def test_wrong_arguments_are_refused(self):
        for arguments, status in (([], 2), (["--help"], 0), (["nowhere", "nowhere"], 1)):
            done = subprocess.run([sys.executable, str(SITE / "check_pages.py"), *arguments], capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, status)
            self.assertIn("check_pages.py", done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
