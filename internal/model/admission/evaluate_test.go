package admission

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"github.com/google/cel-go/ext"
	"github.com/robfig/cron/v3"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/yaml"
)

// server evaluates policies as an API server does. It compiles each expression once.
type server struct {
	env      *cel.Env
	programs map[string]cel.Program
}

func newServer(t *testing.T) *server {
	t.Helper()
	return &server{env: environment(t), programs: map[string]cel.Program{}}
}

// environment has the functions of the API server that the expressions of policies use.
func environment(t *testing.T) *cel.Env {
	t.Helper()
	index := func(from func([]int) int) cel.OverloadOpt {
		return cel.BinaryBinding(func(list, wanted ref.Val) ref.Val {
			var found []int
			elements := list.(traits.Lister).Iterator()
			for at := 0; elements.HasNext() == types.True; at++ {
				if elements.Next().Equal(wanted) == types.True {
					found = append(found, at)
				}
			}
			if len(found) == 0 {
				return types.Int(-1)
			}
			return types.Int(from(found))
		})
	}
	list := []*cel.Type{cel.ListType(cel.DynType), cel.DynType}
	named := func(name string) cel.EnvOption {
		return cel.Function(name, cel.MemberOverload("format_"+name, []*cel.Type{cel.StringType}, cel.StringType, cel.UnaryBinding(func(ref.Val) ref.Val { return types.String(name) })))
	}
	env, err := cel.NewEnv(cel.OptionalTypes(), ext.Strings(),
		cel.Variable("object", cel.DynType), cel.Variable("oldObject", cel.DynType), cel.Variable("request", cel.DynType), cel.Variable("variables", cel.DynType),
		cel.Variable("format", cel.StringType), named("qualifiedName"), named("labelValue"),
		cel.Function("indexOf", cel.MemberOverload("list_index", list, cel.IntType, index(slices.Min))),
		cel.Function("lastIndexOf", cel.MemberOverload("list_last_index", list, cel.IntType, index(slices.Max))),
		cel.Function("validate", cel.MemberOverload("format_validate", []*cel.Type{cel.StringType, cel.StringType}, cel.OptionalType(cel.DynType), cel.BinaryBinding(func(format, value ref.Val) ref.Val {
			check := utilvalidation.IsQualifiedName
			if format == types.String("labelValue") {
				check = utilvalidation.IsValidLabelValue
			}
			if len(check(value.Value().(string))) == 0 {
				return types.OptionalNone
			}
			return types.OptionalOf(types.String("wrong"))
		}))),
	)
	if err != nil {
		t.Fatal(err)
	}
	return env
}

// evaluated is the value of an expression, or an error.
func (s *server) evaluated(t *testing.T, expression string, input map[string]any) (ref.Val, error) {
	t.Helper()
	if s.programs[expression] == nil {
		checked, issues := s.env.Compile(expression)
		if issues.Err() != nil {
			t.Fatalf("%s: %v", expression, issues.Err())
		}
		program, err := s.env.Program(checked)
		if err != nil {
			t.Fatal(err)
		}
		s.programs[expression] = program
	}
	value, _, err := s.programs[expression].Eval(input)
	return value, err
}

// says is the message of a policy about an object, empty if the object passes. An object whose
// rules cannot be evaluated passes, as with the API server.
func (s *server) says(t *testing.T, policy *admissionv1.ValidatingAdmissionPolicy, input map[string]any) string {
	t.Helper()
	for _, condition := range policy.Spec.MatchConditions {
		if matches, err := s.evaluated(t, condition.Expression, input); err != nil || matches != types.True {
			return ""
		}
	}
	variables := map[string]any{}
	input["variables"] = variables
	for _, variable := range policy.Spec.Variables {
		if variable.Name == AllowedSourceNamespaces {
			// The installer fills it in.
			variable.Expression = `{"shared": ["default"]}`
		}
		// They are lazy: an error counts only for rules that use the variable.
		if value, err := s.evaluated(t, variable.Expression, input); err == nil {
			variables[variable.Name] = value
		}
	}
	for _, validation := range policy.Spec.Validations {
		passes, err := s.evaluated(t, validation.Expression, input)
		if err != nil || passes == types.True {
			continue
		}
		message, err := s.evaluated(t, validation.MessageExpression, input)
		if err != nil {
			t.Fatal(err)
		}
		return message.Value().(string)
	}
	return ""
}

type object = map[string]any

// completed is an object with what the API server fills in.
func completed(of object) object {
	if of == nil {
		return nil
	}
	metadata, _ := of["metadata"].(object)
	if metadata == nil {
		metadata = object{}
	}
	if _, generated := metadata["generateName"]; generated {
		metadata["name"] = metadata["generateName"].(string) + "abcde"
	} else if metadata["name"] == nil {
		metadata["name"] = "a"
	}
	metadata["namespace"] = "default"
	of["metadata"] = metadata
	return of
}

var resources = map[string]string{"Installation": "installations", "Execution": "executions", "DeployItem": "deployitems", "Target": "targets", "TargetSync": "targetsyncs"}

// complaints are the messages of all policies about an object of a kind: refusals and warnings.
func (s *server) complaints(t *testing.T, now, before object) (refused, warned string) {
	t.Helper()
	operation := "CREATE"
	if before != nil {
		operation = "UPDATE"
	}
	kind, _ := now["kind"].(string)
	labels, _ := now["metadata"].(object)["labels"].(object)
	for _, policy := range Policies() {
		if policy.Policy.Spec.MatchConstraints.ResourceRules[0].Resources[0] != resources[kind] {
			continue
		}
		skip := policy.Policy.Spec.MatchConstraints.ObjectSelector.MatchExpressions[0]
		if value, _ := labels[skip.Key].(string); slices.Contains(skip.Values, value) {
			continue
		}
		input := map[string]any{
			"object": now, "oldObject": before, "format": "",
			"request": object{"operation": operation, "namespace": "default"},
		}
		text := s.says(t, policy.Policy, input)
		if policy.Binding.Spec.ValidationActions[0] == admissionv1.Warn {
			warned += text
		} else {
			refused += text
		}
	}
	return refused, warned
}

// TestCases evaluates the rules for the objects that the integration tests send to an API
// server.
func TestCases(t *testing.T) {
	content, err := os.ReadFile("../validation/testdata/admission.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Reason, Rule, Refused, Warned string
		Object, Old                   object
	}
	if err := yaml.Unmarshal(content, &cases); err != nil {
		t.Fatal(err)
	}
	api := newServer(t)
	for _, test := range cases {
		t.Run(test.Reason, func(t *testing.T) {
			refused, warned := api.complaints(t, completed(test.Object), completed(test.Old))
			if (refused != "") != (test.Refused != "") || !strings.Contains(refused, test.Refused) {
				t.Errorf("it refuses %q, want %q", refused, test.Refused)
			}
			if !strings.Contains(warned, test.Warned) || test.Warned == "" && test.Refused == "" && warned != "" {
				t.Errorf("it warns %q, want %q", warned, test.Warned)
			}
		})
	}
}

// TestWhoIsLookedAt: the API server checks objects that a user has written, once.
func TestWhoIsLookedAt(t *testing.T) {
	api := newServer(t)
	parsed := func(text string) object {
		made := object{}
		if err := yaml.Unmarshal([]byte(text), &made); err != nil {
			t.Fatal(err)
		}
		return completed(made)
	}
	const wrong = `{kind: DeployItem, spec: {type: "", context: %s}}`
	item := func(context string) object { return parsed(strings.Replace(wrong, "%s", context, 1)) }
	owned := func(kind string) object {
		made := item("a")
		made["metadata"].(object)["ownerReferences"] = []any{object{"kind": kind, "name": "x"}}
		return made
	}
	for _, test := range []struct {
		reason      string
		now, before object
		looked      bool
	}{
		{"a new object", item("a"), nil, true},
		{"a new object of its controller, which has checked it itself", owned("Execution"), nil, false},
		{"a new object of another owner", owned("ConfigMap"), nil, true},
		{"a change of the specification", item("b"), item("a"), true},
		{"a change of its controller is checked, too", func() object { o := owned("Execution"); o["spec"].(object)["context"] = "b"; return o }(), item("a"), true},
		{"a change of the metadata, so that an old object can lose its finalizer", item("a"), item("a"), false},
		{"an object without a specification", parsed(`{kind: DeployItem}`), nil, true},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if refused, _ := api.complaints(t, test.now, test.before); (refused != "") != test.looked {
				t.Errorf("it refuses %q", refused)
			}
		})
	}
}

// TestRules: what the table guarantees for the policies and pages that are built from it.
func TestRules(t *testing.T) {
	for _, kind := range Kinds() {
		ids := map[string]bool{}
		for _, rule := range kind.Rules {
			t.Run(kind.Resource+" "+rule.ID, func(t *testing.T) {
				if ids[rule.ID] {
					t.Error("there is another one of this name")
				}
				ids[rule.ID] = true
				if (rule.Offenders == "") == (rule.Violated == "") || (rule.Violated == "") != (rule.Offender == "") {
					t.Error("it has neither offenders nor a condition, or both")
				}
				if rule.Path == "" || rule.Problem == "" || strings.ContainsAny(rule.Path+rule.Problem, `'\`) {
					t.Errorf("its texts break the expression or the sentence: %q %q", rule.Path, rule.Problem)
				}
			})
		}
	}
	for _, policy := range Policies() {
		t.Run(policy.Policy.Name, func(t *testing.T) {
			if policy.Binding.Spec.PolicyName != policy.Policy.Name || policy.Binding.Name != policy.Policy.Name {
				t.Error("the binding is of another policy")
			}
			if *policy.Policy.Spec.FailurePolicy != admissionv1.Ignore {
				t.Error("what cannot be evaluated would be refused")
			}
		})
	}
}

// TestDurations: a duration that a controller can read is never refused.
func TestDurations(t *testing.T) {
	pattern := regexp.MustCompile(durationPattern)
	for _, test := range []struct {
		reason, text string
		want         bool
	}{
		{"minutes", "10m", true},
		{"several units", "1h30m0.5s", true},
		{"no time", "0", true},
		{"none", "none", true},
		{"less than nothing, which controllers judge", "-5m", true},
		{"a fraction that begins with the point", ".5h", true},
		{"both letters for a millionth", "1µs1μs", true},
		{"no unit", "10", false},
		{"days, which Go does not have", "1d", false},
		{"words", "ten minutes", false},
		{"nothing", "", false},
		{"a sign alone", "-", false},
		{"a decimal point alone", ".s", false},
		{"a duration with a suffix", "10m ", false},
		{"upper case", "10M", false},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if got := pattern.MatchString(test.text); got != test.want {
				t.Errorf("%q: %t", test.text, got)
			}
		})
	}
}

// FuzzDurations: the pattern and the parser of the controllers agree, but for numbers that
// are too large for any duration.
func FuzzDurations(f *testing.F) {
	for _, seed := range []string{"10m", "1h30m", "-.5s", "0", "none", "1d", "+", "9999999999999h", "1.s", "00s"} {
		f.Add(seed)
	}
	pattern := regexp.MustCompile(durationPattern)
	f.Fuzz(func(t *testing.T, text string) {
		_, err := time.ParseDuration(text)
		if matches := pattern.MatchString(text); err == nil && !matches {
			t.Errorf("%q is refused, and it is a duration", text)
		} else if matches && err != nil && text != "none" && len(text) < 8 {
			t.Errorf("%q is admitted: %v", text, err)
		}
	})
}

// schedules is the pattern as a regular expression: in the policy it is a part of a text.
func schedules() *regexp.Regexp {
	return regexp.MustCompile(strings.ReplaceAll(cronPattern(), `\\`, `\`))
}

func TestSchedules(t *testing.T) {
	pattern := schedules()
	for _, test := range []struct {
		reason, text string
		want         bool
	}{
		{"each Monday", "0 6 * * 1", true},
		{"a word", "@hourly", true},
		{"an interval", "@every 5m", true},
		{"names of days and months, in any case", "0 6 * jan,Feb MON-fri", true},
		{"ranges and steps", "*/5 0-23/2 1,15 * ?", true},
		{"a time zone", "CRON_TZ=Europe/Berlin 0 6 * * *", true},
		{"zeros in front", "00 06 01 01 00", true},
		{"four fields", "0 6 * *", false},
		{"six fields", "0 0 6 * * *", false},
		{"minute 60", "60 * * * *", false},
		{"hour 24", "0 24 * * *", false},
		{"day 0", "0 0 0 * *", false},
		{"month 13", "0 0 1 13 *", false},
		{"weekday 7, which the parser does not know", "0 0 * * 7", false},
		{"a word that does not exist", "@fortnightly", false},
		{"nothing", "", false},
		{"only a time zone", "TZ=UTC", false},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if got := pattern.MatchString(test.text); got != test.want {
				t.Errorf("%q: %t", test.text, got)
			}
		})
	}
}

// FuzzSchedules: what a controller can read is never refused.
func FuzzSchedules(f *testing.F) {
	for _, seed := range []string{"0 6 * * 1", "*/5 0-23/2 1,15 * ?", "@daily", "@every 1h", "TZ=UTC @weekly", "+5 * * * *", ",1, * * * *", "0 0 * Jan Sun"} {
		f.Add(seed)
	}
	pattern := schedules()
	f.Fuzz(func(t *testing.T, text string) {
		if strings.HasPrefix(text, "TZ=") || strings.HasPrefix(text, "CRON_TZ=") || strings.ContainsFunc(text, func(char rune) bool { return char > '~' || char < ' ' }) {
			return // the parser reads zones and spaces that no expression can list
		}
		if _, err := cron.ParseStandard(text); err == nil && !pattern.MatchString(text) {
			t.Errorf("%q is refused, and it is a schedule", text)
		}
	})
}
