package execution

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/model/siblings/itemorder"
	"go.landscaper.dev/internal/runtime/job"
)

// copied is the name of the copy of Target prod that subinstallation web works with.
var copied = v1alpha1.GenerateDataObjectName(v1alpha1.InstallationScope("shop"), "cluster")

// below puts the Execution below subinstallation web of root shop.
func below(s *snapshot) {
	named := func(name string, item v1alpha1.TargetImport) *v1alpha1.Installation {
		inst := &v1alpha1.Installation{ObjectMeta: metav1.ObjectMeta{Name: name}}
		inst.Spec.Imports.Targets = []v1alpha1.TargetImport{item}
		return inst
	}
	web := named("shop-web-x", v1alpha1.TargetImport{Name: "own", Target: "cluster"})
	web.Labels = map[string]string{v1alpha1.EncompassedByLabel: "shop"}
	s.lineage = []*v1alpha1.Installation{named("shop", v1alpha1.TargetImport{Name: "cluster", Target: "prod"}), web}
}

func on(target string) func(*v1alpha1.DeployItem) {
	return func(item *v1alpha1.DeployItem) { item.Spec.Target = &v1alpha1.ObjectReference{Name: target} }
}

// inPhase says for how long an item is in its phase.
func inPhase(lasting time.Duration) func(*v1alpha1.DeployItem) {
	return func(item *v1alpha1.DeployItem) {
		since := metav1.NewTime(noon.Add(-lasting))
		item.Status.PhaseTransitionTime = &since
	}
}

// says lets an item at work publish why it does not continue.
func says(lasting time.Duration, err error) func(*v1alpha1.DeployItem) {
	return func(item *v1alpha1.DeployItem) {
		inPhase(lasting)(item)
		begun := metav1.NewTime(noon.Add(-lasting))
		item.Status.JobIDGenerationTime, item.Status.LastReconcileTime = &begun, &begun
		job.Summarize(&item.Status.Conditions, job.Summary{Phase: "Progressing", Err: err}, begun)
	}
}

// since says for how long the Execution is in its phase.
func since(lasting time.Duration) option {
	return func(s *snapshot) {
		begun := metav1.NewTime(noon.Add(-lasting))
		s.exec.Status.PhaseTransitionTime = &begun
		job.Summarize(&s.exec.Status.Conditions, job.Summary{Phase: "Progressing"}, begun)
	}
}

// shown says what the Execution has shown of its items, and how long ago.
func shown(message string, ago time.Duration) option {
	return func(s *snapshot) { s.showing().Write(message, metav1.NewTime(noon.Add(-ago))) }
}

// TestObstacles: what items wait for is shown when it has lasted, and in bounded writes.
func TestObstacles(t *testing.T) {
	waits := job.NewWaiting("op", "Waiting", "waiting for Deployment ns/web")
	const text = "waiting for Deployment ns/web; at item one on Target prod"
	one := func(more ...func(*v1alpha1.DeployItem)) option {
		return has("one", "a", "", "Progressing", append(more, on(copied))...)
	}
	for _, test := range []struct {
		reason  string
		options []option
		want    step
		message string
		wake    string
	}{
		{"no item is blocked", []option{since(time.Minute), one(says(time.Minute, nil))}, rest, "", "DeployItem x-one, the time 2030-01-02T12:10:00Z"},
		{"a wait that has begun just now", []option{since(time.Minute), one(says(2*time.Second, waits))}, rest, "", "DeployItem x-one, the time 2030-01-02T12:00:03Z"},
		{"a wait that has lasted, with the Target as users know it", []option{since(time.Minute), one(says(5*time.Second, waits))}, show, text, "the step itself"},
		{"a failed attempt", []option{since(time.Minute), one(says(5*time.Second, job.NewError("op", "x", "connection refused")))}, show, "connection refused; at item one on Target prod", "the step itself"},
		{"the Execution itself has begun just now", []option{since(time.Second), one(says(5*time.Second, waits))}, rest, "", "DeployItem x-one, the time 2030-01-02T12:00:04Z"},
		{"a message that is shown already is not written again", []option{since(time.Minute), shown(text, 30*time.Second), one(says(time.Minute, waits))}, rest, "", "DeployItem x-one, the time 2030-01-02T12:10:00Z"},
		{"a message that was changed a while ago is replaced", []option{since(20 * time.Second), shown("other", 10*time.Second), one(says(time.Minute, waits))}, show, text, "the step itself"},
		{"a message that was changed just before waits", []option{since(20 * time.Second), shown("other", 6*time.Second), one(says(time.Minute, waits))}, rest, "", "DeployItem x-one, the time 2030-01-02T12:00:01Z"},
		{"a long job shows a change after a minute at most", []option{since(time.Hour), shown("other", 59*time.Second), one(says(time.Minute, waits))}, rest, "", "DeployItem x-one, the time 2030-01-02T12:00:01Z"},
		{"the wait is over", []option{since(time.Minute), shown(text, 40*time.Second), one(says(time.Minute, nil))}, show, "", "the step itself"},
		{"no deployer has picked it up", []option{since(time.Minute), one(triggeredAt(noon.Add(-31 * time.Second)))}, show, "no deployer has picked DeployItem x-one up: check that a deployer for type  runs; landscaper-cli doctor says why; at item one on Target prod", "the step itself"},
		{"an item has failed while another one is at work", []option{since(time.Minute), has("two", "a", "a", "Failed", inPhase(5*time.Second), func(item *v1alpha1.DeployItem) { item.Status.LastError = &v1alpha1.Error{Message: "refused"} }), one(says(time.Minute, nil))}, show, "refused; at item two", "the step itself"},
		{"a message of an item of an earlier job does not count", []option{since(time.Minute), has("two", "z", "z", "Failed", after("one"), says(time.Hour, waits)), one(says(time.Minute, nil))}, rest, "", "DeployItem x-one, the time 2030-01-02T12:10:00Z"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			options := append([]option{below, jobs("a", "", "Progressing")}, test.options...)
			s := snapshotWith(options...)
			for _, item := range s.items {
				template := v1alpha1.DeployItemTemplate{Name: itemorder.NameOf(item)}
				if itemorder.NameOf(item) == "two" && item.Status.JobID == "z" {
					template.DependsOn = []string{"one"}
				}
				s.templates = append(s.templates, template)
			}
			s.pickup = 0
			got := decide(s)
			if got.do != test.want || got.message != test.message || got.wake.String() != test.wake {
				t.Errorf("%s %q and waits for %s, want %s %q by %s: %v", got.do, got.message, got.wake, test.want, test.message, test.wake, got.err)
			}
		})
	}
}

// TestShowingIsBounded: for any messages of items, there are at most 16 writes in ten minutes, and
// none without a message.
func TestShowingIsBounded(t *testing.T) {
	for _, test := range []struct {
		reason string
		says   func(second int) string
		most   int
	}{
		{"the message changes each second", func(second int) string { return time.Duration(second).String() }, 16},
		{"the message stays the same", func(int) string { return "m" }, 1},
		{"none", func(int) string { return "" }, 0},
	} {
		s := snapshotWith(jobs("a", "", "Progressing"), since(0))
		writes := 0
		for second := range 600 {
			now := noon.Add(time.Duration(second) * time.Second)
			if due, _ := s.showing().Due(test.says(second), now); due {
				s.showing().Write(test.says(second), metav1.NewTime(now))
				writes++
			}
		}
		if writes > test.most || test.most > 0 && writes == 0 {
			t.Errorf("%s: %d writes, want at most %d", test.reason, writes, test.most)
		}
	}
}
