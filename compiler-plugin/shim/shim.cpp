// What LLVM offers in C++ only. Everything else is done from Rust through LLVM-C; src/shim.rs
// declares these functions and says what they mean.

#include "llvm-c/Target.h"
#include "llvm-c/Types.h"
#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/CFG.h"
#include "llvm/Analysis/CaptureTracking.h"
#include "llvm/Analysis/InstructionSimplify.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/CodeGen/AtomicExpandUtils.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TimeProfiler.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/Scalarizer.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/Local.h"
#include "llvm/Transforms/Utils/LoopRotationUtils.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"
#include "llvm/Transforms/Utils/LowerAtomic.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"
#include "llvm/Transforms/Utils/PromoteMemToReg.h"

using namespace llvm;

extern "C" void raddle_prepare(LLVMModuleRef module);
extern "C" void raddle_instrument(LLVMModuleRef module, bool optimise);

namespace {

struct Prepare : PassInfoMixin<Prepare> {
  PreservedAnalyses run(Module &M, ModuleAnalysisManager &) {
    raddle_prepare(wrap(&M));
    return PreservedAnalyses::none();
  }
  static bool isRequired() { return true; }
};

struct Instrument : PassInfoMixin<Instrument> {
  bool Optimise;
  explicit Instrument(bool Optimise) : Optimise(Optimise) {}
  PreservedAnalyses run(Module &M, ModuleAnalysisManager &) {
    raddle_instrument(wrap(&M), Optimise);
    return PreservedAnalyses::none();
  }
  static bool isRequired() { return true; }
};

// A loop that polls a bounded number of times has to stay one: src/symbolic/polls.rs.
struct KeepPolls : PassInfoMixin<KeepPolls> {
  PreservedAnalyses run(Loop &L, LoopAnalysisManager &, LoopStandardAnalysisResults &, LPMUpdater &) {
    auto Polls = [](const Instruction &I) {
      auto *Load = dyn_cast<LoadInst>(&I);
      return isa<AtomicCmpXchgInst>(I) || (Load && (Load->isAtomic() || Load->isVolatile()));
    };
    bool Any = false;
    for (BasicBlock *B : L.blocks()) {
      if (any_of(*B, [](const Instruction &I) { return isa<StoreInst, AtomicRMWInst>(I); }))
        return PreservedAnalyses::all();
      Any |= any_of(*B, Polls);
    }
    if (Any)
      L.setLoopAlreadyUnrolled();
    return PreservedAnalyses::all();
  }
  static bool isRequired() { return true; }
};

} // namespace

extern "C" {

void raddle_shim_register(PassBuilder *Builder) {
  Builder->registerLateLoopOptimizationsEPCallback(
      [](LoopPassManager &Passes, OptimizationLevel) { Passes.addPass(KeepPolls()); });
  Builder->registerPipelineStartEPCallback(
      [](ModulePassManager &Passes, OptimizationLevel) { Passes.addPass(Prepare()); });
  Builder->registerOptimizerEarlyEPCallback(
      [](ModulePassManager &Passes, OptimizationLevel Level) {
        Passes.addPass(Instrument(Level != OptimizationLevel::O0));
      });
}

bool raddle_shim_only_reads(LLVMValueRef V, unsigned Argument) {
  auto *Call = unwrap<CallBase>(V);
  if (Call->onlyReadsMemory() || Call->onlyReadsMemory(Argument))
    return true;
  auto *Object = dyn_cast<GlobalVariable>(getUnderlyingObject(Call->getArgOperand(Argument)));
  return Object && Object->isConstant();
}

bool raddle_shim_captured(LLVMValueRef V, unsigned MaxUses) {
  return PointerMayBeCaptured(unwrap(V), /*ReturnCaptures=*/true,
                              /*StoreCaptures=*/true, MaxUses);
}

unsigned raddle_shim_objects(LLVMValueRef V, LLVMValueRef *Out, unsigned Capacity) {
  SmallVector<const Value *, 8> Objects;
  getUnderlyingObjects(unwrap(V), Objects, nullptr, /*MaxLookup=*/0);
  unsigned Count = 0;
  for (const Value *Object : Objects) {
    if (Count == Capacity)
      return Capacity + 1;
    Out[Count++] = wrap(Object);
  }
  return Count;
}

bool raddle_shim_offset(LLVMValueRef V, LLVMValueRef Base, LLVMTargetDataRef Data, int64_t *Out) {
  const DataLayout &Layout = *unwrap(Data);
  APInt Offset(Layout.getIndexTypeSizeInBits(unwrap(V)->getType()), 0);
  const Value *Found =
      unwrap(V)->stripAndAccumulateConstantOffsets(Layout, Offset, /*AllowNonInbounds=*/true);
  *Out = Offset.getSExtValue();
  return Found == unwrap(Base);
}

bool raddle_shim_swift_error(LLVMValueRef V) { return unwrap(V)->isSwiftError(); }

LLVMBasicBlockRef raddle_shim_split_before(LLVMValueRef V) {
  auto *I = unwrap<Instruction>(V);
  return wrap(I->getParent()->splitBasicBlock(I));
}

void raddle_shim_move_before(LLVMValueRef V, LLVMValueRef Before) {
  unwrap<Instruction>(V)->moveBefore(unwrap<Instruction>(Before));
}

LLVMValueRef raddle_shim_clone(LLVMValueRef V) {
  ValueToValueMapTy Map;
  Function *Clone = CloneFunction(unwrap<Function>(V), Map);
  for (Instruction &I : make_early_inc_range(instructions(*Clone))) {
    I.dropDbgRecords();
    if (isa<DbgInfoIntrinsic>(I))
      I.eraseFromParent();
  }
  return wrap(Clone);
}

void raddle_shim_phase_begins(const char *Name, size_t Length) {
  timeTraceProfilerBegin(StringRef(Name, Length), StringRef());
}

void raddle_shim_phase_ends() { timeTraceProfilerEnd(); }

void raddle_shim_take_conventions(LLVMValueRef V, LLVMValueRef FunctionValue) {
  auto *Call = unwrap<CallBase>(V);
  auto *F = unwrap<Function>(FunctionValue);
  AttributeList Of = F->getAttributes();
  SmallVector<AttributeSet, 8> Parameters;
  for (unsigned Index = 0; Index < F->arg_size(); ++Index)
    Parameters.push_back(Of.getParamAttrs(Index));
  Call->setCallingConv(F->getCallingConv());
  Call->setAttributes(AttributeList::get(F->getContext(), AttributeSet(),
                                         Of.getRetAttrs(), Parameters));
}

void raddle_shim_delete_body(LLVMValueRef F) { unwrap<Function>(F)->deleteBody(); }

// What -O0 leaves of `while (!atomic_load(&head))` writes a pointer to a variable as an integer. Makes
// all accesses of such a variable ones of its own type, where they have the same size.
static void unifyTypes(AllocaInst &A, const DataLayout &Layout) {
  Type *Own = A.getAllocatedType();
  SmallVector<Instruction *, 8> Others;
  for (User *U : A.users()) {
    auto *I = cast<Instruction>(U);
    auto *S = dyn_cast<StoreInst>(I);
    bool Simple = S ? S->isSimple() && S->getPointerOperand() == &A && S->getValueOperand() != &A
                    : isa<LoadInst>(I) && cast<LoadInst>(I)->isSimple();
    if (!Simple) {
      if (I->isLifetimeStartOrEnd() || isa<DbgInfoIntrinsic>(I))
        continue;
      return;
    }
    Type *Accessed = getLoadStoreType(I);
    if (Accessed == Own)
      continue;
    if (!CastInst::isBitOrNoopPointerCastable(Accessed, Own, Layout))
      return;
    Others.push_back(I);
  }
  for (Instruction *I : Others) {
    IRBuilder<> Builder(I);
    if (auto *S = dyn_cast<StoreInst>(I)) {
      S->setOperand(0, Builder.CreateBitOrPointerCast(S->getValueOperand(), Own));
      continue;
    }
    Value *Loaded = Builder.CreateLoad(Own, &A);
    I->replaceAllUsesWith(Builder.CreateBitOrPointerCast(Loaded, I->getType()));
    I->eraseFromParent();
  }
}

// -O0 makes a value of `a && b` before it asks whether that holds. Where it is known from where one
// comes, goes straight to what follows.
static void threadKnown(BasicBlock &B) {
  auto *End = dyn_cast<BranchInst>(B.getTerminator());
  auto *Phi = End && End->isConditional() ? dyn_cast<PHINode>(End->getCondition()) : nullptr;
  if (!Phi || &B.front() != Phi || !Phi->hasOneUse() || Phi->getNextNonDebugInstruction() != End)
    return;
  SmallVector<BasicBlock *, 4> Before(predecessors(&B));
  for (BasicBlock *From : Before) {
    auto *Known = dyn_cast<ConstantInt>(Phi->getIncomingValueForBlock(From));
    BasicBlock *To = Known ? End->getSuccessor(Known->isZero()) : nullptr;
    if (!To || To == &B || !isa<BranchInst>(From->getTerminator()) || count(Before, From) != 1 ||
        is_contained(predecessors(To), From))
      continue;
    for (PHINode &Other : To->phis())
      Other.addIncoming(Other.getIncomingValueForBlock(&B), From);
    From->getTerminator()->replaceSuccessorWith(&B, To);
    B.removePredecessor(From, /*KeepOneInputPHIs=*/true);
  }
  if (Phi->getNumIncomingValues() == 1)
    FoldSingleEntryPHINodes(&B);
}

void raddle_shim_simplify(LLVMValueRef V) {
  auto *F = unwrap<Function>(V);
  removeUnreachableBlocks(*F);
  for (Instruction &I : F->getEntryBlock())
    if (auto *A = dyn_cast<AllocaInst>(&I); A && !A->isArrayAllocation())
      unifyTypes(*A, F->getDataLayout());
  // A variable that only another one pointed to can be promoted once that one was.
  for (;;) {
    SmallVector<AllocaInst *, 16> Allocas;
    for (Instruction &I : F->getEntryBlock())
      if (auto *A = dyn_cast<AllocaInst>(&I); A && isAllocaPromotable(A))
        Allocas.push_back(A);
    if (Allocas.empty())
      break;
    DominatorTree Tree(*F);
    PromoteMemToReg(Allocas, Tree);
  }
  // What is set to the same before each round, and rounds that are counted, and nobody asks how many
  // they were.
  for (BasicBlock &B : *F) {
    for (PHINode &Phi : make_early_inc_range(B.phis()))
      if (auto *Same = dyn_cast_or_null<Constant>(Phi.hasConstantValue())) {
        Phi.replaceAllUsesWith(Same);
        Phi.eraseFromParent();
      }
    DeleteDeadPHIs(&B);
  }
  SmallVector<std::pair<const BasicBlock *, const BasicBlock *>, 8> Back;
  FindFunctionBackedges(*F, Back);
  for (BasicBlock &B : *F)
    if (none_of(Back, [&](auto &Edge) { return Edge.second == &B; }))
      threadKnown(B);
  removeUnreachableBlocks(*F);
}

void raddle_shim_rotate(LLVMBasicBlockRef B) {
  BasicBlock *Header = unwrap(B);
  Function &F = *Header->getParent();
  DominatorTree Tree(F);
  LoopInfo Loops(Tree);
  Loop *L = Loops.getLoopFor(Header);
  if (!L || L->getHeader() != Header)
    return;
  AssumptionCache Assumptions(F);
  TargetTransformInfo Target(F.getDataLayout());
  simplifyLoop(L, &Tree, &Loops, nullptr, &Assumptions, nullptr, /*PreserveLCSSA=*/false);
  LoopRotation(L, &Loops, &Target, &Assumptions, &Tree, nullptr, nullptr,
               SimplifyQuery(F.getDataLayout()), /*RotationOnly=*/true, /*Threshold=*/-1u,
               /*IsUtilMode=*/true);
}

bool raddle_shim_inline(LLVMValueRef V) {
  InlineFunctionInfo Info;
  return InlineFunction(*unwrap<CallBase>(V), Info, /*MergeAttributes=*/false,
                        /*CalleeAAR=*/nullptr, /*InsertLifetime=*/false)
      .isSuccess();
}

void raddle_shim_scalarize(LLVMValueRef V) {
  FunctionAnalysisManager Analyses;
  Analyses.registerPass([] { return PassInstrumentationAnalysis(); });
  Analyses.registerPass([] { return DominatorTreeAnalysis(); });
  Analyses.registerPass([] { return TargetIRAnalysis(); });
  ScalarizerPassOptions Options;
  Options.ScalarizeVariableInsertExtract = true;
  Options.ScalarizeLoadStore = false;
  ScalarizerPass(Options).run(*unwrap<Function>(V), Analyses);
}

void raddle_shim_split_normal_edge(LLVMValueRef V) {
  auto *I = unwrap<InvokeInst>(V);
  BasicBlock *To = I->getNormalDest();
  auto *Edge = BasicBlock::Create(I->getContext(), "", I->getFunction(), To);
  BranchInst::Create(To, Edge)->setDebugLoc(I->getDebugLoc());
  I->setNormalDest(Edge);
  To->replacePhiUsesWith(I->getParent(), Edge);
}

void raddle_shim_lower_atomic(LLVMValueRef V) {
  if (auto *Update = dyn_cast<AtomicRMWInst>(unwrap(V)))
    lowerAtomicRMWInst(Update);
  else
    lowerAtomicCmpXchgInst(unwrap<AtomicCmpXchgInst>(V));
}

/// On functions that `raddle_shim_add_bodies` added.
static constexpr StringLiteral AddedBody = "raddle-added-body";

bool raddle_shim_add_bodies(LLVMModuleRef Ref, const char *Bitcode, size_t Length) {
  Module &M = *unwrap(Ref);
  MemoryBufferRef Buffer(StringRef(Bitcode, Length), "bodies");
  Expected<std::unique_ptr<Module>> Bodies = getLazyBitcodeModule(Buffer, M.getContext());
  if (!Bodies) {
    consumeError(Bodies.takeError());
    return false;
  }
  Module &From = **Bodies;
  const DataLayout &Layout = M.getDataLayout();
  bool SameMachine = Triple(M.getTargetTriple()).getArch() == Triple(From.getTargetTriple()).getArch();
  if (!SameMachine || Layout.getPointerSize() != From.getDataLayout().getPointerSize())
    return true;
  bool AnyWanted = false;
  for (const Function &F : From) {
    Function *Known = M.getFunction(F.getName());
    if (F.isDeclaration() || !Known)
      continue;
    // A body that only serves inlining stands for the library's.
    if (Known->hasAvailableExternallyLinkage())
      Known->deleteBody();
    AnyWanted |= Known->isDeclaration() && !Known->use_empty();
  }
  if (!AnyWanted)
    return true;
  // What the module says of itself holds for all that is in it.
  while (!From.named_metadata_empty())
    From.eraseNamedMetadata(&*From.named_metadata_begin());
  From.setTargetTriple(M.getTargetTriple());
  From.setDataLayout(Layout);
  for (Function &F : From) {
    if (F.isDeclaration() || F.hasLocalLinkage())
      continue;
    F.setLinkage(GlobalValue::LinkOnceODRLinkage);
    F.addFnAttr(AddedBody);
  }
  return !Linker::linkModules(M, std::move(*Bodies), Linker::LinkOnlyNeeded);
}

// Where the library is linked in, its bodies would take the places of weak ones.
void raddle_shim_own_bodies(LLVMModuleRef M) {
  for (Function &F : *unwrap(M)) {
    if (F.isDeclaration() || !F.hasFnAttribute(AddedBody))
      continue;
    F.removeFnAttr(AddedBody);
    F.setComdat(nullptr);
    F.setLinkage(GlobalValue::InternalLinkage);
  }
}

void raddle_shim_keep(LLVMModuleRef M, LLVMValueRef V) {
  appendToUsed(*unwrap(M), {unwrap<GlobalValue>(V)});
}

void raddle_shim_rmw_to_cas(LLVMValueRef V) {
  expandAtomicRMWToCmpXchg(
      unwrap<AtomicRMWInst>(V),
      [](IRBuilderBase &B, Value *Address, Value *Loaded, Value *New,
         Align Alignment, AtomicOrdering Order, SyncScope::ID Scope,
         Value *&Success, Value *&NewLoaded) {
        Type *Original = New->getType();
        if (Original->isFloatingPointTy()) {
          Type *Int = B.getIntNTy(Original->getPrimitiveSizeInBits());
          New = B.CreateBitCast(New, Int);
          Loaded = B.CreateBitCast(Loaded, Int);
        }
        Value *Pair = B.CreateAtomicCmpXchg(
            Address, Loaded, New, Alignment, Order,
            AtomicCmpXchgInst::getStrongestFailureOrdering(Order), Scope);
        Success = B.CreateExtractValue(Pair, 1);
        NewLoaded = B.CreateExtractValue(Pair, 0);
        if (Original->isFloatingPointTy())
          NewLoaded = B.CreateBitCast(NewLoaded, Original);
      });
}

} // extern "C"
