#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks what the repository's C++ and CUDA sources say about each other, without compiling them.

Comments of functions: a name after \\param or \\tparam is one of the declaration that follows. A name in back quotes that looks like a
parameter is one of the declaration, of the function's body, or of a call that the comment shows, such as function(begin, end). In a comment
that refers to another function, such as Run(), it may also stand elsewhere in the file.

Includes: between the folders of a room of src/ that LAYERED_ROOMS names there is no circle, and no source of a build without CUDA includes a
header of CUDA's.

Usage: check-sources.py [FOLDER]   FOLDER is the repository (default: the one of this script)
Exit status 1: it has printed what is wrong.
"""
import pathlib
import re
import sys

LAYERED_ROOMS = ("gaussian", "partition", "runtime", "snake")
FOLDERS = ("benchmarks", "examples", "include", "src", "test", "wrapping")
SUFFIXES = (".h", ".hxx", ".cxx", ".cu", ".cuh")
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
DOCUMENTATION = re.compile(r"/\*\*(?!/).*?\*/", re.DOTALL)
PARAMETER = re.compile(r"\\t?param(?:\[[a-z,]+\])?\s+(\w+)")
QUOTED = re.compile(r"`([a-z][A-Za-z0-9]*)`")
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(["<])([^">]+)[">]', re.MULTILINE)
CUDA_HEADER = re.compile(r"^(cuda|nv/|cub/|cooperative_groups)")


def words(text):
    return set(re.findall(r"\w+", text))


def end_of(text, characters):
    """Returns the position of the first of these characters outside parentheses and braces, or the length of the text."""
    depth = 0
    for position, character in enumerate(text):
        if depth == 0 and character in characters:
            return position
        depth += (character in "({") - (character in ")}")
    return len(text)


def declaration_and_body(text):
    """Returns the declaration at the beginning of a text, and the body if it is a definition."""
    text = COMMENT.sub("", text[:20000])
    end = end_of(text, "{;")
    declaration = text[:end]
    return declaration, text[end:end + 1 + end_of(text[end + 1:], "}")] if text[end:end + 1] == "{" else ""


def stale_names(text):
    """Yields the line and the name of each parameter that a comment names and the declaration does not have."""
    code = words(COMMENT.sub("", text))
    for match in DOCUMENTATION.finditer(text):
        comment = match.group()
        declaration, body = declaration_and_body(text[match.end():])
        line = text.count("\n", 0, match.start()) + 1
        known = words(declaration)
        for name in PARAMETER.findall(comment):
            if name not in known:
                yield line, name
        if "(" not in declaration:
            continue
        known |= words(body) | words(" ".join(re.findall(r"\(([^()`]*)\)", comment)))
        known |= code if re.search(r"\w\(\)", comment) else set()
        for name in QUOTED.findall(comment):
            if name not in known:
                yield line, name


def includes(path, text, files):
    """Returns the repository's files and the other headers that a file includes."""
    own, others = set(), set()
    for quote, name in INCLUDE.findall(text):
        candidates = (str(pathlib.PurePosixPath(path).parent / name), "src/" + name, "include/" + name)
        found = [candidate for candidate in candidates if candidate in files] if quote == '"' else []
        (own if found else others).add(found[0] if found else name)
    return own, others


def circles(graph, room):
    """Returns the pairs of the room's folders of which each reaches the other. The top of the room is none of them."""
    top = "src/" + room + "/"
    folder = lambda path: path[len(top):].rpartition("/")[0] if path.startswith(top) else ""
    edges = {}
    for path, own in graph.items():
        for other in own:
            if folder(path) and folder(other) and folder(path) != folder(other):
                edges.setdefault(folder(path), set()).add(folder(other))

    def reached(start):
        seen, todo = set(), [start]
        while todo:
            for other in edges.get(todo.pop(), set()) - seen:
                seen.add(other)
                todo.append(other)
        return seen

    return sorted((one, other) for one in edges for other in reached(one) if one < other and one in reached(other))


def sources_without_cuda(text):
    """Returns the sources of a build without CUDA that a CMake file lists."""
    lists = re.findall(r"set\(CudaFilters_(?:REGION_)?(?:WITHOUT_CUDA_)?SRCS\s([^()]*)\)", text)
    return ["src/" + source for listed in lists for source in listed.split()]


def cuda_header_of(source, graph, others):
    """Returns the way from a source to the first header of CUDA's that it includes, or nothing."""
    ways, todo = {source: [source]}, [source]
    while todo:
        path = todo.pop(0)
        for name in sorted(others.get(path, ())):
            if CUDA_HEADER.match(name):
                return ways[path] + [name]
        for other in sorted(graph.get(path, set()) - ways.keys()):
            ways[other] = ways[path] + [other]
            todo.append(other)
    return []


def complaints(folder):
    files = {path.relative_to(folder).as_posix() for top in FOLDERS for path in (folder / top).rglob("*") if path.suffix in SUFFIXES}
    graph, others = {}, {}
    for path in sorted(files):
        text = (folder / path).read_text(encoding="utf-8")
        for line, name in stale_names(text):
            yield f"{path}:{line}: '{name}' is no parameter of the declaration below"
        graph[path], others[path] = includes(path, text, files)
    for room in LAYERED_ROOMS:
        for one, other in circles(graph, room):
            yield f"src/{room}: the folders {one} and {other} include each other"
    build = folder / "src/CMakeLists.txt"
    for source in sources_without_cuda(build.read_text(encoding="utf-8")) if build.is_file() else ():
        way = cuda_header_of(source, graph, others)
        if way:
            yield "a build without CUDA includes a header of CUDA's: " + " > ".join(way)


def main():
    if sys.argv[1:] in (["-h"], ["--help"]):
        print(__doc__)
        return 0
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parent.parent)
    found = list(complaints(folder))
    for complaint in found:
        print(complaint)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
