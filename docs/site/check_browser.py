#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Opens every page of a built site in headless Chromium, on a phone and on a desk, light and dark, and searches it.

Usage: check_browser.py SITE SCREENSHOTS

A page must load without an error of the browser or a file that is missing, must not be wider than the screen, and must have a heading that is seen.
The search must find pages for the words of WORDS. SCREENSHOTS gets a picture of the first screen of the pages of PICTURES in each of the four settings.
Exit status 1: it has printed what is wrong.
"""
import contextlib
import functools
import http.server
import pathlib
import shutil
import sys
import threading

from playwright.sync_api import sync_playwright

SCREENS = {"phone": {"width": 390, "height": 844}, "desk": {"width": 1440, "height": 900}}
# What the search must find, and a page that must be among what it finds.
WORDS = {"vesselness": "docs/user/vesselness.html", "NaN": "docs/user/python.html", "CudaUpload": "reference/cpp/functions.html"}
PICTURES = (
    "index",
    "docs/user/start",
    "docs/user/which_filter",
    "docs/user/vesselness",
    "docs/user/performance",
    "docs/developer/architecture",
    "docs/developer/decisions",
    "gallery/index",
    "gallery/vesselness",
    "reference/python/itk_cudafilters.gaussian_filter",
    "reference/cpp",
    "reference/cpp/CudaVesselnessImageFilter",
)


class Handler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *arguments):
        pass


@contextlib.contextmanager
def served(folder):
    """Serves a folder on a free port of this machine."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()


def look_at(page, address, name):
    """Opens a page, and yields what is wrong with it."""
    wrong = []
    listen = {
        "console": lambda message: wrong.append(f"says {message.text}") if message.type == "error" else None,
        "pageerror": lambda error: wrong.append(f"fails with {error}"),
        "response": lambda answer: wrong.append(f"misses {answer.url}") if answer.status >= 400 else None,
    }
    for event, function in listen.items():
        page.on(event, function)
    page.goto(f"{address}{name}.html", wait_until="load")
    for event, function in listen.items():
        page.remove_listener(event, function)
    width, screen = page.evaluate("[document.documentElement.scrollWidth, document.documentElement.clientWidth]")
    if width > screen:
        wrong.append(f"is {width} pixels wide")
    if not name.startswith(("search", "genindex", "py-modindex")) and not page.locator("h1").first.is_visible():
        wrong.append("has no heading that is seen")
    return wrong


def search(page, address):
    """Yields the words of WORDS for which the search does not find their page."""
    for word, expected in WORDS.items():
        page.goto(f"{address}search.html?q={word}")
        try:
            page.wait_for_selector("ul.search li a", timeout=20000)
            page.wait_for_function("document.querySelector('#search-results .search-summary, .search-summary')?.textContent.match(/\\d/)")
        except Exception as error:  # noqa: BLE001  # what a browser can do wrong has no end
            yield f"the search for {word} fails: {str(error).splitlines()[0]}"
            continue
        found = page.eval_on_selector_all("ul.search li a", "links => links.map(link => link.href)")
        if not any(expected in link for link in found):
            yield f"the search for {word} finds {len(found)} places without {expected}"
        print(f"the search for {word} finds {len(found)} places")


def main():
    if len(sys.argv) != 3 or sys.argv[1] in ("-h", "--help"):
        print(__doc__)
        return 0 if sys.argv[1:] in (["-h"], ["--help"]) else 2
    site, pictures = map(pathlib.Path, sys.argv[1:])
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if not program:
        sys.exit("check_browser.py: there is no Chromium on PATH")
    names = sorted(path.relative_to(site).with_suffix("").as_posix() for path in site.rglob("*.html") if "_static" not in path.parts)
    if "index" not in names:
        sys.exit(f"check_browser.py: SITE is {site}, which has no index.html")
    pictures.mkdir(parents=True, exist_ok=True)
    wrong = []
    with served(site) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu"])
        for screen, size in SCREENS.items():
            for scheme in ("light", "dark"):
                page = browser.new_page(viewport=size, color_scheme=scheme)
                for name in names:
                    wrong += [f"{name}.html, {screen}, {scheme}: {what}" for what in look_at(page, address, name)]
                    if name in PICTURES:
                        page.screenshot(path=pictures / f"{name.replace('/', '-')}-{screen}-{scheme}.png")
                page.close()
        wrong += search(browser.new_page(), address)
        browser.close()
    print(f"{len(names)} pages in {2 * len(SCREENS)} settings")
    for line in wrong:
        print(line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
