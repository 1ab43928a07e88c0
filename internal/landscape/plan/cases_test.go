package plan

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/base/jsonvalue"
	"go.landscaper.dev/internal/base/memfs"
	"go.landscaper.dev/internal/content/blueprint"
	"go.landscaper.dev/internal/content/component"
	"go.landscaper.dev/internal/content/component/descriptor"
	"go.landscaper.dev/internal/model/dataflow"
)

// blueprintCase is a blueprint with its inputs and what it must give. Fields that
// are not given are not compared.
type blueprintCase struct {
	// Shows are the features that the case is for.
	Shows []string `json:"shows"`
	// Files are the blueprint, as in an Installation.
	Files v1alpha1.AnyJSON `json:"files"`
	// Repository has component descriptors, and their blobs in the directory blobs.
	Repository v1alpha1.AnyJSON `json:"repository"`
	// Spec has the component descriptor, mappings and exports of the Installation.
	Spec v1alpha1.InstallationSpec `json:"spec"`
	// The imports by logical name. Targets have names only.
	Data        map[string]v1alpha1.AnyJSON  `json:"data"`
	Targets     map[string]string            `json:"targets"`
	TargetLists map[string][]string          `json:"targetLists"`
	TargetMaps  map[string]map[string]string `json:"targetMaps"`
	// ItemExports are what the deploy items export, by name.
	ItemExports map[string]exact `json:"itemExports"`
	// Installations are exports of subinstallations, by path.
	Installations map[string]*SimulatedExports `json:"installations"`

	// Imports are the values that templates see.
	Imports          exact `json:"imports"`
	Items            exact `json:"items"`
	Subinstallations exact `json:"subinstallations"`
	// Below are the deploy items of subinstallations, by path.
	Below   exact `json:"below"`
	Exports exact `json:"exports"`
	// Published are the values of exported DataObjects and Targets, by name.
	Published exact `json:"published"`
	// Error is a part of the message.
	Error string `json:"error"`
	// Same reports that a second run with the stored states gives the same items.
	Same bool `json:"same"`
}

// exact is any value; integers stay integers.
type exact struct{ value any }

func (e *exact) UnmarshalJSON(text []byte) error {
	var err error
	e.value, err = jsonvalue.FromJSON(text)
	return err
}

// features are what blueprints of public guides and examples use: each has a case.
var features = []string{
	"subinstallations in files", "a leading slash of files", "imports without a type", "an element of a map of Targets as target", "targetMapRef",
	"getResourceKey with a reference in back quotes", "range", "until", "int", "index", "dig", "default", "nindent", "toYaml", "b64dec in exports",
	"now with date", "dict", "define and template", "dependsOn", "Spiff: map over a list and a map", "Spiff: sum", "Spiff: temporary nodes",
	"Spiff: __ctx.OUTER", "Spiff: //", "Spiff: ternary", "Spiff: ~~", "the name of a Target in the configuration",
}

// situations are those that the description of blueprints explains with an example.
var situations = []string{
	"a blueprint with local types", "imports that depend on another one", "references of schemas", "mappings of imports", "mappings of exports",
	"state of a Go template", "import executions", "targets of deploy items", "a loop over Targets", "exported Targets", "subinstallations of both forms",
	"functions and included files", "temporary values of Spiff", "state of Spiff",
}

func TestCases(t *testing.T) {
	missing := map[string]bool{}
	for _, feature := range slices.Concat(features, situations) {
		missing[feature] = true
	}
	files, err := filepath.Glob("testdata/cases/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var cases []*blueprintCase
		if err := yaml.UnmarshalStrict(text, &cases); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for _, c := range cases {
			t.Run(strings.Join(c.Shows, ", "), c.run)
			for _, feature := range c.Shows {
				delete(missing, feature)
			}
		}
	}
	if len(missing) > 0 {
		t.Errorf("no case shows %q", slices.Sorted(maps.Keys(missing)))
	}
}

func (c *blueprintCase) run(t *testing.T) {
	node, err := c.grow(t, nil)
	if c.Error != "" {
		wantError(t, "the case", err, c.Error)
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, waiting := range node.Waiting {
		t.Errorf("%s waits: %v", waiting.Path, waiting.Reason)
	}
	c.compare(t, node)
	if !c.Same {
		return
	}
	states := memory{}
	states.write(node.States)
	again, err := c.grow(t, states)
	if err != nil {
		t.Fatal(err)
	}
	wantSame(t, "the second run", again.DeployItems, node.DeployItems)
}

func (c *blueprintCase) grow(t *testing.T, states States) (*Node, error) {
	t.Helper()
	repository, err := memfs.Empty(), error(nil)
	if len(c.Repository.RawMessage) > 0 {
		repository, err = blueprint.Inline(c.Repository)
	}
	if err != nil {
		t.Fatal(err)
	}
	from := component.NewSession(component.NewShared(), component.Options{Local: repository, Default: descriptor.Typed(`{"type":"local","filePath":"."}`)})
	t.Cleanup(func() { _ = from.Close() })
	inst := &v1alpha1.Installation{ObjectMeta: metav1.ObjectMeta{Namespace: "space", Name: "inst", UID: "uid"}, Spec: c.Spec}
	inst.Spec.Blueprint.Inline = &v1alpha1.InlineBlueprint{Filesystem: c.Files}
	in, err := openAll(t, from, inst)
	if err != nil {
		t.Fatal(err)
	}
	in.Imports, in.States = c.imported(), states
	simulation := known{items: map[string]map[string]any{}, installations: c.Installations}
	for name, exports := range c.ItemExports {
		simulation.items["inst/"+name], _ = exports.value.(map[string]any)
	}
	open := func(_ context.Context, _ Input, inst *v1alpha1.Installation) (Input, error) {
		return openAll(t, from, inst)
	}
	tree := &Tree{Open: open, Simulation: simulation}
	node, err := tree.Grow(t.Context(), in)
	if err == nil {
		restartAll(t, tree, node, from)
	}
	return node, err
}

func (c *blueprintCase) imported() dataflow.Imports {
	imports := dataflow.Imports{
		Data: map[string]dataflow.DataImport{}, Targets: map[string]*v1alpha1.Target{},
		TargetLists: map[string][]*v1alpha1.Target{}, TargetMaps: map[string]map[string]*v1alpha1.Target{},
	}
	for name, value := range c.Data {
		imports.Data[name] = dataflow.DataImport{Value: value}
	}
	for name, element := range c.Targets {
		imports.Targets[name] = target(element)
	}
	for name, elements := range c.TargetLists {
		for _, element := range elements {
			imports.TargetLists[name] = append(imports.TargetLists[name], target(element))
		}
	}
	for name, elements := range c.TargetMaps {
		imports.TargetMaps[name] = map[string]*v1alpha1.Target{}
		for key, element := range elements {
			imports.TargetMaps[name][key] = target(element)
		}
	}
	return imports
}

func (c *blueprintCase) compare(t *testing.T, node *Node) {
	t.Helper()
	wantParts(t, "imports", node.Imports, c.Imports.value)
	wantParts(t, "deploy items", node.DeployItems, c.Items.value)
	specs := make([]any, len(node.Subinstallations))
	for i, sub := range node.Subinstallations {
		specs[i] = sub.Installation.Spec
	}
	wantParts(t, "subinstallations", specs, c.Subinstallations.value)
	below := map[string]any{}
	for _, child := range node.Nodes {
		below[child.Path] = child.DeployItems
	}
	wantParts(t, "deploy items of subinstallations", below, c.Below.value)
	if node.Exports == nil {
		return
	}
	wantParts(t, "exports", node.Exports.Values, c.Exports.value)
	published := map[string]any{}
	for _, object := range node.Exports.DataObjects {
		published[object.Name] = object.Data
	}
	for _, object := range node.Exports.Targets {
		published[object.Name] = object.Spec
	}
	wantParts(t, "published", published, c.Published.value)
}

// wantParts compares what is wanted of a value; nothing wanted is nothing compared.
func wantParts(t *testing.T, what string, got, want any) {
	t.Helper()
	if want == nil {
		return
	}
	value, err := jsonvalue.FromObject(got)
	if err != nil {
		t.Fatal(err)
	}
	for _, problem := range lacks(value, want, what) {
		text, err := yaml.Marshal(value)
		t.Errorf("%s in\n%s%v", problem, text, err)
	}
}

// lacks says what of a part the whole has not. Lists must have the same length; a text that begins
// with "re:" is a regular expression.
func lacks(whole, part any, path string) []string {
	var problems []string
	switch part := part.(type) {
	case map[string]any:
		there, isMap := whole.(map[string]any)
		if !isMap {
			return []string{path + " is not a map"}
		}
		for key, value := range part {
			problems = append(problems, lacks(there[key], value, path+"/"+key)...)
		}
	case []any:
		there, _ := whole.([]any)
		if len(there) != len(part) {
			return []string{fmt.Sprintf("%s has %d entries, want %d", path, len(there), len(part))}
		}
		for i, value := range part {
			problems = append(problems, lacks(there[i], value, fmt.Sprintf("%s[%d]", path, i))...)
		}
	default:
		got, want := fmt.Sprint(whole), fmt.Sprint(part)
		if pattern, isPattern := strings.CutPrefix(want, "re:"); isPattern {
			if regexp.MustCompile(pattern).MatchString(got) {
				return nil
			}
		} else if reflect.TypeOf(whole) == reflect.TypeOf(part) && got == want {
			return nil
		}
		return []string{fmt.Sprintf("%s is %T %s, want %T %s", path, whole, got, part, want)}
	}
	return problems
}
