package blueprints

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"

	kjson "sigs.k8s.io/json"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/base/yamltext"
	"go.landscaper.dev/internal/cli/terminal"
	"go.landscaper.dev/internal/model/dataflow"
)

// importFiles collects imports from files.
type importFiles struct {
	streams terminal.Streams
	types   map[string]v1alpha1.ImportType
	imports dataflow.Imports
}

// readImports reads files with imports: a map of the names of the blueprint and
// values, which are Targets, lists or maps of Targets where the blueprint says so.
func readImports(streams terminal.Streams, paths []string, definitions v1alpha1.ImportDefinitionList) (dataflow.Imports, error) {
	r := &importFiles{streams: streams, types: map[string]v1alpha1.ImportType{}, imports: dataflow.Imports{
		Data: map[string]dataflow.DataImport{}, Targets: map[string]*v1alpha1.Target{},
		TargetLists: map[string][]*v1alpha1.Target{}, TargetMaps: map[string]map[string]*v1alpha1.Target{},
	}}
	typesOf(definitions, r.types)
	for _, path := range paths {
		if err := r.file(path); err != nil {
			return r.imports, fmt.Errorf("imports %s: %w", path, err)
		}
	}
	return r.imports, nil
}

func typesOf(definitions v1alpha1.ImportDefinitionList, into map[string]v1alpha1.ImportType) {
	for i := range definitions {
		into[definitions[i].Name] = definitions[i].Type
		typesOf(definitions[i].ConditionalImports, into)
	}
}

func (r *importFiles) file(path string) error {
	values, err := importValues(path)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		kind, known := r.types[name]
		if !known {
			fmt.Fprintf(r.streams.Err, "Warning: imports %s: the blueprint has no import %q\n", path, name)
		}
		raw, err := json.Marshal(values[name])
		if err == nil {
			err = r.add(name, kind, raw)
		}
		if err != nil {
			return fmt.Errorf("import %q: %w", name, err)
		}
	}
	return nil
}

func importValues(path string) (map[string]any, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err // names the file
	}
	value, err := yamltext.Decode(content, yamltext.DefaultLimits())
	if err != nil {
		return nil, unaliased(err, content)
	}
	file, _ := value.(map[string]any)
	values, ok := file["imports"].(map[string]any)
	if !ok {
		return nil, errors.New("the file has no map imports: write imports: and below it a name and a value for each import")
	}
	return values, nil
}

var aliases = regexp.MustCompile(`\*([^\s,\]}]+)`)

// unaliased takes what looks like an alias out of a message: it may be a password
// that begins with a star.
func unaliased(err error, content []byte) error {
	text := err.Error()
	for _, alias := range aliases.FindAllSubmatch(content, -1) {
		text = strings.ReplaceAll(text, string(alias[1]), "…")
	}
	return errors.New(text)
}

func (r *importFiles) add(name string, kind v1alpha1.ImportType, raw json.RawMessage) error {
	switch kind {
	case v1alpha1.ImportTypeTarget:
		target, err := r.target(name, raw)
		r.imports.Targets[name] = target
		return err
	case v1alpha1.ImportTypeTargetList:
		return r.addList(name, raw)
	case v1alpha1.ImportTypeTargetMap:
		return r.addMap(name, raw)
	}
	r.imports.Data[name] = dataflow.DataImport{Value: v1alpha1.NewAnyJSON(raw)}
	return nil
}

func (r *importFiles) addList(name string, raw json.RawMessage) error {
	var elements []json.RawMessage
	if json.Unmarshal(raw, &elements) != nil {
		return errors.New("must be a list of Targets")
	}
	list := make([]*v1alpha1.Target, 0, len(elements))
	for i, element := range elements {
		target, err := r.target(fmt.Sprintf("%s-%d", name, i), element)
		if err != nil {
			return fmt.Errorf("element %d: %w", i, err)
		}
		list = append(list, target)
	}
	r.imports.TargetLists[name] = list
	return nil
}

func (r *importFiles) addMap(name string, raw json.RawMessage) error {
	var elements map[string]json.RawMessage
	if json.Unmarshal(raw, &elements) != nil {
		return errors.New("must be a map of keys and Targets")
	}
	targets := make(map[string]*v1alpha1.Target, len(elements))
	for _, key := range slices.Sorted(maps.Keys(elements)) {
		target, err := r.target(name+"-"+key, elements[key])
		if err != nil {
			return fmt.Errorf("key %q: %w", key, err)
		}
		targets[key] = target
	}
	r.imports.TargetMaps[name] = targets
	return nil
}

// target reads a Target, and fills in what every Target in a cluster has. Its
// configuration is secret: no error shows a value.
func (r *importFiles) target(name string, raw json.RawMessage) (*v1alpha1.Target, error) {
	target := &v1alpha1.Target{}
	unknown, err := kjson.UnmarshalStrict(raw, target)
	if err != nil {
		var mismatch *json.UnmarshalTypeError
		if errors.As(err, &mismatch) && mismatch.Field != "" {
			return nil, fmt.Errorf("is no Target: the field %s has a value of a wrong type", mismatch.Field)
		}
		return nil, errors.New("is no Target: write a map with spec.type, and spec.config or spec.secretRef")
	}
	for _, field := range unknown {
		fmt.Fprintf(r.streams.Err, "Warning: Target %s: %v\n", name, field)
	}
	if target.Kind != "" && target.Kind != "Target" {
		return nil, fmt.Errorf("must be a Target, but its kind is %.80q", target.Kind)
	}
	if target.Spec.Type == "" {
		return nil, errors.New("is no Target: spec.type is missing")
	}
	if target.Name == "" {
		target.Name = name
	}
	if target.Namespace == "" {
		target.Namespace = namespace
	}
	target.APIVersion, target.Kind = v1alpha1.GroupVersion.String(), "Target"
	return target, nil
}
