// SPDX-License-Identifier: Apache-2.0
// Lets a process end in which _core ran before the package itk was imported. The library then has global objects of its
// own, such as the list of factories, and takes those of itk when the wrapped module is initialised. At the end of the
// process ITK's index would delete the objects by the pointers that the library has then, which are those of itk, and
// would wait for itself. An index that nobody deletes lets the few objects be.
#include "itkSingleton.h"

namespace
{
struct IndexSetter
{
  IndexSetter() { itk::SingletonIndex::SetInstance(new itk::SingletonIndex); }
};

// Before all other initialisers of the library, one of which may register the factory (src/factory/Override.cxx).
[[maybe_unused, gnu::init_priority(101)]] const IndexSetter indexSetter;
} // namespace
