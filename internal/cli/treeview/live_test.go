package treeview_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/cli/treeview"
	"go.landscaper.dev/internal/landscape/inspect"
)

// underway is a tree in the middle of its work.
func underway(now time.Time) *landscape {
	l := newLandscape()
	ago := func(d time.Duration) *metav1.Time { then := metav1.NewTime(now.Add(-d)); return &then }
	l.installation("shop", "", "Progressing").Status.PhaseTransitionTime = ago(65 * time.Second)
	db := l.installation("shop-db-x2lqp", "shop", "Succeeded", "shop-db-x2lqp-backup-9c4tk=Succeeded", "shop-db-x2lqp-server-h7wzn=Succeeded")
	db.Status.PhaseTransitionTime = ago(time.Minute)
	l.installation("shop-web-b55nd", "shop", "Progressing", "shop-web-b55nd-chart-t6kkv=Progressing").Status.PhaseTransitionTime = ago(50 * time.Second)
	item := l.lastItem()
	item.Status.PhaseTransitionTime = ago(48 * time.Second)
	item.Spec.Target = &v1alpha1.ObjectReference{Name: "edge"}
	item.Status.Conditions = []v1alpha1.Condition{{Type: v1alpha1.ReconcilingCondition, Status: v1alpha1.ConditionTrue, Reason: "Waiting", Message: "Deployment web/web: 1 of 2 replicas are available"}}
	ads := l.installation("shop-ads-77abc", "shop", "Init")
	ads.Status.PhaseTransitionTime = ago(3 * time.Hour)
	ads.Status.Conditions = []v1alpha1.Condition{{Type: v1alpha1.ReconcilingCondition, Status: v1alpha1.ConditionTrue, Reason: "Waiting", Message: "import host is exported by shop-web-b55nd, which has not finished"}}
	return l
}

func TestLive(t *testing.T) {
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	for _, test := range []struct {
		reason  string
		options treeview.Options
		want    string
	}{
		{"who waits, for how long, and for what; what is settled is one line", treeview.Options{}, `
[🏗️ Progressing] Installation shop 1m05s
    ├── [🏗️ Init] Installation shop-ads-77abc 3h00m
    │   Waiting: import host is exported by shop-web-b55nd, which has not finished
    ├── [✅ Succeeded] Installation shop-db-x2lqp (and 3 objects)
    └── [🏗️ Progressing] Installation shop-web-b55nd 50s
        └── [🏗️ Progressing] Execution shop-web-b55nd
            └── [🏗️ Progressing] DeployItem shop-web-b55nd-chart-t6kkv 48s
                Waiting: on edge: Deployment web/web: 1 of 2 replicas are available

`},
		{"a narrow terminal shortens names and breaks texts", treeview.Options{ASCII: true, Columns: 48, HideExecutions: true}, `
[Progressing] Installation shop 1m05s
    |-- [Init] Installation shop-ads-77abc 3h00m
    |   Waiting: import host is exported by
    |   shop-web-b55nd, which has not finished
    |-- [Succeeded] Installation shop-db-x2lqp
    ` + "`" + `-- [Progressing] Installation shop-web~ 50s
        ` + "`" + `-- [Progressing] DeployItem shop-w~ 48s
            Waiting: on edge: Deployment
            web/web: 1 of 2 replicas are
            available

`},
	} {
		t.Run(test.reason, func(t *testing.T) {
			test.options.Live = now
			var out strings.Builder
			if err := treeview.Write(&out, inspect.Forest(underway(now).snapshot), test.options); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want[1:], out.String()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestState: what a log without a terminal says of an object.
func TestState(t *testing.T) {
	said := map[string]string{}
	inspect.Forest(underway(time.Now()).snapshot)[0].Walk(func(node *inspect.Node) { said[string(node.Kind)+" "+node.Name] = treeview.State(node) })
	for object, want := range map[string]string{
		"Installation shop":                     "Progressing",
		"Installation shop-db-x2lqp":            "Succeeded",
		"DeployItem shop-web-b55nd-chart-t6kkv": "Progressing: on edge: Deployment web/web: 1 of 2 replicas are available",
	} {
		t.Run(object, func(t *testing.T) {
			if said[object] != want {
				t.Errorf("%s: %q", object, said[object])
			}
		})
	}
}

func TestDuration(t *testing.T) {
	for given, want := range map[time.Duration]string{
		-time.Second: "0s", 59 * time.Second: "59s", 61 * time.Second: "1m01s", 90 * time.Minute: "1h30m", 50 * time.Hour: "2d",
	} {
		if got := treeview.Duration(given); got != want {
			t.Errorf("%s: %s, want %s", given, got, want)
		}
	}
}

func TestClip(t *testing.T) {
	const picture = "a\nb\nc\nd\n\n"
	for rows, want := range map[int]string{0: picture, 10: picture, 4: "a\nb\n... 3 more lines\n"} {
		if got := treeview.Clip(picture, rows); got != want {
			t.Errorf("%d rows: %q", rows, got)
		}
	}
}
