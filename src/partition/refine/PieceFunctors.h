// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_partition_refine_PieceFunctors_h
#define CudaFilters_partition_refine_PieceFunctors_h

#include "partition/refine/ChainFunctors.h"

#include <cstddef>
#include <cstdint>

// Reserves, checks and frees the cells of polylines with one work item per piece, for executors with IsCoarseGrained.
// ClaimForChains, CheckChains and FreeCellsOfChains do the same with one work item per edge of all chains, although few
// chains make a proposal.
namespace itk::cuda::partition::functors
{
/** The cells between a piece of a polyline and its chain: a fan of triangles from the beginning of the piece. */
template <typename TRound>
struct PieceCells : PieceLoop<TRound>
{
  explicit PieceCells(const ChainLoop<TRound> & loop)
    : PieceLoop<TRound>(loop)
  {}

protected:
  template <typename TFunction>
  bool
  ForCells(const PolylinePiece & piece, const TFunction & function) const
  {
    const LatticePoint * const positions = this->Arrays.Positions;
    for (uint32_t place = piece.From; place < piece.To; ++place)
    {
      if (!ForCellsOfTriangle(
            this->Round.Cells, positions[piece.From], positions[place], positions[place + 1], function))
      {
        return false;
      }
    }
    return true;
  }
  /** Calls function(chain, piece) for the i-th piece if its chain makes a proposal. */
  template <typename TFunction>
  void
  IfProposed(size_t i, const TFunction & function) const
  {
    const ListedPiece listed = this->Arrays.Pieces[i];
    ChainState &      chain = this->Arrays.Chains[listed.Chain];
    if (chain.NumberKept > 0)
    {
      function(chain, this->Arrays.GetPiece(chain, listed.Number));
    }
  }
};

/** Reserves the cells of a piece. */
template <typename TRound>
struct ReserveForPieces : PieceCells<TRound>
{
  explicit ReserveForPieces(const ChainLoop<TRound> & loop)
    : PieceCells<TRound>(loop)
  {}
  void
  operator()(size_t i) const
  {
    this->IfProposed(i, [this](const ChainState & chain, const PolylinePiece & piece) {
      const uint64_t key = this->Arrays.GetProposal(chain).GetKey();
      this->ForCells(piece, [this, key](size_t cell) { return this->Round.Reserve(cell, key); });
    });
  }
};

/** Refuses the chain of a piece that does not own all of its cells. */
template <typename TRound, typename TAtomics>
struct CheckPieces : PieceCells<TRound>
{
  explicit CheckPieces(const ChainLoop<TRound> & loop)
    : PieceCells<TRound>(loop)
  {}
  void
  operator()(size_t i) const
  {
    this->IfProposed(i, [this](ChainState & chain, const PolylinePiece & piece) {
      const uint64_t key = this->Arrays.GetProposal(chain).GetKey();
      if (!this->ForCells(piece, [this, key](size_t cell) { return this->Round.Owns(cell, key); }))
      {
        TAtomics::StoreRelaxed(chain.IsRefused, uint32_t{ 1 });
      }
    });
  }
};

/** Frees the cells of a piece. The work item of a chain's first piece also adds the pixels that the chain takes from
 * regions. */
template <typename TRound>
struct FreeCellsOfPieces : PieceCells<TRound>
{
  explicit FreeCellsOfPieces(const ChainLoop<TRound> & loop)
    : PieceCells<TRound>(loop)
  {}
  void
  operator()(size_t i) const
  {
    this->IfProposed(i, [this](const ChainState & chain, const PolylinePiece & piece) {
      this->ForCells(piece, [this](size_t cell) { return this->Round.Free(cell); });
      if (piece.From == chain.First && chain.IsRefused == 0)
      {
        this->Round.AddPixelLoss(this->Arrays.GetProposal(chain));
      }
    });
  }
};

/** Resets the entries of the edges of chains without a proposal, because their lines may not be in the list of the next
 * round. */
template <typename TRound>
struct ForgetIdleChains : EachChain<TRound>
{
  explicit ForgetIdleChains(const ChainLoop<TRound> & loop)
    : EachChain<TRound>(loop)
  {}
  void
  operator()(size_t i) const
  {
    const ChainArrays & arrays = this->Arrays;
    const ChainState &  chain = arrays.Chains[i];
    for (uint32_t j = 0; j < chain.NumberOfEdges && chain.NumberKept == 0; ++j)
    {
      arrays.ChainOfEdge[arrays.Edges[chain.First + j]] = None;
    }
  }
};
} // namespace itk::cuda::partition::functors

#endif
