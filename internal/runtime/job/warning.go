package job

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

// maxWarnings is how many bytes of warnings a status has.
const maxWarnings = 2 << 10

// AddWarnings adds to a condition of warnings what it does not say yet. Attempts that are
// repeated find the same.
func AddWarnings(conditions *[]v1alpha1.Condition, reason reasons.Reason, messages []string, generation int64, now metav1.Time) {
	said, before := "", GetCondition(*conditions, v1alpha1.WarningsCondition)
	if before != nil {
		said, reason = before.Message, reasons.Reason(before.Reason)
	}
	for _, message := range messages {
		if message == "" || strings.Contains(said, message) {
			continue
		}
		if said != "" {
			said += "; "
		}
		said += message
	}
	setWarnings(conditions, v1alpha1.WarningsCondition, reason, said, generation, now)
}

// DropWarning removes the warnings that begin with a text.
func DropWarning(conditions *[]v1alpha1.Condition, beginning string) {
	before := GetCondition(*conditions, v1alpha1.WarningsCondition)
	if before == nil || !strings.Contains(before.Message, beginning) {
		return
	}
	const between = "; "
	left := slices.DeleteFunc(strings.Split(before.Message, between), func(message string) bool { return strings.HasPrefix(message, beginning) })
	if len(left) == 0 {
		DropCondition(conditions, v1alpha1.WarningsCondition)
		return
	}
	changed := *before
	changed.Message = strings.Join(left, between)
	SetCondition(conditions, changed, before.LastTransitionTime)
}

// NoteChildWarnings replaces what a status says of warnings below. Each begins with the
// object that it is about.
func NoteChildWarnings(conditions *[]v1alpha1.Condition, messages []string, generation int64, now metav1.Time) {
	messages = slices.Compact(slices.Sorted(slices.Values(messages)))
	if len(messages) == 0 {
		DropCondition(conditions, v1alpha1.ChildWarningsCondition)
		return
	}
	setWarnings(conditions, v1alpha1.ChildWarningsCondition, reasons.WarningsBelow, strings.Join(messages, "; "), generation, now)
}

func setWarnings(conditions *[]v1alpha1.Condition, of v1alpha1.ConditionType, reason reasons.Reason, said string, generation int64, now metav1.Time) {
	if said == "" {
		return
	}
	if len(said) > maxWarnings {
		said = strings.ToValidUTF8(said[:maxWarnings], "") + "…"
	}
	SetCondition(conditions, v1alpha1.Condition{Type: of, Status: v1alpha1.ConditionTrue, Reason: string(reason), Message: said, ObservedGeneration: generation}, now)
}

// WarningsOf returns what conditions say of warnings of an object and of those below it,
// behind what names the object.
func WarningsOf(object string, conditions []v1alpha1.Condition) []string {
	var said []string
	for _, of := range []v1alpha1.ConditionType{v1alpha1.WarningsCondition, v1alpha1.ChildWarningsCondition} {
		if found := GetCondition(conditions, of); found != nil && found.Status == v1alpha1.ConditionTrue {
			said = append(said, object+found.Message)
		}
	}
	return said
}
