// SPDX-License-Identifier: Apache-2.0
// ITK's generator keeps Python's interpreter lock in every wrapped method (%feature("nothreadallow") in each file that it
// writes), and leaves out methods that override one of a wrapped superclass. So the methods that compute get other names here,
// for which the lock is released, and Python functions of the old names call them.
%feature("nothreadallow", "0") *::_update_without_lock;
%feature("nothreadallow", "0") *::_update_largest_possible_region_without_lock;

%define CUDAFILTERS_RELEASE_GIL(swig_name)
%extend swig_name {
  void _update_without_lock() { self->Update(); }
  void _update_largest_possible_region_without_lock() { self->UpdateLargestPossibleRegion(); }
  %pythoncode %{
    def Update(self) -> None:
        """Brings the output up to date. Other Python threads run meanwhile."""
        self._update_without_lock()

    def UpdateLargestPossibleRegion(self) -> None:
        """Brings the whole output up to date. Other Python threads run meanwhile."""
        self._update_largest_possible_region_without_lock()
  %}
}
%enddef
