# SPDX-License-Identifier: Apache-2.0
"""The pages of the site that no file holds: the navigation, the C++ reference and the gallery."""
import ast
import itertools
import posixpath
import re
import xml.etree.ElementTree

LINK = re.compile(r"\[([^\]]+)\]\(([^)#\s]+\.md)\)")
# The groups of the C++ reference, and patterns of the names in them. A name belongs to the first group that it matches.
CPP_GROUPS = (
    ("Filters", r"Cuda(?!Upload|Download|Pixel).*ImageFilter$"),
    ("Device images", r"Cuda(Device.*Image|DeviceImage.*|Upload.*|Download.*|Pixel.*|HostImageOf|IsDeviceImage)$"),
    ("Bases of filters of device images", r"CudaDevice.*Filter$|.*FilterBase$"),
    ("Results of segmentation", r"Cuda(Detection|Region|Partition|Snake|Noise).*"),
    ("Configuration, statistics and errors", r".*"),
)
# The pictures of the examples in C++, which the same filters have drawn of the same images.
PICTURES = {
    "smooth_image": "smooth_volume.png",
    "segment_region": "segmentation.png",
    "partition_image": "partition.png",
    "vessels": "vesselness.png",
}


def toctree(caption, entries):
    lines = "\n".join(entries)
    return f"\n```{{toctree}}\n:hidden:\n:caption: {caption}\n\n{lines}\n```\n"


def navigation(source):
    """Returns the lists of pages for the README: those of docs/README.md in their order, and what is made here."""
    text = (source / "docs/README.md").read_text(encoding="utf-8")
    user, _, developer = text.partition("\n## For developers")
    pages_of = lambda part: [f"{title[0].upper()}{title[1:]} </{posixpath.normpath('docs/' + target)[:-3]}>" for title, target in LINK.findall(part)]
    return (
        toctree("For users", [*pages_of(user), "Changes </CHANGELOG>"])
        + toctree("Examples and reference", ["Gallery </gallery/index>", "Python reference </reference/python>", "C++ reference </reference/cpp>"])
        + toctree("For developers", ["Contributing </CONTRIBUTING>", "Security </SECURITY>", *pages_of(developer), "All pages </docs/README>"])
    )


def heading(text, line="="):
    """Returns a heading of reStructuredText."""
    return f"{text}\n{line * len(text)}\n\n"


def write_cpp_pages(xml_folder, folder):
    """Writes a page for each public class and struct of Doxygen's XML, one for functions and enumerations, and their list."""
    (folder / "cpp").mkdir(parents=True, exist_ok=True)
    groups = {title: [] for title, _ in CPP_GROUPS}
    for compound in xml.etree.ElementTree.parse(xml_folder / "index.xml").getroot():
        name = compound.findtext("name").removeprefix("itk::")
        if compound.get("kind") not in ("class", "struct") or "<" in name:
            continue
        definition = xml.etree.ElementTree.parse(xml_folder / f"{compound.get('refid')}.xml").getroot()[0]
        brief = " ".join("".join(definition.find("briefdescription").itertext()).split())
        title = next(title for title, pattern in CPP_GROUPS if re.match(pattern, name))
        groups[title].append((name, brief))
        text = f".. doxygen{compound.get('kind')}:: itk::{name}\n   :members:\n"
        (folder / "cpp" / f"{name}.rst").write_text(".. highlight:: cpp\n\n" + heading(name) + text, encoding="utf-8")
    namespace = xml.etree.ElementTree.parse(xml_folder / "namespaceitk.xml").getroot()[0]
    free = {kind: [] for kind in ("enum", "typedef", "variable", "function")}
    for member in namespace.iter("memberdef"):
        free[member.get("kind")].append((member.findtext("name"), member.findtext("argsstring") or ""))
    text = ".. highlight:: cpp\n\n" + heading("Functions, enumerations and types")
    for kind, members in free.items():
        for name, arguments in sorted(members):
            signature = re.sub(r"=.*?(?=[,)])", "", arguments) if kind == "function" else ""
            text += f".. doxygen{kind}:: itk::{name}{signature}\n\n"
    (folder / "cpp" / "functions.rst").write_text(text, encoding="utf-8")
    text = heading("C++ reference")
    text += "All names are in the namespace `itk`, and each class has a header of its name. :doc:`C++ </docs/user/cpp>` says how to build and link.\n\n"
    text += "The pages leave out what ITK's superclasses have. `Set` and `Get` of a parameter share their description.\n\n"
    for title, members in groups.items():
        text += heading(title, "-") + ".. list-table::\n   :widths: 45 55\n   :class: fixed\n\n"
        for name, brief in sorted(members):
            text += f"   * - :doc:`{name} <cpp/{name}>`\n     - {brief.replace('`', '``')}\n"
        text += "\n"
    text += heading("Functions", "-") + ":doc:`Functions, enumerations and types <cpp/functions>` of the namespace.\n\n"
    names = sorted(name for members in groups.values() for name, _ in members)
    text += ".. toctree::\n   :hidden:\n\n" + "".join(f"   cpp/{name}\n" for name in [*names, "functions"])
    (folder / "cpp.rst").write_text(text, encoding="utf-8")


def example_texts(path):
    """Returns what the beginning of an example says about it: the first sentence, the rest, and the command."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        first, _, rest = ast.get_docstring(ast.parse(text)).partition("\n")
        rest, _, command = rest.strip().partition("\n\n    ")
        return first, rest, command.strip()
    comment = " ".join(line[3:] for line in itertools.takewhile(lambda line: line.startswith("// "), text.splitlines()[1:]))
    first, _, rest = comment.partition(". ")
    usage = re.search(r'usage = ((?:\s*"[^"]*")+)', text)
    arguments = "".join(re.findall(r'"([^"]*)"', usage[1])).split("\\n")[0] if usage else ""
    return first + ".", rest, f"{path.stem} {arguments}".strip()


def write_gallery(source, folder):
    """Writes a page for each example, with its picture, its output if it was run, its command and its code."""
    folder.mkdir(parents=True, exist_ok=True)
    cards, names = "", []
    for path in [*sorted((source / "examples/python").glob("*.py")), *sorted((source / "examples").glob("*.cxx"))]:
        first, rest, command = example_texts(path)
        language = "Python" if path.suffix == ".py" else "C++"
        drawn = folder / f"{path.stem}.png"
        picture = f"/gallery/{drawn.name}" if drawn.exists() else f"/docs/pictures/{PICTURES[path.stem]}" if path.stem in PICTURES else ""
        title = f"{path.stem} ({language})"
        text = f"# {title}\n\n{first}\n\n{rest}\n\n"
        if picture:
            text += f"![{first}]({picture})\n\n"
        text += f"```sh\n{command}\n```\n\n"
        output = folder / f"{path.stem}.txt"
        if output.exists():
            text += f"Without arguments it prints\n\n```text\n{output.read_text(encoding='utf-8').strip()}\n```\n\n"
        text += f"```{{literalinclude}} /{path.relative_to(source)}\n:language: {'python' if language == 'Python' else 'cpp'}\n```\n"
        (folder / f"{path.stem}.md").write_text(text, encoding="utf-8")
        names.append(path.stem)
        image = f":img-top: {picture}\n:img-alt: {first}\n" if picture else ""
        cards += f"::::{{grid-item-card}} {title}\n:link: {path.stem}\n:link-type: doc\n{image}\n{first}\n::::\n\n"
    text = "# Gallery\n\nEach example is a short program of `examples`, which the tests run. The pictures are of the sample images in\n"
    text += "[examples/data](/examples/data/README.md).\n\n"
    text += f":::::{{grid}} 1 1 2 2\n:gutter: 3\n\n{cards}:::::\n"
    text += "\n```{toctree}\n:hidden:\n\n" + "\n".join(names) + "\n```\n"
    (folder / "index.md").write_text(text, encoding="utf-8")
