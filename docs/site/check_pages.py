#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the pages of a built site, and the code on the pages that it was built from.

Usage: check_pages.py SITE SOURCE

SITE is the folder of the HTML files: every link and every picture must lead to a file and a place in it, unless it leads out of the site.
SOURCE is the folder of the Markdown files: blocks of Python must compile, and blocks of sh must be valid for bash.
Exit status 1: it has printed what is wrong.
"""
import html.parser
import pathlib
import re
import subprocess
import sys
import urllib.parse

BLOCK = re.compile(r"(?ms)^```(\w+)\n(.*?)^```")


class Page(html.parser.HTMLParser):
    """The names of the places of a page, and its links."""

    def __init__(self, path):
        super().__init__()
        self.places, self.links = set(), []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name in ("id", "name") and value:
                self.places.add(value)
            elif name in ("href", "src") and value is not None:
                self.links.append(value)


def broken_links(site):
    pages = {path: Page(path) for path in sorted(site.rglob("*.html"))}
    for path, page in pages.items():
        for link in page.links:
            parts = urllib.parse.urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / urllib.parse.unquote(parts.path)).resolve() if parts.path else path
            place = urllib.parse.unquote(parts.fragment)
            if not target.is_file():
                yield f"{path.relative_to(site)}: there is no {link}"
            elif place and target in pages and place not in pages[target].places:
                yield f"{path.relative_to(site)}: {link} names a place that is not there"
    print(f"{len(pages)} pages, {sum(len(page.links) for page in pages.values())} links")


def wrong_code(source):
    blocks = 0
    for path in sorted(source.rglob("*.md")):
        text = path.read_text(encoding="utf-8")
        for match in BLOCK.finditer(text):
            where = f"{path.relative_to(source)}:{text.count(chr(10), 0, match.start()) + 1}"
            language, code = match.groups()
            blocks += language in ("python", "sh")
            if language == "python":
                try:
                    compile(code, where, "exec")
                except SyntaxError as error:
                    yield f"{where}: {error}"
            elif language == "sh":
                done = subprocess.run(["bash", "-n"], input=code, capture_output=True, text=True, check=False)
                if done.returncode != 0:
                    yield f"{where}: {done.stderr.strip()}"
    print(f"{blocks} blocks of code")


def main():
    if len(sys.argv) != 3 or sys.argv[1] in ("-h", "--help"):
        print(__doc__)
        return 0 if sys.argv[1:] in (["-h"], ["--help"]) else 2
    site, source = (pathlib.Path(argument).resolve() for argument in sys.argv[1:])
    if not (site / "index.html").is_file():
        sys.exit(f"check_pages.py: SITE is {site}, which has no index.html")
    wrong = [*broken_links(site), *wrong_code(source)]
    for line in wrong:
        print(line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
