package secrets

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"go.landscaper.dev/api/v1alpha1"
)

// lookForCanary reports the lines that have the canary, in any case or in base64.
func lookForCanary(t *testing.T, where, text string) {
	t.Helper()
	for line := range strings.SplitSeq(text, "\n") {
		if at := canaryIn(line); at >= 0 {
			t.Errorf("%s has the canary: %.600s", where, line[max(0, at-300):])
		}
	}
}

// canaryIn returns where a text has the canary, or -1.
func canaryIn(text string) int {
	if at := strings.Index(strings.ToLower(text), canary); at >= 0 {
		return at
	}
	for _, encoded := range encodedCanary {
		if at := strings.Index(text, encoded); at >= 0 {
			return at
		}
	}
	return -1
}

// encodedCanary is what base64 of a text with the canary has in it, for each place that
// the canary can have in the text.
var encodedCanary = func() (all []string) {
	for before := range 3 {
		encoded := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("x", before) + canary))
		// The first and the last characters depend on what is around the canary.
		first, last := (before*8+5)/6, (before+len(canary))*8/6
		all = append(all, encoded[first:last])
	}
	return all
}()

func TestEncodedCanary(t *testing.T) {
	for before := range 7 {
		text := "data: " + base64.StdEncoding.EncodeToString([]byte(strings.Repeat("?", before)+canary+" and more"))
		if canaryIn(text) < 0 {
			t.Errorf("the canary behind %d bytes is not found", before)
		}
	}
	if canaryIn("data: "+base64.StdEncoding.EncodeToString([]byte("nothing special is in here"))) >= 0 {
		t.Error("a canary was found where none is")
	}
}

// sayings are what a namespace says.
type sayings struct {
	// of are the statuses and events about an Installation, its Execution and items.
	of map[string][]string
	// others are the statuses and events about other objects.
	others []string
}

// whatIsSaid reads the statuses of all our kinds in a namespace, and its events.
func whatIsSaid(t *testing.T, space string) *sayings {
	t.Helper()
	said := &sayings{of: map[string][]string{}}
	owners := map[string]string{}
	for kind := range env.Admin.Scheme().KnownTypes(v1alpha1.GroupVersion) {
		if !strings.HasSuffix(kind, "List") {
			continue
		}
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(kind))
		if err := env.Admin.List(t.Context(), list, client.InNamespace(space)); err != nil {
			t.Fatal(err)
		}
		for _, object := range list.Items {
			owner := ""
			switch object.GetKind() {
			case "Installation", "Execution":
				owner = object.GetName()
			case "DeployItem":
				owner = object.GetOwnerReferences()[0].Name
			}
			owners[object.GetKind()+" "+object.GetName()] = owner
			said.add(owner, object.GetKind()+" "+object.GetName()+": "+string(jsonOf(object.Object["status"])))
		}
	}
	events := &eventsv1.EventList{}
	if err := env.Admin.List(t.Context(), events, client.InNamespace(space)); err != nil {
		t.Fatal(err)
	}
	for _, event := range events.Items {
		about := event.Regarding.Kind + " " + event.Regarding.Name
		event.ManagedFields = nil
		said.add(owners[about], "event of "+about+": "+string(jsonOf(event)))
	}
	return said
}

func (s *sayings) add(owner, text string) {
	if owner == "" {
		s.others = append(s.others, text)
		return
	}
	s.of[owner] = append(s.of[owner], text)
}

// inspectCanaries looks at the screens of the command line.
func inspectCanaries(t *testing.T, space string, count int) {
	t.Helper()
	program, err := filepath.Abs("../../bin/landscaper-cli")
	if err != nil {
		t.Fatal(err)
	}
	for _, form := range []string{
		"", "-o wide", "-o yaml", "-o json", "-o tree-json", "--show-details", "--show-failed", "--names template",
		"--hide-executions", "--all-namespaces", "wrong-token --watch --until finished",
	} {
		t.Run("inspect "+form, func(t *testing.T) {
			args := append([]string{"installations", "inspect", "--kubeconfig", env.Resource.Kubeconfig, "--no-wrap", "--namespace", space}, strings.Fields(form)...)
			command := exec.CommandContext(t.Context(), program, args...)
			var out, failures bytes.Buffer
			command.Stdout, command.Stderr = &out, &failures
			// With --watch, the exit code shows that Installations have failed.
			if err := command.Run(); err != nil && !strings.Contains(form, "--watch") {
				t.Fatalf("%v\n%s", err, failures.String())
			}
			shown := withoutSpec(t, out.Bytes())
			if messages := strings.Count(strings.ToLower(shown), "error"); !strings.Contains(form, "--watch") && messages < count/2 {
				t.Errorf("the screen shows %d errors; the test shows nothing:\n%.2000s", messages, shown)
			}
			lookForCanary(t, "the screen", shown+failures.String())
		})
	}
}

// withoutSpec takes specifications and metadata out of what is shown as JSON or YAML:
// they are what users have written, and what templates have made.
func withoutSpec(t *testing.T, shown []byte) string {
	t.Helper()
	if json.Valid(shown) {
		text, err := yaml.JSONToYAML(shown)
		if err != nil {
			t.Fatal(err)
		}
		shown = text
	}
	var kept []string
	left := -1
	for line := range strings.SplitSeq(string(shown), "\n") {
		// The branches of a tree, and the beginning of an element of a list.
		plain := strings.NewReplacer("│", " ", "├", " ", "└", " ", "─", " ", "- ", "  ").Replace(line)
		field := strings.TrimLeft(plain, " ")
		depth := len(plain) - len(field)
		if left >= 0 && depth > left {
			continue
		}
		left = -1
		if field == "spec:" || field == "metadata:" {
			left = depth
			continue
		}
		kept = append(kept, line)
	}
	return strings.Join(kept, "\n")
}

// jsonOf encodes what can be encoded.
func jsonOf(value any) []byte {
	raw, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return raw
}
