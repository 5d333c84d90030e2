#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of the public interface: scripts/list-public-names.py lists what test/public_names.txt has, and sees what callers can see."""
import difflib
import importlib.util
import pathlib
import tempfile
import textwrap
import unittest

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent
GOLDEN = "test/public_names.txt"
SCRIPT = "scripts/list-public-names.py"
RENEW = f"If this change of the interface is wanted, renew the list: python3 {SCRIPT} > {GOLDEN}"
SOURCES = {
    "include/itkTrial.h": """\
        #define itkTrialMacro()  \\
          int GetLevel() const   \\
          {                      \\
            return 1;            \\
          }                      \\
                                 \\
        private:                 \\
          int m_Level;           \\
                                 \\
        public:                  \\
          static_assert(true, "")

        namespace itk
        {
        class Elsewhere;
        template <typename T, bool V = Is<A<T>>::value>
        class Trial_EXPORT Trial : public Base<T>
        {
          int m_Hidden{ 1 }; // not public
        public:
          enum class Kind : int { One /* first */, Two = 2 };
          Trial(int a) : m_Hidden{ a }, m_Level(a) { Do(); }
          itkTrialMacro();
          itkSetMacro(Name,   std::string);
          bool Is(const Trial & other,
                  const char * text = "a { // b") const { return other.m_Level == ':'; }
        protected:
          void Do(Point point = {}, int device = -1);
          struct Part { double Second{ 2.0 }; int First; };
        };
        namespace CudaDetail { void Internal(); }
        inline bool operator==(const Part & a, const Part & b) { if (a) { return b; } return !b; }
        }
        """,
    "wrapping/itk_cudafilters/__init__.py": """\
        from . import ndimage, stream
        from ._parts import Kind, Part, divide as split
        __all__ = ["Kind", "Part", "ndimage", "split"]
        """,
    "wrapping/itk_cudafilters/_parts.py": """\
        Kind = Literal["one", "two"]
        class _Base:
            def merge(self, other: Part, /, *others) -> Part: ...
        @dataclass(frozen=True)
        class Part(_Base, Generic[T]):
            second: int
            first: float = 1.0
            _hidden: int = 2
            @property
            def area(self) -> float: ...
            def _hide(self): ...
        @decorated
        def divide(part: Part, *, count: int = 2, **others: Any) -> list[Part]: ...
        """,
    "wrapping/itk_cudafilters/monai.py": "__all__ = []",
    "wrapping/itk_cudafilters/ndimage.py": "__all__ = []",
    "wrapping/itk_cudafilters/stream.py": "__all__ = []",
}
LISTING = """\
    itkTrial.h: itk: inline bool operator==(const Part & a, const Part & b)
    itkTrial.h: itk: template<typename T, bool V = Is<A<T>>::value> class Trial_EXPORT Trial : public Base<T>
    itkTrial.h: itk::Trial: Trial(int a)
    itkTrial.h: itk::Trial: bool Is(const Trial & other, const char * text = "a { // b") const
    itkTrial.h: itk::Trial: enum class Kind : int { One, Two = 2 }
    itkTrial.h: itk::Trial: int GetLevel() const
    itkTrial.h: itk::Trial: itkSetMacro(Name, std::string)
    itkTrial.h: itk::Trial: protected: struct Part
    itkTrial.h: itk::Trial: protected: void Do(Point point = {}, int device = -1)
    itkTrial.h: itk::Trial::Part: double Second { 2.0 }
    itkTrial.h: itk::Trial::Part: int First
    itk_cudafilters: Kind = Literal['one', 'two']
    itk_cudafilters: @dataclass(frozen=True) class Part(Generic[T])
    itk_cudafilters: Part: second
    itk_cudafilters: Part: first = 1.0
    itk_cudafilters: Part: @property def area(self)
    itk_cudafilters: Part: def merge(self, other, /, *others)
    itk_cudafilters: module ndimage
    itk_cudafilters: def split(part, *, count=2, **others)
    """

specification = importlib.util.spec_from_file_location("list_public_names", REPOSITORY / SCRIPT)
script = importlib.util.module_from_spec(specification)
specification.loader.exec_module(script)


class PublicNamesTest(unittest.TestCase):
    def test_interface_is_the_listed_one(self):
        listed = (REPOSITORY / GOLDEN).read_text(encoding="utf-8").splitlines()
        difference = list(difflib.unified_diff(listed, script.list_names(REPOSITORY), GOLDEN, "sources", n=0, lineterm=""))
        if difference:
            self.fail("\n".join(["The public interface differs from the list:", *difference, RENEW]))

    def test_listing_has_what_callers_can_see(self):
        self.maxDiff = None
        with tempfile.TemporaryDirectory() as folder:
            for name, text in SOURCES.items():
                path = pathlib.Path(folder, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(textwrap.dedent(text), encoding="utf-8")
            self.assertEqual(textwrap.dedent(LISTING).splitlines(), script.list_names(pathlib.Path(folder)))


if __name__ == "__main__":
    unittest.main()
