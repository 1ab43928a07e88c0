// Package blueprint loads blueprints: their files and their description. They
// come from inline file systems and from resources of components.
package blueprint

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	kjson "sigs.k8s.io/json"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/base/yamltext"
	"go.landscaper.dev/internal/content/component/archive"
	"go.landscaper.dev/internal/model/validation"
)

// maxDescription is the size of the largest blueprint.yaml that is read.
const maxDescription = 4 << 20

// ErrMissing is behind errors about files without a description of a blueprint.
var ErrMissing = errors.New("there is no " + v1alpha1.BlueprintFileName)

// Blueprint is a loaded blueprint.
type Blueprint struct {
	// Files are the files of the blueprint. They never change.
	Files fs.FS
	// Info is its description with all defaults set.
	Info *v1alpha1.Blueprint
	// Warnings say what has no effect, such as unknown fields.
	Warnings []string
	// Digest stands for the content; empty if the blueprint is inline.
	Digest string
}

// Load reads and checks the description of a blueprint.
func Load(files fs.FS) (*Blueprint, error) {
	text, err := readDescription(files)
	if err != nil {
		return nil, err
	}
	info, warnings, err := decode(text)
	if err != nil {
		return nil, fmt.Errorf("decode %s: %w", v1alpha1.BlueprintFileName, err)
	}
	info.SetDefaults()
	if errs := validation.Blueprint(info); len(errs) > 0 {
		return nil, fmt.Errorf("%s is not valid: %w", v1alpha1.BlueprintFileName, errs.ToAggregate())
	}
	for _, advice := range validation.BlueprintAdvice(info) {
		warnings = append(warnings, advice.Error())
	}
	return &Blueprint{Files: files, Info: info, Warnings: warnings}, nil
}

func readDescription(files fs.FS) ([]byte, error) {
	file, err := files.Open(v1alpha1.BlueprintFileName)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, missing(files)
	}
	if err != nil {
		return nil, fmt.Errorf("read the blueprint: %w", err)
	}
	defer file.Close() //nolint:errcheck // nothing is written
	if info, err := file.Stat(); err == nil && info.IsDir() {
		return nil, fmt.Errorf("%s is a directory: write its content as a text, or begin it with apiVersion and kind", v1alpha1.BlueprintFileName)
	}
	text, err := archive.ReadAll(file, maxDescription)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", v1alpha1.BlueprintFileName, err)
	}
	return text, nil
}

// missing says what is at the root instead of a blueprint.
func missing(files fs.FS) error {
	const most = 10
	entries, err := fs.ReadDir(files, ".")
	if err != nil {
		return fmt.Errorf("%w: %w", ErrMissing, err)
	}
	var found []string
	for _, entry := range entries[:min(len(entries), most)] {
		name := fmt.Sprintf("%.80q", entry.Name())
		if entry.IsDir() {
			name = "directory " + name
			if _, err := fs.Stat(files, path.Join(entry.Name(), v1alpha1.BlueprintFileName)); err == nil {
				name += " (which has one: its content must be at the root)"
			}
		}
		found = append(found, name)
	}
	switch {
	case len(entries) == 0:
		found = []string{"nothing"}
	case len(entries) > most:
		found = append(found, fmt.Sprintf("%d more", len(entries)-most))
	}
	return fmt.Errorf("%w at the root of the blueprint's files, found: %s", ErrMissing, strings.Join(found, ", "))
}

// decode reads a description. Unknown fields are warnings: blueprints may be for
// newer versions as well.
func decode(text []byte) (*v1alpha1.Blueprint, []string, error) {
	value, err := yamltext.Decode(text, yamltext.DefaultLimits())
	if err != nil {
		return nil, nil, err
	}
	fields, ok := value.(map[string]any)
	if !ok {
		return nil, nil, errors.New("it is not a map with fields such as imports and deployExecutions")
	}
	if err := checkHeader(fields); err != nil {
		return nil, nil, err
	}
	warnings := adoptDialect(fields)
	raw, err := json.Marshal(fields)
	if err != nil {
		return nil, nil, err // the caller says the file
	}
	info := &v1alpha1.Blueprint{}
	// Names of fields are case-sensitive, as they are for the API server.
	if err := kjson.UnmarshalCaseSensitivePreserveInts(raw, info); err != nil {
		return nil, nil, yamltext.Explain(err) // the caller says the file
	}
	return info, append(warnings, unknownFields(fields)...), nil
}

// checkHeader refuses another kind of object. A missing header is harmless.
func checkHeader(fields map[string]any) error {
	for _, header := range []struct{ name, want string }{{"apiVersion", v1alpha1.GroupVersion.String()}, {"kind", "Blueprint"}} {
		if given := fields[header.name]; given != nil && given != header.want {
			return fmt.Errorf("%s is %.80q: write %s", header.name, fmt.Sprint(given), header.want)
		}
	}
	return nil
}

// adoptDialect accepts the name jsonSchema for jsonSchemaVersion, under which
// most authors know it.
func adoptDialect(fields map[string]any) []string {
	const name, alias = "jsonSchemaVersion", "jsonSchema"
	dialect, given := fields[alias]
	if !given {
		return nil
	}
	delete(fields, alias)
	if _, isText := dialect.(string); !isText {
		return []string{alias + " is not the name of a dialect, it is ignored: write for example " + name + ": " + v1alpha1.DefaultJSONSchemaVersion}
	}
	if other, both := fields[name]; both && other != dialect {
		return []string{alias + " is ignored, since " + name + " is given, too"}
	}
	fields[name] = dialect
	return nil
}
