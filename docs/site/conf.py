# SPDX-License-Identifier: Apache-2.0
"""Configuration of the site, which scripts/docs.sh builds from a copy of the repository's pages.

The pages are those that GitHub shows, with the README as the first one. What Sphinx needs beyond them, the list of pages for the navigation and
the pages of the reference and of the gallery, is made here and in pages.py."""
import os
import pathlib
import re
import sys
import types

import docutils.nodes
import latex2mathml.converter
import sphinx.addnodes
import sphinx.util.inspect

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import pages  # noqa: E402

SOURCE = pathlib.Path(os.environ["SITE_SOURCE"])  # a copy of the repository, to which pages are added

project = "ITKCudaFilters"
author = "the authors of ITKCudaFilters"
copyright = "the authors of ITKCudaFilters, Apache-2.0"
release = version = re.search(r"(?m)^ *VERSION ([0-9.]+)$", (SOURCE / "CMakeLists.txt").read_text(encoding="utf-8"))[1]

extensions = [
    "breathe",
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "sphinx_design",
]
root_doc = "README"
include_patterns = ["*.md", "docs/**", "examples/data/README.md", "test/README.md", "gallery/**", "reference/**"]
exclude_patterns = ["docs/site/**"]
# Blocks of Markdown that are only indented are commands, diagrams and output.
highlight_language = "text"
pygments_style = "friendly"
pygments_dark_style = "github-dark"

myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence"]

breathe_projects = {"CudaFilters": os.environ["SITE_DOXYGEN"]}
breathe_default_project = "CudaFilters"
breathe_show_include = False
cpp_maximum_signature_line_length = 100

templates_path = [str(pathlib.Path(__file__).parent / "templates")]
autosummary_generate = True
autosummary_ignore_module_all = False
autodoc_typehints = "signature"
autodoc_preserve_defaults = True
autodoc_type_aliases = {"npt.DTypeLike": "DTypeLike", "npt.ArrayLike": "ArrayLike"}
autodoc_member_order = "bysource"
autodoc_mock_imports = ["monai", "torch"]  # some gigabytes, for the bases of four classes
python_maximum_signature_line_length = 80
napoleon_google_docstring = False
napoleon_use_rtype = False
# Single back quotes of docstrings and Doxygen's comments stand for code.
default_role = "literal"

html_theme = "furo"
html_title = f"ITKCudaFilters {release}"
html_static_path = [str(pathlib.Path(__file__).parent / "static")]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
copybutton_selector = "div.highlight pre"
copybutton_exclude = ".linenos, .gp, .go"


def add_to_page(app, docname, source):
    """Gives the first page the list of all pages, and takes links to folders, which a site has none of, from all pages."""
    folder = (SOURCE / docname).parent
    link = re.compile(r"(?<!!)\[([^\]]*)\]\(([^)\s#:]+)\)")
    source[0] = link.sub(lambda match: match[1] if (folder / match[2]).is_dir() else match[0], source[0])
    if docname == root_doc:
        source[0] += pages.navigation(SOURCE)


def link_pages(app, doctree):
    """Makes links of the pages that comments and docstrings name by their files, such as docs/user/vesselness.md."""
    for text in list(doctree.findall(docutils.nodes.Text)):
        parts = re.split(r"\b(docs/\w+/\w+)\.md\b", text.astext())
        if len(parts) == 1 or not isinstance(text.parent, docutils.nodes.paragraph):
            continue
        found = [docutils.nodes.Text(parts[0])]
        for page, rest in zip(parts[1::2], parts[2::2]):
            link = sphinx.addnodes.pending_xref(
                "", docutils.nodes.inline("", ""), refdomain="std", reftype="doc", reftarget=f"/{page}", refexplicit=False, refwarn=True
            )
            found += [link, docutils.nodes.Text(rest)]
        text.parent.replace(text, found)


def mark_long_names(app, doctree):
    """Gives long names in tables a class, so that the style sheet can break them."""
    for entry in doctree.findall(docutils.nodes.entry):
        for literal in entry.findall(docutils.nodes.literal):
            if max(map(len, literal.astext().split()), default=0) > 24:
                literal["classes"].append("long-name")


def name_aliases(app, what, name, thing, options, signature, returned):
    """Writes the names of autodoc_type_aliases, which Sphinx writes as calls within unions, and parameters of classes whose base is mocked."""
    if what == "class" and thing.__module__ == "itk_cudafilters.monai":
        own = sphinx.util.inspect.signature(thing.__init__, bound_method=True)
        signature = sphinx.util.inspect.stringify_signature(own, show_return_annotation=False, unqualified_typehints=True)
    plain = lambda text: text and re.sub(r"TypeAliasForwardRef\('(\w+)'\)", r"\1", text)
    return plain(signature), plain(returned)


def write_mathml(writer, node):
    """Writes a formula as MathML, which browsers show without a program."""
    display = "block" if node.tagname == "math_block" else "inline"
    formula = latex2mathml.converter.convert(node.astext(), display=display)
    writer.body.append(f'<div class="math">{formula}</div>' if display == "block" else formula)
    raise docutils.nodes.SkipNode


def warn_of_missing_names(app, environment):
    """Warns of public names of the Python package that the reference does not have."""
    import itk_cudafilters
    from sphinx.ext.autodoc.mock import mock
    from sphinx.util import logging

    documented = environment.domains["py"].objects
    with mock(app.config.autodoc_mock_imports):
        import itk_cudafilters.monai
    for module in (itk_cudafilters, itk_cudafilters.monai, itk_cudafilters.ndimage, itk_cudafilters.stream):
        for name in module.__all__:
            if not isinstance(getattr(module, name), types.ModuleType) and f"{module.__name__}.{name}" not in documented:
                logging.getLogger(__name__).warning("docs/site/python.rst does not have %s.%s", module.__name__, name)


def setup(app):
    pages.write_cpp_pages(pathlib.Path(breathe_projects["CudaFilters"]), SOURCE / "reference")
    pages.write_gallery(SOURCE, SOURCE / "gallery")
    app.add_html_math_renderer("mathml", (write_mathml, None), (write_mathml, None))
    app.connect("source-read", add_to_page)
    app.connect("doctree-read", link_pages)
    app.connect("doctree-read", mark_long_names)
    app.connect("autodoc-process-signature", name_aliases)
    app.connect("env-updated", warn_of_missing_names)


html_math_renderer = "mathml"
