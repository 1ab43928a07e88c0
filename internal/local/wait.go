package local

import (
	"context"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"go.landscaper.dev/api/v1alpha1"
)

// until waits until something holds of the Installations, which is looked at after each change of the
// resource cluster.
func (l *Landscape) until(ctx context.Context, holds func([]*unstructured.Unstructured) bool) error {
	for {
		news := l.Resource.News()
		var installations []*unstructured.Unstructured
		for _, object := range l.Resource.Objects() {
			if object.GetKind() == "Installation" {
				installations = append(installations, object)
			}
		}
		if holds(installations) {
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
func (l *Landscape) Wait(ctx context.Context) error {
	return l.until(ctx, func(installations []*unstructured.Unstructured) bool {
		for _, inst := range installations {
			if isRoot(inst) && !hasEnded(inst) {
				return false
			}
		}
		return true
	})
}

// WaitFor waits until an Installation, an Execution or a DeployItem says that it waits, with a text.
func (l *Landscape) WaitFor(ctx context.Context, text string) error {
	return l.until(ctx, func([]*unstructured.Unstructured) bool {
		for _, object := range l.Resource.Objects() {
			conditions, _, _ := unstructured.NestedSlice(object.Object, "status", "conditions")
			for _, condition := range conditions {
				fields, _ := condition.(map[string]any)
				message, _ := fields["message"].(string)
				if strings.Contains(message, text) {
					return true
				}
			}
		}
		return false
	})
}

// WaitDeleted waits until there is no Installation any more.
func (l *Landscape) WaitDeleted(ctx context.Context) error {
	return l.until(ctx, func(installations []*unstructured.Unstructured) bool { return len(installations) == 0 })
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
