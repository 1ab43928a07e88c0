package treeview_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/cli/treeview"
	"go.landscaper.dev/internal/landscape/inspect"
)

func render(t *testing.T, nodes []*inspect.Node, options treeview.Options) string {
	t.Helper()
	var out strings.Builder
	if err := treeview.Write(&out, nodes, options); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func dataflow() *landscape {
	l := newLandscape()
	l.installation("dataflow-secret", "", "Succeeded", "dataflow-secret-item-shn92=Succeeded")
	l.installation("dataflow-gitrepository", "", "Succeeded", "dataflow-gitrepository-item-62j66=Succeeded")
	l.installation("dataflow-root", "", "Succeeded")
	l.installation("dataflow-tokenprovider-tw4h5", "dataflow-root", "Succeeded", "dataflow-tokenprovider-tw4h5-item-mm6bt=Succeeded")
	l.installation("dataflow-tokenconsumer-778g7", "dataflow-root", "Succeeded", "dataflow-tokenconsumer-778g7-item-tlzcf=Succeeded")
	return l
}

func shop() *landscape {
	l := newLandscape()
	l.installation("shop", "", "Failed").Status.LastError = &v1alpha1.Error{Message: "some running executions failed"}
	l.installation("shop-db-x2lqp", "shop", "Succeeded", "shop-db-x2lqp-backup-9c4tk=Succeeded", "shop-db-x2lqp-server-h7wzn=Succeeded")
	l.installation("shop-web-b55nd", "shop", "Failed", "shop-web-b55nd-chart-t6kkv=Failed")
	l.lastItem().Status.LastError = &v1alpha1.Error{Message: "timed out waiting for Deployment web"}
	l.job = "job-2"
	l.installation("tools", "", "Progressing", "tools-alpha-kj2c8=Succeeded", "tools-beta-w0x2d=Progressing")
	l.snapshot.DeployItems[3].Status.JobID = "job-1"
	return l
}

func TestTree(t *testing.T) {
	tests := []struct {
		reason  string
		given   *landscape
		options treeview.Options
		failed  bool
		want    string
	}{
		{"the tree of the user's document", dataflow(), treeview.Options{}, false, `
[✅ Succeeded] Installation dataflow-secret
    └── [✅ Succeeded] Execution dataflow-secret
        └── [✅ Succeeded] DeployItem dataflow-secret-item-shn92

[✅ Succeeded] Installation dataflow-gitrepository
    └── [✅ Succeeded] Execution dataflow-gitrepository
        └── [✅ Succeeded] DeployItem dataflow-gitrepository-item-62j66

[✅ Succeeded] Installation dataflow-root
    ├── [✅ Succeeded] Installation dataflow-tokenconsumer-778g7
    │   └── [✅ Succeeded] Execution dataflow-tokenconsumer-778g7
    │       └── [✅ Succeeded] DeployItem dataflow-tokenconsumer-778g7-item-tlzcf
    └── [✅ Succeeded] Installation dataflow-tokenprovider-tw4h5
        └── [✅ Succeeded] Execution dataflow-tokenprovider-tw4h5
            └── [✅ Succeeded] DeployItem dataflow-tokenprovider-tw4h5-item-mm6bt

`},
		{"errors below their object, outdated where the job of the root has not arrived", shop(), treeview.Options{}, false, `
[❌ Failed] Installation shop
    Last error: timed out waiting for Deployment web
        at item item; in web
    ├── [✅ Succeeded] Installation shop-db-x2lqp
    │   └── [✅ Succeeded] Execution shop-db-x2lqp
    │       ├── [✅ Succeeded] DeployItem shop-db-x2lqp-backup-9c4tk
    │       └── [✅ Succeeded] DeployItem shop-db-x2lqp-server-h7wzn
    └── [❌ Failed] Installation shop-web-b55nd
        └── [❌ Failed] Execution shop-web-b55nd
            └── [❌ Failed] DeployItem shop-web-b55nd-chart-t6kkv

[🏗️ Progressing] Installation tools
    Waiting: no deployer has picked it up yet (type x/helm; if this takes long, landscaper-cli doctor says why)
        at item item
    └── [🏗️ Progressing] Execution tools
        ├── [✅ Succeeded (outdated)] DeployItem tools-alpha-kj2c8
        └── [🏗️ Progressing] DeployItem tools-beta-w0x2d

`},
		{"only what failed or waits; a root without any is left out", both(shop(), dataflow()), treeview.Options{}, true, `
[❌ Failed] Installation shop
    Last error: timed out waiting for Deployment web
        at item item; in web
    └── [❌ Failed] Installation shop-web-b55nd
        └── [❌ Failed] Execution shop-web-b55nd
            └── [❌ Failed] DeployItem shop-web-b55nd-chart-t6kkv

[🏗️ Progressing] Installation tools
    Waiting: no deployer has picked it up yet (type x/helm; if this takes long, landscaper-cli doctor says why)
        at item item
    └── [🏗️ Progressing] Execution tools
        └── [✅ Succeeded (outdated)] DeployItem tools-alpha-kj2c8

`},
		{"nothing failed", dataflow(), treeview.Options{}, true, "\n"},
		{"namespaces before all names, because all kinds may have namesakes", rootOnly("Succeeded"), treeview.Options{Namespaces: true}, false, `
[✅ Succeeded] Installation cu-example/a
    └── [✅ Succeeded] Execution cu-example/a
        └── [✅ Succeeded] DeployItem cu-example/a-item-x

`},
		{"a hidden Execution leaves its place to its items", shop(), treeview.Options{HideExecutions: true}, true, `
[❌ Failed] Installation shop
    Last error: timed out waiting for Deployment web
        at item item; in web
    └── [❌ Failed] Installation shop-web-b55nd
        └── [❌ Failed] DeployItem shop-web-b55nd-chart-t6kkv

[🏗️ Progressing] Installation tools
    Waiting: no deployer has picked it up yet (type x/helm; if this takes long, landscaper-cli doctor says why)
        at item item
    └── [✅ Succeeded (outdated)] DeployItem tools-alpha-kj2c8

`},
		{"ASCII for terminals that know no more", shop(), treeview.Options{ASCII: true}, false, `
[Failed] Installation shop
    Last error: timed out waiting for Deployment web
        at item item; in web
    |-- [Succeeded] Installation shop-db-x2lqp
    |   ` + "`" + `-- [Succeeded] Execution shop-db-x2lqp
    |       |-- [Succeeded] DeployItem shop-db-x2lqp-backup-9c4tk
    |       ` + "`" + `-- [Succeeded] DeployItem shop-db-x2lqp-server-h7wzn
    ` + "`" + `-- [Failed] Installation shop-web-b55nd
        ` + "`" + `-- [Failed] Execution shop-web-b55nd
            ` + "`" + `-- [Failed] DeployItem shop-web-b55nd-chart-t6kkv

[Progressing] Installation tools
    Waiting: no deployer has picked it up yet (type x/helm; if this takes long, landscaper-cli doctor says why)
        at item item
    ` + "`" + `-- [Progressing] Execution tools
        |-- [Succeeded (outdated)] DeployItem tools-alpha-kj2c8
        ` + "`" + `-- [Progressing] DeployItem tools-beta-w0x2d

`},
		{"names of the blueprint", rootOnly("Succeeded"), treeview.Options{Names: treeview.TemplateNames}, false, `
[✅ Succeeded] Installation a
    └── [✅ Succeeded] Execution a
        └── [✅ Succeeded] DeployItem item (a-item-x)

`},
		{"colour marks the state only", rootOnly("Failed"), treeview.Options{Color: true}, false, "\n" +
			"[\x1b[31m❌ Failed\x1b[0m] Installation a\n" +
			"    └── [\x1b[31m❌ Failed\x1b[0m] Execution a\n" +
			"        └── [\x1b[31m❌ Failed\x1b[0m] DeployItem a-item-x\n\n"},
		{"a word for no phase, with what to do, an unmarked phase and one of a later release are shown as they are", oddPhases(), treeview.Options{}, false, `
[not started] Installation empty
    Waiting: no job was started yet: run landscaper-cli installations reconcile empty

[CleanupOrphaned] Installation cleanup

[Reticulating] Installation future

`},
		{"dangling references and parents are shown, not an error", dangling(), treeview.Options{}, false, `
[✅ Succeeded] Installation lost
    └── [?] Execution lost

[✅ Succeeded] Installation child (orphaned)

`},
		{"what is waited for is no error; a stalled object tells why", blocked(), treeview.Options{}, false, `
[🏗️ Init] Installation importer
    Waiting: Installation exporter is not finished

[❌ Failed] Installation stuck
    Stalled: the blueprint has no file deploy.yaml

`},
		{"control characters of a message do not reach the terminal", hostile(), treeview.Options{}, false, `
[❌ Failed] Installation a
    Last error: first\x1b[2J
    second\r\u202e

`},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			nodes := inspect.Forest(test.given.snapshot)
			if test.failed {
				nodes = inspect.Troubled(nodes)
			}
			got := render(t, nodes, test.options)
			if diff := cmp.Diff(strings.TrimPrefix(test.want, "\n"), got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// both are two landscapes in one namespace.
func both(a, b *landscape) *landscape {
	a.snapshot.Installations = append(a.snapshot.Installations, b.snapshot.Installations...)
	a.snapshot.Executions = append(a.snapshot.Executions, b.snapshot.Executions...)
	a.snapshot.DeployItems = append(a.snapshot.DeployItems, b.snapshot.DeployItems...)
	return a
}

func rootOnly(phase string) *landscape {
	l := newLandscape()
	l.installation("a", "", phase, "a-item-x="+phase)
	return l
}

func oddPhases() *landscape {
	l := newLandscape()
	l.installation("empty", "", "").Status.JobID = ""
	l.installation("cleanup", "", "CleanupOrphaned")
	l.installation("future", "", "Reticulating")
	return l
}

func dangling() *landscape {
	l := newLandscape()
	l.installation("lost", "", "Succeeded").Status.ExecutionReference = &v1alpha1.ObjectReference{Name: "lost", Namespace: namespace}
	l.installation("child", "vanished", "Succeeded")
	return l
}

func blocked() *landscape {
	l := newLandscape()
	waiting := l.installation("importer", "", "Init")
	waiting.Status.LastError = &v1alpha1.Error{Message: "Installation exporter is not finished"}
	waiting.Status.Conditions = []v1alpha1.Condition{
		{Type: v1alpha1.ReadyCondition, Status: v1alpha1.ConditionFalse, Reason: "Waiting", Message: "Installation exporter is not finished"},
		{Type: v1alpha1.ReconcilingCondition, Status: v1alpha1.ConditionTrue, Reason: "Waiting", Message: "Installation exporter is not finished"},
	}
	l.installation("stuck", "", "Failed").Status.Conditions = []v1alpha1.Condition{
		{Type: v1alpha1.StalledCondition, Status: v1alpha1.ConditionTrue, Reason: "Failed", Message: "the blueprint has no file deploy.yaml"},
	}
	return l
}

func hostile() *landscape {
	l := newLandscape()
	l.installation("a", "", "Failed").Status.LastError = &v1alpha1.Error{Message: "first\x1b[2J\nsecond\r\u202e"}
	return l
}

func TestDetails(t *testing.T) {
	l := rootOnly("Succeeded")
	l.snapshot.Installations[0].ManagedFields = append(l.snapshot.Installations[0].ManagedFields, managed("kubectl"))
	got := render(t, inspect.Forest(l.snapshot), treeview.Options{Details: true})
	for _, want := range []string{
		"[✅ Succeeded] Installation a\n    metadata:\n",
		"      name: a\n",
		"            jobID: job-1\n",
		"└── [✅ Succeeded] DeployItem a-item-x\n            metadata:\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
	if strings.Contains(got, "managedFields") || len(l.snapshot.Installations[0].ManagedFields) == 0 {
		t.Errorf("managed fields must be left out of the text, and only there:\n%s", got)
	}
}
