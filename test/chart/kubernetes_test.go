package chart

import (
	"io/fs"
	"path"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/cel-go/cel"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/util/version"
	plugincel "k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/cel/environment"
	"sigs.k8s.io/yaml"

	"go.landscaper.dev/api"
)

// oldest is the oldest minor version of Kubernetes that a chart asks for.
func oldest(t *testing.T, of Chart) int {
	t.Helper()
	directory, err := of.Directory()
	if err != nil {
		t.Fatal(err)
	}
	loaded, err := loader.Load(directory)
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`^>=1\.(\d+)\.0-0$`).FindStringSubmatch(loaded.Metadata.KubeVersion)
	if found == nil {
		t.Fatalf("the chart asks for Kubernetes %q", loaded.Metadata.KubeVersion)
	}
	minor, err := strconv.Atoi(found[1])
	if err != nil {
		t.Fatal(err)
	}
	return minor
}

// since says which minor version of Kubernetes was the first to serve a kind in this version.
var since = map[string]int{
	"v1 ConfigMap": 2, "v1 Namespace": 0, "v1 Pod": 0, "v1 Secret": 0, "v1 Service": 0, "v1 ServiceAccount": 0,
	"apps/v1 Deployment": 9, "batch/v1 Job": 2, "policy/v1 PodDisruptionBudget": 21, "networking.k8s.io/v1 NetworkPolicy": 7,
	"rbac.authorization.k8s.io/v1 ClusterRole": 8, "rbac.authorization.k8s.io/v1 ClusterRoleBinding": 8,
	"rbac.authorization.k8s.io/v1 Role": 8, "rbac.authorization.k8s.io/v1 RoleBinding": 8,
}

// TestOldestKindsOfCharts: the oldest Kubernetes that the charts ask for serves all kinds of theirs.
func TestOldestKindsOfCharts(t *testing.T) {
	for _, of := range []Chart{Landscaper, ShootFlux} {
		objects, err := of.Render(nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, object := range objects {
			if object.GetKind() == "VerticalPodAutoscaler" {
				continue // of seeds, which have its definition
			}
			kind := object.GetAPIVersion() + " " + object.GetKind()
			if first, ok := since[kind]; !ok || first > oldest(t, of) {
				t.Errorf("%s has %s, since 1.%d", of.Name, kind, first)
			}
		}
	}
}

// TestOldestExpressions: the oldest Kubernetes that the chart asks for compiles the expressions of the
// admission policies. The library of Kubernetes knows which version brought which function; an API
// server lets new objects use what the version before it knew. Definitions of kinds have no
// expressions, and nothing that is newer than that.
func TestOldestExpressions(t *testing.T) {
	minor, compiled := oldest(t, Landscaper), 0
	for name, text := range readAll(t, api.Policies) {
		for document := range strings.SplitSeq(text, "\n---\n") {
			var policy admissionregistrationv1.ValidatingAdmissionPolicy
			if err := yaml.Unmarshal([]byte(document), &policy); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			compiled += compile(t, version.MajorMinor(1, uint(minor)-1), &policy)
		}
	}
	if compiled < 10 {
		t.Errorf("only %d expressions were compiled", compiled)
	}
	for name, text := range readAll(t, api.CRDs) {
		for _, newer := range []string{"x-kubernetes-validations", "selectableFields"} {
			if strings.Contains(text, newer) {
				t.Errorf("%s has %s: look at what 1.%d does with it", name, newer, minor)
			}
		}
	}
}

// expression is one of a policy.
type expression struct {
	name, text string
	gives      *cel.Type
}

func (e expression) GetName() string          { return e.name }
func (e expression) GetExpression() string    { return e.text }
func (e expression) ReturnTypes() []*cel.Type { return []*cel.Type{e.gives} }

// compile compiles all expressions of a policy with what that version of Kubernetes has brought, and
// counts them.
func compile(t *testing.T, known *version.Version, policy *admissionregistrationv1.ValidatingAdmissionPolicy) int {
	t.Helper()
	compiler, err := plugincel.NewCompositedCompiler(environment.MustBaseEnvSet(known))
	if err != nil {
		t.Fatal(err)
	}
	declared := plugincel.OptionalVariableDeclarations{HasParams: policy.Spec.ParamKind != nil, HasAuthorizer: true}
	count := 0
	check := func(result plugincel.CompilationResult, expression string) {
		t.Helper()
		if count++; result.Error != nil {
			t.Errorf("%s: policy %s: %v\n%s", known, policy.Name, result.Error, expression)
		}
	}
	for _, variable := range policy.Spec.Variables {
		check(compiler.CompileAndStoreVariable(expression{variable.Name, variable.Expression, cel.AnyType}, declared, environment.NewExpressions), variable.Expression)
	}
	for _, condition := range policy.Spec.MatchConditions {
		check(compiler.CompileCELExpression(expression{text: condition.Expression, gives: cel.BoolType}, declared, environment.NewExpressions), condition.Expression)
	}
	for _, validation := range policy.Spec.Validations {
		check(compiler.CompileCELExpression(expression{text: validation.Expression, gives: cel.BoolType}, declared, environment.NewExpressions), validation.Expression)
		if text := validation.MessageExpression; text != "" {
			message := plugincel.OptionalVariableDeclarations{HasParams: declared.HasParams}
			check(compiler.CompileCELExpression(expression{text: text, gives: cel.StringType}, message, environment.NewExpressions), text)
		}
	}
	return count
}

// readAll reads manifests that package api embeds.
func readAll(t *testing.T, of fs.FS) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := fs.WalkDir(of, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := fs.ReadFile(of, name)
		found[path.Base(name)] = string(text)
		return err
	})
	if err != nil || len(found) == 0 {
		t.Fatalf("%d files: %v", len(found), err)
	}
	return found
}
