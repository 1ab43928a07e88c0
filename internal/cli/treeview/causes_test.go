package treeview_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/cli/treeview"
	"go.landscaper.dev/internal/landscape/inspect"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/job/cause"
)

// ready is what a Deployment says that does not become ready.
const ready = "waiting for Deployment shop/server to become ready (0 of 1 replicas are available)"

// deep is a tree of depth 3 whose lowest item is in a phase, with a sibling that is done at
// each level.
func deep(phase string, change func(*landscape, *v1alpha1.DeployItem)) *landscape {
	l := newLandscape()
	parent, scope := "", ""
	for _, name := range []string{"shop", "shop-backend-a1b2c", "shop-backend-a1b2c-store-d3e4f", "shop-backend-a1b2c-store-d3e4f-base-g5h6i"} {
		var items []string
		if strings.Contains(name, "base") {
			items = []string{name + "-server-j7k8l=" + phase}
		}
		inst := l.installation(name, parent, phase, items...)
		imported := "cluster"
		if parent == "" {
			imported = "prod"
		}
		inst.Spec.Imports.Targets = []v1alpha1.TargetImport{{Name: "cluster", Target: imported}}
		if parent != "" {
			scope = v1alpha1.InstallationScope(parent)
			l.installation(parent+"-other-m9n8o", parent, "Succeeded")
		}
		parent = name
	}
	item := l.lastItem()
	item.Labels[v1alpha1.ExecutionManagedNameLabel] = "server"
	item.Spec.Target = &v1alpha1.ObjectReference{Name: v1alpha1.GenerateDataObjectName(scope, "cluster")}
	change(l, item)
	return l
}

// fails writes an error into the item, and into all above it what controllers write there.
func fails(l *landscape, item *v1alpha1.DeployItem) {
	item.Status.LastError = &v1alpha1.Error{Message: ready}
	found := cause.Cause{Message: ready, Item: "server", Target: "prod"}
	l.snapshot.Executions[0].Status.LastError = &v1alpha1.Error{Message: found.String()}
	for _, inst := range l.snapshot.Installations {
		if inst.Status.InstallationPhase == "Failed" {
			inst.Status.LastError = &v1alpha1.Error{Reason: "children failed", Message: found.String()}
		}
	}
}

func waits(_ *landscape, item *v1alpha1.DeployItem) {
	job.Summarize(&item.Status.Conditions, job.Summary{Phase: "Progressing", Err: job.NewWaiting("op", "Waiting", ready)}, item.CreationTimestamp)
}

func unheard(_ *landscape, item *v1alpha1.DeployItem) { item.Status.Phase = "" }

// TestCauseOnce: the cause first, once, and the way to it after, at depth 0 and 3, while a
// job runs and after it.
func TestCauseOnce(t *testing.T) {
	const levels = `
    └── [PHASE] Installation shop-backend-a1b2c
        └── [PHASE] Installation shop-backend-a1b2c-store-d3e4f
            └── [PHASE] Installation shop-backend-a1b2c-store-d3e4f-base-g5h6i
                └── [PHASE] Execution shop-backend-a1b2c-store-d3e4f-base-g5h6i
                    └── [LEAF] DeployItem shop-backend-a1b2c-store-d3e4f-base-g5h6i-server-j7k8l

`
	below := func(phase, leaf string) string {
		return strings.NewReplacer("PHASE", phase, "LEAF", leaf).Replace(levels)
	}
	const busy, bad = "🏗️ Progressing", "❌ Failed"
	for _, test := range []struct {
		reason string
		given  *landscape
		want   string
	}{
		{"it waits at depth 3", deep("Progressing", waits), `[🏗️ Progressing] Installation shop
    Waiting: waiting for Deployment shop/server to become ready (0 of 1 replicas are available)
        at item server on Target prod; in backend > store > base` + below(busy, busy)},
		{"it has failed at depth 3", deep("Failed", fails), `[❌ Failed] Installation shop
    Last error: waiting for Deployment shop/server to become ready (0 of 1 replicas are available)
        at item server on Target prod; in backend > store > base` + below(bad, bad)},
		{"no deployer has picked it up at depth 3", deep("Progressing", unheard), `[🏗️ Progressing] Installation shop
    Waiting: no deployer has picked it up yet (type x/helm; if this takes long, landscaper-cli doctor says why)
        at item server on Target prod; in backend > store > base` + below(busy, "not picked up")},
		{"it works at depth 3: nothing is wrong", deep("Progressing", func(*landscape, *v1alpha1.DeployItem) {}), ""},
		{"it waits at depth 0", shallow("Progressing", waits), `[🏗️ Progressing] Installation shop
    Waiting: waiting for Deployment shop/server to become ready (0 of 1 replicas are available)
        at item server on Target prod
    └── [🏗️ Progressing] Execution shop
        └── [🏗️ Progressing] DeployItem shop-server-j7k8l

`},
		{"it has failed at depth 0", shallow("Failed", fails), `[❌ Failed] Installation shop
    Last error: waiting for Deployment shop/server to become ready (0 of 1 replicas are available)
        at item server on Target prod
    └── [❌ Failed] Execution shop
        └── [❌ Failed] DeployItem shop-server-j7k8l

`},
		{"no deployer has picked it up at depth 0", shallow("Progressing", unheard), `[🏗️ Progressing] Installation shop
    Waiting: no deployer has picked it up yet (type x/helm; if this takes long, landscaper-cli doctor says why)
        at item server on Target prod
    └── [🏗️ Progressing] Execution shop
        └── [not picked up] DeployItem shop-server-j7k8l

`},
		{"five have failed: three causes first, the others at their objects", many(), `[❌ Failed] Installation shop
    Last error: error 0
        at item i0
    Last error: error 1
        at item i1
    Last error: error 2
        at item i2
    and 2 more, below
    └── [❌ Failed] Execution shop
        ├── [❌ Failed] DeployItem shop-i0
        ├── [❌ Failed] DeployItem shop-i1
        ├── [❌ Failed] DeployItem shop-i2
        ├── [❌ Failed] DeployItem shop-i3
        │   Last error: error 3
        └── [❌ Failed] DeployItem shop-i4
            Last error: error 4

`},
	} {
		t.Run(test.reason, func(t *testing.T) {
			got := render(t, inspect.Troubled(inspect.Forest(test.given.snapshot)), treeview.Options{})
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestCauseOnceLive: a live picture says it once as well, below its object.
func TestCauseOnceLive(t *testing.T) {
	for reason, given := range map[string]*landscape{"failed": deep("Failed", fails), "waiting": deep("Progressing", waits)} {
		got := render(t, inspect.Forest(given.snapshot), treeview.Options{Live: time.Unix(1e9, 0), NoWrap: true})
		if strings.Count(got, "0 of 1 replicas") != 1 || !strings.Contains(got, ": on prod: "+ready) {
			t.Errorf("%s:\n%s", reason, got)
		}
	}
}

func shallow(phase string, change func(*landscape, *v1alpha1.DeployItem)) *landscape {
	l := newLandscape()
	l.installation("shop", "", phase, "shop-server-j7k8l="+phase)
	item := l.lastItem()
	item.Labels[v1alpha1.ExecutionManagedNameLabel] = "server"
	item.Spec.Target = &v1alpha1.ObjectReference{Name: "prod"}
	change(l, item)
	return l
}

func many() *landscape {
	l := newLandscape()
	l.installation("shop", "", "Failed", "shop-i0=Failed", "shop-i1=Failed", "shop-i2=Failed", "shop-i3=Failed", "shop-i4=Failed")
	for _, item := range l.snapshot.DeployItems {
		number := strings.TrimPrefix(item.Name, "shop-i")
		item.Labels[v1alpha1.ExecutionManagedNameLabel] = "i" + number
		item.Status.LastError = &v1alpha1.Error{Message: "error " + number}
	}
	return l
}
