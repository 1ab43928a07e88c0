package blueprints

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"

	"sigs.k8s.io/yaml"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/cli/terminal"
	"go.landscaper.dev/internal/dataflow"
)

// readImports reads files with imports: a map of the names of the blueprint and
// values, which are Targets, lists or maps of Targets where the blueprint says so.
func readImports(streams terminal.Streams, paths []string, definitions v1alpha1.ImportDefinitionList) (dataflow.Imports, error) {
	imports := dataflow.Imports{
		Data: map[string]dataflow.DataImport{}, Targets: map[string]*v1alpha1.Target{},
		TargetLists: map[string][]*v1alpha1.Target{}, TargetMaps: map[string]map[string]*v1alpha1.Target{},
	}
	types := map[string]v1alpha1.ImportType{}
	typesOf(definitions, types)
	for _, path := range paths {
		values, err := readImportFile(path)
		if err != nil {
			return imports, err
		}
		for _, name := range slices.Sorted(maps.Keys(values)) {
			if err := addImport(&imports, name, types[name], values[name]); err != nil {
				return imports, fmt.Errorf("imports %s: import %q: %w", path, name, err)
			}
			if _, known := types[name]; !known {
				fmt.Fprintf(streams.Err, "Warning: imports %s: the blueprint has no import %q\n", path, name)
			}
		}
	}
	return imports, nil
}

func typesOf(definitions v1alpha1.ImportDefinitionList, into map[string]v1alpha1.ImportType) {
	for i := range definitions {
		into[definitions[i].Name] = definitions[i].Type
		typesOf(definitions[i].ConditionalImports, into)
	}
}

func readImportFile(path string) (map[string]json.RawMessage, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("imports: %w", err)
	}
	var file struct {
		Imports map[string]json.RawMessage `json:"imports"`
	}
	if err := yaml.Unmarshal(content, &file); err != nil {
		return nil, fmt.Errorf("imports %s: %w", path, err)
	}
	if file.Imports == nil {
		return nil, fmt.Errorf("imports %s: the file has no map imports: write imports: and below it a name and a value for each import", path)
	}
	return file.Imports, nil
}

func addImport(imports *dataflow.Imports, name string, kind v1alpha1.ImportType, raw json.RawMessage) error {
	switch kind {
	case v1alpha1.ImportTypeTarget:
		target := &v1alpha1.Target{}
		imports.Targets[name] = target
		return decodeTarget(raw, target, name)
	case v1alpha1.ImportTypeTargetList:
		var list []*v1alpha1.Target
		if err := json.Unmarshal(raw, &list); err != nil {
			return fmt.Errorf("is no list of Targets: %w", err)
		}
		for i, target := range list {
			complete(target, fmt.Sprintf("%s-%d", name, i))
		}
		imports.TargetLists[name] = list
		return nil
	case v1alpha1.ImportTypeTargetMap:
		var targets map[string]*v1alpha1.Target
		if err := json.Unmarshal(raw, &targets); err != nil {
			return fmt.Errorf("is no map of Targets: %w", err)
		}
		for key, target := range targets {
			complete(target, name+"-"+key)
		}
		imports.TargetMaps[name] = targets
		return nil
	}
	imports.Data[name] = dataflow.DataImport{Value: v1alpha1.NewAnyJSON(raw)}
	return nil
}

func decodeTarget(raw json.RawMessage, target *v1alpha1.Target, name string) error {
	if err := json.Unmarshal(raw, target); err != nil {
		return fmt.Errorf("is no Target: %w", err)
	}
	complete(target, name)
	return nil
}

// complete fills in what every Target in a cluster has.
func complete(target *v1alpha1.Target, name string) {
	if target.Name == "" {
		target.Name = name
	}
	if target.Namespace == "" {
		target.Namespace = "default"
	}
	target.APIVersion, target.Kind = v1alpha1.GroupVersion.String(), "Target"
}
