# SPDX-License-Identifier: Apache-2.0
import sys

if len(sys.argv) == 1:
    from . import info

    print(info(), end="")
else:
    from ._command import main

    sys.exit(main())
