package installation

import (
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/installation/decide"
	"go.landscaper.dev/internal/installation/facts"
	"go.landscaper.dev/internal/installation/kin"
)

// sibling builds a subinstallation of "parent" from a short text: its name, what it
// imports and, after an arrow, what it exports. A name in brackets is being deleted.
func sibling(text string) *v1alpha1.Installation {
	left, right, _ := strings.Cut(text, "=>")
	fields := strings.Fields(left)
	inst := &v1alpha1.Installation{}
	inst.Namespace = "n"
	if inst.Name = strings.Trim(fields[0], "()"); inst.Name != fields[0] {
		inst.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)}
	}
	inst.OwnerReferences = []metav1.OwnerReference{{APIVersion: v1alpha1.GroupVersion.String(), Kind: "Installation", Name: "parent", UID: "uid-parent"}}
	for _, name := range fields[1:] {
		inst.Spec.Imports.Data = append(inst.Spec.Imports.Data, v1alpha1.DataImport{Name: name, DataRef: name})
	}
	for _, name := range strings.Fields(right) {
		inst.Spec.Exports.Data = append(inst.Spec.Exports.Data, v1alpha1.DataExport{Name: name, DataRef: name})
	}
	inst.Status.JobID = "a"
	return inst
}

// ended ends the job of a sibling.
func ended(inst *v1alpha1.Installation, jobID string, phase v1alpha1.InstallationPhase) *v1alpha1.Installation {
	inst.Status.JobID, inst.Status.JobIDFinished, inst.Status.InstallationPhase = jobID, jobID, phase
	return inst
}

func parentWith(jobID, finished string) *v1alpha1.Installation {
	parent := &v1alpha1.Installation{}
	parent.Name, parent.UID, parent.Finalizers = "parent", "uid-parent", []string{v1alpha1.Finalizer}
	parent.Status.JobID, parent.Status.JobIDFinished = jobID, finished
	return parent
}

func TestTurnToDeploy(t *testing.T) {
	hint := sibling("self x")
	hint.Spec.Optimization = &v1alpha1.Optimization{HasNoSiblingImports: true}
	for _, test := range []struct {
		reason string
		self   *v1alpha1.Installation
		others []*v1alpha1.Installation
		parent *v1alpha1.Installation
		never  string
		waits  []string
	}{
		{"nobody else", sibling("self x"), nil, parentWith("a", ""), "", nil},
		{"who exports something else", sibling("self x"), []*v1alpha1.Installation{sibling("b => y")}, parentWith("a", ""), "", nil},
		{"who exports it works", sibling("self x"), []*v1alpha1.Installation{sibling("b => x")}, parentWith("a", ""), "", []string{"b"}},
		{"who exports it has succeeded", sibling("self x"), []*v1alpha1.Installation{ended(sibling("b => x"), "a", "Succeeded")}, parentWith("a", ""), "", nil},
		{"in an earlier job: the value is old", sibling("self x"), []*v1alpha1.Installation{ended(sibling("b => x"), "z", "Succeeded")}, parentWith("a", ""), "", []string{"b"}},
		{"and the parent hands the job over no more", sibling("self x"), []*v1alpha1.Installation{ended(sibling("b => x"), "z", "Succeeded")}, parentWith("a", "a"), "depending on Installations b", nil},
		{"the parent has gone on to another job", sibling("self x"), []*v1alpha1.Installation{ended(sibling("b => x"), "z", "Succeeded")}, parentWith("c", ""), "depending on Installations b", nil},
		{"who exports it has failed", sibling("self x"), []*v1alpha1.Installation{ended(sibling("b => x"), "a", "Failed")}, parentWith("a", ""), "depending on Installations b", nil},
		{"one works, one has failed: it is of no use to wait", sibling("self x y"), []*v1alpha1.Installation{sibling("b => x"), ended(sibling("c => y"), "a", "Failed")}, parentWith("a", ""), "depending on Installations c", []string{"b"}},
		{"several work", sibling("self x y"), []*v1alpha1.Installation{sibling("c => y"), sibling("b => x")}, parentWith("a", ""), "", []string{"b", "c"}},
		{"the hint that no sibling is imported from", hint, []*v1alpha1.Installation{sibling("b => x")}, parentWith("a", ""), "", nil},
		{"a circle", sibling("self x => y"), []*v1alpha1.Installation{sibling("b y => x")}, parentWith("a", ""), "in a circle: b -> self -> b: b imports y of self, self imports x of b", nil},
		{"others are in a circle", sibling("self"), []*v1alpha1.Installation{sibling("b y => x"), sibling("c x => y")}, parentWith("a", ""), "", nil},
		{"who needs something of a circle waits until it has failed", sibling("self x"), []*v1alpha1.Installation{sibling("b y => x"), sibling("c x => y")}, parentWith("a", ""), "", []string{"b"}},
		{"two export the same", sibling("self => x"), []*v1alpha1.Installation{sibling("b => x")}, parentWith("a", ""), "x is exported by Installation b and by Installation self: choose another name", nil},
		{"two others export the same", sibling("self => y"), []*v1alpha1.Installation{sibling("b => x"), sibling("c => x")}, parentWith("a", ""), "", nil},
	} {
		t.Run(test.reason, func(t *testing.T) {
			all := append(test.others, test.self)
			got := kin.TurnToDeploy(test.self, test.parent, all, kin.Relate(test.self, all))
			check(t, got, test.never, test.waits)
		})
	}
}

func check(t *testing.T, got kin.Turn, never string, waits []string) {
	t.Helper()
	if (got.Never == nil) != (never == "") || got.Never != nil && !strings.Contains(got.Never.Error(), never) || !slices.Equal(got.Waits, waits) {
		t.Errorf("%v, %v", got.Never, got.Waits)
	}
}

func TestTurnToGo(t *testing.T) {
	going := parentWith("a", "")
	going.Status.InstallationPhase = "Deleting"
	later := parentWith("a", "")
	later.DeletionTimestamp, later.Status.InstallationPhase = &metav1.Time{Time: time.Unix(1, 0)}, "Progressing"
	ignoring, hint := sibling("(self) => x"), sibling("(self) => x")
	ignoring.Annotations = map[string]string{v1alpha1.DeleteIgnoreSuccessorsAnnotation: "true"}
	hint.Spec.Optimization = &v1alpha1.Optimization{HasNoSiblingExports: true}
	for _, test := range []struct {
		reason string
		self   *v1alpha1.Installation
		others []*v1alpha1.Installation
		parent *v1alpha1.Installation
		never  string
		waits  []string
	}{
		{"nobody imports it", sibling("(self) => x"), []*v1alpha1.Installation{sibling("(b) y")}, going, "", nil},
		{"an importer is being deleted", sibling("(self) => x"), []*v1alpha1.Installation{sibling("(b) x")}, going, "", []string{"b"}},
		{"an importer that is not reached yet", sibling("(self) => x"), []*v1alpha1.Installation{sibling("b x")}, going, "", []string{"b"}},
		{"an importer could not be deleted", sibling("(self) => x"), []*v1alpha1.Installation{ended(sibling("(b) x"), "a", "DeleteFailed")}, going, "deletion of a sibling failed: Installations b", nil},
		{"in an earlier job", sibling("(self) => x"), []*v1alpha1.Installation{ended(sibling("(b) x"), "z", "DeleteFailed")}, going, "", []string{"b"}},
		{"in a circle nobody is the first", sibling("(self) y => x"), []*v1alpha1.Installation{sibling("(b) x => y")}, going, "", nil},
		{"the user does not mind", ignoring, []*v1alpha1.Installation{sibling("(b) x")}, going, "", nil},
		{"the hint that nobody imports it", hint, []*v1alpha1.Installation{sibling("(b) x")}, going, "", nil},
		{"it is no longer wanted, who stays gets it elsewhere", sibling("(self) => x"), []*v1alpha1.Installation{sibling("b x")}, parentWith("a", ""), "", nil},
		{"none of both is wanted", sibling("(self) => x"), []*v1alpha1.Installation{sibling("(b) x")}, parentWith("a", ""), "", []string{"b"}},
		{"the parent goes later", sibling("(self) => x"), []*v1alpha1.Installation{sibling("b x")}, later, "", nil},
		{"who has ended the job goes in another one", sibling("(self) => x"), []*v1alpha1.Installation{ended(sibling("(b) x"), "a", "Failed")}, parentWith("a", ""), "", nil},
		{"a root waits until importers are gone", sibling("(self) => x"), []*v1alpha1.Installation{sibling("b x")}, nil, "", []string{"b"}},
		{"also if they cannot be deleted", sibling("(self) => x"), []*v1alpha1.Installation{ended(sibling("(b) x"), "a", "DeleteFailed")}, nil, "", []string{"b"}},
	} {
		t.Run(test.reason, func(t *testing.T) {
			all := append(test.others, test.self)
			got := kin.TurnToGo(test.self, test.parent, all, kin.Relate(test.self, all))
			check(t, got, test.never, test.waits)
		})
	}
}

// TestCircleOfRoots: who waits in a circle does not bring what is missing, unless it has
// got beyond that.
func TestCircleOfRoots(t *testing.T) {
	importer, exporter := sibling("self x => y"), sibling("b y => x")
	exporter.Status.InstallationPhase = "Init"
	all := []*v1alpha1.Installation{importer, exporter}
	missing := missing("x")
	if got := decide.ByMissing(nil, missing, kin.ExportersAmong(importer, all, kin.Relate(importer, all), facts.Triggers{})); got.Do != decide.Fail || !strings.Contains(got.Err.Error(), "self -> b -> self") {
		t.Errorf("%s, %v", got.Do, got.Err)
	}
	exporter.Status.InstallationPhase = "Progressing"
	if got := decide.ByMissing(nil, missing, kin.ExportersAmong(importer, all, kin.Relate(importer, all), facts.Triggers{})); got.Do != decide.Await {
		t.Errorf("%s, %v", got.Do, got.Err)
	}
	if got := decide.ByMissing(parentWith("a", ""), missing, nil); got.Do != decide.Fail || !strings.Contains(got.Err.Error(), "neither the imports of Installation parent") {
		t.Errorf("%s, %v", got.Do, got.Err)
	}
}

// TestChildrenError: the parent names the causes, and not what only follows from them.
func TestChildrenError(t *testing.T) {
	failed := func(name, reason, message string) option {
		return func(s *decide.Situation) {
			withSub(name, "a", "a", "Failed")(s)
			s.Subs[len(s.Subs)-1].Status.LastError = &v1alpha1.Error{Reason: reason, Message: message}
		}
	}
	for _, test := range []struct {
		reason  string
		options []option
		want    string
	}{
		{"the cause, without what follows", []option{failed("b", "TemplatingFailed", "no capacity"), failed("c", kin.PredecessorFailed, "depending on b"), withSub("d", "a", "a", "Succeeded")}, "Failed sub-installation(s): b, c: b: no capacity"},
		{"several causes", []option{failed("b", "x", "1"), failed("c", "x", "2"), failed("d", "x", "3"), failed("e", "x", "4"), failed("f", "x", "5")}, "Failed sub-installation(s): b, c, d, e, f: b: 1\nc: 2\nd: 3\nand 2 more"},
		{"one was deleted", []option{written("b")}, "Failed sub-installation(s): b: somebody has deleted b during the job: start another job with the annotation landscaper.gardener.cloud/operation: reconcile"},
		{"the Execution, too", []option{failed("b", "x", "1"), withExecution("a", "a", "Failed"), func(s *decide.Situation) { s.Exec.Status.LastError = &v1alpha1.Error{Message: "2"} }}, "Failed sub-installation(s): b, Execution is failed: b: 1\n2"},
		{"a long message is cut", []option{failed("b", "x", strings.Repeat("y", 3000))}, "Failed sub-installation(s): b: b: " + strings.Repeat("y", 1000) + " ..."},
		{"many", slices.Repeat([]option{failed("b", kin.PredecessorFailed, "x")}, 25), "Failed sub-installation(s): " + strings.Repeat("b, ", 19) + "b and 5 more"},
		{"none", []option{withSub("b", "a", "a", "Succeeded")}, ""},
	} {
		t.Run(test.reason, func(t *testing.T) {
			got := ""
			if err := decide.Next(situationWith(append(test.options, finalized, jobs("a", "", "Progressing"))...)).Err; err != nil {
				got = err.Error()
			}
			if got != test.want {
				t.Errorf("got %q", got)
			}
		})
	}
}
