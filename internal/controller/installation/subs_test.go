package installation

import (
	"errors"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/controller/installation/decide"
	"go.landscaper.dev/internal/controller/installation/fakeapi"
	"go.landscaper.dev/internal/controller/installation/observe"
	"go.landscaper.dev/internal/controller/installation/testbuilders"
	"go.landscaper.dev/internal/landscape/repocontext"
	"go.landscaper.dev/internal/model/siblings"
	"go.landscaper.dev/internal/runtime/job"
)

// subinstallations are two: b imports what a exports. Neither has deploy items.
const subinstallations = `
subinstallations:
- name: a
  blueprint: {filesystem: {blueprint.yaml: "exports: [{name: x, schema: {type: integer}}]\nexportExecutions: [{name: e, type: GoTemplate, template: 'exports: {x: 7}'}]\n"}}
  exports: {data: [{name: x, dataRef: from-a}]}
- name: b
  blueprint: {filesystem: {blueprint.yaml: "imports: [{name: v, schema: {type: integer}}]\n"}}
  imports: {data: [{name: v, dataRef: from-a}]}
`

// nested is what newBench needs for an Installation with subinstallations.
func nested(t *testing.T) []client.Object {
	t.Helper()
	objects := installed(t)
	testbuilders.Describe(t, objects[0], subinstallations)
	return objects
}

// sub returns the subinstallation of a template.
func (b *bench) sub(t *testing.T, name string) *v1alpha1.Installation {
	t.Helper()
	inst := &v1alpha1.Installation{}
	key := client.ObjectKey{Namespace: shop.Namespace, Name: job.ChildName("uid-2", name, 0)}
	if err := b.api.Get(t.Context(), key, inst); err != nil {
		t.Fatal(err)
	}
	return inst
}

// run reconciles an Installation once and returns what was written.
func (b *bench) run(t *testing.T, inst *v1alpha1.Installation) string {
	t.Helper()
	b.writes = nil
	if _, err := b.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(inst)}); err != nil {
		t.Fatal(err)
	}
	return strings.Join(b.writes, ", ")
}

func wantWrites(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %s, want %s", what, got, want)
	}
}

// TestSubs: what a job with subinstallations writes: few writes for each, and one for a
// subinstallation that waits.
func TestSubs(t *testing.T) {
	b := newBench(t, nested(t)...)
	wantWrites(t, "the root begins", b.reconcile(t), "patch Installation, create Installation, create Installation, status Installation")
	if s := b.installation(t).Status; s.InstallationPhase != "Progressing" || len(s.SubInstCache.ActiveSubs) != 2 || s.ExecutionReference != nil {
		t.Errorf("%+v", s)
	}
	wantWrites(t, "who imports waits", b.run(t, b.sub(t, "b")), "status Installation")
	wantWrites(t, "and writes it once", b.run(t, b.sub(t, "b")), "")
	if s := b.sub(t, "b").Status; s.JobID != "job-1" || s.InstallationPhase != "Init" || s.LastError.Reason != "AllPredecessorsFinished" || !strings.Contains(s.LastError.Message, b.sub(t, "a").Name) {
		t.Errorf("%+v, %+v", s, s.LastError)
	}
	if reported := b.reported(); len(reported) > 0 {
		t.Errorf("a wait is no event: %q", reported)
	}
	wantWrites(t, "who exports runs", b.run(t, b.sub(t, "a")), "create DataObject, status Installation")
	wantWrites(t, "the root waits for the other one", b.reconcile(t), "")
	wantWrites(t, "who imports runs", b.run(t, b.sub(t, "b")), "create DataObject, status Installation")
	wantWrites(t, "the root ends", b.reconcile(t), "status Installation")
	if s := b.installation(t).Status; s.InstallationPhase != "Succeeded" {
		t.Errorf("%+v", s)
	}
	if history := b.sub(t, "b").Status.History; len(history) != 1 || history[0].JobID != "job-1" || history[0].Trigger != "parent" || history[0].Phase != "Succeeded" {
		t.Errorf("the history of a subinstallation has %+v", history)
	}

	b.request(t, v1alpha1.ReconcileOperation)
	wantWrites(t, "once more: they are as they are wanted", b.reconcile(t), "status Installation, patch Installation, status Installation")
}

// TestSubsGo: where the user wants it, subinstallations that are no longer wanted are deleted
// before the others get the job.
func TestSubsGo(t *testing.T) {
	b := newBench(t, nested(t)...)
	b.reconcile(t)
	b.run(t, b.sub(t, "a"))
	b.run(t, b.sub(t, "b"))
	b.reconcile(t)
	inst := b.installation(t)
	testbuilders.Describe(t, inst, subinstallations[:strings.Index(subinstallations, "- name: b")])
	inst.Annotations = map[string]string{v1alpha1.OperationAnnotation: "reconcile", v1alpha1.RemoveFirstAnnotation: "true"}
	if err := b.api.Update(t.Context(), inst); err != nil {
		t.Fatal(err)
	}
	wantWrites(t, "one is no longer wanted", b.reconcile(t), "status Installation, patch Installation, delete Installation, status Installation")
	if s := b.installation(t).Status; s.InstallationPhase != "CleanupOrphaned" || len(s.SubInstCache.OrphanedSubs) != 1 {
		t.Errorf("%+v", s)
	}
	wantWrites(t, "the others wait", b.run(t, b.sub(t, "a")), "")
	wantWrites(t, "it goes", b.run(t, b.sub(t, "b")), "patch Installation")
	wantWrites(t, "now the others get the job", b.reconcile(t), "status Installation")
	b.run(t, b.sub(t, "a"))
	b.reconcile(t)
	if s := b.installation(t).Status; s.InstallationPhase != "Succeeded" {
		t.Errorf("%+v, %+v", s, s.LastError)
	}
}

// TestImportersFirst: a subinstallation that is deleted before its importers would not see that
// they are being deleted, too, and would not wait for them.
func TestImportersFirst(t *testing.T) {
	sub := func(name, exports string, imports ...string) *v1alpha1.Installation {
		inst := &v1alpha1.Installation{ObjectMeta: metav1.ObjectMeta{Name: name, OwnerReferences: []metav1.OwnerReference{testbuilders.Owner("Installation", shop.Name, "2")}}}
		inst.Spec.Exports.Data = []v1alpha1.DataExport{{Name: "x", DataRef: exports}}
		for _, from := range imports {
			inst.Spec.Imports.Data = append(inst.Spec.Imports.Data, v1alpha1.DataImport{Name: from, DataRef: from})
		}
		return inst
	}
	stays := sub("stays", "s", "p")
	for _, test := range []struct {
		reason  string
		orphans []*v1alpha1.Installation
		want    string
	}{
		{"a single subinstallation", []*v1alpha1.Installation{sub("p", "p")}, "p"},
		{"a chain", []*v1alpha1.Installation{sub("p", "p"), sub("q", "q", "p"), sub("r", "r", "q")}, "r q p"},
		{"two importers of one exporter", []*v1alpha1.Installation{sub("q", "q", "p"), sub("p", "p"), sub("r", "r", "p")}, "q r p"},
		{"subinstallations with nothing in common", []*v1alpha1.Installation{sub("q", "q"), sub("p", "p")}, "q p"},
		{"a cycle, and an importer from it", []*v1alpha1.Installation{sub("p", "p", "q"), sub("q", "q", "p"), sub("r", "r", "p")}, "q r p"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			var got []string
			for _, orphan := range (&Reconciler{}).importersFirst(test.orphans, append(slices.Clone(test.orphans), stays)) {
				got = append(got, orphan.Name)
			}
			if strings.Join(got, " ") != test.want {
				t.Errorf("%v, want %s", got, test.want)
			}
		})
	}
}

// TestAnotherExecution: the deletion of an Execution says nothing about the next one, which a cache
// may not show yet.
func TestAnotherExecution(t *testing.T) {
	for _, test := range []struct {
		reason string
		answer error
	}{
		{"the next Execution is created", nil},
		{"the next Execution is created, but the answer is lost", errors.New("connection reset")},
	} {
		t.Run(test.reason, func(t *testing.T) {
			b := newBench(t, installed(t)...)
			inst := b.installation(t)
			b.memory.Of(inst.UID).marks.note(terminating, true)
			b.refuse["create Execution"] = test.answer
			err := b.ensureExecution(t.Context(), snapshotOf(inst), v1alpha1.DeployItemTemplateList{{Name: "web", Type: "t"}})
			if !errors.Is(err, test.answer) || b.execution(t) == nil {
				t.Fatal(err)
			}
			s := snapshotOf(inst)
			inst.Status.ExecutionReference = &v1alpha1.ObjectReference{Namespace: shop.Namespace, Name: shop.Name}
			if err := b.confirm(t.Context(), s); err != nil || s.Exec == nil {
				t.Errorf("an Execution that is there counts as gone: %v", err)
			}
		})
	}
}

// TestSubsUnwritten: as long as not all children are written, the status names none, and no
// unwanted one is deleted.
func TestSubsUnwritten(t *testing.T) {
	objects := installed(t)
	testbuilders.Describe(t, objects[0], strings.Replace(subinstallations, "- name: b", "- name: c", 1)+"deployExecutions: [{name: e, type: GoTemplate, template: 'deployItems: [{name: i, type: t}]'}]\n")
	old := &v1alpha1.Installation{ObjectMeta: metav1.ObjectMeta{
		Namespace: shop.Namespace, Name: "old", UID: "uid-old", Annotations: map[string]string{v1alpha1.SubinstallationNameAnnotation: "b"},
		OwnerReferences: []metav1.OwnerReference{testbuilders.Owner("Installation", shop.Name, "2")},
	}}
	b := newBench(t, append(objects, old)...)
	b.refuse["create Execution"] = errors.New("connection refused")
	if _, err := b.Reconcile(t.Context(), ctrl.Request{NamespacedName: shop}); err == nil {
		t.Error("there has to be another attempt")
	}
	if s := b.installation(t).Status; s.InstallationPhase != "Init" || s.SubInstCache != nil || slices.Contains(b.writes, "delete Installation") {
		t.Errorf("%+v, %v", s, b.writes)
	}
	delete(b.refuse, "create Execution")
	b.reconcile(t)
	if s := b.installation(t).Status; s.InstallationPhase != "Progressing" || len(s.SubInstCache.OrphanedSubs) != 1 || slices.Contains(b.writes, "delete Installation") {
		t.Errorf("%+v, %v", s, b.writes)
	}
}

// TestTreeIsDeleted: the deletion of a root deletes all below it, in the reverse order of their data,
// without uninstalling if that is requested.
func TestTreeIsDeleted(t *testing.T) {
	b := newBench(t, nested(t)...)
	b.reconcile(t)
	b.run(t, b.sub(t, "a"))
	b.run(t, b.sub(t, "b"))
	b.reconcile(t)
	inst := b.installation(t)
	inst.Annotations = map[string]string{v1alpha1.DeleteWithoutUninstallAnnotation: "true"}
	if err := b.api.Update(t.Context(), inst); err != nil {
		t.Fatal(err)
	}
	if err := b.api.Delete(t.Context(), inst); err != nil {
		t.Fatal(err)
	}
	wantWrites(t, "the root deletes all at once", b.reconcile(t), "status Installation, patch Installation, delete Installation, patch Installation, delete Installation, status Installation")
	if b.sub(t, "a").Annotations[v1alpha1.DeleteWithoutUninstallAnnotation] != "true" {
		t.Error("nothing is uninstalled below either")
	}
	wantWrites(t, "who exports waits", b.run(t, b.sub(t, "a")), "status Installation")
	if e := b.sub(t, "a").Status.LastError; e.Reason != "SiblingImport" {
		t.Errorf("%+v", e)
	}
	wantWrites(t, "who imports goes", b.run(t, b.sub(t, "b")), "patch Installation")
	wantWrites(t, "then who exports", b.run(t, b.sub(t, "a")), "patch Installation")
	wantWrites(t, "and the root", b.reconcile(t), "patch Installation")
}

// TestSubInterrupted: an interruption reaches subinstallations at work and those that wait, and the
// whole tree ends.
func TestSubInterrupted(t *testing.T) {
	b := newBench(t, nested(t)...)
	b.reconcile(t)
	b.run(t, b.sub(t, "b"))
	b.request(t, v1alpha1.InterruptOperation)
	wantWrites(t, "the root passes the interruption", b.reconcile(t), "patch Installation, patch Installation, patch Installation")
	b.run(t, b.sub(t, "a"))
	b.run(t, b.sub(t, "b"))
	b.reconcile(t)
	for _, inst := range []*v1alpha1.Installation{b.sub(t, "a"), b.sub(t, "b"), b.installation(t)} {
		if s := inst.Status; s.InstallationPhase != "Failed" || s.JobIDFinished != "job-1" || !strings.Contains(s.LastError.Message, "operation was interrupted") || inst.Annotations[v1alpha1.OperationAnnotation] != "" {
			t.Errorf("%s: %+v, %+v", inst.Name, s, s.LastError)
		}
	}
}

// TestSubNames: an existing object of the name is used only if it is ours.
func TestSubNames(t *testing.T) {
	name := job.ChildName("uid-2", "a", 0)
	taken := func(change func(*v1alpha1.Installation)) *v1alpha1.Installation {
		inst := &v1alpha1.Installation{ObjectMeta: metav1.ObjectMeta{Namespace: shop.Namespace, Name: name, UID: "uid-9"}}
		change(inst)
		return inst
	}
	ours := []metav1.OwnerReference{{APIVersion: v1alpha1.GroupVersion.String(), Kind: "Installation", Name: shop.Name, UID: "uid-2"}}
	for _, test := range []struct {
		reason string
		there  *v1alpha1.Installation
		want   string
	}{
		{"an object of another owner", taken(func(*v1alpha1.Installation) {}), "patch Installation, create Installation, create Installation, create Installation, status Installation"},
		{"an object of an earlier Installation of the name of the parent", taken(func(inst *v1alpha1.Installation) {
			inst.OwnerReferences = []metav1.OwnerReference{{APIVersion: v1alpha1.GroupVersion.String(), Kind: "Installation", Name: shop.Name, UID: "uid-1"}}
		}), "patch Installation, create Installation, create Installation, create Installation, status Installation"},
		{"our own object from an earlier attempt", taken(func(inst *v1alpha1.Installation) {
			inst.OwnerReferences, inst.Annotations = ours, map[string]string{v1alpha1.SubinstallationNameAnnotation: "a"}
		}), "patch Installation, update Installation, create Installation, status Installation"},
		{"our own object of an unknown template", taken(func(inst *v1alpha1.Installation) { inst.OwnerReferences = ours }), "patch Installation, status Installation, status Installation"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			b := newBench(t, append(nested(t), test.there)...)
			wantWrites(t, "it writes", b.reconcile(t), test.want)
			live := &v1alpha1.Installation{}
			if err := b.api.Get(t.Context(), types.NamespacedName{Namespace: shop.Namespace, Name: name}, live); err != nil || live.UID != "uid-9" {
				t.Errorf("%+v, %v", live, err)
			}
		})
	}
}

// TestStaleScope: objects that the cache shows from an earlier job are read from the API server.
func TestStaleScope(t *testing.T) {
	sub := testbuilders.InstallationOf(t, "imports: {data: [{name: v, dataRef: from-a}], targets: [{name: all, targetListRef: all}]}")
	sub.OwnerReferences = []metav1.OwnerReference{testbuilders.Owner("Installation", "parent", "parent")}
	sub.Status.JobID = "job-2"
	value := func(jobID, content string) *v1alpha1.DataObject {
		return &v1alpha1.DataObject{ObjectMeta: metav1.ObjectMeta{
			Namespace: sub.Namespace, Name: v1alpha1.GenerateDataObjectName("Inst.parent", "from-a"),
			Labels: map[string]string{v1alpha1.DataObjectContextLabel: "Inst.parent", v1alpha1.DataObjectJobIDLabel: jobID},
		}, Data: v1alpha1.NewAnyJSON([]byte(content))}
	}
	element := testbuilders.CopyOf("element", "job-2")
	element.Labels = map[string]string{v1alpha1.DataObjectContextLabel: "Inst.parent", v1alpha1.DataObjectJobIDLabel: "job-2", v1alpha1.DataObjectKeyLabel: "all", v1alpha1.DataObjectSourceTypeLabel: "import"}
	for _, test := range []struct {
		reason string
		cached []client.Object
		want   string
	}{
		{"the cache is current", []client.Object{value("job-2", "1")}, "1"},
		{"the cache is behind", []client.Object{value("job-1", "1")}, "2"},
		{"the cache shows nothing", nil, "2"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			r := &Reconciler{Client: fakeapi.New(t, test.cached...), Reader: fakeapi.New(t, value("job-2", "2"), element)}
			in := &decide.Inputs{}
			if err := r.reader().ReadImports(t.Context(), siblings.Family{Inst: sub}, in, observe.Reading(r.Client, r.Reader, sub)); err != nil || in.ImportsErr != nil || len(in.Missing) > 0 {
				t.Fatal(err, in.ImportsErr, in.Missing)
			}
			if got := string(in.Imports.Data["v"].Value.RawMessage); got != test.want || len(in.Imports.TargetLists["all"]) != 1 {
				t.Errorf("%s, %d elements", got, len(in.Imports.TargetLists["all"]))
			}
		})
	}
}

// TestStaleImport: a root deploys imports that were written before the request, also if the cache
// does not show them yet.
func TestStaleImport(t *testing.T) {
	inst := testbuilders.InstallationOf(t, "blueprint: {inline: {filesystem: {blueprint.yaml: '{}'}}}\nimports: {data: [{name: v, dataRef: x}]}")
	current := fakeapi.New(t, testbuilders.DataOf("x", `"new"`), &v1alpha1.Context{ObjectMeta: metav1.ObjectMeta{Namespace: inst.Namespace, Name: v1alpha1.DefaultContextName}})
	r := &Reconciler{Client: stale{current, testbuilders.DataOf("x", `"old"`)}, Reader: current, Planner: Planner{Sources: &repocontext.Reader{}}}
	s := snapshotOf(inst)
	if err := r.readInputs(t.Context(), s); err != nil || s.Inputs.ImportsErr != nil || len(s.Inputs.Invalid)+len(s.Inputs.Missing) > 0 {
		t.Fatal(err, s.Inputs)
	}
	if got := string(s.Inputs.Imports.Data["v"].Value.RawMessage); got != `"new"` {
		t.Errorf("the job is to use %s", got)
	}
}

// TestAlone: an Installation without children ends in one reconcile, without a stored plan, unless
// something has to be deleted first.
func TestAlone(t *testing.T) {
	const description = "exports: [{name: x, schema: {type: integer}}]\nexportExecutions: [{name: e, type: GoTemplate, template: 'exports: {x: VALUE}'}]\n"
	alone := func(value string) []client.Object {
		objects := installed(t)
		testbuilders.Describe(t, objects[0], strings.Replace(description, "VALUE", value, 1))
		objects[0].(*v1alpha1.Installation).Spec.Exports.Data = []v1alpha1.DataExport{{Name: "x", DataRef: "shop-url"}}
		return objects
	}
	b := newBench(t, alone("7")...)
	wantWrites(t, "in one go", b.reconcile(t), "patch Installation, status Installation, create DataObject, status Installation")
	if s := b.installation(t).Status; s.InstallationPhase != "Succeeded" || s.SubInstCache == nil || s.TransitionTimes.WaitTime == nil || string(b.export(t).Data.RawMessage) != "7" {
		t.Errorf("%+v", s)
	}
	b = newBench(t, alone(`"text"`)...)
	b.reconcile(t)
	if s := b.installation(t).Status; s.InstallationPhase != "Failed" || s.LastError.Reason != "ConstructExports" {
		t.Errorf("%+v, %+v", s, s.LastError)
	}
	left := &v1alpha1.Installation{ObjectMeta: metav1.ObjectMeta{
		Namespace: shop.Namespace, Name: "left", UID: "uid-left", Finalizers: []string{v1alpha1.Finalizer},
		Annotations:     map[string]string{v1alpha1.SubinstallationNameAnnotation: "left"},
		OwnerReferences: []metav1.OwnerReference{testbuilders.Owner("Installation", shop.Name, "2")},
	}}
	b = newBench(t, append(alone("7"), left)...)
	wantWrites(t, "something goes first", b.reconcile(t), "patch Installation, create *v1.Secret, status Installation, delete Installation, status Installation")
}
