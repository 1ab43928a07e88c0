package main

// protection is something that the controllers do for a case that is rare.
type protection struct {
	// name says what the controllers do not do any more.
	name string
	// file has it; old is the place, and new what stands there without it.
	file, old, new string
}

const (
	installation = "internal/controller/installation/"
	execution    = "internal/controller/execution/"
	dispatching  = "internal/runtime/dispatch/dispatcher.go"
)

var protections = []protection{
	{
		"an Installation waits for a cache that is behind our write", installation + "reconcile.go",
		"if err := r.memory.await(ctx, r.Reader, inst); err != nil {", "if err := error(nil); err != nil {",
	},
	{
		"an Installation looks for children of a job that was not stored", installation + "unstored.go",
		"if s.Exec != nil || !r.memory.Of(s.Inst.UID).marks.has(unstored) {", "if s.Exec != nil || true {",
	},
	{
		"a job is stored before its request is removed", installation + "steps.go",
		"	if err := r.reporter().Enter(ctx, s.subject, phase); err != nil {\n", "	if err := r.started(ctx, s); err != nil {\n		return err\n	}\n	if err := r.reporter().Enter(ctx, s.subject, phase); err != nil {\n",
	},
	{
		"a request is removed in the version that was read", installation + "steps.go",
		"client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})", "client.MergeFrom(before)",
	},
	{
		"children are written before the job gets to them", installation + "bringup.go",
		"	if err := r.writeAll(ctx, s, made); err != nil {\n", "	if err := r.propagate(ctx, s); err != nil {\n		return err\n	}\n	if err := r.writeAll(ctx, s, made); err != nil {\n",
	},
	{
		"an Installation has its finalizer before it has children", installation + "decide/decide.go",
		"return s.PendingTrigger == \"\" && !predicates.BeingDeleted(s.Inst) && !predicates.HasFinalizer(s.Inst)", "return false",
	},
	{
		"an Installation waits for those whose exports it imports", "internal/model/siblings/turn.go",
		"			now.WaitsFor = append(now.WaitsFor, name)\n		case hasFailed:\n", "		case hasFailed:\n",
	},
	{
		"an Installation is deleted after those that import its exports", installation + "leave.go",
		"	s.Turn = &now\n", "	now.WaitsFor, now.Err = nil, nil\n	s.Turn = &now\n",
	},
	{
		"children that go do not exist any more when the others get the job", installation + "decide/children.go",
		"	if sub, running := siblings.FirstUnfinished(subs, s.Inst.Status.JobID); running {", "	if sub, running := siblings.FirstUnfinished(subs, s.Inst.Status.JobID); false && running {",
	},
	{
		"a job ends after all of its subinstallations", installation + "decide/children.go",
		"if sub, running := siblings.FirstUnfinishedSub(s.Family); running {", "if sub, running := siblings.FirstUnfinishedSub(s.Family); false && running {",
	},
	{
		"an Execution that no cache shows is asked for", installation + "decide/decide.go",
		"	if missesExecution(s) {\n		return doing(Confirm)", "	if false && missesExecution(s) {\n		return doing(Confirm)",
	},
	{
		"an Execution counts as deleted when a cache shows it", installation + "behind.go",
		"if age := r.memory.Of(inst.UID).marks.age(executionDeleted); age < deletionLagLimit {", "if age := deletionLagLimit; age < deletionLagLimit {",
	},
	{
		"an Execution waits for a cache that is behind our write", execution + "reconcile.go",
		"if err := r.memory.await(ctx, r.Reader, exec); err != nil {", "if err := error(nil); err != nil {",
	},
	{
		"an Execution waits for a cache that is behind our write of an item", execution + "reconcile.go",
		"if err := r.memory.awaitItem(ctx, r.Reader, item); err != nil {", "if err := error(nil); err != nil {",
	},
	{
		"an Execution asks for items that no cache shows", execution + "reconcile.go",
		"	for _, name := range r.known(s.exec) {\n", "	for _, name := range r.known(s.exec)[:0] {\n",
	},
	{
		"a deleted item is not written until a cache shows its deletion", execution + "items.go",
		"	// The event of the deletion has the version that can be written to.\n	s.awaitChange(item)\n", "",
	},
	{
		"an Execution gets the job when all children are written", "internal/model/siblings/family.go",
		"	return job.Propagates(parent)\n", "	return true\n",
	},
	{
		"an item that was read in an old version does not get the dispatched job", dispatching,
		"if !ok || given.uid != item.UID || resourceversion.Older(item.ResourceVersion, given.version) {", "if !ok || given.uid != item.UID {",
	},
	{
		"a dispatched job is kept for an item that the cache does not show yet", dispatching,
		"if open && resourceversion.Older(seen, given.version) {", "if false && open && resourceversion.Older(seen, given.version) {",
	},
	{
		"a deployer waits for a cache that is behind its write", "deployer/reconciler.go",
		"if err := r.memory.of(item).written.Await(ctx, r.live, item); err != nil {", "if err := error(nil); err != nil {",
	},
	{
		"a job that deploys ends when the item is deleted", "deployer/decide.go",
		"	case !start && !s.item.Status.Phase.IsDeletion():\n", "	case false:\n",
	},
	{
		"a trigger in the middle of an attempt leads to another one", "deployer/reconciler.go",
		"	if item.run.triggered.Load() {\n", "	if false {\n",
	},
}
