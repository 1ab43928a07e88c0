package reporter

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/runtime/job"
)

// at is a moment, in seconds.
func at(seconds int64) metav1.Time { return metav1.NewTime(time.Unix(seconds, 900)) }

// runJob runs a job that begins at a moment.
func runJob(inst *v1alpha1.Installation, id string, begin int64, phase string, err error) {
	s := Installation(inst)
	s.Status.Trigger(id, at(begin))
	s.RecordTrigger(v1alpha1.TriggeredByReconcile, "")
	s.Status.Begin(1, at(begin+1))
	s.enter(v1alpha1.PhaseStringInit, nil, at(begin+1))
	s.Status.Wait(at(begin + 3))
	s.enter(v1alpha1.PhaseStringProgressing, nil, at(begin+3))
	s.enter(phase, err, at(begin+63))
}

func TestHistory(t *testing.T) {
	inst := &v1alpha1.Installation{}
	for n := range 12 {
		runJob(inst, fmt.Sprint("job-", n), int64(100*n), v1alpha1.PhaseStringSucceeded, nil)
	}
	history := inst.Status.History
	if len(history) != maxHistory || history[0].JobID != "job-11" || history[9].JobID != "job-2" {
		t.Fatalf("%d jobs: %+v", len(history), history)
	}
	text, err := json.Marshal(history[0])
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf(`{"jobID":"job-11","trigger":"reconcile","phase":"Succeeded","generation":1,"start":%q,"queued":"1s","preparing":"2s","running":"1m0s"}`, at(1100).UTC().Format(time.RFC3339))
	if string(text) != want {
		t.Errorf("got  %s\nwant %s", text, want)
	}
}

func TestHistoryOfOddJobs(t *testing.T) {
	tests := []struct {
		reason string
		happen func(*v1alpha1.Installation)
		want   string
	}{
		{"a job that runs has no end", func(inst *v1alpha1.Installation) {
			s := Installation(inst)
			s.Status.Trigger("a", at(1))
			s.RecordTrigger(v1alpha1.TriggeredByParent, "")
			s.enter(v1alpha1.PhaseStringInit, nil, at(2))
		}, `[{"jobID":"a","trigger":"parent"}]`},
		{"a job that fails before it reaches a child", func(inst *v1alpha1.Installation) {
			s := Installation(inst)
			s.Status.Trigger("a", at(0))
			s.Status.Begin(1, at(0))
			s.enter(v1alpha1.PhaseStringFailed, job.AsTerminal(job.NewError("o", "r", "secret value")), at(5))
		}, `[{"jobID":"a","phase":"Failed","reason":"r","generation":1,"start":"1970-01-01T00:00:00Z","preparing":"5s"}]`},
		{"a job of a tool, or of an older release, whose trigger was not recorded", func(inst *v1alpha1.Installation) {
			inst.Status.JobID = "a"
			Installation(inst).enter(v1alpha1.PhaseStringSucceeded, nil, at(0))
		}, `[{"jobID":"a","phase":"Succeeded","start":"1970-01-01T00:00:00Z"}]`},
		{"a job that a user has replaced before its end", func(inst *v1alpha1.Installation) {
			s := Installation(inst)
			s.Status.Trigger("a", at(0))
			s.RecordTrigger(v1alpha1.TriggeredByReconcile, "")
			s.Status.Trigger("b", at(0))
			s.RecordTrigger(v1alpha1.TriggeredByDeletion, "")
		}, `[{"jobID":"b","trigger":"deletion"}]`},
		{"a status that is written again", func(inst *v1alpha1.Installation) {
			runJob(inst, "a", 0, v1alpha1.PhaseStringSucceeded, nil)
			Installation(inst).enter(v1alpha1.PhaseStringSucceeded, nil, at(500))
		}, `[{"jobID":"a","trigger":"reconcile","phase":"Succeeded","generation":1,"start":"1970-01-01T00:00:00Z","queued":"1s","preparing":"2s","running":"1m0s"}]`},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			inst := &v1alpha1.Installation{}
			test.happen(inst)
			for i := range inst.Status.History {
				if start := inst.Status.History[i].Start; start != nil {
					*start = metav1.NewTime(start.UTC())
				}
			}
			got, err := json.Marshal(inst.Status.History)
			if err != nil || string(got) != test.want {
				t.Errorf("got  %s (%v)\nwant %s", got, err, test.want)
			}
		})
	}
}

// TestHistoryIsBounded: the status of an Installation with 100 subinstallations stays
// within 8 KiB, also when its jobs fail with long messages; what does not fit is the
// oldest.
func TestHistoryIsBounded(t *testing.T) {
	inst := &v1alpha1.Installation{}
	inst.Status.SubInstCache = &v1alpha1.SubInstCache{}
	for n := range 100 {
		name := fmt.Sprintf("sub-%03d", n)
		inst.Status.SubInstCache.ActiveSubs = append(inst.Status.SubInstCache.ActiveSubs, v1alpha1.SubNamePair{SpecName: name, ObjectName: job.ChildName("uid", name, 0)})
	}
	size := func() int {
		text, err := json.Marshal(inst.Status)
		if err != nil {
			t.Fatal(err)
		}
		return len(text)
	}
	for n := range 20 {
		runJob(inst, job.NewID(), int64(100*n), v1alpha1.PhaseStringSucceeded, nil)
		if size() > maxStatus {
			t.Fatalf("the status has %d bytes after %d jobs", size(), n+1)
		}
	}
	whole := len(inst.Status.History)
	if whole < 5 {
		t.Errorf("%d jobs are left beside 100 children", whole)
	}
	runJob(inst, job.NewID(), 3000, v1alpha1.PhaseStringFailed, job.AsTerminal(job.NewError("o", "r", strings.Repeat("m", 300))))
	if size() > maxStatus || len(inst.Status.History) >= whole || inst.Status.History[0].Phase != v1alpha1.InstallationPhases.Failed {
		t.Errorf("%d bytes, %d jobs", size(), len(inst.Status.History))
	}
}

// TestWhatAJobWorkedOn: what two jobs are compared by, in bounds whatever users write.
func TestWhatAJobWorkedOn(t *testing.T) {
	many := map[string]string{}
	for n := range 40 {
		many[fmt.Sprintf("import-%02d", n)] = strings.Repeat("a", 40)
	}
	tests := []struct {
		reason string
		happen func(*v1alpha1.Installation, *Subject)
		want   v1alpha1.JobRecord
	}{
		{"the component that the specification refers to", func(inst *v1alpha1.Installation, _ *Subject) {
			inst.Generation = 1
			inst.Spec.ComponentDescriptor = &v1alpha1.ComponentDescriptorDefinition{Reference: &v1alpha1.ComponentDescriptorReference{ComponentName: "example.org/shop", Version: "1.2.0"}}
		}, v1alpha1.JobRecord{Component: "example.org/shop:1.2.0"}},
		{"a component of a specification that the job has not seen", func(inst *v1alpha1.Installation, _ *Subject) {
			inst.Generation = 2
			inst.Spec.ComponentDescriptor = &v1alpha1.ComponentDescriptorDefinition{Reference: &v1alpha1.ComponentDescriptorReference{ComponentName: "example.org/shop", Version: "1.3.0"}}
		}, v1alpha1.JobRecord{}},
		{"a component in the specification itself", func(inst *v1alpha1.Installation, _ *Subject) {
			inst.Generation, inst.Spec.ComponentDescriptor = 1, &v1alpha1.ComponentDescriptorDefinition{}
		}, v1alpha1.JobRecord{}},
		{"a component with a long name", func(inst *v1alpha1.Installation, _ *Subject) {
			inst.Generation = 1
			inst.Spec.ComponentDescriptor = &v1alpha1.ComponentDescriptorDefinition{Reference: &v1alpha1.ComponentDescriptorReference{ComponentName: strings.Repeat("ä", 5000)}}
		}, v1alpha1.JobRecord{Component: strings.Repeat("ä", maxName/2)}},
		{"who has asked for the job", func(_ *v1alpha1.Installation, s *Subject) {
			s.RecordTrigger(v1alpha1.TriggeredByForceReconcile, "kubectl-annotate")
		}, v1alpha1.JobRecord{Trigger: v1alpha1.TriggeredByForceReconcile, RequestedBy: "kubectl-annotate"}},
		{"a client with a long name", func(_ *v1alpha1.Installation, s *Subject) {
			s.RecordTrigger(v1alpha1.TriggeredByReconcile, strings.Repeat("x", 5000))
		}, v1alpha1.JobRecord{Trigger: v1alpha1.TriggeredByReconcile, RequestedBy: strings.Repeat("x", maxName)}},
		{"a job that no operation has asked for", func(_ *v1alpha1.Installation, s *Subject) {
			s.RecordTrigger(v1alpha1.TriggeredBySchedule, "kubectl-annotate")
		}, v1alpha1.JobRecord{Trigger: v1alpha1.TriggeredBySchedule}},
		{"which policy was left out, and by whom", func(_ *v1alpha1.Installation, s *Subject) {
			s.RecordOverride("freeze", strings.Repeat("x", 5000))
		}, v1alpha1.JobRecord{Overridden: &v1alpha1.OverriddenPolicy{Policy: "freeze", By: strings.Repeat("x", maxName)}}},
		{"its imports", func(_ *v1alpha1.Installation, s *Subject) {
			s.RecordImports(strings.Repeat("f", 40), map[string]string{"b": strings.Repeat("2", 40), "a": "1"})
		}, v1alpha1.JobRecord{
			ImportsHash: "ffffffffffff", Imports: []v1alpha1.ImportFingerprint{{Name: "a", Fingerprint: "1"}, {Name: "b", Fingerprint: "222222222222"}},
		}},
		{"no imports", func(_ *v1alpha1.Installation, s *Subject) { s.RecordImports("f", nil) }, v1alpha1.JobRecord{ImportsHash: "f"}},
		{"an import with a long name is not noted", func(_ *v1alpha1.Installation, s *Subject) {
			s.RecordImports("f", map[string]string{strings.Repeat("x", 5000): "1"})
		}, v1alpha1.JobRecord{ImportsHash: "f"}},
		{"what a data update has left as it is", func(inst *v1alpha1.Installation, _ *Subject) {
			inst.Status.ImportsHash, inst.Status.DataUpdate = strings.Repeat("e", 40), &v1alpha1.DataUpdate{Unchanged: true}
		}, v1alpha1.JobRecord{ImportsHash: "eeeeeeeeeeee"}},
		{"a job that has not read its imports has not used those of the one before", func(inst *v1alpha1.Installation, _ *Subject) { inst.Status.ImportsHash = "e" }, v1alpha1.JobRecord{}},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			inst := &v1alpha1.Installation{}
			s := Installation(inst)
			s.Status.Trigger("a", at(0))
			s.Status.Begin(1, at(0))
			test.happen(inst, s)
			s.enter(v1alpha1.PhaseStringSucceeded, nil, at(0))
			got := inst.Status.History[0]
			test.want.JobID, test.want.Phase, test.want.Generation, test.want.Start = "a", v1alpha1.InstallationPhases.Succeeded, 1, got.Start
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
	inst := &v1alpha1.Installation{}
	Installation(inst).RecordImports("f", many)
	if got := inst.Status.History[0].Imports; len(got) != maxImports || got[0].Name != "import-00" {
		t.Errorf("%d imports are noted: %v", len(got), got)
	}
}

// TestImportsAreNotedOnce: jobs with the same imports share one list, which the newest of them has.
func TestImportsAreNotedOnce(t *testing.T) {
	inst := &v1alpha1.Installation{}
	for n, value := range []string{"x", "x", "y", "x", "x"} {
		s := Installation(inst)
		s.Status.Trigger(fmt.Sprint("job-", n), at(int64(n)))
		s.RecordImports("hash-"+value, map[string]string{"in": value})
		s.enter(v1alpha1.PhaseStringSucceeded, nil, at(int64(n)))
	}
	var got []string
	for _, entry := range inst.Status.History {
		got = append(got, fmt.Sprint(entry.ImportsHash, entry.Imports))
	}
	want := []string{"hash-x[{in x}]", "hash-x[]", "hash-y[{in y}]", "hash-x[]", "hash-x[]"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
