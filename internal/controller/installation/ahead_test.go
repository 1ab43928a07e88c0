package installation

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	deliveryv1alpha1 "go.landscaper.dev/api/delivery/v1alpha1"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/controller/installation/decide"
	"go.landscaper.dev/internal/controller/installation/fakeapi"
	"go.landscaper.dev/internal/controller/installation/testbuilders"
	"go.landscaper.dev/internal/landscape/deliveryplan"
	"go.landscaper.dev/internal/landscape/plan"
	"go.landscaper.dev/internal/model/delivery"
	"go.landscaper.dev/internal/runtime/workpool"
)

// greets is an Installation that deploys the value of a DataObject.
const greets = `
context: default
imports: {targets: [{name: cluster, target: cluster}], data: [{name: text, dataRef: text}]}
blueprint:
  inline:
    filesystem:
      blueprint.yaml: |
        apiVersion: landscaper.gardener.cloud/v1alpha1
        kind: Blueprint
        imports: [{name: cluster, type: target, targetType: example.org/cluster}, {name: text, type: data, schema: {type: string}}]
        deployExecutions:
        - name: default
          type: GoTemplate
          template: |
            deployItems:
            - {name: web, type: example.org/x, config: {apiVersion: example.org/v1, kind: C, text: {{ .imports.text | quote }}}, target: {import: cluster}}
`

// governed is an Installation whose jobs need an approval, with a user who approves one plan alone, and a
// change of its import at a moment.
type governed struct {
	*bench
	enqueued chan types.NamespacedName
	// moment counts what happens: requests, and the beginnings and ends of plans.
	mutex          sync.Mutex
	moment, change int
	changing       bool
	// death ends the process at a write; nil if it lives on.
	death *fakeapi.Fault
}

func newGoverned(t *testing.T, change int) *governed {
	t.Helper()
	objects := installed(t)
	inst := testbuilders.InstallationOf(t, greets)
	inst.Status = v1alpha1.InstallationStatus{}
	inst.Annotations = map[string]string{v1alpha1.OperationAnnotation: "reconcile"}
	objects[0] = inst
	g := &governed{bench: newBench(t, append(objects, testbuilders.DataOf("text", `"old"`))...), enqueued: make(chan types.NamespacedName, 10), change: change}
	g.before = func(string) { g.happens(t) }
	g.setAhead(t)
	return g
}

// setAhead is also what a new process has.
func (g *governed) setAhead(t *testing.T) {
	t.Helper()
	policy := &deliveryv1alpha1.DeliveryPolicy{ObjectMeta: metav1.ObjectMeta{Name: "p"}, Spec: deliveryv1alpha1.DeliveryPolicySpec{Approval: &deliveryv1alpha1.ApprovalRule{}}}
	g.Policies = func(context.Context, string) ([]*deliveryv1alpha1.DeliveryPolicy, error) {
		return []*deliveryv1alpha1.DeliveryPolicy{policy}, nil
	}
	g.Ahead = &Ahead{
		Plan: func(ctx context.Context, root *v1alpha1.Installation) (*DeliveryPlan, error) {
			return g.work(ctx, t, root)
		},
		Plans: func(ctx context.Context, namespace string) (found []*deliveryv1alpha1.DeliveryPlan, err error) {
			list := &deliveryv1alpha1.DeliveryPlanList{}
			err = g.api.List(ctx, list, client.InNamespace(namespace))
			for i := range list.Items {
				found = append(found, &list.Items[i])
			}
			return found, err
		},
		Approvals: func(ctx context.Context, namespace string) (found []*deliveryv1alpha1.DeliveryApproval, err error) {
			list := &deliveryv1alpha1.DeliveryApprovalList{}
			err = g.api.List(ctx, list, client.InNamespace(namespace))
			for i := range list.Items {
				found = append(found, &list.Items[i])
			}
			return found, err
		},
		outside: workpool.New[*workedOut](t.Context(), workpool.Options{
			MaxConcurrent: 1, MaxPerNamespace: 1, MaxResults: 1, PreemptAfter: time.Hour, Timeout: time.Hour,
			Enqueue: func(key types.NamespacedName) { g.enqueued <- key },
		}),
	}
}

// happens changes the import at its moment.
func (g *governed) happens(t *testing.T) {
	t.Helper()
	g.mutex.Lock()
	if g.changing {
		g.mutex.Unlock()
		return
	}
	g.moment++
	g.changing = g.moment == g.change
	changes := g.changing
	g.mutex.Unlock()
	if !changes {
		return
	}
	text := testbuilders.DataOf("text", `"old"`)
	if err := g.api.Get(context.Background(), client.ObjectKeyFromObject(text), text); err != nil {
		t.Error(err)
	}
	text.Data = v1alpha1.NewAnyJSON([]byte(`"new"`))
	if err := g.api.Update(context.Background(), text); err != nil {
		t.Error(err)
	}
	g.mutex.Lock()
	defer g.mutex.Unlock()
	g.changing = false
}

// work renders as a job does, and names the plan by the value of the import and the last job.
func (g *governed) work(ctx context.Context, t *testing.T, root *v1alpha1.Installation) (*DeliveryPlan, error) {
	t.Helper()
	g.happens(t)
	defer g.happens(t)
	s := &snapshot{}
	if _, err := g.observe(ctx, shop, s); err != nil {
		return nil, err
	}
	if err := g.readInputs(ctx, s); err != nil {
		return nil, err
	}
	made, err := g.plan(ctx, s, nil)
	if err != nil {
		return nil, err
	}
	spec := deliveryv1alpha1.DeliveryPlanSpec{
		Digest:       digestOf(string(s.Inputs.Imports.Data["text"].Value.RawMessage), root.Status.JobID),
		Installation: deliveryv1alpha1.PlannedInstallation{Name: root.Name, UID: root.UID},
	}
	permits, err := deliveryplan.Sealer{Key: g.Planner.Key, Root: root.UID, Digest: spec.Digest}.Permits([]deliveryplan.Rendered{{
		Path: root.Name, Lineage: []*v1alpha1.Installation{root}, Children: made.children, Targets: s.Inputs.Imports.AllTargets(),
	}}, nil)
	if err != nil {
		return nil, err
	}
	content, err := deliveryplan.Encode("shown", permits)
	return &DeliveryPlan{Spec: spec, Content: content, Permits: permits}, err
}

func digestOf(text, after string) string {
	sum := sha256.Sum256([]byte(text + after))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// drive reconciles until nothing happens any more; between says what happens between two attempts.
func (g *governed) drive(t *testing.T, between func(attempt int)) {
	t.Helper()
	approved := false
	for attempt := range 20 {
		between(attempt)
		before := g.digest(t)
		_, err := g.Reconcile(t.Context(), ctrl.Request{NamespacedName: shop})
		if g.death != nil && g.death.Fired {
			g.death, g.Client, g.Reader = nil, g.api, g.api
			g.restart()
			g.setAhead(t)
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if g.Ahead.outside.Busy(shop) {
			<-g.enqueued
			continue
		}
		old := digestOf(`"old"`, "")
		if said := delivery.DeferralMessage(g.installation(t).Status.Conditions); !approved && strings.Contains(said, "plan "+old+" (") {
			approved = true
			approval := &deliveryv1alpha1.DeliveryApproval{ObjectMeta: metav1.ObjectMeta{Namespace: shop.Namespace, Name: "a", UID: "a", CreationTimestamp: metav1.NewTime(g.Now())}, Spec: deliveryv1alpha1.DeliveryApprovalSpec{Installation: shop.Name, Digest: old, ApprovedBy: "ann"}}
			if err := g.api.Create(t.Context(), approval); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if g.digest(t) == before {
			return
		}
	}
	t.Fatal("it does not come to rest")
}

// outcome is what has become of the job.
func (g *governed) outcome(t *testing.T) string {
	t.Helper()
	inst, exec := g.installation(t), &v1alpha1.Execution{}
	written := ""
	if err := g.api.Get(t.Context(), shop, exec); err == nil {
		text, err := json.Marshal(exec.Spec)
		if err != nil || !strings.Contains(string(text), `"text":"`) {
			t.Fatalf("%v: %s", err, text)
		}
		written = string(text)
	}
	switch last := inst.Status.LastError; {
	case strings.Contains(written, `"text":"new"`):
		return "writes what was not approved"
	case written != "":
		return "does what was approved"
	case last != nil && last.Reason == "NotApproved":
		return "ends before it writes"
	case inst.Status.JobID == "" && delivery.Deferral(inst.Status.Conditions) != nil:
		return "waits for another approval"
	}
	return fmt.Sprintf("%+v", inst.Status)
}

// TestChangeAtEveryMoment: an import changes before, at, or after any request or plan. No job writes what
// was not approved, and none that was not disturbed is refused.
func TestChangeAtEveryMoment(t *testing.T) {
	seen := map[string]int{}
	for moment := 1; ; moment++ {
		g := newGoverned(t, moment)
		g.drive(t, func(int) {})
		outcome := g.outcome(t)
		t.Logf("moment %d of %d: the job %s", moment, g.moment, outcome)
		seen[outcome]++
		if outcome == "writes what was not approved" || strings.HasPrefix(outcome, "{") {
			t.Errorf("moment %d: %s", moment, outcome)
		}
		if g.moment < moment {
			break
		}
	}
	for _, outcome := range []string{"does what was approved", "ends before it writes", "waits for another approval"} {
		if seen[outcome] == 0 {
			t.Errorf("at no moment a job %s: %v", outcome, seen)
		}
	}
}

// TestApprovalSurvivesRestart: a process ends between any two attempts, and the next one goes on without
// a further approval.
func TestApprovalSurvivesRestart(t *testing.T) {
	for at := range 8 {
		t.Run(fmt.Sprint("before attempt ", at), func(t *testing.T) {
			g := newGoverned(t, 0)
			g.drive(t, func(attempt int) {
				if attempt == at {
					g.restart()
					g.setAhead(t)
				}
			})
			if outcome := g.outcome(t); outcome != "does what was approved" {
				t.Errorf("the job %s", outcome)
			}
			if approved := g.installation(t).Status.ApprovedPlan; approved == nil || approved.JobID != g.installation(t).Status.JobID || len(approved.ApprovedBy) != 1 {
				t.Errorf("the status says %+v", approved)
			}
		})
	}
}

// TestApprovalSurvivesDeath: a process dies at any write: the server has it or not, and nothing follows. The
// next process goes on without a further approval, in one job.
func TestApprovalSurvivesDeath(t *testing.T) {
	for _, lost := range []bool{false, true} {
		for at := 0; ; at++ {
			g := newGoverned(t, 0)
			fault := &fakeapi.Fault{At: at, Lost: lost, Err: errors.New("killed"), Dead: true}
			g.death, g.Client, g.Reader = fault, fault.Wrap(t, g.api), fault.Wrap(t, g.api)
			g.drive(t, func(int) {})
			if !fault.Fired {
				if at < 5 {
					t.Errorf("there are only %d writes: %v", at, fault.Calls)
				}
				break
			}
			t.Logf("dead at %s, carried out %t", fault.Calls[at], lost)
			if outcome := g.outcome(t); outcome != "does what was approved" {
				t.Errorf("at %s, carried out %t: the job %s", fault.Calls[at], lost, outcome)
			}
			plans := &deliveryv1alpha1.DeliveryPlanList{}
			if err := g.api.List(t.Context(), plans); err != nil {
				t.Fatal(err)
			}
			inst := g.installation(t)
			if len(inst.Status.History) != 1 || len(plans.Items) != 1 || inst.Annotations[v1alpha1.OperationAnnotation] != "" {
				t.Errorf("at %s, carried out %t: %d jobs, %d plans, annotations %v", fault.Calls[at], lost, len(inst.Status.History), len(plans.Items), inst.Annotations)
			}
		}
	}
}

// TestOwnApproval: a root asks for an approval itself, without any policy. One that does not costs no plan,
// and nothing is read for it.
func TestOwnApproval(t *testing.T) {
	for _, test := range []struct {
		reason, value string
		on            bool
		want          string
	}{
		{"the owner asks", "Always", true, "does what was approved"},
		{"the owner asks for something that there is not", "always", true, "waits for another approval"},
		{"the owner does not ask", "", true, "no plan"},
		{"the feature is off", "Always", false, "no plan"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			g := newGoverned(t, 0)
			g.Policies = func(context.Context, string) ([]*deliveryv1alpha1.DeliveryPolicy, error) { return nil, nil }
			read := g.Ahead.Approvals
			looked := false
			g.Ahead.Approvals = func(ctx context.Context, namespace string) ([]*deliveryv1alpha1.DeliveryApproval, error) {
				looked = true
				return read(ctx, namespace)
			}
			if !test.on {
				g.Policies, g.Ahead = nil, nil
			}
			inst := g.installation(t)
			inst.Annotations[deliveryv1alpha1.ApprovalAnnotation] = test.value
			if test.value == "" {
				delete(inst.Annotations, deliveryv1alpha1.ApprovalAnnotation)
			}
			if err := g.api.Update(t.Context(), inst); err != nil {
				t.Fatal(err)
			}
			if test.want == "no plan" {
				for range 3 {
					if _, err := g.Reconcile(t.Context(), ctrl.Request{NamespacedName: shop}); err != nil {
						t.Fatal(err)
					}
				}
				if inst := g.installation(t); inst.Status.JobID == "" || inst.Status.ApprovedPlan != nil || looked {
					t.Errorf("it has looked for approvals (%t), and the status says %+v", looked, inst.Status)
				}
				return
			}
			g.drive(t, func(int) {})
			if outcome := g.outcome(t); outcome != test.want {
				t.Errorf("the job %s", outcome)
			}
		})
	}
}

// TestPermitsOfChild: a user who may change Installations moves a child to a part of the plan that only the
// job can know, or out of the tree, while the job runs.
func TestPermitsOfChild(t *testing.T) {
	for _, test := range []struct {
		reason string
		change func(root, child *v1alpha1.Installation)
		want   string
	}{
		{"as its parent has written it", func(_, _ *v1alpha1.Installation) {}, "item more of shop/web is not part of it"},
		{"with the name of an unknown part", func(_, child *v1alpha1.Installation) {
			child.Annotations = map[string]string{v1alpha1.SubinstallationNameAnnotation: "late"}
		}, "item more of shop/web is not part of it"},
		{"without its parent", func(_, child *v1alpha1.Installation) { child.OwnerReferences = nil }, "is not below Installation shop any more"},
		{"beside those that its parent has written", func(root, _ *v1alpha1.Installation) {
			root.Status.SubInstCache = nil
		}, "is not one that its parent has written"},
		{"in an unknown part", func(root, _ *v1alpha1.Installation) {
			root.Status.SubInstCache.ActiveSubs[0].SpecName = "late"
		}, ""},
		{"in an unknown part, with another specification than its parent has written", func(root, child *v1alpha1.Installation) {
			root.Status.SubInstCache.ActiveSubs[0].SpecName = "late"
			child.Generation++
		}, "Installation child was changed after its parent had written it"},
		{"in a job without a plan", func(_, child *v1alpha1.Installation) {
			child.OwnerReferences, child.Status.JobID = nil, "other"
		}, ""},
	} {
		t.Run(test.reason, func(t *testing.T) {
			root, child := testbuilders.InstallationOf(t, greets), testbuilders.InstallationOf(t, greets)
			child.Name, child.UID = "child", "uid-child"
			child.OwnerReferences = []metav1.OwnerReference{{APIVersion: v1alpha1.GroupVersion.String(), Kind: "Installation", Name: root.Name, UID: root.UID, Controller: new(true)}}
			child.Annotations = map[string]string{v1alpha1.SubinstallationNameAnnotation: "web"}
			root.Status.JobID, child.Status.JobID = "job", "job"
			root.Status.ApprovedPlan = &v1alpha1.ApprovedPlan{JobID: "job", Digest: "sha256:aa", Name: "plan"}
			root.Status.SubInstCache = &v1alpha1.SubInstCache{ActiveSubs: []v1alpha1.SubNamePair{{SpecName: "web", ObjectName: child.Name, Written: new(deliveryplan.WrittenOf(child))}}}
			test.change(root, child)
			b := newBench(t, root, child)
			b.Ahead = &Ahead{}
			b.memory.Of(root.UID).ahead.set(nil, &deliveryplan.Permits{Digest: "sha256:aa", Unknown: []string{"shop/late"}, Installations: map[string]deliveryplan.Children{"shop/web": {}}})
			s := &snapshot{}
			s.Inst, s.Inputs = child, &decide.Inputs{}
			err := b.checkPermits(t.Context(), s, &renderedJob{children: &plan.Children{DeployItems: v1alpha1.DeployItemTemplateList{{Name: "more"}}}})
			if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

// TestPlanIsForTheWholeTree: a job with a plan leaves no Installation as it is, because of children that only
// their parents of this job vouch for.
func TestPlanIsForTheWholeTree(t *testing.T) {
	for _, test := range []struct {
		reason   string
		approved *v1alpha1.ApprovedPlan
		update   bool
	}{
		{"a job for changed exports alone", nil, true},
		{"the same with a plan", &v1alpha1.ApprovedPlan{Digest: "sha256:aa"}, false},
	} {
		t.Run(test.reason, func(t *testing.T) {
			b, s := newBench(t, installed(t)...), &snapshot{}
			b.askForUpdate(t, shop.Name)
			if _, err := b.observe(t.Context(), shop, s); err != nil {
				t.Fatal(err)
			}
			s.approved = test.approved
			if err := b.start(t.Context(), s, v1alpha1.TriggeredByExports); err != nil {
				t.Fatal(err)
			}
			if update := b.installation(t).Status.DataUpdate; (update != nil) != test.update {
				t.Errorf("%+v", update)
			}
		})
	}
}

// TestPlansOfOtherTenants: how long a plan waits for those of other namespaces, each with 200 roots whose
// plans do not end by themselves, such as on a cluster that never answers.
func TestPlansOfOtherTenants(t *testing.T) {
	const roots = 200
	for _, test := range []struct {
		reason     string
		namespaces int
		most       time.Duration
	}{
		{"one namespace has one place, whatever it asks for", 1, 0},
		{"each of three has one", 3, 0},
		{"four have all places, and one of them comes first: it was served before the plan came", 4, 2 * planPreemptAfter},
		{"of twelve, all are before it, four at the same time", 12, 4 * planPreemptAfter},
	} {
		t.Run(test.reason, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				r, done := &Reconciler{Deliveries: Deliveries{Ahead: &Ahead{}}}, make(chan types.NamespacedName, roots*test.namespaces)
				r.setUpAhead(ctx, func(key types.NamespacedName) { done <- key })
				fetch := func(key types.NamespacedName, work func(context.Context) (*workedOut, error)) {
					_, _, _ = r.Ahead.outside.Fetch(key, workpool.Version{}, work)
				}
				endless := func(ctx context.Context) (*workedOut, error) {
					<-ctx.Done()
					return nil, ctx.Err()
				}
				for i := range test.namespaces * roots {
					fetch(types.NamespacedName{Namespace: fmt.Sprint("tenant-", i%test.namespaces), Name: fmt.Sprint(i)}, endless)
				}
				own, asked := types.NamespacedName{Namespace: "own", Name: "shop"}, time.Now()
				fetch(own, func(context.Context) (*workedOut, error) { return &workedOut{}, nil })
				for key := range done {
					if key == own {
						break
					}
					fetch(key, endless) // takes the result
					fetch(key, endless) // and begins again
				}
				waited := time.Since(asked)
				t.Logf("%s", waited)
				if waited > test.most {
					t.Errorf("the plan has waited for %s", waited)
				}
			})
		})
	}
}

// TestOutdatedPlans: which plans are kept. The names a, b and c are in the order of their creation.
func TestOutdatedPlans(t *testing.T) {
	for _, test := range []struct {
		reason, digest string
		want           string
	}{
		{"a new plan: the one before is kept for a comparison", "d", "c other"},
		{"the newest plan is still right", "c", "b c other"},
		{"a plan is right again: those after it are out of date", "b", "a b other"},
		{"so is the first one", "a", "a other"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			b, s := newBench(t, installed(t)...), &snapshot{}
			s.Inst = b.installation(t)
			for i, name := range []string{"a", "b", "c", "other"} {
				plan := &deliveryv1alpha1.DeliveryPlan{ObjectMeta: metav1.ObjectMeta{Namespace: shop.Namespace, Name: name}}
				plan.Spec.Digest, plan.Spec.Installation.UID = name, s.Inst.UID
				if name == "other" {
					plan.Spec.Installation.UID = "of another Installation of the name"
				}
				if err := b.api.Create(t.Context(), plan); err != nil {
					t.Fatal(err)
				}
				plan.ResourceVersion = fmt.Sprint(9 + i)
				s.Plans = append(s.Plans, plan)
			}
			if err := b.deleteOutdated(t.Context(), s, test.digest); err != nil {
				t.Fatal(err)
			}
			left := &deliveryv1alpha1.DeliveryPlanList{}
			if err := b.api.List(t.Context(), left); err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, plan := range left.Items {
				names = append(names, plan.Name)
			}
			slices.Sort(names)
			if got := strings.Join(names, " "); got != test.want {
				t.Errorf("left are %s, want %s", got, test.want)
			}
		})
	}
}
