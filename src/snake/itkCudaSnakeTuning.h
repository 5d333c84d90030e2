// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaSnakeTuning_h
#define itkCudaSnakeTuning_h

#include <cstdint>

// Numbers that were chosen by measurement. Those that change the polygon are the same on the host and on the device.
namespace itk::cuda::snake
{
/** Cells of the coarsest level are at most 2^4 = 16 pixels a side, and the level keeps at least this many cells a side.
 * With fewer, moves of 4 steps are as long as edges and most of them would cross other edges. */
constexpr uint32_t MaximumLevelExponent = 4;
constexpr int32_t  MinimumCellsPerSide = 240;

/** CoarseToFine tries each direction at 1, 2 and 4 steps. */
constexpr int CoarseToFineRings = 3;
constexpr int MaximumRings = 3;
constexpr int Directions = 8;
constexpr int MaximumCandidates = Directions * MaximumRings;

/** CoarseToFine leaves a step for the next smaller one with the first iteration that gains less than this share of what
 * the step gained. Settling takes 1.2 to 1.6 times as many iterations (15 to 150 megapixels). It made descriptions
 * longer by 8 nats and shorter by 7, on the average of 40 and of 10 random scenes, and between 295 longer and 732
 * shorter on the examples' pictures; with twice the share they got up to 8,300 longer. */
constexpr double ShareToLeaveStep = 1.0 / 32.0;

/** Step with which the polygon is moved again after nodes were removed; then with 1. */
constexpr int32_t StepAfterRemoval = 4;

/** Neighbouring nodes that are removed at once, at most. A spike has up to three, none of which can go alone: the
 * chords over it would cross it, or pay for less than the node. */
constexpr int MaximumRemovedRun = 4;

/** Sides of the grid whose rectangles are searched for a start: cells of the grid are 8 cells of the level, far less
 * than the first step, but there are at least 24 of them, for small targets, and at most 64: 4.3 million rectangles. */
constexpr int32_t RectangleGridCell = 8;
constexpr int32_t MinimumRectangleGridSize = 24;
constexpr int32_t MaximumRectangleGridSize = 64;
} // namespace itk::cuda::snake

#endif
