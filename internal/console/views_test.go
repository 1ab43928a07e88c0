package console

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/landscape/inspect"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

func stateOf(change func(*inspect.Snapshot)) *state {
	snapshot := landscape()
	change(&snapshot)
	return newState(Options{Source: still{snapshot}})
}

// TestViewsNeedASession: no view has an address that the guard does not know of.
func TestViewsNeedASession(t *testing.T) {
	handler := newConsole(t)
	session, _, _ := strings.Cut(enter(t, handler).String(), ";")
	fill := strings.NewReplacer("{kind}", "DeployItem", "{namespace}", "shop", "{name}", "x")
	for path := range views {
		for _, path := range []string{fill.Replace(path), "/live" + fill.Replace(path)} {
			if answer := ask(handler, http.MethodGet, path); answer.Code != http.StatusUnauthorized {
				t.Errorf("%s without a session: %d", path, answer.Code)
			}
			if answer := ask(handler, http.MethodGet, path, "Cookie", session); answer.Code != http.StatusOK {
				t.Errorf("%s with a session: %d", path, answer.Code)
			}
		}
	}
}

// TestWhy: the page of a waiting Installation names what it waits for, and at the end what to do.
func TestWhy(t *testing.T) {
	view := newTestState().why(valueKey{"Installation", "shop", "root-web"})
	var got []string
	for _, step := range view.Ways[0] {
		line := string(step.Kind) + " " + step.Title
		if step.Beside {
			line += " for " + strings.Join(step.Values, ",")
		}
		got = append(got, line)
	}
	want := []string{"Installation web", "Installation database for address", "Installation network for subnet", "Execution network-exec", "DeployItem subnets"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if last := view.Ways[0][4]; last.Operation != "Deploy" || last.Reason != "Apply" || last.Why != "quota exceeded" {
		t.Errorf("%+v", last)
	}
	if first := view.Ways[0][0]; first.Reason != string(reasons.AllPredecessorsFinished) || first.Meaning == "" || first.Remedy == "" {
		t.Errorf("a reason of the table is explained: %+v", first)
	}
	if view := newTestState().why(valueKey{"Installation", "shop", "done"}); len(view.Ways) != 0 || view.State != inspect.Ready {
		t.Errorf("%+v", view)
	}
	if view := newTestState().why(valueKey{"Installation", "other", "root"}); !view.Missing {
		t.Errorf("%+v", view)
	}
}

// TestWhyAnItemWaits: an item leads to the item that comes before it.
func TestWhyAnItemWaits(t *testing.T) {
	s := stateOf(func(snapshot *inspect.Snapshot) {
		execution, first := snapshot.Executions[0], snapshot.DeployItems[0]
		execution.Status.JobIDFinished, execution.Status.ExecutionPhase = "1", v1alpha1.ExecutionPhases.Progressing
		first.Status.JobIDFinished, first.Status.Phase, first.Status.LastError = "1", v1alpha1.DeployItemPhases.Progressing, nil
		next := first.DeepCopy()
		next.Name, next.UID, next.Labels[v1alpha1.ExecutionManagedNameLabel] = "routes-x", "r", "routes"
		next.Annotations = map[string]string{v1alpha1.ExecutionDependsOnAnnotation: "subnets"}
		next.Status = v1alpha1.DeployItemStatus{JobID: "1", JobIDFinished: "1", Phase: v1alpha1.DeployItemPhases.Succeeded}
		snapshot.DeployItems = append(snapshot.DeployItems, next)
	})
	view := s.why(valueKey{"DeployItem", "shop", "routes-x"})
	if len(view.Ways) != 1 || len(view.Ways[0]) != 2 || view.Ways[0][1].Title != "subnets" || !view.Ways[0][1].Beside {
		t.Errorf("%+v", view.Ways)
	}
	if view := s.why(valueKey{"DeployItem", "shop", "subnets-x"}); len(view.Ways) != 0 || len(view.Works) != 1 {
		t.Errorf("what works says so: %+v", view)
	}
}

func target(name string, change func(*metav1.PartialObjectMetadata)) *metav1.PartialObjectMetadata {
	value := &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{Kind: "Target"}, ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, Labels: map[string]string{}, Annotations: map[string]string{}}}
	change(value)
	return value
}

func TestTargets(t *testing.T) {
	written := metav1.Unix(100, 0)
	fields := func(text string) []metav1.ManagedFieldsEntry {
		return []metav1.ManagedFieldsEntry{{Manager: "m", Time: &written, FieldsV1: metav1.NewFieldsV1(text)}}
	}
	s := stateOf(func(snapshot *inspect.Snapshot) {
		snapshot.DeployItems[0].Spec.Target = &v1alpha1.ObjectReference{Name: "prod", Namespace: "shop"}
		snapshot.DeployItems[0].Status.LastError.Reason = string(reasons.ClusterUnreachable)
		snapshot.Values = append(snapshot.Values,
			target("apart", func(value *metav1.PartialObjectMetadata) {
				value.ManagedFields = fields(`{"f:spec":{"f:secretRef":{}}}`)
			}),
			target("shoot", func(value *metav1.PartialObjectMetadata) {
				value.Annotations = map[string]string{v1alpha1.TargetSyncNameAnnotation: "sync", v1alpha1.ShootNameAnnotation: "eu", v1alpha1.ShootNamespaceAnnotation: "garden", v1alpha1.LastTargetSyncAnnotation: "2030-01-02T03:04:05Z"}
			}),
			target("prod", func(value *metav1.PartialObjectMetadata) { value.ManagedFields = fields(`{"f:spec":{"f:config":{}}}`) }),
			target("copy", func(value *metav1.PartialObjectMetadata) {
				value.Labels = map[string]string{v1alpha1.DataObjectContextLabel: "Inst.root", v1alpha1.DataObjectSourceTypeLabel: "import"}
			}),
			target("hash", func(value *metav1.PartialObjectMetadata) {
				value.Labels = map[string]string{v1alpha1.DataObjectContextLabel: "Inst.root", v1alpha1.DataObjectSourceTypeLabel: "export", v1alpha1.DataObjectKeyLabel: "made", v1alpha1.DataObjectSourceLabel: "Inst.root-network"}
			}))
		snapshot.TargetSyncs = []*v1alpha1.TargetSync{{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "sync", UID: "s"}}}
		snapshot.Events = append(snapshot.Events, &corev1.Event{InvolvedObject: corev1.ObjectReference{UID: "s"}, Reason: "Synced"})
	})
	view := s.targets("")
	var names []string
	of := map[string]TargetLine{}
	for _, line := range view.Targets {
		names, of[line.Name] = append(names, line.Name), line
	}
	if got := strings.Join(names, " "); got != "prod apart made shoot" {
		t.Errorf("what cannot be reached comes first, copies are left out: %s", got)
	}
	if prod := of["prod"]; prod.State != inspect.Failed || prod.By.Name != "subnets-x" || prod.Why != "quota exceeded" || prod.Written == nil || prod.InSecret || prod.Items[inspect.Failed] != 1 {
		t.Errorf("%+v", prod)
	}
	if !of["apart"].InSecret || of["apart"].State != "" {
		t.Errorf("what is in a Secret has no known age, and what is not used no known reach: %+v", of["apart"])
	}
	if shoot := of["shoot"]; shoot.Issued == nil || shoot.Sync != "sync" || shoot.Shoot != "garden/eu" {
		t.Errorf("%+v", shoot)
	}
	if made := of["made"]; made.Exporter == nil || made.Exporter.Name != "root-network" {
		t.Errorf("%+v", made)
	}
	if len(view.Syncs) != 1 || view.Syncs[0].State != inspect.Waiting {
		t.Errorf("%+v", view.Syncs)
	}
	if found := s.targets("GARDEN/"); len(found.Targets) != 1 || len(found.Syncs) != 0 {
		t.Errorf("a search for a shoot: %+v", found)
	}
	if used := s.target("shop", "prod"); len(used.Used) != 1 || used.Missing {
		t.Errorf("%+v", used)
	}
	if other := s.target("shop", "other"); !other.Missing {
		t.Errorf("%+v", other)
	}
	if page := s.objectPage(valueKey{"TargetSync", "shop", "sync"}); len(page.Events) != 1 || page.State != inspect.Waiting || page.Partial {
		t.Errorf("%+v", page)
	}
	if page := s.objectPage(valueKey{"Target", "shop", "made"}); !page.Partial || page.Name != "hash" || strings.Contains(page.YAML, "spec") {
		t.Errorf("of a Target, only the metadata is known: %+v", page)
	}
}

// TestTargetSyncsThatCannotBeRead are missed on their page only.
func TestTargetSyncsThatCannotBeRead(t *testing.T) {
	s := stateOf(func(snapshot *inspect.Snapshot) {
		snapshot.Unreadable = []*inspect.ReadError{{Resource: schema.GroupResource{Resource: targetSyncs}, Err: http.ErrNoCookie}}
	})
	if notes := s.targets("").Notes; len(notes) != 1 {
		t.Errorf("%q", notes)
	}
	if notes := s.overview("").Notes; len(notes) != 0 {
		t.Errorf("%q", notes)
	}
}

func TestObjectPage(t *testing.T) {
	s := newTestState()
	page := s.objectPage(valueKey{"DeployItem", "shop", "subnets-x"})
	if len(page.Events) != 2 || page.Events[0].Reason != "New" || !strings.Contains(page.YAML, "kind: ") && !strings.Contains(page.YAML, "name: subnets-x") || len(page.Above) != 3 {
		t.Errorf("%+v", page)
	}
	if page := s.objectPage(valueKey{"Secret", "shop", "login"}); !page.Missing || page.YAML != "" {
		t.Errorf("no other kinds: %+v", page)
	}
	large := stateOf(func(snapshot *inspect.Snapshot) {
		snapshot.DeployItems[0].Status.LastError.Message = strings.Repeat("wörd ", most)
	}).objectPage(valueKey{"DeployItem", "shop", "subnets-x"})
	if !large.Cut || len(large.YAML) > most {
		t.Errorf("cut %t, %d bytes", large.Cut, len(large.YAML))
	}
}

func TestJobs(t *testing.T) {
	at := func(second int64) *metav1.Time {
		stamp := metav1.Unix(second, 0)
		return &stamp
	}
	s := stateOf(func(snapshot *inspect.Snapshot) {
		for _, inst := range snapshot.Installations {
			switch inst.Name {
			case "root":
				inst.Status.TransitionTimes = &v1alpha1.TransitionTimes{TriggerTime: at(1000)}
				inst.Status.History = []v1alpha1.JobRecord{{JobID: "2", Trigger: "schedule"}, {JobID: "1", Trigger: "change", Phase: "Succeeded", Start: at(100)}}
			case "done":
				inst.Status.History = []v1alpha1.JobRecord{{JobID: "2", Trigger: "reconcile", Phase: "Succeeded", Start: at(500)}}
			}
		}
		snapshot.Events = []*corev1.Event{{InvolvedObject: corev1.ObjectReference{UID: "root"}, Reason: string(reasons.JobStarted), Message: "a retry after a failure", FirstTimestamp: *at(1001)}}
	})
	var got []string
	for _, j := range s.jobs("").Jobs {
		got = append(got, strings.TrimSpace(j.Of.Name+" "+string(j.Trigger)+" "+j.Cause))
	}
	if diff := cmp.Diff([]string{"root schedule a retry after a failure", "done reconcile", "root change"}, got); diff != "" {
		t.Error(diff)
	}
	if got := s.jobs("shop/DONE").Jobs; len(got) != 1 {
		t.Errorf("%+v", got)
	}
	text, err := json.Marshal(s.page("shop", "root"))
	if err != nil || !strings.Contains(string(text), `"timeline":{"start"`) || !strings.Contains(string(text), `"trigger":"schedule"`) {
		t.Errorf("%s %v", text, err)
	}
}
