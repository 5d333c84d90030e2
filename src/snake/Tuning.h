// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_snake_Tuning_h
#define CudaFilters_snake_Tuning_h

#include <cstdint>

// Numbers chosen by measurement. Numbers that change the polygon are the same on the host and on the device.
namespace itk::cuda::snake
{
/** Cells of the coarsest level are at most 2^4 = 16 pixels a side, and the level keeps at least this many cells a side.
 * With fewer cells, moves of 4 steps are as long as edges, and most of them would cross other edges. */
constexpr uint32_t MaximumLevelExponent = 4;
constexpr int32_t  MinimumCellsPerSide = 240;

/** CoarseToFine tries each direction at 1, 2 and 4 steps. */
constexpr int CoarseToFineRings = 3;
constexpr int MaximumRings = 3;
constexpr int Directions = 8;
constexpr int MaximumCandidates = Directions * MaximumRings;

/** CoarseToFine leaves a step for the next smaller one after the first iteration that gains less than this share of the
 * step's total gain. Iterating each step until no node moves would take 1.2 to 1.6 times as many iterations (15 to 150
 * megapixels). It would make descriptions 8 nats longer on the average of 40 random scenes, 7 nats shorter on the
 * average of 10, and between 295 nats longer and 732 shorter on the examples' pictures. With twice the share,
 * descriptions got up to 8,300 nats longer. */
constexpr double ShareToLeaveStep = 1.0 / 32.0;

/** Step with which the polygon is moved again after nodes were removed. Moves with a step of 1 follow. */
constexpr int32_t StepAfterRemoval = 4;

/** Largest number of neighbouring nodes that are removed at once. A spike has up to three nodes, and often no single
 * one can be removed, because the chord over it would cross the spike, or because its removal would increase J by more
 * than the cost of the node. */
constexpr int MaximumRemovedRun = 4;

/** Size of the grid whose rectangles are searched for a start. A grid cell has 8 cells of the level a side, which is
 * far less than the first step. A side has at least 24 grid cells, so that small targets are found, and at most 64,
 * which makes 4.3 million rectangles. */
constexpr int32_t RectangleGridCell = 8;
constexpr int32_t MinimumRectangleGridSize = 24;
constexpr int32_t MaximumRectangleGridSize = 64;
} // namespace itk::cuda::snake

#endif
