# SPDX-License-Identifier: Apache-2.0
"""Adds the detection of targets to the toolbox of QGIS: Processing Toolbox > Scripts > Add Script to Toolbox.

The Python of QGIS needs the package itk-cudafilters with its extra geo.
"""
from itk_cudafilters._qgis import DetectTargets  # noqa: F401: QGIS looks for a class of algorithms in the script
