package build

import (
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strings"
	"unicode/utf8"

	"sigs.k8s.io/kustomize/api/types"
)

// write passes a kustomization to the library with its patches and generators; its resources have
// been passed before.
func (g *guard) write(id, directory string, own *part, content *types.Kustomization) error {
	for _, change := range []func(string, string, *types.Kustomization) error{g.patches, g.generators, patterns} {
		if err := change(id, directory, content); err != nil {
			return fmt.Errorf("%s: %w", own.at, err)
		}
	}
	for _, label := range content.Labels {
		if len(label.FieldSpecs) > 0 {
			return fmt.Errorf("%s: labels[].fields is refused: use patches, which name their fields themselves", own.at)
		}
	}
	content.FixKustomization()
	text, err := json.Marshal(content)
	if err != nil {
		return fmt.Errorf("%s: %w", own.at, err)
	}
	if err := g.to.WriteFile("/"+id+"/"+kustomizationNames[0], text); err != nil {
		return fmt.Errorf("pass %s to kustomize: %w", own.at, err)
	}
	return nil
}

// patches reads patches. All of them become inline ones without aliases.
func (g *guard) patches(_, directory string, content *types.Kustomization) error {
	for i := range content.Patches {
		place := fmt.Sprintf("patches[%d]", i)
		if err := g.patch(directory, place, &content.Patches[i]); err != nil {
			return fmt.Errorf("%s: %w", place, err)
		}
	}
	return nil
}

// patch reads a patch and makes it an inline one.
func (g *guard) patch(directory, place string, patch *types.Patch) error {
	text := []byte(patch.Patch)
	switch {
	case patch.Path != "" && patch.Patch != "":
		return errors.New("both path and patch are set: keep one of them")
	case patch.Path == "" && strings.TrimSpace(patch.Patch) == "":
		return errors.New("it is empty")
	case patch.Path != "":
		at, err := join(directory, patch.Path)
		if err == nil {
			text, err = g.text(at)
		}
		if err != nil {
			return fmt.Errorf("%.200q: %w", patch.Path, missing(patch.Path, err))
		}
	}
	documents, err := g.documents(text)
	if err != nil {
		return err
	}
	if err := g.checkPatch(documents, place, patch.Target != nil); err != nil {
		return err
	}
	patch.Path, patch.Patch = "", string(joined(documents))
	return nil
}

// checkPatch refuses what is no patch, so that the library has nothing to quote.
func (g *guard) checkPatch(documents [][]byte, place string, hasTarget bool) error {
	if len(documents) == 0 {
		return errors.New("it is empty")
	}
	for _, raw := range documents {
		var content any
		if err := json.Unmarshal(raw, &content); err != nil {
			return errors.New("it is not a patch")
		}
		switch content := content.(type) {
		case map[string]any:
			if hasTarget && len(documents) > 1 {
				return errors.New("a patch with a target must be one document")
			}
			g.note(content)
			if !hasTarget {
				g.locatePatch(content, place)
			}
		case []any:
			if !hasTarget || len(documents) > 1 {
				return errors.New("a JSON patch must be one document, and needs a target")
			}
			if err := checkOperations(content); err != nil {
				return err
			}
			for _, entry := range content {
				g.values = append(g.values, entry.(map[string]any)["value"])
			}
		default:
			return errors.New("it is neither a strategic merge patch nor a JSON patch")
		}
	}
	return nil
}

// checkOperations checks a JSON patch.
func checkOperations(operations []any) error {
	for i, entry := range operations {
		operation, isObject := entry.(map[string]any)
		if !isObject {
			return fmt.Errorf("operation %d must be an object", i+1)
		}
		_, hasPath := operation["path"].(string)
		switch operation["op"] {
		case "add", "remove", "replace", "move", "test":
			if !hasPath {
				return fmt.Errorf("operation %d: path must be a text", i+1)
			}
		case "copy":
			return fmt.Errorf("operation %d: op copy is refused: a few of them can make an object of any size; use add", i+1)
		default:
			return fmt.Errorf("operation %d: op does not exist: use add, remove, replace, move or test", i+1)
		}
	}
	return nil
}

// generators passes the files of generators to the library.
func (g *guard) generators(id, directory string, content *types.Kustomization) error {
	for i := range content.ConfigMapGenerator {
		if err := g.generator(id, directory, &content.ConfigMapGenerator[i].GeneratorArgs); err != nil {
			return fmt.Errorf("configMapGenerator[%d]: %w", i, err)
		}
	}
	for i := range content.SecretGenerator {
		if err := g.generator(id, directory, &content.SecretGenerator[i].GeneratorArgs); err != nil {
			return fmt.Errorf("secretGenerator[%d]: %w", i, err)
		}
	}
	return nil
}

func (g *guard) generator(id, directory string, args *types.GeneratorArgs) error {
	if args.Name == "" {
		return errors.New("name is missing")
	}
	g.names = append(g.names, args.Name)
	for i, literal := range args.LiteralSources {
		_, value, isPair := strings.Cut(literal, "=")
		if !isPair {
			return fmt.Errorf("literals[%d] must be key=value", i)
		}
		g.values = append(g.values, value, strings.Trim(value, `"'`))
	}
	for i, source := range args.FileSources {
		key, name, isPair := strings.Cut(source, "=")
		if !isPair {
			key, name = path.Base(source), source
		}
		placed, err := g.attach(id, directory, name, func([]byte) bool { return true })
		if err != nil {
			return fmt.Errorf("files[%d]: %w", i, err)
		}
		args.FileSources[i] = key + "=" + placed
	}
	for i, name := range args.EnvSources {
		placed, err := g.attach(id, directory, name, utf8.Valid)
		if err != nil {
			return fmt.Errorf("envs[%d]: %w", i, err)
		}
		args.EnvSources[i] = placed
	}
	return nil
}

// attach passes a file to the library whose content becomes a value.
func (g *guard) attach(id, directory, name string, fits func([]byte) bool) (string, error) {
	at, err := join(directory, name)
	var text []byte
	if err == nil {
		text, err = g.text(at)
	}
	if err == nil && !fits(text) {
		err = errors.New("it is not text in UTF-8")
	}
	if err != nil {
		return "", fmt.Errorf("%.200q: %w", name, missing(name, err))
	}
	g.values = append(g.values, string(text))
	return g.place(id, at, text)
}
