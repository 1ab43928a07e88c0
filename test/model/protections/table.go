package main

// protection is something that the controllers do for a case that is rare.
type protection struct {
	// name says what the controllers do not do any more.
	name string
	// file has it; old is the place, and new what stands there without it.
	file, old, new string
}

const (
	extension    = "internal/controller/shootflux/lifecycle/"
	installation = "internal/controller/installation/"
	execution    = "internal/controller/execution/"
	dispatching  = "internal/runtime/dispatch/dispatcher.go"
	targetsync   = "internal/controller/targetsync/"
)

var protections = []protection{
	{
		"an Installation waits for a cache that is behind our write", installation + "reconcile.go",
		"if err := r.memory.await(ctx, r.Reader, inst); err != nil {", "if err := error(nil); err != nil {",
	},
	{
		"an Installation looks for children of a job that was not stored", installation + "unstored.go",
		"if !r.memory.Of(s.Inst.UID).marks.has(unstored) {", "if true {",
	},
	{
		"a job is stored before it writes over a copy of another attempt", installation + "exportwriter/writer.go",
		"return stored || !OfOtherAttempt(", "return true || !OfOtherAttempt(",
	},
	{
		"a job is stored before its request is removed", installation + "steps.go",
		"	if err := r.reporter().Enter(ctx, s.subject, phase, notes...); err != nil {\n", "	if err := r.started(ctx, s); err != nil {\n		return err\n	}\n	if err := r.reporter().Enter(ctx, s.subject, phase, notes...); err != nil {\n",
	},
	{
		"a request is removed in the version that was read", installation + "steps.go",
		"client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})", "client.MergeFrom(before)",
	},
	{
		"children are written before the job gets to them", installation + "bringup.go",
		"	if s.ends, err = r.writeAll(ctx, s, made); s.ends || err != nil {\n", "	if err := r.propagate(ctx, s); err != nil {\n		return err\n	}\n	if s.ends, err = r.writeAll(ctx, s, made); s.ends || err != nil {\n",
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
		"a removal round goes on until the end of its job is stored", installation + "steps.go",
		"		notes = append(notes, s.noteEnd)\n", "		s.noteEnd(metav1.NewTime(r.Now()))\n",
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
		"an Execution whose deletion no cache shows is asked for", installation + "behind.go",
		"if exec.DeletionTimestamp != nil || inst", "if true || exec.DeletionTimestamp != nil || inst",
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
		"an Execution deletes what it does not want when the job is stored", execution + "apply.go",
		"	for _, orphan := range orphans {\n", "	held := holds(*s, orphans)\n	for _, orphan := range orphans {\n		if !held {\n			if err := r.deleteItem(ctx, s, orphan.Item); err != nil {\n				return err\n			}\n		}\n",
	},
	{
		"a terminating Execution says at the end of a job what it holds", execution + "removals.go",
		"	if s.exec.Status.ExecutionPhase.Current().IsDeletion() {\n		job.", "	if s.exec.DeletionTimestamp != nil {\n		job.",
	},
	{
		"an item that has no Execution any more is released", execution + "strays.go",
		"return owned && owner.Name == name", "return false && owned && owner.Name == name",
	},
	{
		"a deleted subinstallation says at the end of its parent's job what it waits for", installation + "wake/wake.go",
		"		siblings.DeletedWithNextJob(f) && !siblings.HasDeletionCondition(f)\n", "		false\n",
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
		"a trigger in the middle of an attempt leads to another one", "deployer/report.go",
		"	// After a trigger in the middle of the attempt, the item is in the queue already.\n", "	item.run.triggered.Store(false)\n",
	},
	{
		"a TargetSync has its finalizer before it makes a Target", targetsync + "decide.go",
		"	case !accepted:\n", "	case false:\n",
	},
	{
		"a run of a TargetSync has ended before its deletion removes what it has made", targetsync + "decide.go",
		"case s.busy && (deleted || accepted", "case s.busy && (accepted && !deleted",
	},
	{
		"the deletion of a TargetSync does not look for Targets in a cache", targetsync + "delete.go",
		"if err := r.Reader.List(ctx, list, client.InNamespace", "if err := r.Client.List(ctx, list, client.InNamespace",
	},
	{
		"a TargetSync waits for a cache that is behind its write", targetsync + "reconcile.go",
		"err := a.known.written.Await(ctx, r.Reader, sync)", "err := error(nil)",
	},
	{
		"a request for another token is served once when its outcome was not stored", targetsync + "rotate.go",
		"(!asked || r.memory.renewed)", "!asked",
	},
	{
		"a Target is removed before the Secret that it names", targetsync + "effects.go",
		"	if target != nil && syncplan.Ours(target) {\n", "	if existing := w.Secrets[name]; existing.Ours && name != r.sync.Spec.SecretRef.Name {\n		if err := r.deleteSecret(ctx, name, existing.Version); err != nil {\n			return err\n		}\n	}\n	if target != nil && syncplan.Ours(target) {\n",
	},
	{
		"a TargetSync does not overwrite a Target of another owner", targetsync + "syncplan/plan.go",
		"	case target != nil && !Ours(target):\n		return s.refused(Collision(\"Target\", w.Sync.Namespace, of.Name))\n", "",
	},
	{
		"another shoot of the same name has credentials of its own", targetsync + "syncplan/credential.go",
		"		existing.shootUID != \"\" && existing.shootUID != of.uid,\n", "",
	},
	{
		"an Extension is read anew after a write without an answer", extension + "report.go",
		"		r.extensionsNow.Doubt(e)\n", "",
	},
	{
		"a ManagedResource that has no Extension any more is removed", extension + "reconciler.go",
		"return job.Deleted(), a.r.removeStrays(ctx, a.key.Namespace)", "return job.Deleted(), nil",
	},
}
