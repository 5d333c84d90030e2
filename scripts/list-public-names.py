#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lists the public interface of the module: one declaration a line, which test/test_public_names.py compares with
test/public_names.txt.

C++: what the headers in include/ declare at namespace scope and in public and protected sections of classes, without
comments and bodies of functions. Namespaces CudaDetail and detail are left out. Macros that the headers define are
replaced by their text. Python: the names in __all__ of the modules of itk_cudafilters, with the
signatures of the sources. Nothing is compiled or imported.
"""
import argparse
import ast
import pathlib
import re

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent
MODULES = ("__init__", "monai", "ndimage", "stream")
HIDDEN = ("CudaDetail", "detail")  # namespaces
ACCESS = ("public", "protected", "private")
CLASSES = ("class", "struct", "union")
# Strings, characters and numbers come first, because comments do not begin in them.
LITERAL = r""""(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|\b\d(?:[eEpP][+-]|[\w.'])*"""
COMMENT = re.compile(LITERAL + r"|//[^\n]*|/\*.*?\*/", re.DOTALL)
TOKEN = re.compile(LITERAL + r"|\w+|::|->|\.\.\.|<<|&&|\|\||[=!<>+*/&|-]=|\S")
DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.MULTILINE)
MACRO = re.compile(r"^[ \t]*#[ \t]*define (itk\w+)\(([\w, ]*)\)((?:[^\n]*\\\n)*[^\n]*)", re.MULTILINE)
# These change how callers use a definition. Other decorators keep the signature.
DECORATORS = ("property", "cached_property", "staticmethod", "classmethod", "contextmanager", "dataclass")


def join(tokens):
    """Joins tokens with uniform spacing."""
    text = re.sub(r" ?(::|->|[(\[<~]) ?", r"\1", " ".join(tokens))
    text = re.sub(r" ([)\]>,;])", r"\1", re.sub(r"([=(,]) - ", r"\1 -", text))
    return text.replace("operator ", "operator").replace("{ }", "{}")


def closing(tokens, start, pair):
    """Returns the index of the token that closes the brace or bracket at `start`. `pair` holds both tokens."""
    depth = 0
    for position in range(start, len(tokens)):
        depth += (tokens[position] == pair[0]) - (tokens[position] == pair[1])
        if depth == 0:
            return position
    raise SystemExit(f"error: nothing closes the last of '{join(tokens[max(0, start - 20) : start + 1])}'")


def after_template(tokens):
    """Returns the tokens that follow template<...>."""
    while tokens[:2] == ["template", "<"]:
        tokens = tokens[closing(tokens, 1, "<>") + 1 :]
    return tokens


def split(tokens):
    """Yields the statements of a scope, each with the tokens of the body that ends it, or None. Braces of initial
    values stay inside."""
    statement, parentheses, position = [], 0, 0
    while position < len(tokens):
        token = tokens[position]
        parentheses += {"(": 1, ")": -1}.get(token, 0)
        if token == "{":
            end = closing(tokens, position, "{}")
            has_scope = {*after_template(statement)[:1]} & {*CLASSES, "enum", "namespace"}
            if parentheses or not has_scope and tokens[end + 1 : end + 2] in ([";"], [","], ["{"]):
                statement += tokens[position : end + 1]
            else:
                yield statement, tokens[position + 1 : end]
                statement = []
            position = end
        elif token == ";" or token == ":" and len(statement) == 1 and statement[0] in ACCESS:
            yield statement, None
            statement = []
        else:
            statement.append(token)
        position += 1
    yield statement, None


def list_scope(tokens, scope, access, found):
    """Adds the declarations of a namespace or class to `found`: (scope, key to sort by, text). A scope begins with the
    header."""
    separator = "" if scope.endswith(" ") else "::"
    for statement, body in split(tokens):
        rest = after_template(statement)
        if len(rest) == 1 and rest[0] in ACCESS:
            access = rest[0]
        if not rest or access == "private" or rest[0] in (*ACCESS, "static_assert") or rest[0] in CLASSES and body is None:
            continue
        if rest[0] == "namespace" and body is not None:
            if not {*rest} & {*HIDDEN}:
                list_scope(body, scope + separator + join(rest[1:]), access, found)
            continue
        if body is not None and rest[0] not in (*CLASSES, "enum"):  # a function, without what initialises its members
            ends = [i for i, token in enumerate(statement) if token == ":" and statement[:i].count("(") == statement[:i].count(")")]
            statement = statement[: min(ends, default=None)]
        text = join(statement + (["{", *body, "}"] if rest[0] == "enum" and body else []))
        # Members of data stay in their order, which initial values of a struct follow.
        is_data = "(" not in rest and body is None and rest[0] not in ("using", "typedef", "static", "friend", "extern")
        prefix = "protected: " if access == "protected" else ""
        found.append((scope, "" if is_data else text, prefix + text))
        if rest[0] in CLASSES:
            head = rest[1 : rest.index(":") if ":" in rest else None]
            name = [token for token in head if not token.endswith("_EXPORT") and token != "final"]
            list_scope(body, scope + separator + join(name), "private" if rest[0] == "class" else "public", found)


def expand(text, macros):
    """Replaces calls of the macros, which are given as {name: (parameters, body)}, by their texts."""

    def replace(match):
        if match[1] not in macros:
            return match[0]
        parameters, body = macros[match[1]]
        body = body.replace("\\\n", "\n")
        for parameter, argument in zip(re.findall(r"\w+", parameters), match[2].split(",")):
            body = re.sub(rf"(?:##)?\b{parameter}\b(?:##)?", argument.strip(), body)
        return expand(body, macros)

    return re.sub(r"\b(itk\w+)\(([^()]*)\)", replace, text)


def list_headers(folder):
    """Returns a line for each declaration of the headers. Users do not include those with Detail in their names: they
    count as one."""
    texts = {
        path.relative_to(folder).as_posix(): COMMENT.sub(lambda match: " " if match[0][0] == "/" else match[0], path.read_text("utf-8"))
        for path in sorted(folder.rglob("*.h"))
    }
    macros = {name: (parameters, body) for text in texts.values() for name, parameters, body in MACRO.findall(text)}
    found = []
    for header, text in texts.items():
        text = expand(DIRECTIVE.sub("", text), macros)
        list_scope(TOKEN.findall(text), "itkCudaDetail*.h: " if "Detail" in header else f"{header}: ", "public", found)
    return [f"{scope}: {text}" for scope, _, text in sorted(found, key=lambda entry: entry[:2])]


def name_of(node):
    """Returns the name that a statement of a module or class defines, or None."""
    target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
    return getattr(node, "name", None) or (target.id if isinstance(target, ast.Name) else None)


class Package:
    """Finds definitions in the sources of a package."""

    def __init__(self, folder):
        self.folder, self.trees = folder, {}

    def tree(self, path):
        if path not in self.trees:
            self.trees[path] = ast.parse(path.read_text("utf-8"))
        return self.trees[path]

    def path_of(self, folder, parts):
        """Returns the file of a module, or None if it is not in the package."""
        place = folder.joinpath(*parts)
        return next((path for path in (place.with_suffix(".py"), place / "__init__.py") if path.is_file()), None)

    def find(self, path, name):
        """Returns the node that defines a name of a module, and its file. The node of a module is None; so are both of
        an unknown name."""
        # A package imports its modules late, and says to type checkers in a block of its own what is in them.
        body = [inner for node in self.tree(path).body for inner in (node.body if isinstance(node, ast.If) else [node])]
        for node in reversed(body):
            if name_of(node) == name:
                return node, path
            for alias in node.names if isinstance(node, ast.ImportFrom) and node.level else []:
                if (alias.asname or alias.name) == name:
                    folder, parts = path.parents[node.level - 1], node.module.split(".") if node.module else []
                    module = self.path_of(folder, [*parts, alias.name])
                    return (None, module) if module else self.find(self.path_of(folder, parts or ["__init__"]), alias.name)
        return None, None

    def members(self, node, path):
        """Returns the public members of a class and of its bases in the package by name: nodes and their files."""
        members = {}
        for base in reversed(node.bases):
            found, source = self.find(path, base.id) if isinstance(base, ast.Name) else (None, None)
            members.update(self.members(found, source) if isinstance(found, ast.ClassDef) else {})
        names = [(name_of(item) or "_", item) for item in node.body]
        return {**members, **{name: (item, path) for name, item in names if re.match("[^_]|__.+__$", name)}}

    def describe(self, node, path, name):
        """Returns the line of a definition, followed for a class by the lines of its members."""
        if isinstance(node, (ast.Assign, ast.AnnAssign)):
            return [f"{name} = {ast.unparse(node.value)}" if node.value else name]
        marks = [ast.unparse(mark).replace("functools.", "") for mark in node.decorator_list]
        known = "".join(f"@{mark} " for mark in marks if re.split(r"[.(]", mark)[0] in DECORATORS)
        if not isinstance(node, ast.ClassDef):
            for argument in ast.walk(node.args):
                if isinstance(argument, ast.arg):
                    argument.annotation = None
            return [f"{known}def {name}({ast.unparse(node.args)})"]
        bases = ", ".join(base for base in map(ast.unparse, node.bases) if not base.startswith("_"))
        lines = [f"{name}: {line}" for key, place in self.members(node, path).items() for line in self.describe(*place, key)]
        # Fields stay in their order, which arguments of a dataclass follow.
        return [f"{known}class {name}({bases})", *sorted(lines, key=lambda line: line if "def " in line else "")]

    def list_module(self, module):
        """Returns a line for each public definition of a module."""
        path = self.path_of(self.folder, [module])
        lines = []
        for name in sorted(ast.literal_eval(self.find(path, "__all__")[0].value)):
            node, source = self.find(path, name)
            if source is None:
                raise SystemExit(f"error: nothing defines '{name}' of {path}")
            lines += self.describe(node, source, name) if node else [f"module {name}"]
        prefix = self.folder.name if module == "__init__" else f"{self.folder.name}.{module}"
        return [f"{prefix}: {line}" for line in lines]


def list_names(repository):
    """Returns all lines of the listing."""
    package = Package(repository / "wrapping/itk_cudafilters")
    return list_headers(repository / "include") + [line for module in MODULES for line in package.list_module(module)]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("repository", nargs="?", type=pathlib.Path, default=REPOSITORY, help="default: the one that holds this script")
    print(*list_names(parser.parse_args().repository), sep="\n")
