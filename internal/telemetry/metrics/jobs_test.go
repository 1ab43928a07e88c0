package metrics

import (
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	toolscache "k8s.io/client-go/tools/cache"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/reporter"
)

// start is when the counting begins in tests.
var start = time.Unix(1000, 500)

// story changes one Installation and lets the counts see each change.
type story struct {
	jobs *Jobs
	now  time.Time
	inst *v1alpha1.Installation
}

func newStory() *story {
	s := &story{now: start}
	s.jobs = NewJobs([]string{"Installation"}, func() time.Time { return s.now })
	return s
}

// write changes the Installation and sends the event.
func (s *story) write(change func(*v1alpha1.Installation)) {
	before := s.inst
	if before == nil {
		s.inst = &v1alpha1.Installation{ObjectMeta: metav1.ObjectMeta{Name: "a", UID: "a"}}
		change(s.inst)
		s.jobs.handler().OnAdd(s.inst, true)
		return
	}
	s.inst = before.DeepCopy()
	change(s.inst)
	s.jobs.handler().OnUpdate(before, s.inst)
}

// trigger, enter and remove are what happens to an object.
func (s *story) trigger(id string) {
	s.write(func(inst *v1alpha1.Installation) {
		reporter.Installation(inst).Status.Trigger(id, metav1.NewTime(s.now))
	})
}

func (s *story) enter(phase string, err error) {
	s.write(func(inst *v1alpha1.Installation) {
		reporter.Installation(inst).Status.Enter(phase, err, metav1.NewTime(s.now))
	})
}

func (s *story) remove() {
	now := metav1.NewTime(s.now)
	s.inst = s.inst.DeepCopy()
	s.inst.DeletionTimestamp = &now
	s.jobs.handler().OnDelete(toolscache.DeletedFinalStateUnknown{Obj: s.inst})
}

func TestJobs(t *testing.T) {
	tests := []struct {
		reason string
		happen func(*story)
		// ended are the numbers of jobs by result, in seconds of all.
		ended map[string]float64
		// left is what waits or runs at the end.
		running float64
		waiting map[Reason]float64
	}{
		{"a job that ends well", func(s *story) {
			s.trigger("1")
			s.enter("Progressing", nil)
			s.now = s.now.Add(3 * time.Second)
			s.enter("Succeeded", nil)
		}, map[string]float64{succeeded: 3}, 0, nil},
		{"a job that waits for its children", func(s *story) {
			s.trigger("1")
			s.enter("Init", job.NewWaiting("init", "ImportsSatisfied", "m"))
			s.enter("Progressing", nil)
		}, nil, 1, map[Reason]float64{Children: 1}},
		{"two jobs", func(s *story) {
			s.trigger("1")
			s.enter("Failed", nil)
			s.trigger("2")
			s.now = s.now.Add(time.Second)
			s.enter("Succeeded", nil)
		}, map[string]float64{failed: 0, succeeded: 1}, 0, nil},
		{"a job that was never seen running, by its own times", func(s *story) {
			s.trigger("1")
			s.enter("Succeeded", nil)
			s.write(func(inst *v1alpha1.Installation) {
				status := reporter.Installation(inst).Status
				status.Trigger("2", metav1.NewTime(s.now))
				status.Enter("Failed", nil, metav1.NewTime(s.now.Add(7*time.Second)))
			})
		}, map[string]float64{succeeded: 0, failed: 7}, 0, nil},
		{"a deletion that ends well", func(s *story) {
			s.trigger("1")
			s.enter("Deleting", nil)
			s.now = s.now.Add(2 * time.Second)
			s.remove()
		}, map[string]float64{deleted: 2}, 0, nil},
		{"an object without a job is deleted", func(s *story) {
			s.write(func(*v1alpha1.Installation) {})
			s.remove()
		}, nil, 0, nil},
		{"a deletion that fails", func(s *story) {
			s.trigger("1")
			s.enter("DeleteFailed", nil)
		}, map[string]float64{deleteFailed: 0}, 0, nil},
		{"a status that is written again counts once", func(s *story) {
			s.trigger("1")
			s.enter("Succeeded", nil)
			s.enter("Succeeded", nil)
		}, map[string]float64{succeeded: 0}, 0, nil},
		{"a job of the time before the start", func(s *story) {
			s.write(func(inst *v1alpha1.Installation) {
				status := reporter.Installation(inst).Status
				status.Trigger("1", metav1.NewTime(start.Add(-time.Hour)))
				status.Enter("Succeeded", nil, metav1.NewTime(start.Add(-time.Minute)))
			})
		}, nil, 0, nil},
		{"a job that began before the start and ends after it", func(s *story) {
			s.write(func(inst *v1alpha1.Installation) {
				reporter.Installation(inst).Status.Trigger("1", metav1.NewTime(start.Add(-time.Minute)))
			})
			s.enter("Succeeded", nil)
		}, map[string]float64{succeeded: 60}, 0, nil},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			s := newStory()
			test.happen(s)
			got := gather(t, s.jobs)
			want := map[string]float64{"landscaper_jobs_running": test.running}
			for result, seconds := range test.ended {
				want["landscaper_job_duration_seconds "+result] = 1
				want["landscaper_job_duration_seconds "+result+" sum"] = seconds
			}
			for reason, number := range test.waiting {
				want["landscaper_jobs_waiting "+string(reason)] = number
			}
			for key, value := range got {
				if want[key] != value {
					t.Errorf("%s is %v, want %v", key, value, want[key])
				}
				delete(want, key)
			}
			if len(want) > 0 {
				t.Errorf("missing: %v", want)
			}
		})
	}
}

// TestEnded: the callback gets a job with the times of its stages.
func TestEnded(t *testing.T) {
	s := newStory()
	var reported []Job
	s.jobs.OnEnd = func(ended Job) { reported = append(reported, ended) }
	s.write(func(*v1alpha1.Installation) {})
	s.trigger("1")
	step := func(change func(reporter.Status)) {
		s.now = s.now.Add(time.Second)
		s.write(func(inst *v1alpha1.Installation) { change(reporter.Installation(inst).Status) })
	}
	step(func(status reporter.Status) { status.Begin(1, metav1.NewTime(s.now)) })
	step(func(status reporter.Status) { status.Wait(metav1.NewTime(s.now)) })
	step(func(status reporter.Status) { status.Enter("Failed", nil, metav1.NewTime(s.now)) })
	if len(reported) != 1 {
		t.Fatalf("reported %+v", reported)
	}
	got := reported[0]
	for i, at := range []time.Time{got.AssignedAt, got.StartedAt, got.ChildrenWrittenAt, got.EndedAt} {
		if want := start.Add(time.Duration(i) * time.Second); !at.Equal(want) {
			t.Errorf("stage %d began at %s, want %s", i, at, want)
		}
	}
	if got.ID != "1" || got.Kind != "Installation" || got.Result != failed || got.Object.GetUID() != "a" {
		t.Errorf("reported %+v", got)
	}
}

// TestDispatched: a job that no cache has shown is counted, with its result and its time,
// also if the cache shows the item without it meanwhile.
func TestDispatched(t *testing.T) {
	handed := func(item *v1alpha1.DeployItem, id string, at time.Time) *v1alpha1.DeployItem {
		item = item.DeepCopy()
		reporter.DeployItem(item).Status.Trigger(id, metav1.NewTime(at))
		return item
	}
	for _, test := range []struct {
		reason string
		end    func(jobs *Jobs, item *v1alpha1.DeployItem)
		want   map[string]float64
	}{
		{"the job goes on", func(*Jobs, *v1alpha1.DeployItem) {}, map[string]float64{"landscaper_jobs_running": 1}},
		{"the job is stored with its end", func(jobs *Jobs, item *v1alpha1.DeployItem) {
			done := handed(item, "2", start)
			reporter.DeployItem(done).Status.Enter("Succeeded", nil, metav1.NewTime(start))
			jobs.handler().OnUpdate(item, done)
		}, map[string]float64{"landscaper_job_duration_seconds succeeded": 1, "landscaper_job_duration_seconds succeeded sum": 3}},
		{"the job is stored, and goes on", func(jobs *Jobs, item *v1alpha1.DeployItem) {
			jobs.handler().OnUpdate(item, handed(item, "2", start))
		}, map[string]float64{"landscaper_jobs_running": 1}},
		{"the item is deleted", func(jobs *Jobs, item *v1alpha1.DeployItem) {
			now := metav1.NewTime(start)
			item.DeletionTimestamp = &now
			jobs.handler().OnDelete(item)
		}, map[string]float64{"landscaper_job_duration_seconds deleted": 1, "landscaper_job_duration_seconds deleted sum": 3}},
		{"an Execution that has not seen the deletion of the item dispatches another job", func(jobs *Jobs, item *v1alpha1.DeployItem) {
			jobs.handler().OnDelete(item)
			jobs.Dispatched(handed(item, "3", start))
		}, nil},
		{"the next job is dispatched", func(jobs *Jobs, item *v1alpha1.DeployItem) {
			jobs.Dispatched(handed(item, "3", start))
		}, map[string]float64{"landscaper_jobs_running": 1}},
	} {
		t.Run(test.reason, func(t *testing.T) {
			now := start
			jobs := NewJobs([]string{"DeployItem"}, func() time.Time { return now })
			item := &v1alpha1.DeployItem{ObjectMeta: metav1.ObjectMeta{Name: "a", UID: "a"}}
			reporter.DeployItem(item).Status.Trigger("1", metav1.NewTime(start.Add(-time.Hour)))
			reporter.DeployItem(item).Status.Enter("Succeeded", nil, metav1.NewTime(start.Add(-time.Hour)))
			jobs.Dispatched(handed(item, "2", start))
			jobs.handler().OnAdd(item, true)
			now = now.Add(3 * time.Second)
			test.end(jobs, item)
			for key, value := range gather(t, jobs) {
				if !strings.HasPrefix(key, "landscaper_jobs_waiting") && value != test.want[key] {
					t.Errorf("%s is %v, want %v", key, value, test.want[key])
				}
			}
		})
	}
	other := NewJobs([]string{"Installation"}, time.Now)
	other.Dispatched(&v1alpha1.DeployItem{})
	if got := gather(t, other)["landscaper_jobs_running"]; got != 0 {
		t.Errorf("%v jobs of a kind that another process counts", got)
	}
}

// TestDeparted: the deletion of an item is remembered as long as a cache may not show it.
func TestDeparted(t *testing.T) {
	var d deletions
	d.note("a", start)
	d.note("b", start.Add(deletionRetention))
	if !d.has("a") || !d.has("b") || d.has("c") {
		t.Errorf("ends %+v", d)
	}
	d.note("c", start.Add(deletionRetention+1))
	if d.has("a") || !d.has("b") || len(d.known) != 2 || len(d.ends) != 2 {
		t.Errorf("an old deletion is remembered: %+v", d)
	}
}

// gather returns all values by the name and the result or reason of a metric.
func gather(t *testing.T, jobs *Jobs) map[string]float64 {
	t.Helper()
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(jobs)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]float64{}
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			key := family.GetName()
			for _, label := range metric.GetLabel() {
				if label.GetName() != "kind" {
					key += " " + label.GetValue()
				}
			}
			if histogram := metric.GetHistogram(); histogram != nil {
				values[key], values[key+" sum"] = float64(histogram.GetSampleCount()), histogram.GetSampleSum()
				continue
			}
			values[key] = metric.GetGauge().GetValue()
		}
	}
	return values
}
