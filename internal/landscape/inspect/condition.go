package inspect

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"k8s.io/client-go/util/jsonpath"

	"go.landscaper.dev/api/v1alpha1"
)

// Condition is something that a user waits for besides the goals, whatever the job does meanwhile.
type Condition struct {
	text string
	met  func(*v1alpha1.Installation) bool
}

// String returns the condition as it was written.
func (c *Condition) String() string { return c.text }

// ParseCondition reads phase=PHASE, or jsonpath={.PATH}=VALUE as kubectl knows it; nil without an
// error means that the text has neither form.
func ParseCondition(text string) (*Condition, error) {
	if phase, ok := strings.CutPrefix(text, "phase="); ok {
		return &Condition{text, func(i *v1alpha1.Installation) bool { return string(i.Status.InstallationPhase) == phase }}, nil
	}
	path, ok := strings.CutPrefix(text, "jsonpath=")
	if !ok {
		return nil, nil
	}
	end := strings.LastIndex(path, "}")
	if end < 0 {
		return nil, fmt.Errorf("jsonpath %q: write the path in braces, such as {.status.phase}=Succeeded", path)
	}
	want, compares := strings.CutPrefix(path[end+1:], "=")
	if !compares && path[end+1:] != "" {
		return nil, fmt.Errorf("jsonpath %q: write = and a value behind the path, or nothing to wait until there is one", path)
	}
	parsed := jsonpath.New("condition").AllowMissingKeys(true)
	if err := parsed.Parse(path[:end+1]); err != nil {
		return nil, fmt.Errorf("jsonpath %q: %w", path, err)
	}
	return &Condition{text, func(i *v1alpha1.Installation) bool {
		got := evaluate(parsed, i)
		return compares && got == want || !compares && got != ""
	}}, nil
}

func evaluate(path *jsonpath.JSONPath, i *v1alpha1.Installation) string {
	raw, err := json.Marshal(i)
	if err != nil {
		return ""
	}
	var content any
	if json.Unmarshal(raw, &content) != nil {
		return ""
	}
	var text bytes.Buffer
	if path.Execute(&text, content) != nil {
		return ""
	}
	return text.String()
}

// Judge says whether an Installation, nil if it does not exist, meets the condition.
func (c *Condition) Judge(installation *v1alpha1.Installation, start Start) Verdict {
	switch {
	case installation == nil || start.UID != "" && installation.UID != start.UID:
		return Verdict{Result: Gone}
	case c.met(installation):
		return Verdict{Result: Reached}
	}
	verdict := Verdict{Result: Pending}
	if installation.Status.JobID == installation.Status.JobIDFinished {
		verdict.Reason = c.text + " is not the case, and no job is running"
	}
	return verdict
}
