package blueprint

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/base/jsonvalue"
	"go.landscaper.dev/internal/base/memfs"
	"go.landscaper.dev/internal/base/yamltext"
)

// Limits of an inline file system. They are far above what fits into an object of
// the API server; what is built from it in memory must not exceed them either.
const (
	maxInlineFiles = 10_000
	maxInlineDepth = 64
	maxInlineBytes = 64 << 20
)

// Marks around the content of a file that is written in base64.
const (
	binaryStart = "---Start Binary---"
	binaryEnd   = "---End Binary---"
)

// Inline returns the files of an inline blueprint: a map of directories and
// files, or a YAML text of such a map.
func Inline(filesystem v1alpha1.AnyJSON) (*memfs.Tree, error) {
	var tree any
	var err error
	if len(filesystem.RawMessage) > 0 {
		tree, err = jsonvalue.FromJSONWithNumbers(filesystem.RawMessage)
	}
	if text, ok := tree.(string); ok && err == nil {
		tree, err = yamltext.Decode([]byte(text), yamltext.DefaultLimits())
	}
	if err != nil {
		return nil, fmt.Errorf("decode the inline file system: %w", err)
	}
	root, ok := tree.(map[string]any)
	if !ok {
		return nil, errors.New("the inline file system is not a map of files: write blueprint.yaml: | and the blueprint below it")
	}
	builder := inlineBuilder{files: memfs.Builder{Limits: memfs.Limits{Entries: maxInlineFiles, Bytes: maxInlineBytes}}}
	if err := builder.directory(".", root); err != nil {
		return nil, fmt.Errorf("inline file system: %w", err)
	}
	return builder.files.Tree(), nil
}

type inlineBuilder struct{ files memfs.Builder }

func (b *inlineBuilder) directory(at string, entries map[string]any) error {
	if err := b.files.AddDirectory(at); err != nil {
		return err // tells the path
	}
	for _, key := range slices.Sorted(maps.Keys(entries)) {
		name, err := join(at, key)
		if err != nil {
			return err
		}
		if err := b.entry(name, entries[key]); err != nil {
			return err
		}
	}
	return nil
}

// join returns the path of an entry. A slash in its name leads into directories.
func join(at, key string) (string, error) {
	steps := strings.Split(strings.Trim(key, "/"), "/")
	for _, step := range steps {
		if step == "" || step == "." || step == ".." || strings.ContainsAny(step, "\\\x00") {
			return "", fmt.Errorf("%.100q in %q is not a file name", key, at)
		}
	}
	name := path.Join(at, path.Join(steps...))
	if strings.Count(name, "/") > maxInlineDepth {
		return "", fmt.Errorf("%.200q is more than %d levels deep", name, maxInlineDepth)
	}
	return name, nil
}

func (b *inlineBuilder) entry(at string, value any) error {
	fields, isMap := value.(map[string]any)
	if isMap {
		if _, typed := fields["$type"]; typed {
			return b.typed(at, fields)
		}
		if isObject(at, fields) {
			// A file was written as what it contains.
			return b.object(at, fields, path.Ext(at) == ".json")
		}
		return b.directory(at, fields)
	}
	text, ok := scalarText(value)
	if !ok {
		return fmt.Errorf("%q is a list: write a text for a file, a map for a directory, or {$type: yaml, value: [...]} for a file with a list", at)
	}
	content, err := unmark(text)
	if err != nil {
		return fmt.Errorf("%q: %w", at, err)
	}
	return b.file(at, content)
}

// isObject reports whether a map is the content of a file rather than a
// directory.
func isObject(at string, fields map[string]any) bool {
	switch path.Ext(at) {
	case ".yaml", ".yml", ".json":
		_, versioned := fields["apiVersion"].(string)
		_, kind := fields["kind"].(string)
		return versioned && kind
	}
	return false
}

// scalarText returns the text of a value that is neither a list nor a map.
func scalarText(value any) (string, bool) {
	switch value := value.(type) {
	case nil:
		return "", true
	case string:
		return value, true
	case bool:
		return strconv.FormatBool(value), true
	case json.Number:
		return value.String(), true
	}
	return "", false
}

// typed reads an entry that says what it is.
func (b *inlineBuilder) typed(at string, fields map[string]any) error {
	kind, ok := fields["$type"].(string)
	if !ok {
		return fmt.Errorf("%q: $type must be directory, file, symlink, yaml or json: for an entry with the name $type write {$type: directory, value: {$type: ...}}", at)
	}
	value := fields["value"]
	switch kind {
	case "directory":
		entries, ok := value.(map[string]any)
		if !ok && value != nil {
			return fmt.Errorf("%q: the value of a directory must be a map", at)
		}
		return b.directory(at, entries)
	case "yaml", "json":
		return b.object(at, value, kind == "json")
	case "symlink":
		target, ok := value.(string)
		if !ok {
			return fmt.Errorf("%q: the value of a symlink must be the path of a file, relative to the link", at)
		}
		if err := b.files.AddSymlink(at, target); err != nil {
			return fmt.Errorf("%w: give a path inside the file system, relative to the link", err)
		}
		return nil
	}
	if encoded, given := fields["binary"].(string); given {
		content, err := decodeBase64(encoded)
		if err != nil {
			return fmt.Errorf("%q: binary: %w", at, err)
		}
		return b.file(at, content)
	}
	text, ok := scalarText(value)
	if _, given := fields["value"]; !ok || !given {
		return fmt.Errorf("%q: a file has a text under value, or base64 under binary", at)
	}
	return b.file(at, text)
}

// object writes a value as YAML or JSON.
func (b *inlineBuilder) object(at string, value any, asJSON bool) error {
	if asJSON {
		content, err := json.Marshal(value)
		if err != nil {
			return fmt.Errorf("%q: %w", at, err)
		}
		return b.file(at, string(content))
	}
	content, err := yamltext.Encode(value)
	if err != nil {
		return fmt.Errorf("%q: %w", at, err)
	}
	return b.file(at, content)
}

func (b *inlineBuilder) file(at, content string) error {
	return b.files.AddFile(at, content) // tells the path
}

// unmark returns the content of a file that is written as a text, which may hold
// base64 between two marks.
func unmark(text string) (string, error) {
	first, encoded, _ := strings.Cut(strings.TrimLeft(text, " \t\r\n"), "\n")
	if strings.TrimSpace(first) != binaryStart {
		return text, nil
	}
	encoded, marked := strings.CutSuffix(strings.TrimRight(encoded, " \t\r\n"), binaryEnd)
	if !marked {
		return "", fmt.Errorf("the text begins with the line %q, so it must end with the line %q", binaryStart, binaryEnd)
	}
	return decodeBase64(encoded)
}

func decodeBase64(text string) (string, error) {
	content, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(text), ""))
	if err != nil {
		return "", fmt.Errorf("decode base64: %w", err)
	}
	return string(content), nil
}
