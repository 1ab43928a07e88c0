package local

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"go.landscaper.dev/api/v1alpha1"
)

// until waits until something holds of the objects of the resource cluster, which are looked at after each
// of its changes.
func (l *Landscape) until(ctx context.Context, holds func([]*unstructured.Unstructured) bool) error {
	for {
		news := l.Resource.News()
		if holds(l.Resource.Objects()) {
			return nil
		}
		select {
		case <-news:
		case <-l.failed:
			return l.Problems()
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Wait waits until the jobs of all root Installations have ended.
func (l *Landscape) Wait(ctx context.Context) error { return l.until(ctx, haveEnded) }

// haveEnded reports whether the jobs of all root Installations have ended.
func haveEnded(objects []*unstructured.Unstructured) bool {
	for _, object := range objects {
		if isInstallation(object) && isRoot(object) && !hasEnded(object) {
			return false
		}
	}
	return true
}

// ErrEnded says that all jobs have ended, so that nothing will wait any more.
var ErrEnded = errors.New("all Installations have ended")

// WaitFor waits until an Installation, an Execution or a DeployItem says something in a condition, with
// a text. It returns ErrEnded if that will not come.
func (l *Landscape) WaitFor(ctx context.Context, text string) error {
	var late error
	err := l.until(ctx, func(objects []*unstructured.Unstructured) bool {
		for _, object := range objects {
			for _, condition := range conditionsOf(object) {
				if Says(condition.message, text) {
					return true
				}
			}
		}
		if haveEnded(objects) {
			late = ErrEnded
		}
		return late != nil
	})
	return cmp.Or(err, late)
}

// Says reports whether a message has a text. Upper and lower case are the same: the server answers
// "Forbidden", and the rule that lets it do so is "forbidden".
func Says(message, text string) bool {
	return strings.Contains(strings.ToLower(message), strings.ToLower(text))
}

// Waits are what Installations, Executions and DeployItems wait for, each once.
func (l *Landscape) Waits() (all []string) {
	for _, object := range l.Resource.Objects() {
		for _, condition := range conditionsOf(object) {
			if condition.waiting && !slices.Contains(all, condition.message) {
				all = append(all, condition.message)
			}
		}
	}
	return all
}

// condition is what a condition of an object says.
type condition struct {
	message string
	// waiting says that the object has not come to its end.
	waiting bool
}

func conditionsOf(object *unstructured.Unstructured) (all []condition) {
	list, _, _ := unstructured.NestedSlice(object.Object, "status", "conditions")
	for _, item := range list {
		fields, _ := item.(map[string]any)
		if message, _ := fields["message"].(string); message != "" {
			all = append(all, condition{message, fields["type"] == string(v1alpha1.ReconcilingCondition) && fields["status"] == string(metav1.ConditionTrue)})
		}
	}
	return all
}

// WaitDeleted waits until there is no Installation any more.
func (l *Landscape) WaitDeleted(ctx context.Context) bool {
	return l.until(ctx, func(objects []*unstructured.Unstructured) bool { return !slices.ContainsFunc(objects, isInstallation) }) == nil
}

func isInstallation(object *unstructured.Unstructured) bool {
	return object.GetKind() == "Installation"
}

func isRoot(installation *unstructured.Unstructured) bool {
	return installation.GetLabels()[v1alpha1.EncompassedByLabel] == ""
}

// hasEnded reports whether the job that was asked for has ended.
func hasEnded(installation *unstructured.Unstructured) bool {
	began, _, _ := unstructured.NestedString(installation.Object, "status", "jobID")
	ended, _, _ := unstructured.NestedString(installation.Object, "status", "jobIDFinished")
	return began != "" && began == ended && installation.GetAnnotations()[v1alpha1.OperationAnnotation] == ""
}

// Roots are the Installations that are no part of another one.
func (l *Landscape) Roots() (roots []Installation) {
	for _, object := range l.Resource.Objects() {
		if object.GetKind() == "Installation" && isRoot(object) {
			phase, _, _ := unstructured.NestedString(object.Object, "status", "phase")
			message, _, _ := unstructured.NestedString(object.Object, "status", "lastError", "message")
			roots = append(roots, Installation{object.GetNamespace(), object.GetName(), phase, message})
		}
	}
	return roots
}

// Phases are those of all Installations; a part of a tree has the name that it has in its blueprint.
func (l *Landscape) Phases() map[string]string {
	phases := map[string]string{}
	for _, object := range l.Resource.Objects() {
		if object.GetKind() != "Installation" {
			continue
		}
		name := object.GetAnnotations()[v1alpha1.SubinstallationNameAnnotation]
		if name == "" {
			name = object.GetName()
		}
		phases[name], _, _ = unstructured.NestedString(object.Object, "status", "phase")
	}
	return phases
}

// Created are the objects of all target clusters as "Kind name", in the order of their creation.
func (l *Landscape) Created() []string {
	l.creation.Lock()
	defer l.creation.Unlock()
	return slices.DeleteFunc(slices.Clone(l.created), func(object string) bool {
		name, isNamespace := strings.CutPrefix(object, "Namespace ")
		return isNamespace && namespaces[name]
	})
}
