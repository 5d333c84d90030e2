#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the headers of a folder as Doxygen should read them.

Usage: doxygen_headers.py HEADERS OUTPUT   two folders

Doxygen knows neither ITK's macros nor its habit of one comment for several declarations. This filter
* writes the declarations that a macro stands for, those of ITK from MACROS, those of this module from their definitions;
* repeats a comment for each declaration that follows it without an empty line between them;
* turns a remark behind a member or an enumerator, or above a member of a struct, into its comment;
* leaves out the namespace CudaDetail, protected and private members, functions that override ITK's without a comment, and function bodies;
* gives the comments of NAMES to the aliases that every class of ITK has.
Lines keep their numbers, so that Doxygen's warnings name those of the header.
"""
import pathlib
import re
import sys

# The declarations that a macro stands for; {0} and {1} are its arguments. Macros that declare nothing for users are empty.
MACROS = {
    "ITK_DISALLOW_COPY_AND_MOVE": "",
    "itkTypeMacro": "",
    "itkNewMacro": "/** Creates an object with default parameters, or what the object factory has for it. */ static Pointer New();",
    "itkFactorylessNewMacro": "/** Creates an object. */ static Pointer New();",
    "itkSetMacro": "void Set{0}({1} value);",
    "itkSetEnumMacro": "void Set{0}({1} value);",
    "itkGetConstMacro": "{1} Get{0}() const;",
    "itkGetEnumMacro": "{1} Get{0}() const;",
    "itkGetConstReferenceMacro": "const {1} & Get{0}() const;",
    "itkBooleanMacro": "void {0}On(); void {0}Off();",
    "itkSetInputMacro": "void Set{0}(const {1} * input);",
    "itkGetInputMacro": "const {1} * Get{0}() const;",
    "itkSetObjectMacro": "void Set{0}({1} * object);",
    "itkGetModifiableObjectMacro": "{1} * GetModifiable{0}(); const {1} * Get{0}() const;",
}
NAMES = {
    "Self": "This class.",
    "Superclass": "The class that this one derives from.",
    "Pointer": "A smart pointer to an object of this class.",
    "ConstPointer": "A smart pointer to a constant object of this class.",
    "InputImageType": "The type of the input.",
    "OutputImageType": "The type of the output.",
    "ImageDimension": "The number of dimensions of the images.",
}
TOKEN = re.compile(
    r"(?P<blank>\n[ \t]*(?=\n))|(?P<space>\s+)|(?P<comment>/\*\*(?!/).*?\*/)|(?P<remark>/\*.*?\*/|//[^\n]*)"
    r"|(?P<directive>#(?:\\\n|[^\n])*)|(?P<access>(?:public|protected|private):)|(?P<end>\})|(?P<item>[^\s])",
    re.DOTALL,
)
SCOPE = re.compile(r"^(template\s*<.*>\s*)?(extern \"C\"|namespace|class|struct)\b(?!.*\)\s*$)", re.DOTALL)
FUNCTION = re.compile(r"\)\s*(const|override|final|noexcept|->[^;{]*|\s)*$")
ALIAS = re.compile(r"^(?:using\s+|static\s+constexpr\s+[\w:\s]*?)(\w+)\s*=")


def skip(text, position):
    """Returns the position behind the quoted text, comment or single character at a position."""
    match = re.compile(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])+\'|//[^\n]*|/\*.*?\*/|.', re.DOTALL).match(text, position)
    return match.end()


def closing(text, position):
    """Returns the position behind the bracket that closes the one at a position."""
    depth = 0
    while position < len(text):
        depth += (text[position] in "({[") - (text[position] in ")}]")
        position = skip(text, position)
        if depth == 0:
            break
    return position


def item_at(text, position):
    """Returns the head of the declaration at a position, the position behind the head, and what ends it: ; or {."""
    start = position
    while position < len(text) and text[position] not in ";{":
        position = closing(text, position) if text[position] in "([" else skip(text, position)
    return text[start:position], position, text[position:position + 1]


def declarations_of(call, macros):
    """Returns the declarations that the call of a macro stands for, or nothing if it is none of `macros`."""
    match = re.fullmatch(r"(\w+)\s*\((.*)\)\s*;?", call.strip(), re.DOTALL)
    if not match or match[1] not in macros:
        return None
    arguments = [" ".join(part.split()) for part in match[2].split(",", 1)]
    expanded = macros[match[1]].format(*arguments)
    found = []
    for part in re.findall(r"(?:/\*\*.*?\*/)?[^;]*;", expanded, re.DOTALL):
        inner = declarations_of(part, macros)
        found += [part.strip()] if inner is None else inner
    return found


def own_macros(folder):
    """Returns the macros that the module's headers define, without the bodies of functions."""
    macros = {}
    for path in sorted(folder.glob("itkCudaDetail*.h")):
        for match in re.finditer(r"#define (itk\w+Macro)\(([\w, ]*)\)((?:\\\n|[^\n])*)", path.read_text(encoding="utf-8")):
            text = re.sub(r"\s*\\\n(?:\s*\*(?= ))?\s*|\s+", " ", match[3])
            text = re.sub(r"static_assert\(true, \"\"\)", "", text)
            position, plain = 0, ""
            while position < len(text):
                end = closing(text, position) if text[position] == "{" else skip(text, position)
                plain += ";" if text[position] == "{" else text[position:end]
                position = end
            plain = re.sub(r"\bprivate:.*|\w[\w:]* m_\w+;", "", plain).replace("{", "{{").replace("}", "}}")
            for number, name in enumerate(filter(None, (part.strip() for part in match[2].split(",")))):
                parameter = re.compile(rf"(/\*.*?\*/)|##{name}##|##{name}\b|\b{name}##|\b{name}\b")
                plain = parameter.sub(lambda found: found[1] or f"{{{number}}}", plain)
            macros[match[1]] = plain.strip().rstrip(";") + ";"
    return macros


def filtered(text, macros):
    """Returns the text of a header for Doxygen."""
    output, position, shown, scopes = [], 0, True, []
    comment, used = "", False  # the comment above, and whether a declaration has it; None for a remark that becomes one

    def emit(part, original):
        """Appends a part, and the line ends that it has less than the original."""
        output.append(part + "\n" * max(0, original.count("\n") - part.count("\n")))

    while position < len(text):
        match = TOKEN.match(text, position)
        kind, part = match.lastgroup, match.group()
        if kind == "item":
            head, end, mark = item_at(text, position)
            scope = mark == "{" and SCOPE.match(head)
            if mark == ";" or not scope:
                if mark == "{":
                    end = closing(text, end)
                    if not FUNCTION.search(head):
                        end = item_at(text, end)[1]
                        head = text[position:end]
                end += text[end:end + 1] == ";"
                original = text[position:end]
                remark = re.compile(r"[ \t]*// ?([^\n]*)").match(text, end)
                position = remark.end() if remark else end
                if not shown:
                    emit("", original)
                    continue
                expanded = declarations_of(original, macros)
                declarations = [head.rstrip() + ";"] if expanded is None else expanded
                if declarations and declarations[0].startswith("enum"):
                    declarations[0] = re.sub(r"(?m)^(\s*\w[^\n/]*?)\s*// ?(.*)$", r"\1 ///< \2", declarations[0])
                parts = []
                for declaration in declarations:
                    if declaration.startswith(("static_assert", "friend", "using Superclass::", "using TSuperclass")):
                        continue
                    known = ALIAS.match(declaration)
                    if comment and not declaration.startswith("/**"):
                        # The comment itself stands above the first declaration already.
                        parts.append("" if used is False else re.sub(r"\s*\n\s*(?:\*(?!/))?\s*", " ", comment) + " ")
                        used = True
                    elif remark and expanded is None:
                        parts.append(f"/** {remark[1]} */ ")
                    elif known and (known[1] in NAMES or declaration.startswith("using")):
                        meant = re.sub(r"^.*?=\s*(typename\s+)?|\s*;$", "", " ".join(declaration.split()))
                        parts.append(f"/** {NAMES.get(known[1], f'Short for <tt>{meant}</tt>.'.replace('&', '&amp;'))} */ ")
                    elif re.search(r"\boverride\s*;?$", declaration):
                        continue
                    parts.append(declaration + " ")
                emit("".join(parts), original)
                continue
            output.append(head + "{" if shown else "\n" * head.count("\n"))
            visible = shown and "CudaDetail" not in head
            scopes.append((shown, bool(re.search(r"\bstruct\b", head)), visible))
            shown = visible and not re.search(r"\bclass\b[^<>]*$", re.sub(r"<[^<>]*>", "", head))
            position, comment, used = end + 1, "", False
            continue
        position = match.end()
        if kind == "end":
            shown, *_ = scopes.pop()
            comment = ""
            output.append("}" if shown else "")
        elif kind == "access":
            shown = part == "public:" and scopes[-1][2]
            emit(part if shown else "private:", part)
        elif kind == "comment":
            comment, used = part if shown else "", False
            emit(part if shown else "", part)
        elif kind == "blank":
            comment, used = "", False
            output.append(part)
        elif kind in ("space", "directive"):
            output.append(part)
        else:
            if shown and part.startswith("//") and scopes and scopes[-1][1]:
                # A remark above a member of a struct, on one or several lines.
                comment = f"{comment[:-3] if used is None else '/**'} {part[2:].strip()} */"
                used = None
            emit("", part)
    return "".join(output)


def main():
    if len(sys.argv) != 3 or sys.argv[1] in ("-h", "--help"):
        print(__doc__)
        return 0 if sys.argv[1:] in (["-h"], ["--help"]) else 2
    headers, output = map(pathlib.Path, sys.argv[1:])
    if not headers.is_dir():
        sys.exit(f"doxygen_headers.py: HEADERS is {headers}, which is no folder")
    output.mkdir(parents=True, exist_ok=True)
    macros = {**MACROS, **own_macros(headers)}
    for path in sorted(headers.glob("*.h")):
        (output / path.name).write_text(filtered(path.read_text(encoding="utf-8"), macros), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
