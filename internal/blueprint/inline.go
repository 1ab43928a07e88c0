package blueprint

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"testing/fstest"

	"sigs.k8s.io/yaml"

	"go.landscaper.dev/api/v1alpha1"
)

// Limits of an inline file system. They are far above what fits into an object of
// the API server; what is built from it in memory must not exceed them either.
const (
	maxInlineFiles = 10_000
	maxInlineDepth = 64
)

const (
	binaryStart = "---Start Binary---\n"
	binaryEnd   = "---End Binary---"
)

// Inline returns the files of an inline blueprint: a map of directories and
// files, or a YAML text of such a map.
func Inline(filesystem v1alpha1.AnyJSON) (fs.FS, error) {
	var tree any
	if err := json.Unmarshal(filesystem.RawMessage, &tree); err != nil {
		return nil, fmt.Errorf("decode the inline file system: %w", err)
	}
	if text, ok := tree.(string); ok {
		tree = nil
		if err := yaml.Unmarshal([]byte(text), &tree); err != nil {
			return nil, fmt.Errorf("decode the inline file system: %w", err)
		}
	}
	root, ok := tree.(map[string]any)
	if !ok {
		return nil, errors.New("the inline file system is not a map of files: write blueprint.yaml: | and the blueprint below it")
	}
	builder := inlineBuilder{files: fstest.MapFS{}}
	if err := builder.directory("", root, 0); err != nil {
		return nil, err
	}
	return builder.files, nil
}

type inlineBuilder struct{ files fstest.MapFS }

func (b *inlineBuilder) directory(at string, entries map[string]any, depth int) error {
	if depth > maxInlineDepth {
		return fmt.Errorf("the inline file system is more than %d levels deep at %q", maxInlineDepth, at)
	}
	if at != "" {
		b.files[at] = &fstest.MapFile{Mode: fs.ModeDir | 0o755}
	}
	for name, node := range entries {
		if name == "" || name == "." || name == ".." || strings.ContainsAny(name, "/\\\x00") {
			return fmt.Errorf("%q is not a file name (in %q of the inline file system)", name, at)
		}
		if err := b.node(path.Join(at, name), node, depth+1); err != nil {
			return err
		}
		if len(b.files) > maxInlineFiles {
			return fmt.Errorf("the inline file system has more than %d files", maxInlineFiles)
		}
	}
	return nil
}

func (b *inlineBuilder) node(at string, node any, depth int) error {
	switch node := node.(type) {
	case nil:
		return b.file(at, nil)
	case string:
		content, err := inlineContent(node)
		if err != nil {
			return fmt.Errorf("%q of the inline file system: %w", at, err)
		}
		return b.file(at, content)
	case map[string]any:
		if kind, ok := node["$type"].(string); ok {
			return b.typed(at, kind, node, depth)
		}
		if node["apiVersion"] != nil && node["kind"] != nil {
			// Somebody wrote the blueprint as a map instead of a text.
			return b.encoded(at, node, yaml.Marshal)
		}
		return b.directory(at, node, depth)
	}
	return fmt.Errorf("%q of the inline file system is neither a text nor a map", at)
}

// typed reads a node that says what it is.
func (b *inlineBuilder) typed(at, kind string, node map[string]any, depth int) error {
	value := node["value"]
	switch kind {
	case "directory":
		entries, ok := value.(map[string]any)
		if !ok && value != nil {
			return fmt.Errorf("%q of the inline file system: the value of a directory is a map", at)
		}
		return b.directory(at, entries, depth)
	case "yaml":
		return b.encoded(at, value, yaml.Marshal)
	case "json":
		return b.encoded(at, value, json.Marshal)
	case "symlink":
		target, ok := value.(string)
		if !ok || path.IsAbs(target) || !fs.ValidPath(path.Join(path.Dir(at), target)) {
			return fmt.Errorf("%q of the inline file system: a link must lead to a path inside the file system", at)
		}
		b.files[at] = &fstest.MapFile{Data: []byte(target), Mode: fs.ModeSymlink | 0o777}
		return nil
	}
	if binary, ok := node["binary"].(string); ok {
		content, err := base64.StdEncoding.DecodeString(strings.TrimSpace(binary))
		if err != nil {
			return fmt.Errorf("%q of the inline file system: decode base64: %w", at, err)
		}
		return b.file(at, content)
	}
	text, ok := value.(string)
	if !ok {
		return fmt.Errorf("%q of the inline file system: a file has a text under value, or base64 under binary", at)
	}
	return b.file(at, []byte(text))
}

func (b *inlineBuilder) encoded(at string, value any, encode func(any) ([]byte, error)) error {
	content, err := encode(value)
	if err != nil {
		return fmt.Errorf("%q of the inline file system: %w", at, err)
	}
	return b.file(at, content)
}

func (b *inlineBuilder) file(at string, content []byte) error {
	b.files[at] = &fstest.MapFile{Data: content, Mode: 0o644}
	return nil
}

// inlineContent returns the content of a file that is written as a text, which
// may hold base64 between two marks.
func inlineContent(text string) ([]byte, error) {
	encoded, ok := strings.CutPrefix(text, binaryStart)
	if !ok {
		return []byte(text), nil
	}
	encoded, ok = strings.CutSuffix(strings.TrimRight(encoded, "\n"), binaryEnd)
	if !ok {
		return nil, fmt.Errorf("the line %q is missing", binaryEnd)
	}
	content, err := base64.StdEncoding.DecodeString(string(bytes.Join(bytes.Fields([]byte(encoded)), nil)))
	if err != nil {
		return nil, fmt.Errorf("decode base64: %w", err)
	}
	return content, nil
}
