package timeline

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/landscape/inspect"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

var began = time.Date(2030, 1, 2, 3, 0, 0, 0, time.UTC)

func at(second int) *metav1.Time {
	if second == never {
		return nil
	}
	stamp := metav1.NewTime(began.Add(time.Duration(second) * time.Second))
	return &stamp
}

// times are when a job was assigned, begun, written and ended.
func times(asked, begun, written, ended int) *v1alpha1.TransitionTimes {
	return &v1alpha1.TransitionTimes{TriggerTime: at(asked), InitTime: at(begun), WaitTime: at(written), FinishedTime: at(ended)}
}

// never stands for a time that no status has.
const never = -1

const this, earlier = "2", "1"

func installation(name, parent string, imports, exports string, asked, begun, written, ended int) *v1alpha1.Installation {
	inst := &v1alpha1.Installation{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, UID: types.UID(name)}}
	if parent != "" {
		inst.Labels = map[string]string{v1alpha1.EncompassedByLabel: parent}
		inst.OwnerReferences = []metav1.OwnerReference{{APIVersion: v1alpha1.GroupVersion.String(), Kind: "Installation", Name: parent, UID: types.UID(parent), Controller: new(true)}}
	}
	if imports != "" {
		inst.Spec.Imports.Data = []v1alpha1.DataImport{{Name: "in", DataRef: imports}}
	}
	if exports != "" {
		inst.Spec.Exports.Data = []v1alpha1.DataExport{{Name: "out", DataRef: exports}}
	}
	inst.Status.JobID, inst.Status.TransitionTimes = this, times(asked, begun, written, ended)
	inst.Status.InstallationPhase = v1alpha1.InstallationPhases.Progressing
	if ended != never {
		inst.Status.JobIDFinished, inst.Status.InstallationPhase = this, v1alpha1.InstallationPhases.Succeeded
	}
	return inst
}

func item(name, dependsOn string, asked, begun, ended int) *v1alpha1.DeployItem {
	d := &v1alpha1.DeployItem{ObjectMeta: metav1.ObjectMeta{
		Namespace: "shop", Name: name, UID: types.UID(name),
		Labels:      map[string]string{v1alpha1.ExecutionManagedByLabel: "exec", v1alpha1.ExecutionManagedNameLabel: name},
		Annotations: map[string]string{v1alpha1.ExecutionDependsOnAnnotation: dependsOn},
	}}
	d.Status.JobID, d.Status.Phase, d.Status.TransitionTimes = this, v1alpha1.DeployItemPhases.Progressing, times(asked, begun, never, ended)
	if ended != never {
		d.Status.JobIDFinished, d.Status.Phase = this, v1alpha1.DeployItemPhases.Succeeded
	}
	return d
}

func execution(written, ended int) *v1alpha1.Execution {
	e := &v1alpha1.Execution{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "exec", UID: "exec"}}
	e.OwnerReferences = []metav1.OwnerReference{{APIVersion: v1alpha1.GroupVersion.String(), Kind: "Installation", Name: "root", UID: "root", Controller: new(true)}}
	e.Status.JobID, e.Status.ExecutionPhase, e.Status.TransitionTimes = this, v1alpha1.ExecutionPhases.Progressing, times(written, written, written, ended)
	if ended != never {
		e.Status.JobIDFinished, e.Status.ExecutionPhase = this, v1alpha1.ExecutionPhases.Succeeded
	}
	return e
}

// said writes a timeline in lines: a star for what is critical, then seconds.
func said(t *Timeline) (lines []string) {
	if t == nil {
		return nil
	}
	for _, row := range t.Rows {
		line := strings.Repeat(" ", row.Depth) + row.Node.Name
		if row.Critical {
			line += "*"
		}
		for _, span := range row.Spans {
			end := ""
			if span.To != nil {
				end = fmt.Sprint(int(span.To.Sub(began).Seconds()))
			}
			line += fmt.Sprintf(" %s %d-%s", span.Kind, int(span.From.Sub(began).Seconds()), end)
		}
		lines = append(lines, line)
	}
	return lines
}

func TestTimeline(t *testing.T) {
	root := func(ended int) *v1alpha1.Installation { return installation("root", "", "", "", 0, 1, 3, ended) }
	tests := []struct {
		reason   string
		snapshot inspect.Snapshot
		want     []string
	}{
		{"the chain of exports is critical, and a sibling that ended earlier is not", inspect.Snapshot{Installations: []*v1alpha1.Installation{
			root(30), installation("a", "root", "", "x", 3, 4, 5, 20), installation("b", "root", "x", "", 3, 4, 22, 29), installation("c", "root", "", "", 3, 3, 3, 25),
		}}, []string{
			"root* queued 0-1 works 1-3 below 3-30", " a* queued 3-4 works 4-5 below 5-20", " b* waits 3-20 works 20-22 below 22-29", " c queued 3-3 works 3-3 below 3-25",
		}},
		{"what runs has no end; what waits for it ends last", inspect.Snapshot{Installations: []*v1alpha1.Installation{
			root(never), installation("a", "root", "", "x", 3, 4, 5, never), installation("b", "root", "x", "", 3, 4, never, never), installation("c", "root", "", "", 3, 3, 3, 25),
		}}, []string{
			"root* queued 0-1 works 1-3 below 3-", " a* queued 3-4 works 4-5 below 5-", " b* waits 3-", " c queued 3-3 works 3-3 below 3-25",
		}},
		{"an item that has not got the job waits since its Execution has written it", inspect.Snapshot{
			Installations: []*v1alpha1.Installation{root(never)}, Executions: []*v1alpha1.Execution{execution(4, never)},
			DeployItems: []*v1alpha1.DeployItem{item("first", "", 4, 5, never), func() *v1alpha1.DeployItem {
				next := item("next", "first", never, never, never)
				next.Status.JobID, next.Status.JobIDFinished = earlier, earlier
				return next
			}()},
		}, []string{"root* queued 0-1 works 1-3 below 3-", " exec* queued 4-4 works 4-4 below 4-", "  first* queued 4-5 works 5-", "  next* waits 4-"}},
		{"an item waited until those on which it depends had ended", inspect.Snapshot{
			Installations: []*v1alpha1.Installation{root(20)}, Executions: []*v1alpha1.Execution{execution(4, 19)},
			DeployItems: []*v1alpha1.DeployItem{item("first", "", 4, 5, 9), item("next", "first", 9, 10, 18)},
		}, []string{"root* queued 0-1 works 1-3 below 3-20", " exec* queued 4-4 works 4-4 below 4-19", "  first* queued 4-5 works 5-9", "  next* waits 4-9 queued 9-10 works 10-18"}},
		{"an item says since when it waits for what is on the cluster", inspect.Snapshot{
			Installations: []*v1alpha1.Installation{root(never)}, Executions: []*v1alpha1.Execution{execution(4, never)},
			DeployItems: []*v1alpha1.DeployItem{func() *v1alpha1.DeployItem {
				waits := item("first", "", 4, 5, never)
				waits.Status.Conditions = []v1alpha1.Condition{{Type: v1alpha1.ReconcilingCondition, Status: v1alpha1.ConditionTrue, Reason: string(reasons.Waiting), Message: "waiting", LastTransitionTime: *at(8)}}
				return waits
			}()},
		}, []string{"root* queued 0-1 works 1-3 below 3-", " exec* queued 4-4 works 4-4 below 4-", "  first* queued 4-5 works 5-8 waits 8-"}},
		{"what had no part in the job is not in it, nor are times of an earlier job", inspect.Snapshot{Installations: []*v1alpha1.Installation{
			root(30), func() *v1alpha1.Installation {
				other := installation("a", "root", "", "", 3, 4, 5, 20)
				other.Status.JobID, other.Status.JobIDFinished = earlier, earlier
				return other
			}(), installation("b", "root", "", "", 3, -60, 5, 29),
		}}, []string{"root* queued 0-1 works 1-3 below 3-30", " b* queued 3-5 below 5-29"}},
		{"parts that wait for each other end", inspect.Snapshot{Installations: []*v1alpha1.Installation{
			root(never), installation("a", "root", "y", "x", 3, 4, never, never), installation("b", "root", "x", "y", 3, 4, never, never),
		}}, []string{"root* queued 0-1 works 1-3 below 3-", " a* waits 3-", " b* waits 3-"}},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			if diff := cmp.Diff(test.want, said(Of(inspect.Tree(test.snapshot, "shop", "root")))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestNoTimes: an object of old releases, or one without a job, has no timeline.
func TestNoTimes(t *testing.T) {
	without := installation("root", "", "", "", 0, 0, 0, 0)
	without.Status.TransitionTimes = nil
	if got := Of(inspect.Tree(inspect.Snapshot{Installations: []*v1alpha1.Installation{without}}, "shop", "root")); got != nil {
		t.Errorf("%v", said(got))
	}
}

// TestRemovalRound: its times have replaced those of the first round.
func TestRemovalRound(t *testing.T) {
	root := installation("root", "", "", "", 0, 20, 20, 30)
	root.Status.JobID = job.RemovalOf(this)
	root.Status.JobIDFinished = root.Status.JobID
	got := said(Of(inspect.Tree(inspect.Snapshot{Installations: []*v1alpha1.Installation{root}}, "shop", "root")))
	if diff := cmp.Diff([]string{"root* works 20-20 below 20-30"}, got); diff != "" {
		t.Error(diff)
	}
}
