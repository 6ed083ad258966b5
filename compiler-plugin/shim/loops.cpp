// Second copies of loops whose accesses are known before they begin; src/symbolic/settled.rs says what
// for.

#include "llvm-c/Types.h"
#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/TargetParser/Triple.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"
#include "llvm/Transforms/Utils/LoopUtils.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"

using namespace llvm;

extern "C" {

// `Touch` and `Nests` as src/shim.rs has them.
struct RaddleTouch {
  LLVMValueRef Pointer;
  LLVMValueRef Base;
  uint64_t Size;
  uint64_t Room;
  uint64_t Manner;
};

struct RaddleNests {
  void *Context;
  // What does a load or store access? `false`: it may not be in such a loop.
  bool (*Describe)(void *Context, LLVMValueRef, RaddleTouch *);
  LLVMValueRef Hook;
  uint64_t Always; // a bit of `Manner`
  // Of a question: the words of a stretch, the levels that it has, and the most stretches.
  uint32_t Words;
  uint32_t Levels;
  uint32_t Most;
};

} // extern "C"

namespace {

constexpr unsigned MaxInstructions = 200;
// A loop that goes round less often is not worth the question.
constexpr unsigned FewRounds = 4;
// Bytes that may lie between the least and the greatest address of an access that no step leads to.
constexpr uint64_t MaxRange = 4096;

struct Level {
  const SCEV *Step;
  const SCEV *Count;
};

// One access, and all that it reaches while the nest runs.
struct Stretch {
  RaddleTouch Touch;
  const SCEV *Start;
  SmallVector<Level, 4> Levels;

  bool sameAs(const Stretch &Other) const {
    auto Same = [](const Level &A, const Level &B) { return A.Step == B.Step && A.Count == B.Count; };
    return Start == Other.Start && Touch.Size == Other.Touch.Size && Touch.Base == Other.Touch.Base &&
           Levels.size() == Other.Levels.size() &&
           std::equal(Levels.begin(), Levels.end(), Other.Levels.begin(), Same);
  }
};

class Nests {
  Function &F;
  const RaddleNests &Told;
  LLVMContext &Context;
  DominatorTree Tree;
  LoopInfo Loops;
  AssumptionCache Assumptions;
  TargetLibraryInfoImpl Library;
  TargetLibraryInfo Info;
  ScalarEvolution Evolution;
  AllocaInst *Table = nullptr;

public:
  Nests(Function &F, const RaddleNests &Told)
      : F(F), Told(Told), Context(F.getContext()), Tree(F), Loops(Tree), Assumptions(F),
        Library(Triple(F.getParent()->getTargetTriple())), Info(Library, &F),
        Evolution(F, Info, Assumptions, Tree, Loops) {}

  void run() {
    SmallVector<Loop *, 8> Top(Loops.begin(), Loops.end());
    for (Loop *L : Top)
      visit(L);
  }

private:
  // The outermost loops that can be copied are.
  void visit(Loop *L) {
    SmallVector<Stretch, 16> Stretches;
    if (isPlain(L) && prepare(L) && find(L, Stretches) && copy(L, Stretches))
      return;
    SmallVector<Loop *, 4> Inner(L->begin(), L->end());
    for (Loop *I : Inner)
      visit(I);
  }

  // Looks at what costs little and changes nothing.
  bool isPlain(Loop *L) {
    unsigned Count = 0, Accesses = 0;
    for (Loop *M : L->getLoopsInPreorder())
      if (M->getLoopDepth() - L->getLoopDepth() >= Told.Levels || !isa<PHINode>(M->getHeader()->front()) ||
          !M->getExitingBlock() || !isa<BranchInst>(M->getExitingBlock()->getTerminator()))
        return false;
    for (BasicBlock *B : L->blocks()) {
      if (!isa<BranchInst, SwitchInst>(B->getTerminator()))
        return false;
      for (Instruction &I : *B) {
        RaddleTouch Touch;
        if (++Count > MaxInstructions || !isHarmless(I))
          return false;
        if (!isa<LoadInst, StoreInst>(I))
          continue;
        if (!Told.Describe(Told.Context, wrap(&I), &Touch))
          return false;
        ++Accesses;
      }
    }
    return Accesses > 0;
  }

  static bool isHarmless(const Instruction &I) {
    if (isa<LoadInst, StoreInst>(I))
      return !I.isVolatile() && !I.isAtomic();
    if (isa<AssumeInst, DbgInfoIntrinsic>(I))
      return true;
    return !I.mayReadOrWriteMemory() && !I.mayThrow() && (!isa<CallBase>(I) || isa<IntrinsicInst>(I));
  }

  bool prepare(Loop *L) {
    simplifyLoop(L, &Tree, &Loops, &Evolution, &Assumptions, nullptr, /*PreserveLCSSA=*/false);
    for (Loop *M : L->getLoopsInPreorder()) {
      if (!M->isLoopSimplifyForm() || !M->getExitBlock() || !M->getExitingBlock())
        return false;
      const SCEV *Rounds = Evolution.getBackedgeTakenCount(M);
      if (isa<SCEVCouldNotCompute>(Rounds) || !Evolution.isLoopInvariant(Rounds, L))
        return false;
    }
    const SCEV *Rounds = Evolution.getBackedgeTakenCount(L);
    auto *Known = dyn_cast<SCEVConstant>(Rounds);
    return L->getSubLoops().size() || !Known || Known->getAPInt().uge(FewRounds);
  }

  bool find(Loop *L, SmallVectorImpl<Stretch> &Out) {
    for (BasicBlock *B : L->blocks())
      for (Instruction &I : *B) {
        if (!isa<LoadInst, StoreInst>(I))
          continue;
        Stretch S;
        Told.Describe(Told.Context, wrap(&I), &S.Touch);
        if (S.Touch.Base && !L->isLoopInvariant(unwrap(S.Touch.Base)))
          return false;
        SmallVector<Value *, 4> Pointers;
        choices(I, unwrap(S.Touch.Pointer), /*Back=*/3, Pointers);
        for (Value *Pointer : Pointers)
          if (!add(L, I, Pointer, Pointers.size() == 1, S, Out))
            return false;
      }
    return true;
  }

  // The pointers of which this may be one, so many choices back.
  void choices(Instruction &I, Value *Pointer, unsigned Back, SmallVectorImpl<Value *> &Out) {
    auto *Select = dyn_cast<SelectInst>(Pointer);
    auto *Phi = dyn_cast<PHINode>(Pointer);
    Loop *Around = Loops.getLoopFor(I.getParent());
    bool Joins = Phi && Loops.getLoopFor(Phi->getParent()) == Around &&
                 Phi->getParent() != Around->getHeader();
    if (Out.size() > Told.Most)
      return;
    if (Back && Select) {
      choices(I, Select->getTrueValue(), Back - 1, Out);
      choices(I, Select->getFalseValue(), Back - 1, Out);
    } else if (Back && Joins) {
      for (Value *One : Phi->incoming_values())
        choices(I, One, Back - 1, Out);
    } else {
      Out.push_back(Pointer);
    }
  }

  bool add(Loop *L, Instruction &I, Value *Pointer, bool Sure, Stretch S, SmallVectorImpl<Stretch> &Out) {
    if (!follow(L, I, Pointer, Sure, S))
      return false;
    auto *Same = find_if(Out, [&](const Stretch &O) { return O.sameAs(S); });
    if (Same == Out.end()) {
      if (Out.size() == Told.Most)
        return false;
      Out.push_back(S);
      return true;
    }
    // A write that may be left out does not become a sure one by a read.
    uint64_t Both = Same->Touch.Manner & S.Touch.Manner & Told.Always;
    Same->Touch.Manner = ((Same->Touch.Manner | S.Touch.Manner) & ~Told.Always) | Both;
    return true;
  }

  // Where does the instruction lead, from the first round of the nest to the last?
  bool follow(Loop *L, Instruction &I, Value *Accessed, bool Always, Stretch &S) {
    const SCEV *Pointer = Evolution.getSCEV(Accessed);
    Type *Word = Type::getInt64Ty(Context);
    BasicBlock *At = I.getParent();
    for (Loop *M = Loops.getLoopFor(At);; M = M->getParentLoop()) {
      BasicBlock *Exiting = M->getExitingBlock();
      bool Behind = At != Exiting && Tree.dominates(Exiting, At);
      Always &= Tree.dominates(At, Behind ? M->getLoopLatch() : Exiting);
      const SCEV *Step = Evolution.getZero(Word);
      if (auto *Steps = dyn_cast<SCEVAddRecExpr>(Pointer); Steps && Steps->getLoop() == M) {
        if (!Steps->isAffine() || !Evolution.isLoopInvariant(Steps->getStepRecurrence(Evolution), L))
          return false;
        Step = Evolution.getNoopOrSignExtend(Steps->getStepRecurrence(Evolution), Word);
        Pointer = Steps->getStart();
      }
      const SCEV *Count = Evolution.getBackedgeTakenCount(M);
      if (Evolution.getTypeSizeInBits(Count->getType()) > 64)
        return false;
      Count = Evolution.getNoopOrZeroExtend(Count, Word);
      if (!Behind) {
        // One more than the greatest number is taken for none: nobody waits for so many rounds.
        if (Evolution.getUnsignedRangeMax(Count).isMaxValue())
          Count = Evolution.getUMinExpr(Count, Evolution.getConstant(Word, -2));
        Count = Evolution.getAddExpr(Count, Evolution.getOne(Word));
      }
      S.Levels.push_back({Step, Count});
      At = M->getHeader();
      if (M == L)
        break;
    }
    if (!Evolution.isLoopInvariant(Pointer, L)) {
      const SCEV *Base = Evolution.getPointerBase(Pointer);
      const SCEV *Offset = Evolution.removePointerBase(Pointer);
      if (!Evolution.isLoopInvariant(Base, L) || isa<SCEVCouldNotCompute>(Offset))
        return false;
      ConstantRange Range = Evolution.getSignedRange(Offset);
      APInt Length = Range.getSignedMax() - Range.getSignedMin();
      if (Range.isFullSet() || Length.ugt(MaxRange))
        return false;
      Pointer = Evolution.getAddExpr(Base, Evolution.getConstant(Range.getSignedMin()));
      S.Touch.Size += Length.getZExtValue();
      Always = false;
    }
    S.Start = Pointer;
    if (Always)
      S.Touch.Manner |= Told.Always;
    return true;
  }

  bool copy(Loop *L, ArrayRef<Stretch> Stretches) {
    Type *Word = Type::getInt64Ty(Context);
    SCEVExpander Expand(Evolution, F.getDataLayout(), "settled", /*PreserveLCSSA=*/false);
    Instruction *End = L->getLoopPreheader()->getTerminator();
    const SCEV *Rounds = Evolution.getBackedgeTakenCount(L);
    SmallVector<const SCEV *, 64> All{Rounds};
    for (const Stretch &S : Stretches) {
      All.push_back(S.Start);
      for (const Level &One : S.Levels)
        All.append({One.Step, One.Count});
    }
    if (!all_of(All, [&](const SCEV *S) { return canExpand(S, End->getParent()); }))
      return false;
    formLCSSARecursively(*L, Tree, &Loops, &Evolution);

    BasicBlock *Before = L->getLoopPreheader();
    BasicBlock *Ask = SplitBlock(Before, Before->getTerminator(), &Tree, &Loops);
    BasicBlock *Slow = SplitBlock(Ask, Ask->getTerminator(), &Tree, &Loops);
    End = Before->getTerminator();
    IRBuilder<> Build(End);
    Value *Few = Build.getFalse();
    if (L->getSubLoops().empty()) {
      Value *Times = Expand.expandCodeFor(Evolution.getNoopOrZeroExtend(Rounds, Word), Word, End);
      Build.SetInsertPoint(End);
      Few = Build.CreateICmpULT(Times, Build.getInt64(FewRounds));
    }
    Instruction *Guard = Build.CreateCondBr(Few, Slow, Ask);
    End->eraseFromParent();

    End = Ask->getTerminator();
    Build.SetInsertPoint(End);
    Build.SetCurrentDebugLocation(L->getStartLoc());
    unsigned At = 0;
    auto Put = [&](Value *V) {
      Build.SetInsertPoint(End);
      if (V->getType()->isPointerTy())
        V = Build.CreatePtrToInt(V, Word);
      Build.CreateStore(V, Build.CreateConstInBoundsGEP1_64(Word, table(), At++));
    };
    for (const Stretch &S : Stretches) {
      Put(Expand.expandCodeFor(S.Start, nullptr, End));
      Put(Build.getInt64(S.Touch.Size));
      Put(S.Touch.Base ? unwrap(S.Touch.Base) : Build.getInt64(0));
      Put(Build.getInt64(S.Touch.Room));
      Put(Build.getInt64(S.Touch.Manner));
      for (unsigned Depth = 0; Depth < Told.Levels; ++Depth) {
        bool Any = Depth < S.Levels.size();
        Put(Any ? Expand.expandCodeFor(S.Levels[Depth].Step, Word, End) : Build.getInt64(0));
        Put(Any ? Expand.expandCodeFor(S.Levels[Depth].Count, Word, End) : Build.getInt64(1));
      }
    }
    Build.SetInsertPoint(End);
    auto *Hook = unwrap<Function>(Told.Hook);
    CallInst *Call = Build.CreateCall(Hook, {table(), Build.getInt32(Stretches.size())});
    Call->addFnAttr(Attribute::NoMerge);
    Call->setTailCallKind(CallInst::TCK_NoTail);
    Value *Settled = Build.CreateICmpNE(Call, Build.getInt32(0));

    ValueToValueMapTy Map;
    SmallVector<BasicBlock *, 8> Blocks;
    Loop *Fast = cloneLoopWithPreheader(Slow, Ask, L, Map, ".settled", &Loops, &Tree, Blocks);
    remapInstructionsInBlocks(Blocks, Map);
    Build.CreateCondBr(Settled, Fast->getLoopPreheader(), Slow);
    End->eraseFromParent();
    BasicBlock *Exit = L->getExitBlock();
    for (PHINode &Phi : Exit->phis()) {
      Value *V = Phi.getIncomingValueForBlock(L->getExitingBlock());
      Value *Copy = Map.lookup(V);
      Phi.addIncoming(Copy ? Copy : V, Fast->getExitingBlock());
    }
    Tree.changeImmediateDominator(Slow, Before);
    Tree.changeImmediateDominator(Exit, Before);

    for (Instruction &I : *Ask)
      mark(&I, "raddle.settled");
    for (BasicBlock *B : Blocks)
      for (Instruction &I : *B)
        mark(&I, "raddle.settled");
    for (Instruction *I : Expand.getAllInsertedInstructions())
      mark(I, "raddle.settled");
    if (auto *Compare = dyn_cast<Instruction>(Few))
      mark(Compare, "raddle.settled");
    mark(Guard, "raddle.guard");
    // What comes out of the nest comes from either copy now.
    Evolution.forgetAllLoops();
    return true;
  }

  // Can it be computed at the end of this block? The expander itself divides by constants only.
  bool canExpand(const SCEV *S, const BasicBlock *B) {
    auto Fails = [&](const SCEV *Part) {
      if (auto *Division = dyn_cast<SCEVUDivExpr>(Part))
        return !Evolution.isKnownNonZero(Division->getRHS());
      auto *Steps = dyn_cast<SCEVAddRecExpr>(Part);
      return isa<SCEVCouldNotCompute>(Part) || (Steps && !Steps->isAffine());
    };
    return !SCEVExprContains(S, Fails) && Evolution.dominates(S, B);
  }

  void mark(Instruction *I, StringRef Kind) { I->setMetadata(Kind, MDNode::get(Context, {})); }

  // Room for the stretches of one question.
  AllocaInst *table() {
    if (!Table) {
      Type *Word = Type::getInt64Ty(Context);
      Type *All = ArrayType::get(Word, Told.Most * Told.Words);
      Table = new AllocaInst(All, F.getDataLayout().getAllocaAddrSpace(), "", F.getEntryBlock().begin());
      mark(Table, "raddle.settled");
    }
    return Table;
  }
};

} // namespace

extern "C" void raddle_shim_copy_settled(LLVMValueRef V, const RaddleNests *Told) {
  auto *F = unwrap<Function>(V);
  if (!F->empty())
    Nests(*F, *Told).run();
}

extern "C" bool raddle_shim_is_counted(LLVMBasicBlockRef HeaderRef, LLVMBasicBlockRef EndRef) {
  BasicBlock *Header = unwrap(HeaderRef);
  Function &F = *Header->getParent();
  DominatorTree Tree(F);
  LoopInfo Loops(Tree);
  AssumptionCache Assumptions(F);
  TargetLibraryInfoImpl Library(Triple(F.getParent()->getTargetTriple()));
  TargetLibraryInfo Info(Library, &F);
  ScalarEvolution Evolution(F, Info, Assumptions, Tree, Loops);
  Loop *L = Loops.getLoopFor(Header);
  if (!L || L->getHeader() != Header)
    return false;
  const SCEV *Most = Evolution.getExitCount(L, unwrap(EndRef), ScalarEvolution::ConstantMaximum);
  return !isa<SCEVCouldNotCompute>(Most);
}
