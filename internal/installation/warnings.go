package installation

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// Reasons of the events about what was found on the way to the children.
const (
	contextWarnings   = "ContextWarnings"
	blueprintWarnings = "BlueprintWarnings"
	importWarnings    = "ImportWarnings"
)

// warnings are what is probably not meant, of one kind.
type warnings struct {
	reason   string
	messages []string
}

// warn notes warnings of one kind.
func (s *snapshot) warn(reason string, messages []string) {
	if len(messages) > 0 {
		s.warnings = append(s.warnings, warnings{reason, messages})
	}
}

// warn tells users what was noted: in one event for each kind. It is called once in
// a job, when its children are known or cannot be worked out; attempts that are
// repeated say nothing.
func (r *Reconciler) warn(s *snapshot) {
	for _, w := range s.warnings {
		r.Events.Eventf(s.inst, nil, corev1.EventTypeWarning, w.reason, "ReconcileInstallation", "%s", eventNote(strings.Join(w.messages, "; ")))
	}
	s.warnings = nil
}

// withoutFirst returns what a list has after the entries that another begins with.
func withoutFirst(list, first []string) []string { return list[min(len(first), len(list)):] }
