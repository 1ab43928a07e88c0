package treeview_test

import (
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/landscape/inspect"
)

const namespace = "cu-example"

// landscape builds a snapshot. Each call makes the objects younger.
type landscape struct {
	snapshot inspect.Snapshot
	job      string
	minute   int
}

func newLandscape() *landscape { return &landscape{job: "job-1"} }

// installation adds an Installation with an Execution of the same name, in which
// each item is written as name=Phase.
func (l *landscape) installation(name, parent, phase string, items ...string) *v1alpha1.Installation {
	l.minute++
	installation := &v1alpha1.Installation{ObjectMeta: metav1.ObjectMeta{
		Name: name, Namespace: namespace, CreationTimestamp: metav1.NewTime(time.Date(2026, 1, 1, 0, l.minute, 0, 0, time.UTC)),
	}}
	if parent != "" {
		installation.Labels = map[string]string{v1alpha1.EncompassedByLabel: parent}
		template, _, _ := strings.Cut(strings.TrimPrefix(name, parent+"-"), "-")
		installation.Annotations = map[string]string{v1alpha1.SubinstallationNameAnnotation: template}
	}
	installation.Status.InstallationPhase = v1alpha1.InstallationPhase(phase)
	installation.Status.JobID, installation.Status.JobIDFinished = l.job, l.finished(phase)
	l.snapshot.Installations = append(l.snapshot.Installations, installation)
	if len(items) > 0 {
		installation.Status.ExecutionReference = &v1alpha1.ObjectReference{Name: name, Namespace: namespace}
		l.execution(name, phase, items...)
	}
	return installation
}

func (l *landscape) execution(name, phase string, items ...string) {
	execution := &v1alpha1.Execution{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace}}
	execution.Status.ExecutionPhase = v1alpha1.ExecutionPhase(phase)
	execution.Status.JobID, execution.Status.JobIDFinished = l.job, l.finished(phase)
	l.snapshot.Executions = append(l.snapshot.Executions, execution)
	for _, item := range items {
		name, phase, _ := strings.Cut(item, "=")
		l.item(execution.Name, name, phase)
	}
}

func (l *landscape) item(execution, name, phase string) *v1alpha1.DeployItem {
	item := &v1alpha1.DeployItem{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace, Labels: map[string]string{
		v1alpha1.ExecutionManagedByLabel: execution, v1alpha1.ExecutionManagedNameLabel: "item",
	}}}
	item.Spec.Type = "x/helm"
	item.Status.Phase = v1alpha1.DeployItemPhase(phase)
	item.Status.JobID, item.Status.JobIDFinished = l.job, l.finished(phase)
	l.snapshot.DeployItems = append(l.snapshot.DeployItems, item)
	return item
}

func (l *landscape) lastItem() *v1alpha1.DeployItem {
	return l.snapshot.DeployItems[len(l.snapshot.DeployItems)-1]
}

func (l *landscape) finished(phase string) string {
	if v1alpha1.InstallationPhase(phase).IsFinal() {
		return l.job
	}
	return ""
}

// config is a configuration of a DeployItem, written as JSON.
func config(format string, args ...any) *runtime.RawExtension {
	return &runtime.RawExtension{Raw: fmt.Appendf(nil, format, args...)}
}
